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

sweep_refused() { # CODE MESSAGE WORDS...
  local code=$1 message=$2
  shift 2
  run "$bin/numa_gpu_xfer_sweep" "$@"
  ends_with "$code"
  prints ''
  warns_once "^numa_gpu_xfer_sweep: error: $message"
}
sweep_refused 2 '--ngpus: at least one GPU is required' --ngpus 1,0
sweep_refused 2 "--ngpus: '1;2' is not a list of numbers" --ngpus '1;2'
sweep_refused 2 "--nodes: '' is not a list of numbers" --nodes '0;'
sweep_refused 2 "--nodes: '0,0' names a node twice" --nodes 0,0
sweep_refused 2 "--weights: '1,2,3' are 3 weights, and the nodes '0,3' are 2" --weights 1,2,3
sweep_refused 2 '--weights: 256 is not a weight' --weights 1,256
sweep_refused 2 '--weights: 0 is not a weight' --weights 0,1
sweep_refused 2 '--sizes: ' --sizes 3KiB-3.5KiB
sweep_refused 2 "--iterations: 'many'" --iterations many
sweep_refused 2 "--pin_memory: 'yes' is not one of 0, 1" --pin_memory yes
sweep_refused 2 '--kernel-weights: there are no weights to set' --kernel-weights
sweep_refused 2 '--kernel-weights: nothing is measured' --kernel-weights --weighted
sweep_refused 6 '--json: ' --json /proc/x
