#!/usr/bin/env bash
# features.sh NUMATLAS: what a machine has differs from one to the next; that each line says yes or
# no, and each no says why, does not.
set -u
table=$("$1" features </dev/null) || { echo "FAILED: features: exit code $?"; exit 1; }
lines=0
while IFS= read -r line; do
  lines=$((lines + 1))
  if ! [[ $line =~ ^[a-z]+\ .*\ \ (yes|no)\ +[^\ ] ]]; then
    echo "FAILED: neither yes nor no, or no word about it: $line"
    exit 1
  fi
done <<<"$table"
[ "$lines" -ge 10 ] || { echo "FAILED: only $lines lines"; exit 1; }
"$1" features --format json </dev/null | python3 -c '
import json, sys
features = json.load(sys.stdin)
assert len(features) == int(sys.argv[1]), (len(features), sys.argv[1])
for feature in features:
    assert isinstance(feature["available"], bool), feature
    assert feature["name"] and feature["group"], feature
    assert feature["available"] or feature["detail"], feature
assert {"cuda", "hip"} == {feature["name"] for feature in features if feature["group"] == "gpu"}, features
' "$lines"
