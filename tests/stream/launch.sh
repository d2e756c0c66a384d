#!/usr/bin/env bash
# launch.sh MPI CASE NUMATLAS: one case of `numatlas stream` (cases.py) under that MPI's launcher, or
# with MPI `none` without one. Exit 77: the launcher, or something else that the case needs, is not here.
set -u
mpi=$1 case=$2 numatlas=$3
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
exec env PYTHONDONTWRITEBYTECODE=1 python3 "$here/run.py" "$case" "$numatlas" \
  ${launcher[@]+"${launcher[@]}"}
