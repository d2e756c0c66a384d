#!/usr/bin/env bash
# self_compare.sh NUMATLAS: what every benchmark, and a survey, writes can be read again: compared with
# itself nothing differs.
set -u
numatlas=$1
cd "$(dirname "${BASH_SOURCE[0]}")/../topologies" || exit 1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*"; exit 1; }

same() { # FILE [FILE]
  "$numatlas" compare "$1" "${2:-$1}" >"$folder/out" 2>&1
  status=$?
  [ "$status" -eq 9 ] || { cat "$folder/out"; fail "compare $1 with itself: exit status $status"; }
  grep -qE '^UNDECIDED: [1-9][0-9]* cases?, .*: within what launches differ$' "$folder/out" || { cat "$folder/out"; fail "$1: no case, or one differs"; }
}

quick=(--engine null --machine guest-four-nodes.json --time 50ms -q)
for words in 'latency --size 1MiB' 'bandwidth --size 1MiB --kernels copy --threads 1,2' 'matrix --size 1MiB' \
  'loaded --pairs 0:0 --size 1MiB' 'cores --cpus 0,2,4' 'copy --size 1MiB' 'copy --size 1MiB --threads 1,2' \
  'copy --from bind:0 --to bind:1 --size 1MiB' 'touch --size 1MiB' 'weights --nodes 0,1 --size 1MiB'; do
  # shellcheck disable=SC2086  # words
  "$numatlas" $words "${quick[@]}" --json "$folder/file.json" >/dev/null || fail "$words"
  same "$folder/file.json"
done
"$numatlas" transfer --engine null --machine two-sockets-four-gpus.json --time 50ms -q --json "$folder/file.json" \
  >/dev/null || fail transfer
same "$folder/file.json"
"$numatlas" survey --engine null --machine guest-four-nodes.json --quick -q --no-report -o "$folder/survey" >/dev/null ||
  fail survey
same "$folder/survey/survey.json"
# The same quantity is the same case, whichever command measured it.
for command in latency bandwidth matrix copy loaded cores; do
  "$numatlas" "$command" "${quick[@]}" --json "$folder/file.json" >/dev/null || fail "$command"
  same "$folder/survey/survey.json" "$folder/file.json"
done

# What is damaged is told in one line that names file and field.
refused() { # EDIT TEXT
  python3 -c "import json,sys
v = json.load(open(sys.argv[1]))
$1
json.dump(v, open(sys.argv[2], 'w'))" "$folder/file.json" "$folder/bad.json" || exit 1
  "$numatlas" compare "$folder/bad.json" "$folder/bad.json" >"$folder/out" 2>&1
  status=$?
  [ "$status" -eq 2 ] || fail "$1: exit status $status"
  grep -qF "bad.json" "$folder/out" || fail "$1: does not name the file"
  grep -qE "$2" "$folder/out" || { cat "$folder/out"; fail "$1: does not say $2"; }
}
"$numatlas" latency --size 1MiB "${quick[@]}" --json "$folder/file.json" >/dev/null || fail latency
refused "v['schema_version'] = 3" 'schema_version.* 3'
refused "del v['cases'][0]['status']" "field 'cases\[0\].status' is missing"
refused "v['cases'][0]['flows'][0]['figures'][0]['estimate']['low'] = 1" "estimate' has an interval that excludes its value"
refused "v['views'] = [{'title': 'a', 'kind': 'matrix', 'level': 'cases', 'where': {}, 'rows': 'size', 'columns': 'colour', 'symmetric': False, 'cells': [], 'notes': [], 'verdict': []}]" "names the label 'colour'"
head -c 2000 "$folder/file.json" >"$folder/bad.json"
"$numatlas" compare "$folder/bad.json" "$folder/bad.json" >"$folder/out" 2>&1
status=$?
[ "$status" -eq 2 ] || fail "a cut file: exit status $status"
grep -q 'is truncated after 2000 bytes' "$folder/out" || fail "does not say that the file is cut"
