#!/usr/bin/env bash
# features.sh NUMATLAS: the benchmark of GPUs is available where one of the drivers is, and only there.
set -eu
features=$("$1" features --format json)
python3 - "$features" <<'PYTHON'
import json
import sys

rows = json.loads(sys.argv[1])
drivers = any(row["available"] for row in rows if row["group"] == "gpu")
transfer = next(row for row in rows if row["group"] == "benchmark" and row["name"] == "transfer")
assert transfer["available"] == drivers, (transfer, drivers)
PYTHON
