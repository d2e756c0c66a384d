#!/usr/bin/env bash
# ranks.sh MPI CASE NUMATLAS: three ranks under that MPI's launcher. Exit 77: it is not here.
#   ranks  all that they say
#   hosts  the ranks of this host taken for two hosts: the table's first two columns (the name of
#          the host, which sets the width of all, reads HOST)
set -u
mpi=$1 case=$2 numatlas=$3
. "$(dirname "${BASH_SOURCE[0]}")/../mpi_launcher.sh"
find_launcher "$mpi" "$numatlas"
[ "$case" = hosts ] && export NUMATLAS_TEST_HOSTS=2

run() {
  "$(dirname "${BASH_SOURCE[0]}")/show.sh" "${launcher[@]}" -n 3 "$numatlas" latency \
    --engine null --machine "numa:2(memory=34359738368) l3:1(size=16777216) core:4 pu:1" \
    --size 512KiB,64 --memory each:0,1 --stats
}
if [ "$case" = ranks ]; then
  run
else
  run | awk -F'|' -v host="$(uname -n)" '
    NF > 5 && $2 !~ /--/ { sub(host, "HOST", $2); gsub(/ /, "", $2); gsub(/ /, "", $3); print $2, $3 }
    /exit code/ { print }'
fi
