#!/usr/bin/env bash
# One NUMA domain: a rank a CPU, at most seven, all memory on node 0.
set -euo pipefail
# shellcheck source=examples/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh" "$@"
launch "$(ranks_up_to 7)"
bind=(numactl --membind=0)
if ! "${bind[@]}" true 2>/dev/null; then
  echo "(numactl is not here, or may not bind: the memory goes where it is first touched.)"
  bind=()
fi
show "${launcher[@]}" "${bind[@]}" ./numa_mem_bench --size=1-32 --csv=one_domain.csv
show cat one_domain.csv
show cat mapping_check.log
