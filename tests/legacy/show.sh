#!/usr/bin/env bash
# show.sh MPI CASE BIN_FOLDER SOURCE_FOLDER: one command of the source systems' documents on the
# recorded machine that they were written on, under that MPI's launcher; prints its standard output
# and the files it wrote. Exit 77: the launcher or the plug-in is not here.
# shellcheck disable=SC1001 # the backslashes are the documents' own
set -u
mpi=$1 case=$2 bin=$3 source=$4

# shellcheck source=tests/mpi_launcher.sh
. "$source/tests/mpi_launcher.sh"
find_launcher "$mpi" "$bin/numatlas"

# A checkout after `make`, as far as these commands see it.
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
ln -s "$bin/numa_mem_bench" "$bin/numa_allocator" "$source/scripts" .
export NUMATLAS_ENGINE=null NUMATLAS_TEST_MACHINE=$source/tests/topologies/epyc-7a53.json

launch() { # RANKS COMMAND...; the limit is far above what any case takes
  timeout -k 5 60 "${launcher[@]}" -n "$@" 2>stderr || {
    echo "exit code $?"
    cat stderr
    exit 1
  }
}
# Slurm's --cpu-bind=map_cpu:LIST and numactl --membind=N need the machine itself.
map_cpu() { export NUMATLAS_TEST_CPUS=$1; }
membind() { export NUMATLAS_TEST_MEMORY=bind:$1; }
show() {
  local file
  for file in "$@"; do
    printf '\n%s:\n' "$file"
    cat "$file"
  done
}

case $case in
  one-domain)
    map_cpu 1,2,3,4,5,6,7
    membind 0
    launch 7 ./numa_mem_bench --size=1-2048 --csv=lumig_domain0_7ranks.csv
    show lumig_domain0_7ranks.csv mapping_check.log ;;
  two-domains) # with the document's own backslashes
    map_cpu 1,2,3,4,5,6,7,17,18,19,20,21,22,23
    launch 14 \
./scripts/orchestrator/wrapper_numa.sh \ --executable ./numa_mem_bench \
--numa=0,0,0,0,0,0,0,1,1,1,1,1,1,1 \-- --size=1-2048 --csv=lumig_domain0_and_1_14_ranks.csv
    show lumig_domain0_and_1_14_ranks.csv mapping_check.log ;;
  wrapper-each)
    map_cpu 1,17,33,49
    launch 4 ./scripts/orchestrator/wrapper_numa.sh --numa=0,1,2,3 -- --size=1024
    show mapping_check.log ;;
  wrapper-auto)
    launch 8 ./scripts/orchestrator/wrapper_numa.sh --numa=auto -- --size=2048 --serial
    show mapping_check.log ;;
  wrapper-one)
    map_cpu 1,17,33,49
    launch 4 ./scripts/orchestrator/wrapper_numa.sh --numa=3 -- --size=2048
    show mapping_check.log ;;
  list)
    launch 8 ./numa_mem_bench --size=128,256,512,1024 --serial
    show mapping_check.log ;;
  default-size) launch 2 ./numa_mem_bench ;;
  allocator)
    map_cpu 1,2,3,4,17,33,49
    membind 3
    launch 7 ./numa_allocator --serial 512 ;;
  cpu-xfer) # the ranks are the workers of one measurement
    map_cpu 1,17,33,49
    launch 4 "$bin/numa_cpu_xfer_bench" ;;
  *) echo "unknown case $case"; exit 1 ;;
esac
