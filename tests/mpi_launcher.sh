# shellcheck shell=bash
# To be sourced: find_launcher MPI NUMATLAS sets the array `launcher`, or exits with 77 (skipped) when
# this launcher or the program's plug-in for it is not here.
# shellcheck source=tests/outside.sh
. "$(dirname "${BASH_SOURCE[0]}")/outside.sh"
find_launcher() {
  case $1 in
    openmpi) launcher=(mpirun.openmpi --oversubscribe) ;;
    mpich) launcher=(mpirun.mpich) ;;
    *) echo "unknown MPI $1" && exit 1 ;;
  esac
  if ! command -v "${launcher[0]}" >/dev/null; then
    echo "skipped: ${launcher[0]} is not installed"
    exit 77
  fi
  if [ ! -e "$(dirname "$2")/../lib/numatlas/mpi/numatlas_mpi_$1.so" ]; then
    echo "skipped: this build has no plug-in for $1"
    exit 77
  fi
  hide_outside
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  # The ranks are on one host. Open MPI 5 prepares TCP all the same, and complains on standard error of networks
  # by which a host does not reach itself.
  export OMPI_MCA_btl=^tcp
  # Leaks inside an MPI library are not ours, and a rank that leaves after a stop frees nothing.
  export ASAN_OPTIONS=detect_leaks=0
}
