#!/usr/bin/env bash
# ranks.sh MPI CASE NUMATLAS: three ranks under that MPI's launcher. Exit 77: it is not here.
#   ranks  all that they say
#   hosts  the ranks of this host taken for two hosts: the table's first two columns (the name of
#          the host, which sets the width of all, reads HOST)
#   host-sums  the same ranks: the sums of each host in the table of `matrix` and in its CSV
set -u
mpi=$1 case=$2 numatlas=$3
. "$(dirname "${BASH_SOURCE[0]}")/../mpi_launcher.sh"
find_launcher "$mpi" "$numatlas"
[ "$case" = ranks ] || export NUMATLAS_TEST_HOSTS=2

show() { # COMMAND OPTION...
  "$(dirname "${BASH_SOURCE[0]}")/show.sh" "${launcher[@]}" -n 3 "$numatlas" "$@" \
    --engine null --machine "numa:2(memory=34359738368) l3:1(size=16777216) core:4 pu:1"
}
run() { show latency --size 512KiB,64 --memory each:0,1 --stats; }
matrix() { show matrix --only bandwidth --kernels read --mix none --size 64 -q "$@"; }
if [ "$case" = host-sums ]; then
  matrix | sed '/^pages:/,$d'
  # Sums have no rank: host, workers, metric, value and the cell.
  matrix --format csv | awk -F, '
    NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i }
    $2 == "" && $at["metric"] == "bandwidth_sum" {
      print $1, $at["workers"], $at["value"], $at["cell_cpu_node"], $at["cell_memory_node"]
    }'
elif [ "$case" = ranks ]; then
  run
else
  run | awk -F'|' -v host="$(uname -n)" '
    NF > 5 && $2 !~ /--/ { sub(host, "HOST", $2); gsub(/ /, "", $2); gsub(/ /, "", $3); print $2, $3 }
    /exit code/ { print }'
fi
