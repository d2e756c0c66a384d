#!/usr/bin/env bash
# real.sh CASE NUMATLAS: cores and touch on this machine's own memory, for a short time; only the
# structure of what comes back is looked at, no figure. Exit 77: there is one CPU.
set -u
case=$1 numatlas=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
[ "$case" = survey ] || [ "$(nproc)" -ge 2 ] || { echo 'one CPU'; exit 77; }

check() { # PYTHON: with `run`, the JSON, and `points`
  python3 -c "
import json, sys
run = json.load(open(sys.argv[1]))
points = run['scenarios']
label = lambda point, name: point['labels'][name]
$1" "$folder/run.json" || exit 1
}

case $case in
  cores)
    "$numatlas" cores -q --time 100ms --json "$folder/run.json" >"$folder/out" || exit 1
    grep -qE '^(cas|store) +same' "$folder/out" || { cat "$folder/out"; exit 1; }
    check '
assert run["complete"] and points
assert {p["kernel"] for p in points} == {"cas", "store"}
for p in points:
    asks, answers = p["flows"]
    assert p["status"] == "ok" and asks["wrong"] is None, p
    assert asks["metrics"][0]["name"] == "hand_over" and asks["metrics"][0]["value"] > 0
    assert not answers["metrics"] and asks["address"] == answers["address"]
    assert asks["cpu_after"] == int(label(p, "first_cpu"))
    assert answers["cpu_after"] == int(label(p, "second_cpu"))' ;;
  touch)
    "$numatlas" touch -q --time 100ms --size 4 --json "$folder/run.json" >"$folder/out" || exit 1
    grep -q 'memory first touched by worker' "$folder/out" || { cat "$folder/out"; exit 1; }
    check '
assert run["complete"]
workers = len(run["workers"])
assert workers >= 2 and len(points) == 3 * (workers + 1)
for p in points:
    assert p["status"] == "ok", p
    assert len(p["flows"]) == (workers if label(p, "run") == "together" else 1)
    for flow in p["flows"]:
        own = label(p, "pattern") == "own"
        names = [m["name"] for m in flow["metrics"]]
        assert names[2:4] == ["access_time", "pass_time"], names
        assert ("times_as_long_as_own" in names) == (not own), names
        assert flow["residency"]["pages_untouched"] == 0' ;;
  stopped) # what was measured before is kept, and nothing hangs
    "$numatlas" cores -q --time 60s --precision 0.0001% --json "$folder/run.json" \
      >"$folder/out" 2>"$folder/err" &
    pid=$!
    sleep 2
    kill -INT "$pid"
    wait "$pid"
    status=$?
    [ "$status" -eq 130 ] || { echo "exit code $status, not 130"; cat "$folder/err"; exit 1; }
    check '
assert not run["complete"] and points[-1]["status"] == "incomplete"
assert points[-1]["flows"][0]["metrics"][0]["value"] > 0' ;;
  survey) # one CPU: no pair, and the survey goes on to what comes after
    cpu=$(taskset -pc $$ | sed 's/.*: //; s/[,-].*//')
    taskset -c "$cpu" "$numatlas" survey --dry-run --output "$folder/report" >"$folder/out" || exit 1
    for line in '^skipped: cores: there is no pair: only CPU ' '^\$ numatlas latency '; do
      grep -qE "$line" "$folder/out" || { cat "$folder/out"; exit 1; }
    done ;;
  *) echo "unknown case $case"; exit 1 ;;
esac
