#!/usr/bin/env bash
# launch_case.sh MPI SCRIPT CASE NUMATLAS [WORDS...]: one case of a Python script, which gets these words and how that
# MPI's launcher is called; nothing behind them with MPI `none`. Exit 77: the launcher, or something else that the
# case needs, is not here.
set -u
mpi=$1 numatlas=$4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
launcher=()
if [ "$mpi" = none ]; then
  # shellcheck source=tests/outside.sh
  . "$here/outside.sh"
  hide_outside
else
  # shellcheck source=tests/mpi_launcher.sh
  . "$here/mpi_launcher.sh"
  find_launcher "$mpi" "$numatlas"
fi
exec env PYTHONDONTWRITEBYTECODE=1 python3 "${@:2}" ${launcher[@]+"${launcher[@]}"}
