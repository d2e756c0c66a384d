#!/usr/bin/env bash
# Two NUMA domains: two ranks on each, the memory of each rank on its own. Where this machine has one
# node, the plan for another machine takes the place of the measurement.
set -euo pipefail
# shellcheck source=examples/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh" "$@"

# Nodes with CPUs and memory, by the kernel's own list.
nodes=()
for folder_of_node in /sys/devices/system/node/node[0-9]*; do
  [ -e "$folder_of_node/meminfo" ] || continue
  grep -q 'MemTotal: *[1-9]' "$folder_of_node/meminfo" && [ -n "$(<"$folder_of_node/cpulist")" ] &&
    nodes+=("${folder_of_node##*/node}")
done

launch 4
if [ "${#nodes[@]}" -ge 2 ] && [ "${#launcher[@]}" -gt 0 ]; then
  a=${nodes[0]} b=${nodes[1]}
  show "${launcher[@]}" ./numatlas exec --cpus "node:$a/node:$a/node:$b/node:$b" -- \
    ./scripts/orchestrator/wrapper_numa.sh --numa="$a,$a,$b,$b" -- --size=1-32 --csv=two_domains.csv
  show cat mapping_check.log
else
  echo "No measurement: it needs two NUMA nodes with CPUs and memory, and mpirun. This machine has the"
  echo "nodes ${nodes[*]:-(none)}."
  echo
fi

echo "The plan for seven ranks on each of two nodes of a recorded machine with four:"
cp "$root/tests/topologies/epyc-7a53.json" .
show ./numatlas latency --machine epyc-7a53.json --cpus 1-7,17-23 \
  --memory each:0,0,0,0,0,0,0,1,1,1,1,1,1,1 --size 1-2048 --dry-run
