#!/usr/bin/env bash
# on_device_test.sh BUILD FAKES: on_device with the fake driver: all its steps, and without a GPU none.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/outside.sh
. "$here/../outside.sh"
hide_outside
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
export LD_LIBRARY_PATH=$2/fake NUMATLAS_FAKE_CUDA_DEVICES=1

code=0
NUMATLAS_FAKE_CUDA_INIT=100 "$here/on_device" "$work/none" --build "$1" >"$work/out" || code=$?
[[ $code -eq 77 && $(cat "$work/out") == 'skipped: no GPU to measure: cuInit: error 100' ]] ||
  { echo "FAILED: no GPU: exit status $code"; cat "$work/out"; exit 1; }

"$here/on_device" "$work/all" --build "$1" --quick >"$work/out" || code=$?
cat "$work/out"
[[ $(head -n 1 "$work/out") == 'WARNING: a fake driver'* ]] || { echo 'FAILED: no warning'; exit 1; }
! grep -q FAILED "$work/out" || { tail -n 20 "$work"/all/*.log; exit 1; }
names=(all together far chase latency-own latency-host latency-l2 bandwidth-own bandwidth-host loaded matrix atomics
  alone beside)
for name in driver "${names[@]}"; do
  grep -q "^ok .* $name\$" "$work/all/summary" || { echo "FAILED: no step $name"; exit 1; }
done
for name in "${names[@]}"; do
  [[ -s $work/all/$name.json ]] || { echo "FAILED: no $name.json"; exit 1; }
done
