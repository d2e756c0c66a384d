#!/usr/bin/env bash
# export.sh NUMATLAS: stored figures in every form, as the programs they are for read them.
set -u
numatlas=$1
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/outside.sh
. tests/outside.sh
kept=NUMATLAS_TEST_ hide_outside
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
tiers=examples/results/tiers.json
export_() { "$numatlas" export "$@" 2>"$folder/err" </dev/null; }

# ---- hwloc's own tools find what was measured
machine=$folder/machine.xml
export_ hwloc $tiers --standard --machine tests/golden/guest-tiers.xml -o "$machine" || fail "hwloc: $(cat "$folder/err")"
grep -q '<info name="MeasuredBy" value="numatlas .* on guest, 2026-' "$machine" || fail 'hwloc: no provenance'
lowest=$(python3 - $tiers <<'END'
import json, sys
facts = [f for r in json.load(open(sys.argv[1]))["results"] for f in r["facts"] if f["key"] == "matrix_latency"]
# From CPUs of node 1; node 2 has none and is nearest to them.
own = [f for f in facts if f["where"]["cpu_node"] == "1" and f["where"]["memory_node"] in "12"]
best = min(own, key=lambda f: f["estimate"]["value"])
print(best["where"]["memory_node"], round(best["estimate"]["value"] * 1e9))
END
)
if command -v hwloc-info >/dev/null && hwloc-info --help 2>&1 | grep -q best-memattr; then
  for name in MeasuredLatency Latency; do
    best=$(hwloc-info -i "$machine" -p --local-memory --best-memattr "$name" pu:2 2>&1)
    [[ $best == *"os index = ${lowest% *}"* ]] || fail "hwloc-info: the best by $name is not node ${lowest% *}: $best"
  done
  shown=$(lstopo-no-graphics -i "$machine" --memattrs 2>&1)
  for name in MeasuredLatency MeasuredReadBandwidth; do
    [[ $shown == *"Memory attribute #"*"name \`$name'"* ]] || fail "lstopo: does not know $name"
  done
  [[ $shown == *" = ${lowest#* } from "* ]] || fail "lstopo: no latency of ${lowest#* } ns"
else
  echo 'skipped: hwloc-info knows no memory attributes'
fi

# ---- A survey writes the topology that its figures go into
"$numatlas" survey --engine null -q --no-report --only matrix --machine 'numa:2(memory=34359738368) core:2 pu:1' \
  -o "$folder/report" >/dev/null || fail 'survey'
for file in "$folder/report" "$folder/report/survey.json"; do
  export_ hwloc "$file" -o "$machine" || fail "hwloc: $(cat "$folder/err")"
  grep -q 'memattr .*name="MeasuredLatency"' "$machine" || fail "hwloc: no attribute from $file"
done

# ---- What is wrong is told in one line, and leaves no file behind
refused() { # CODE TEXT WORD...
  local code=$1 text=$2 status
  shift 2
  "$numatlas" export "$@" >"$folder/out" 2>"$folder/err" </dev/null
  status=$?
  [ $status -eq "$code" ] || fail "export $*: exit status $status, not $code"
  [ ! -s "$folder/out" ] || fail "export $*: something on standard output"
  grep -qE -- "$text" "$folder/err" || fail "export $*: does not say $text: $(cat "$folder/err")"
}
python3 - "$tiers" "$folder" <<'END' || fail 'its inputs'
import json, sys
def write(name, change):
    data = json.load(open(sys.argv[1]))
    change(data)
    json.dump(data, open(f"{sys.argv[2]}/{name}.json", "w"))
def no_facts(data):
    for result in data["results"]:
        result["facts"] = []
def no_matrix(data):
    data["results"] = [r for r in data["results"] if r["command"] == "latency"]
write("newer", lambda data: data.update(schema_version=99))
write("no-facts", no_facts)
write("no-matrix", no_matrix)
END
refused 2 'FORM' 
refused 2 "'csv'.*hwloc" csv $tiers
refused 2 'FILE: is required' hwloc
refused 6 'none.json: cannot be read' published none.json
refused 2 'schema_version is 99' published "$folder/newer.json"
refused 2 'is not JSON|not a result' published README.md
refused 3 'has no figures to export' hwloc "$folder/no-facts.json"
refused 3 'no-matrix.json: has no latency or bandwidth from CPUs of a node' hwloc "$folder/no-matrix.json"
refused 3 'tiers.json: has no topology.xml of hwloc beside it' hwloc $tiers
refused 2 'is a snapshot' hwloc $tiers --machine tests/topologies/guest-tiers.json
refused 2 '--standard: does not apply' published $tiers --standard
refused 2 '--machine: does not apply' published $tiers --machine tests/topologies/knl-flat.json
refused 2 'no NUMA node|has not all of the CPUs|no CPUs' hwloc $tiers --machine 'numa:2 core:1 pu:1'
refused 6 '--output' published $tiers -o "$folder/none/file.csv"
refused 3 'no GPU' gpu-nodes $tiers
"$numatlas" survey --engine null -q --no-report --only bandwidth --machine 'numa:2 core:2 pu:1' -o "$folder/null" >/dev/null
refused 3 'null engine, which measures nothing' published "$folder/null"
cp $tiers "$folder/own.json"
refused 2 '--output: .*own.json. is the file that is read' published "$folder/own.json" -o "$folder/own.json"
cmp -s $tiers "$folder/own.json" || fail 'export overwrote its input'
refused 2 'more than once|not expected|unknown' published $tiers $tiers $tiers

[ $failures -eq 0 ] && echo 'all as expected'
exit $((failures > 0))
