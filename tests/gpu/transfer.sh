#!/usr/bin/env bash
# transfer.sh MPI CASE NUMATLAS FAKES: one case of transfer.py under that MPI's launcher, or with MPI
# `none` without one. Exit 77: the launcher is not here.
set -u
mpi=$1 case=$2 numatlas=$3 fakes=$4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
launcher=()
if [ "$mpi" = none ]; then
  # shellcheck source=tests/outside.sh
  . "$here/../outside.sh"
  hide_outside
else
  # shellcheck source=tests/mpi_launcher.sh
  . "$here/../mpi_launcher.sh"
  find_launcher "$mpi" "$numatlas"
fi
exec env PYTHONDONTWRITEBYTECODE=1 python3 "$here/transfer.py" "$case" "$numatlas" "$fakes" \
  ${launcher[@]+"${launcher[@]}"}
