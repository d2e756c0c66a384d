#!/usr/bin/env bash
# The same sizes by all ranks at once and by one rank at a time: the difference is what they cost
# each other in shared caches and memory.
set -euo pipefail
# shellcheck source=examples/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh" "$@"
launch "$(ranks_up_to 4)"
show "${launcher[@]}" ./numa_mem_bench --size=4,16,64 --csv=parallel.csv
show "${launcher[@]}" ./numa_mem_bench --size=4,16,64 --csv=serial.csv --serial
show paste -d'\n' parallel.csv serial.csv
