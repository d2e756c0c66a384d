#!/usr/bin/env bash
# Copies between GPUs and memory interleaved over NUMA nodes with weights, as CSV on standard output.
#   scripts/weighted_interleave_scripts.sh [OPTION...] >FILE     options are those of numa_gpu_xfer_sweep:
#   --ngpus 1,2 --nodes "0;0,1" --sizes 4KiB-1GiB --iterations 100; --help has them all
set -u
here=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd -P)
# In this checkout's build, beside an installed copy of this, or on PATH.
for program in "${NUMA_GPU_XFER_SWEEP:-}" "$here/../build/release/bin/numa_gpu_xfer_sweep" \
  "$here/../../libexec/numatlas/numa_gpu_xfer_sweep" "$(command -v numa_gpu_xfer_sweep)"; do
  if [ -x "$program" ]; then exec "$program" --weighted "$@"; fi
done
echo "${0##*/}: error: numa_gpu_xfer_sweep is not built: scripts/run builds it, or name it: NUMA_GPU_XFER_SWEEP=PATH" >&2
exit 3
