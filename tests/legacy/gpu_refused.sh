#!/usr/bin/env bash
# gpu_refused.sh BIN_FOLDER SOURCE_FOLDER: mistakes in the words of numa_gpu_xfer_bench and of its
# sweep, each with its name.
set -u
bin=$1 source=$2
# shellcheck source=tests/legacy/checks.sh
. "$source/tests/legacy/checks.sh"
export NUMATLAS_ENGINE=null NUMATLAS_TEST_MACHINE=$source/tests/topologies/two-sockets-four-gpus.json

good=(--ngpus 2 --benchmark_bytes 4096 --iterations_per_bench 3 --operation_type 'R,W' --pin_memory 1)
refused() { # CODE OPTION VALUE WORDS: with that value in place of the good one
  local words=("${good[@]}") i
  for i in "${!words[@]}"; do
    if [ "${words[$i]}" = "$2" ]; then words[i + 1]=$3; fi
  done
  run "$bin/numa_gpu_xfer_bench" "${words[@]}"
  ends_with "$1"
  prints ''
  warns_once "^numa_gpu_xfer_bench: error: $2: $4"
}
run "$bin/numa_gpu_xfer_bench" "${good[@]}" -q
ends_with 0
refused 2 --ngpus 0 "'0' is not a whole number from 1 to "
refused 2 --ngpus two "'two' is not a whole number"
refused 3 --ngpus 5 'no GPU 4; available: 0, 1, 2, 3$'
refused 2 --benchmark_bytes 0 "'0' is not a whole number"
refused 2 --benchmark_bytes -4096 "'-4096' is not a whole number"
refused 2 --benchmark_bytes 18446744073709551616 "'18446744073709551616' is not a whole number"
refused 5 --benchmark_bytes 1125899906842624 '2 workers request .*'
refused 2 --iterations_per_bench 0 "'0' is not a whole number"
refused 2 --operation_type X "'X' is not one of R, W$"
refused 2 --operation_type RW "'RW' is not one of R, W$"
refused 2 --pin_memory 2 "'2' is not one of 0, 1$"
run "$bin/numa_gpu_xfer_bench" "${good[@]}" --json -
ends_with 2
warns_once '^numa_gpu_xfer_bench: error: --json: takes a file, not standard output$'
# shellcheck disable=SC2016  # the program prints these backquotes
warns_once '^numa_gpu_xfer_bench: hint: see `numa_gpu_xfer_bench --help`$'
for option in --ngpus --benchmark_bytes --iterations_per_bench --operation_type --pin_memory; do
  words=()
  for ((i = 0; i < ${#good[@]}; i += 2)); do
    [ "${good[i]}" = "$option" ] || words+=("${good[@]:i:2}")
  done
  run "$bin/numa_gpu_xfer_bench" "${words[@]}"
  ends_with 2
  warns_once "^numa_gpu_xfer_bench: error: $option is required"
done
