#!/usr/bin/env bash
# disturb.sh CASE NUMATLAS: the real program on the machine at hand is disturbed while it measures, and
# has to say so. Nothing is said of a quiet machine: this one may not be.
set -u
case=$1 numatlas=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d) || exit 1
spinners=() groups=()
cleanup() {
  [ ${#groups[@]} -eq 0 ] || rmdir "${groups[@]}" 2>/dev/null
  [ ${#spinners[@]} -eq 0 ] || kill -KILL "${spinners[@]}" 2>/dev/null
  rm -rf "$folder"
}
trap cleanup EXIT
# shellcheck source=tests/outside.sh
. "$here/../outside.sh"
hide_outside
unset NUMATLAS_TEST_QUIET

fail() {
  printf 'FAILED: %s\n' "$1"
  cat "$folder"/*.out "$folder"/*.err 2>/dev/null
  exit 1
}
run() { # NAME WORDS...
  local name=$1
  shift
  timeout -k 5 120 "$numatlas" "$@" >"$folder/$name.out" 2>"$folder/$name.err" </dev/null
}
says() { grep -qE -- "$2" "$folder/$1.out" || fail "$1 does not say: $2"; }
holds() { # FILE WORDS: true of the JSON in `report`
  PYTHONPATH=$here/.. python3 -c 'import sys
from results import load
report = load(sys.argv[1])
assert eval(sys.argv[2]), (sys.argv[2], report.get("cpu_use"), report["warnings"])' "$folder/$1" "$2" ||
    fail "the JSON of $1"
}

used='other programs used [0-9.]+ of [0-9]+ CPUs'
case $case in
  neighbour) # a process that does nothing but spin, for each CPU that may be used
    for ((i = $(nproc); i > 0; --i)); do
      python3 -c 'while True: pass' &
      spinners+=($!)
    done
    run latency latency --size 16KiB --time 1s --precision 0.0001% --threads 1 --stats --json "$folder/a.json" ||
      fail 'latency'
    holds a.json 'len(report["cpu_use"]) == len(report["hosts"])'
    if python3 -c 'import json, sys
sys.exit(json.load(open(sys.argv[1]))["cpu_use"][0]["other_processes"] is not None)' "$folder/a.json"; then
      echo 'skipped: CPU times are not told here'
      exit 77
    fi
    # One of them alone is half a CPU or more, whatever has the other half.
    holds a.json 'report["cpu_use"][0]["other_processes"] + report["cpu_use"][0]["stolen"] >= 0.4'
    holds a.json '[one["code"] for one in report["warnings"]].count("other-processes") == 1'
    says latency "^UNRELIABLE: .*$used.*; run again when it is quiet$"
    says latency '^\(Idle latency: .*\)$'
    timeout -k 5 120 "$numatlas" latency --size 16KiB --time 1s --threads 1 --strict >"$folder/strict.out" \
      2>"$folder/strict.err" </dev/null
    [ $? -eq 1 ] || fail 'exit code with --strict'
    # What lasts is not waited for: a few visits are measured again, and then no more.
    holds a.json '(lambda v: 1 <= v["repeated"] <= 3 and v["disturbed"] >= v["count"] // 2)(report["cases"][0]["visits"])'
    holds a.json '(lambda v: len(v["others"]) == len(v["stolen"]) == len(v["switches"]) == v["count"])(report["cases"][0]["visits"])'
    says latency '^visits: .*; [123] visits? repeated because the first try was disturbed; [0-9]+ of [0-9]+ visits? (was|were) disturbed and kept'
    run stream stream --elements 100000 --repeats 200 --json "$folder/s.json" --format table ||
      fail 'stream'
    holds s.json 'report["cpu_use"][0]["other_processes"] > 0'
    run compare compare "$folder/a.json" "$folder/a.json"
    [ $? -eq 9 ] || fail 'exit code of compare'
    says compare "^not distinguishable .* \*$"
    disturbed='[0-9]+ of [0-9]+ visits were disturbed [(].*CPUs[)]'
    says compare "^warning: BASE: $disturbed; NEW: $disturbed: the difference may come from that"
    says compare '^other processes during latency '
    says compare '^warning: other processes during latency: ' ;;

  burst) # a neighbour for a part of the run
    for ((i = $(nproc); i > 0; --i)); do
      python3 -c 'import time
time.sleep(1.5)
end = time.time() + 1
while time.time() < end: pass' &
      spinners+=($!)
    done
    run latency latency --size 16KiB --time 4s --threads 1 --json "$folder/a.json" || fail 'latency'
    if python3 -c 'import json, sys
sys.exit(json.load(open(sys.argv[1]))["cpu_use"][0]["other_processes"] is not None)' "$folder/a.json"; then
      echo 'skipped: CPU times are not told here'
      exit 77
    fi
    holds a.json 'report["cases"][0]["visits"]["repeated"] >= 1' ;;

  quota) # a control group of its own, of either version, with a fifth of a CPU
    for place in /sys/fs/cgroup/cpu /sys/fs/cgroup; do
      group=$place/numatlas-test-$$
      mkdir "$group" 2>/dev/null || continue
      groups+=("$group")
      if [ -e "$group/cpu.max" ]; then
        echo '20000 100000' >"$group/cpu.max"
      elif [ -e "$group/cpu.cfs_quota_us" ]; then
        echo 100000 >"$group/cpu.cfs_period_us" && echo 20000 >"$group/cpu.cfs_quota_us"
      else
        continue
      fi
      break
    done 2>/dev/null
    grep -qs 20000 "${group:-/}"/cpu.{max,cfs_quota_us} || {
      echo 'skipped: no control group of our own here'
      exit 77
    }
    in_group() { # NAME WORDS...
      (echo "$BASHPID" >"$group/cgroup.procs" && run "$@")
    }
    in_group topology topology || fail 'topology'
    says topology '^  CPU quota     0.2 CPUs on average .*cpu'
    in_group latency latency --stats --size 16KiB --time 1s --precision 0.0001% --threads 1 --json "$folder/a.json" ||
      fail 'latency'
    holds a.json 'report["cpu_use"][0]["throttled"] > 0'
    holds a.json 'sum(report["cases"][0]["visits"]["throttled"]) > 0'
    holds a.json 'report["cases"][0]["visits"]["disturbed"] + report["cases"][0]["visits"]["repeated"] > 0'
    says latency '^UNRELIABLE: .*the CPU quota withheld [0-9.]+ CPUs.*docker --cpus'
    says latency '^warning: 1 worker on a CPU quota of 0.2 CPUs' ;;

  stopped) # as SIGSTOP does, and SIGCONT two seconds later
    "$numatlas" latency --stats --size 16KiB,32KiB --time 2s --precision 0.0001% --json "$folder/a.json" -q \
      >"$folder/latency.out" 2>"$folder/latency.err" </dev/null &
    pid=$!
    spinners+=("$pid")
    for ((i = 0; i < 600; ++i)); do # until it is at the second size
      [ ! -e "$folder/a.json" ] || break
      sleep 0.05
    done
    sleep 0.5
    kill -STOP "$pid" || fail 'ended before it was stopped'
    sleep 2
    kill -CONT "$pid"
    wait "$pid" || fail 'latency'
    # Its visit is disturbed: it is measured once more, unless a steady neighbour has seen to that thrice.
    says latency '^warning: .*: (was stopped|lost its CPU) for [12]\.[0-9]+ s while measuring'
    # Visits of both sizes take turns: it meets one of them.
    holds a.json 'any(one["visits"]["repeated"] >= 1 or one["flows"][0]["stopped"] >= 1.9 for one in report["cases"])'
    holds a.json '1.9 <= report["cases"][1]["flows"][0]["together"]'
    holds a.json '"stopped" in [one["code"] for one in report["warnings"]]' ;;

  *) fail "no such case" ;;
esac
