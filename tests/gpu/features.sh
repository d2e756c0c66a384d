#!/usr/bin/env bash
# features.sh NUMATLAS FAKES: what `numatlas features` says of the CUDA driver, by the libraries of the
# folders FAKES/fake and FAKES/fake_text.
set -u
row() {  # FOLDER [NAME=VALUE]: the row of cuda
  env LD_LIBRARY_PATH="$fakes/$1" "${@:2}" "$numatlas" features </dev/null | grep '^gpu  *cuda '
}
benchmark() {  # the same, of the benchmark of GPUs; no other vendor's GPU takes part
  env LD_LIBRARY_PATH="$fakes/$1" HIP_VISIBLE_DEVICES=-1 "${@:2}" "$numatlas" features </dev/null |
    grep '^benchmark  *transfer '
}
expect() {  # PATTERN ROW
  [[ $2 =~ $1 ]] || { echo "FAILED: not '$1': $2"; exit 1; }
}
numatlas=$1 fakes=$2
expect '^gpu +cuda +yes +CUDA driver 12\.4: 1 x numatlas fake GPU 0 \(test only\) \(1 GiB\), 1 x numatlas fake GPU 1' \
  "$(row fake)"
expect '^gpu +cuda +no +cuInit: CUDA_ERROR_STUB_LIBRARY \(34\): .*; remove the folder .*LD_LIBRARY_PATH' \
  "$(row fake NUMATLAS_FAKE_CUDA_INIT=34)"
expect '^gpu +cuda +no +cuInit: CUDA_ERROR_NO_DEVICE \(100\): .*; see nvidia-smi ' \
  "$(row fake NUMATLAS_FAKE_CUDA_INIT=100)"
expect '^gpu +cuda +no +cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH \(803\): .*reboot' \
  "$(row fake NUMATLAS_FAKE_CUDA_INIT=803)"
expect '^gpu +cuda +no +.*libcuda\.so\.1: ' "$(row fake_text)"
expect '^benchmark +transfer +yes ' "$(benchmark fake)"
expect '^benchmark +transfer +no +no GPU can be used: cuInit' "$(benchmark fake NUMATLAS_FAKE_CUDA_INIT=100)"
