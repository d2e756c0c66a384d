# What the examples share: a working folder with links to the programs, a launcher, and `show`,
# which prints a command before it runs it.
# shellcheck shell=bash disable=SC2034 # launcher is for the scripts that read this
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bin=${NUMATLAS_BIN:-$root/build/release/bin}
if [ ! -x "$bin/numa_mem_bench" ]; then
  echo "Not built yet: $bin has no numa_mem_bench. Type make in $root first." >&2
  exit 3
fi

# run.sh [FOLDER]: result files go there; without it to a temporary folder that is removed.
if [ -n "${1:-}" ]; then
  mkdir -p "$1" && cd "$1" || exit 6
else
  folder=$(mktemp -d) && cd "$folder" || exit 6
  trap 'rm -rf "$folder"' EXIT
fi
ln -sf "$bin/numatlas" "$bin/numa_mem_bench" "$bin/numa_allocator" "$root/scripts" .

launcher=()
# `launch N`: what stands before a command; mpirun where it is and this build knows its MPI,
# otherwise nothing and one rank.
launch() {
  if ! grep -q '^build  *MPI: .* yes ' < <("$bin/numatlas" features); then
    echo "(This build has no MPI: one rank does it alone.)"
  elif ! version=$(mpirun --version 2>/dev/null); then
    echo "(There is no mpirun here: one rank does it alone.)"
  elif [[ $version == *"Open MPI"* ]]; then
    launcher=(mpirun --oversubscribe --bind-to none -n "$1")
    # Containers mostly run as root, and Open MPI asks twice whether that is meant.
    [ "$(id -u)" -ne 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  else
    launcher=(mpirun -n "$1")
  fi
}
show() {
  echo "\$ $*"
  "$@" 2>&1 || exit
  echo
}
# A rank a CPU, and at most so many.
ranks_up_to() {
  local cpus
  cpus=$(nproc)
  echo $((cpus < $1 ? cpus : $1))
}
