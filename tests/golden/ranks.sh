#!/usr/bin/env bash
# ranks.sh MPI CASE NUMATLAS: three ranks under that MPI's launcher. Exit 77: it is not here.
#   ranks  all that they say
#   hosts  the ranks of this host taken for two hosts: the table of workers
#   stream  `numatlas stream` of seven ranks on three hosts, and its files but the metrics, of copy and triad
#   stream-slow  one of four hosts takes half as long again
#   streams  distributed_streams of six ranks on three hosts
#   survey-hosts  the summary of a survey on them
#   host-sums  the same ranks: the sums of each host in the table of `matrix` and in its CSV
set -u
mpi=$1 case=$2 numatlas=$3
. "$(dirname "${BASH_SOURCE[0]}")/../mpi_launcher.sh"
find_launcher "$mpi" "$numatlas"
[ "$case" = ranks ] || export NUMATLAS_TEST_HOSTS=2

show() { # COMMAND OPTION...
  "$(dirname "${BASH_SOURCE[0]}")/show.sh" "${launcher[@]}" -n 3 "$numatlas" "$@" \
    --engine null --machine "$four"
}
# Every host is called `recorded`, as the machine is.
stream() { # RANKS HOSTS OPTION...
  local ranks=$1
  export NUMATLAS_TEST_HOSTS=$2
  shift 2
  "$(dirname "${BASH_SOURCE[0]}")/show.sh" "${launcher[@]}" -n "$ranks" "$numatlas" stream \
    --engine null --machine "$four" -q --elements 100000 "$@"
}
four="numa:2(memory=34359738368) l3:1(size=16777216) core:4 pu:1"
run() { show latency --size 512KiB,64 --memory each:0,1 --stats; }
matrix() { show matrix --only bandwidth --kernels read --mix none --size 64 -q "$@"; }
if [ "$case" = host-sums ]; then
  matrix | sed '/^pages:/,$d'
  # Sums have no rank: host, workers, value and the cell. Four figures of a sum are the same whatever
  # order a compiler adds in.
  matrix --format csv | awk -F, '
    NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i }
    $2 == "" && $at["metric"] == "bandwidth_sum" {
      printf "%s %s %.4g %s %s\n", $1, $at["workers"], $at["value"], $at["label_cpu_node"], $at["label_memory_node"]
    }'
elif [ "$case" = stream ]; then
  folder=$(mktemp -d) || exit 1
  trap 'rm -rf "$folder"' EXIT
  # One host without another of its kind, and two that are too few to be compared.
  stream 7 3 --repeats 3 --dat "$folder"
  for file in "$folder"/*; do
    printf '\n%s:\n' "$(basename "$file")"
    sed '/,\(scale\|add\),/d; /<Scale>/,/<\/Add>/d' "$file"
  done
elif [ "$case" = stream-slow ]; then
  NUMATLAS_TEST_SLOW_HOST=$(uname -n)-2:1.5
  export NUMATLAS_TEST_SLOW_HOST
  # What launchers say of an exit code is theirs.
  stream 8 4 --repeats 8 --kernels copy,triad --check |
    sed '/^--- standard error/,/^--- exit/{/^--- exit/!d}'
elif [ "$case" = streams ]; then
  export NUMATLAS_TEST_HOSTS=3 NUMATLAS_ENGINE=null NUMATLAS_TEST_MACHINE=$four
  kept=NUMATLAS_ "$(dirname "${BASH_SOURCE[0]}")/in_folder.sh" "${launcher[@]}" -n 6 \
    "$(dirname "$numatlas")/distributed_streams" 1048576 4 | sed '/<Scale>/,/<\/Add>/d'
  exit "${PIPESTATUS[0]}"
elif [ "$case" = survey-hosts ]; then
  folder=$(mktemp -d) || exit 1
  trap 'rm -rf "$folder"' EXIT
  show survey --only bandwidth,latency --no-report -q --output "$folder/report" |
    sed "s|$(realpath "$folder")|FOLDER|"
elif [ "$case" = ranks ]; then
  run
else
  run | sed -n '/^Latency of each worker/,/^All workers/{/^All workers/!p}; /exit code/p'
fi
