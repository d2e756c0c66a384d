#!/usr/bin/env bash
# Copies between GPUs and memory that the kernel interleaves with weights, as CSV on standard output:
# scripts/interleave_scripts.sh with other defaults of its variables.
here=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd -P)
export NODES=${NODES-0,3} WEIGHTS=${WEIGHTS-1,1 1,2 1,3 1,4}
export SIZES=${SIZES-$(for ((size = 4096; size <= 2147483648; size *= 2)); do echo "$size"; done)}
exec "$here/interleave_scripts.sh"
