#!/usr/bin/env bash
# Runs a program, numa_mem_bench if none is named, with its memory bound by rank. A translation of
# its options into those of `numatlas exec`, which becomes the program: exit code and signals are
# the program's own.
set -u

usage() {
  cat <<'USAGE'
Usage: [mpirun -n N | srun -n N] wrapper_numa.sh [OPTIONS] [-- ARGUMENTS...]
  --numa=N           bind the memory of all ranks to NUMA node N
  --numa=LIST        one node a rank, in turn: 0,0,1,1; as many as ranks on a host, or in all
  --numa=auto        deal the ranks of a host out over its nodes with CPUs and memory
                     (default: no binding of memory)
  --executable PATH  the program (default: ./numa_mem_bench)
  --quiet            do not say on standard error what is run where
  --dry-run          print what each rank would run where, and stop
  --help             print this help
  --                 all that follows goes to the program
`numatlas exec` is looked for beside the program, in this checkout's build, beside an installed
wrapper, and on PATH; NUMATLAS=PATH names it.
USAGE
}

# fail CODE MESSAGE [HINT]: the mistake is the same in every rank; one says it.
fail() {
  local rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-${PMIX_RANK:-${SLURM_PROCID:-0}}}}
  if [ "$rank" != 0 ]; then
    sleep 1 # launchers end all ranks when the first has failed: the one that speaks comes before
    exit "$1"
  fi
  echo "wrapper_numa.sh: error: $2" >&2
  [ $# -lt 3 ] || echo "wrapper_numa.sh: hint: $3" >&2
  exit "$1"
}

numa='' executable=./numa_mem_bench quiet='' dry_run=''
# Blanks before a word are passed over: `\ --executable`, as some documents print a continued line,
# gives such a word.
while [ $# -gt 0 ]; do
  word=${1#"${1%%[![:blank:]]*}"}
  shift
  case $word in
    --) break ;;
    '') ;;
    -h | --help) usage && exit 0 ;;
    --quiet) quiet=yes ;;
    --dry-run) dry_run=yes ;;
    --numa=* | --executable=*)
      [ -n "${word#*=}" ] || fail 2 "${word%%=*}: the value is empty" 'see --help'
      if [ "${word%%=*}" = --numa ]; then numa=${word#*=}; else executable=${word#*=}; fi ;;
    --numa | --executable)
      { [ $# -gt 0 ] && [ -n "$1" ] && [ "$1" != -- ]; } ||
        fail 2 "$word: a value must follow" 'see --help'
      if [ "$word" = --numa ]; then numa=$1; else executable=$1; fi
      shift ;;
    *) fail 2 "unknown option '$word'" 'see --help; what is for the program stands after --' ;;
  esac
done

options=()
case $numa in
  '') ;;
  auto) options+=(--memory auto) ;;
  *[!0-9,-]* | [!0-9]*) fail 2 "--numa: '$numa' is not a node, a list of nodes, or auto" ;;
  *[!0-9]*) options+=(--memory "each:$numa" --exact) ;;
  *) options+=(--memory "bind:$numa") ;;
esac
[ -n "$quiet" ] || [ -n "$dry_run" ] || options+=(--verbose)
[ -z "$dry_run" ] || options+=(--dry-run)

find_numatlas() {
  local here program path
  if [ -n "${NUMATLAS:-}" ]; then
    command -v -- "$NUMATLAS"
    return
  fi
  here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
  program=$(readlink -f "$(command -v -- "$executable" || printf '%s' "$executable")")
  for path in "$(dirname "$program")/numatlas" "$here/../../build/release/bin/numatlas" \
    "$here/../../bin/numatlas"; do
    if [ -f "$path" ] && [ -x "$path" ]; then
      printf '%s' "$path"
      return 0
    fi
  done
  command -v numatlas
}
numatlas=$(find_numatlas) ||
  fail 3 'numatlas is not where NUMATLAS says, beside the program, built here, or on PATH' \
    'build it with make, or set NUMATLAS to its path'
exec "$numatlas" exec ${options[@]+"${options[@]}"} -- "$executable" "$@"
