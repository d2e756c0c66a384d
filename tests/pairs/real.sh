#!/usr/bin/env bash
# real.sh CASE NUMATLAS: cores and touch on this machine's own memory, for a short time; only the
# structure of what comes back is looked at, no figure. Exit 77: there is one CPU.
set -u
case=$1 numatlas=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
[ "$case" = survey ] || [ "$(nproc)" -ge 2 ] || { echo 'one CPU'; exit 77; }

check() { # PYTHON: with `run`, the JSON, its `cases`, and value(flow, key)
  PYTHONPATH=$here/.. python3 -c "
import sys
from results import load, value
run = load(sys.argv[1])
cases = run['cases']
$1" "$folder/run.json" || exit 1
}

case $case in
  cores)
    "$numatlas" cores -q --time 100ms --json "$folder/run.json" >"$folder/out" || exit 1
    grep -q '^Core-to-core latency in ns, by compare-and-swap$' "$folder/out" || { cat "$folder/out"; exit 1; }
    check '
assert run["complete"] and cases
assert {case["kernel"] for case in cases} == {"cas", "store"}
for case in cases:
    asks, answers = case["flows"]
    assert case["status"] == "ok" and asks["wrong"] is None, case
    assert asks["figures"][0]["key"] == "core_to_core" and value(asks, "core_to_core") > 0
    assert not answers["figures"] and asks["address"] == answers["address"] > 0
    assert asks["cpu_after"] == int(case["labels"]["first_cpu"])
    assert answers["cpu_after"] == int(case["labels"]["second_cpu"])' ;;
  touch)
    "$numatlas" touch -q --cpus all --time 100ms --size 4 --json "$folder/run.json" >"$folder/out" || exit 1
    grep -q '^pattern  run .* times own$' "$folder/out" || { cat "$folder/out"; exit 1; }
    check '
assert run["complete"]
workers = len(run["workers"])
assert workers >= 2 and len(cases) == 3 * (workers + 1)
for case in cases:
    assert case["status"] == "ok", case
    assert len(case["flows"]) == (workers if case["labels"]["run"] == "together" else 1)
    for flow in case["flows"]:
        own = case["labels"]["pattern"] == "own"
        keys = [figure["key"] for figure in flow["figures"]]
        assert keys[2:4] == ["access_time", "pass_time"], keys
        assert ("times_as_long_as_own" in keys) == (not own), keys
        assert flow["residency"]["pages_untouched"] == 0' ;;
  stopped) # what was measured before is kept, and nothing hangs
    "$numatlas" cores -q --time 60s --visits 1 --json "$folder/run.json" \
      >"$folder/out" 2>"$folder/err" &
    pid=$!
    sleep 4 # a start under a sanitizer takes a while
    kill -INT "$pid"
    wait "$pid"
    status=$?
    [ "$status" -eq 130 ] || { echo "exit code $status, not 130"; cat "$folder/err"; exit 1; }
    check '
assert not run["complete"] and cases[-1]["status"] == "incomplete"
assert value(cases[-1]["flows"][0], "core_to_core") > 0' ;;
  survey) # one CPU: no pair, and the survey goes on to what comes after
    cpu=$(taskset -pc $$ | sed 's/.*: //; s/[,-].*//')
    taskset -c "$cpu" "$numatlas" survey --dry-run --output "$folder/report" >"$folder/out" || exit 1
    for line in '^skipped: cores: no pair to measure: only CPU ' '^\$ numatlas latency '; do
      grep -qE "$line" "$folder/out" || { cat "$folder/out"; exit 1; }
    done ;;
  *) echo "unknown case $case"; exit 1 ;;
esac
