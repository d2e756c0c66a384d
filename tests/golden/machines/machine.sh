#!/usr/bin/env bash
# machine.sh NUMATLAS MACHINE [COMMAND...]: the topology of a machine, then what the commands that
# apply to any machine (commands.py) and those given say there. Nothing is measured. A command is
# words with blanks between, without `numatlas`, `--machine` and `--dry-run`, which are added;
# `ranks N COMMAND` shows it as each of the N ranks of one host sees it. A warning is shown where it comes
# first. What any plan has is left out: how many workers and cases there are and how long they take, a single
# scenario, and workers of other commands than latency.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../../topologies" || exit 1
numatlas=$1 machine=$2
shift 2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
: >"$folder/known"

show() { # SUBCOMMAND ARGUMENTS: standard output, standard error, and the exit code unless it is 0
  "$numatlas" "$1" --machine "$machine" --dry-run "${@:2}" >"$folder/out" 2>"$folder/errors" </dev/null
  local status=$?
  awk -v file="$folder/known" -v command="$1" '
    BEGIN { while ((getline line <file) > 0) known[line] }
    /^1 case:/ { getline; if (!/skipped/) next }
    /^[0-9]+ (workers?|cases):$|^time: / { next }
    /^  worker / && command != "latency" { next }
    /^warning: / && $0 in known { next }
    /^warning: / { print >>file }
    { print }' "$folder/out"
  cat "$folder/errors"
  [ "$status" -eq 0 ] || echo "exit code $status"
}

as_rank() { # RANK RANKS COMMAND: as Open MPI's launcher starts it, with all ranks on one host
  (
    export OMPI_COMM_WORLD_RANK=$1 OMPI_COMM_WORLD_LOCAL_RANK=$1
    export OMPI_COMM_WORLD_SIZE=$2 OMPI_COMM_WORLD_LOCAL_SIZE=$2
    show "${@:3}"
  )
}

show topology
commands=$("$numatlas" topology --machine "$machine" --format json |
  python3 "$here/commands.py") || exit 1
while IFS= read -r line; do
  printf '\n$ %s\n' "$line"
  read -ra words <<<"$line"
  if [ "${words[0]}" = ranks ]; then
    for ((rank = 0; rank < words[1]; ++rank)); do
      as_rank "$rank" "${words[1]}" "${words[@]:2}"
    done
  else
    show "${words[@]}"
  fi
done < <(printf '%s\n' "$commands" "$@")
