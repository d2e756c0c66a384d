#!/usr/bin/env bash
# One size with the wide table: CPUs, nodes, and the page size that the memory really has.
set -euo pipefail
# shellcheck source=examples/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh" "$@"
launch "$(ranks_up_to 4)"
show "${launcher[@]}" ./numa_allocator --serial 64
