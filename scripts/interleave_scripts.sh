#!/usr/bin/env bash
# Copies between GPUs and memory that numactl interleaves over NUMA nodes, as CSV on standard output.
#   scripts/interleave_scripts.sh >FILE
# These variables say what is measured, here with their defaults:
#   NGPUS="1 2" NODES="0 0,1 3 0,3" SIZES="1024 2048 4096 ... 2147483648" ITERATIONS=100 PIN_MEMORY=1
# With WEIGHTS="1,1 1,2", a weight for each node, the kernel interleaves by these weights: Linux 6.9, numactl 2.0.19 and
# root. They are system-wide; the old ones are restored at the end.
# A row that cannot be measured says why; the exit code is then that of the first such row.
set -u
here=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd -P)
say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

# In this checkout's build, beside an installed copy of this, or on PATH.
for bench in "${BENCHMARK:-}" "$here/../build/benchmark" "$here/benchmark" "$(command -v numa_gpu_xfer_bench)"; do
  [ -x "$bench" ] && break
done
[ -x "$bench" ] ||
  { say 'error: build/benchmark is not built: scripts/run builds it, or name it: BENCHMARK=PATH'; exit 3; }
command -v numactl >/dev/null || { say 'error: numactl is not installed (Debian package numactl)'; exit 3; }

NODES=${NODES-0 0,1 3 0,3}
SIZES=${SIZES-$(for ((size = 1024; size <= 2147483648; size *= 2)); do echo "$size"; done)}
column='' policy=--interleave old=()
weights_folder=${NUMATLAS_TEST_WEIGHTS:-/sys/kernel/mm/mempolicy/weighted_interleave}
errors=$(mktemp) || exit 6
# shellcheck disable=SC2317 # called by trap
restore() {
  local file
  rm -f -- "$errors"
  for file in "${old[@]}"; do echo "${file#*=}" >"${file%%=*}"; done 2>/dev/null
}
trap restore EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
if [ -n "${WEIGHTS:=}" ]; then
  column='numa_weight,' policy=--weighted-interleave
  # The kernel's own weights last: a weight that is written turns them off.
  for file in "$weights_folder"/node* "$weights_folder"/*auto*; do
    if [ -e "$file" ]; then old+=("$file=$(<"$file")"); fi
  done
fi

# set_weights NODES WEIGHTS
set_weights() {
  local node nodes weights
  IFS=, read -ra nodes <<<"$1"
  IFS=, read -ra weights <<<"$2"
  if ((${#nodes[@]} != ${#weights[@]})); then
    say "error: WEIGHTS: $2 has not a weight for each of the nodes $1"
    exit 2
  fi
  for node in "${!nodes[@]}"; do
    echo "${weights[node]}" >"$weights_folder/node${nodes[node]}" || exit 4
  done
}

# cells DIRECTION REASON: its two cells, from the benchmark's lines in $out.
cells() {
  local latency bandwidth reason="failed: $2"
  latency=$(sed -n "s/^Average $1 latency: \([0-9.]*\) ms\$/\1/p" <<<"$out")
  bandwidth=$(sed -n "s/^Average $1 bandwidth: \([0-9.]*\) .*/\1/p" <<<"$out")
  [ -n "$latency" ] && printf '%s,%s' "$latency" "$bandwidth" && return
  [[ $reason != *[,\"]* ]] || reason="\"${reason//\"/\"\"}\""
  printf '%s,failed' "$reason"
}

rows=0 failed=0 first='' first_code=0
echo "ngpus,numa_nodes,${column}access_size(bytes),read_latency(ms),read_bw(gib/s),write_latency(ms),write_bw(gib/s)"
for ngpus in ${NGPUS-1 2}; do
  for nodes in $NODES; do
    for weights in ${WEIGHTS:-none}; do
      [ -z "$column" ] || set_weights "$nodes" "$weights"
      for size in $SIZES; do
        code=0
        out=$(numactl "$policy=$nodes" "$bench" --ngpus "$ngpus" --benchmark_bytes "$size" \
          --iterations_per_bench "${ITERATIONS:-100}" --operation_type R,W --pin_memory "${PIN_MEMORY:-1}" -q \
          2>"$errors") || code=$?
        reason=$(sed -n 's/^[a-z_]*: error: //p' "$errors" | head -n 1)
        [ -n "$reason" ] || reason=$(head -n 1 "$errors") # of numactl
        ((code == 0)) && cat "$errors" >&2
        echo "$ngpus,\"$nodes\",${column:+\"$weights\",}$size,$(cells host-to-device "$reason"),$(cells device-to-host "$reason")"
        rows=$((rows + 1))
        ((code == 0)) && continue
        ((code < 128)) || exit "$code"
        failed=$((failed + 1))
        ((failed > 1)) || first=$reason first_code=$code
      done
    done
  done
done
((failed == 0)) || say "error: $failed of $rows rows failed; the first: $first"
exit "$first_code"
