#!/usr/bin/env bash
# run.sh CASE NUMATLAS SOURCE_FOLDER: loads beside real programs, and how they end.
set -u
case=$1 numatlas=$2 source=$3
# shellcheck source=tests/legacy/checks.sh
. "$source/tests/legacy/checks.sh"
cd "$folder" || exit 1
[ "$(nproc)" -ge 2 ] || { echo 'skipped: one CPU'; exit 77; }
small=(--size 8MiB --rate 200MB/s -q)
load() { run "$numatlas" load "${small[@]}" "$@"; }
# Until a line is there: the programs say that they run.
wait_for() { until grep -q "$1" "$2" 2>/dev/null; do sleep 0.05; done; }
started() { # runs in the background, to be stopped
  "$numatlas" load "${small[@]}" "$@" >text 2>errors &
  started=$!
}
ended() {
  wait "$started"
  status=$? out=$(<text) err=$(<errors)
}

case $case in
  program) # its output, its CPUs and its exit code are its own
    load -- sh -c 'echo mine; grep Cpus_allowed_list /proc/self/status; exit 7'
    ends_with 7
    says '^mine$'
    warns '^(Load|The load)'
    all=$(nproc)
    cpus=$(sed -n 's/^Cpus_allowed_list:\t//p' <<<"$out")
    [ "$(taskset -c "$cpus" nproc)" -lt "$all" ] || fail 'it has the CPUs of the load'
    # shellcheck disable=SC2016 # for the program's own shell
    load -- sh -c 'kill -KILL $$'
    ends_with 137
    load -- ./nowhere
    ends_with 127
    warns './nowhere: No such file'
    touch file
    load -- ./file
    ends_with 126 ;;
  stopped) # the program hears of it
    # shellcheck disable=SC2016
    started -- sh -c 'trap "echo told; exit 3" TERM; echo runs; while :; do sleep 0.1; done'
    wait_for runs text
    kill -TERM "$started"
    ended
    ends_with 143
    says '^told$'
    warns '^INCOMPLETE: interrupted' ;;
  wrapped) # nor does what a script has started go on
    # shellcheck disable=SC2016
    started -- sh -c 'sleep 600 & echo $! >child; echo runs; wait' </dev/null
    wait_for runs text
    kill -TERM "$started"
    ended
    ends_with 143
    ! kill -0 "$(<child)" 2>/dev/null || fail 'what the script started goes on' ;;
  deaf) # a program that does not listen is ended
    # shellcheck disable=SC2016
    started -- sh -c 'trap "" TERM; echo runs; while :; do sleep 0.1; done'
    wait_for runs text
    kill -TERM "$started"
    ended
    ends_with 143
    warns '^INCOMPLETE: interrupted' ;;
  endless) # a signal is its end
    started
    sleep 2.5
    kill -INT "$started"
    ended
    ends_with 0
    says '^Load ' ;;
  killed) # nothing is left behind
    started -- sh -c 'echo runs; exec sleep 4713'
    wait_for runs text
    kill -KILL "$started"
    ended
    for _ in {1..50}; do
      pgrep -f 'sleep 4713' >left || exit 0
      sleep 0.1
    done
    fail 'the program was left behind' ;;
  report) # pages, what was asked, what was reached
    load --time 1s --json load.json
    ends_with 0
    python3 - <<'CHECK' || fail 'load.json'
import json

case = json.load(open("load.json"))["cases"][0]
figures = {one["key"]: one["estimate"]["value"] for one in case["figures"]}
assert figures["rate_asked"] == 2e8 and 0 < figures["bandwidth_sum"] < 2.2e8, figures
residency = case["flow_common"].get("residency") or case["flows"][0]["residency"]
assert sum(residency["pages_by_node"].values()) == residency["pages_total"], residency
CHECK
    ;;
  *) echo "unknown case $case"; exit 1 ;;
esac
