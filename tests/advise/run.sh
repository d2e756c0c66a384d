#!/usr/bin/env bash
# run.sh CASE NUMATLAS SOURCE_FOLDER: `numatlas advise` with programs whose best placement is known,
# since they look at their own placement.
set -u
case=$1 numatlas=$2 source=$3
# shellcheck source=tests/legacy/checks.sh
. "$source/tests/legacy/checks.sh"
cd "$folder" || exit 1
PATH=$(dirname "$numatlas"):$PATH
advise() { run "$numatlas" advise --runs 5 -q "$@"; }
# The answer is the first line; of a busy machine in brackets below the reason.
answers() {
  head -n 2 <<<"$out" | sed -E 's/^\((.*)\)$/\1/' | grep -qE -- "^$1" || fail "the first line is not: $1"
}

# Fast only where glibc's heap asks for transparent huge pages; the file `speeds` says what it was.
# shellcheck disable=SC2016 # for the programs' own shells
likes_thp='case ${GLIBC_TUNABLES:-} in *hugetlb=1*) echo fast ;; *) echo slow; sleep 0.1 ;; esac >>speeds'
needs_thp() {
  grep -q '\[madvise\]' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null && return
  echo 'skipped: transparent huge pages are not set to madvise'
  exit 77
}
needs_two_cpus() { [ "$(nproc)" -ge 2 ] || { echo 'skipped: one CPU'; exit 77; }; }

case $case in
  planted) # found, with its lines; each of them does it
    needs_thp
    advise --try pages -- sh -c "$likes_thp"
    ends_with 0
    answers 'thp: [0-9.]+ % less time \('
    shown=$(sed -nE 's/^(Run)? +(numatlas exec .*|env .*)/\2/p' <<<"$out")
    [ "$(wc -l <<<"$shown")" -eq 2 ] || fail 'not two lines'
    while read -r line; do
      rm -f speeds
      bash -c "$line"
      [ "$(cat speeds)" = fast ] || fail "not the fast placement: $line"
    done <<<"$shown" ;;
  pinned)
    needs_two_cpus
    # shellcheck disable=SC2016
    advise --try cpus -- sh -c 'case $(nproc) in 1) ;; *) sleep 0.1 ;; esac'
    ends_with 0
    answers 'pinned: '
    says '^ +numactl --physcpubind=[0-9]+ sh -c ' ;;
  equal)
    advise --try pages,cpus -- sleep 0.1
    ends_with 0
    answers '(no placement is|there is nothing that could be tried)' ;;
  metric)
    needs_thp
    # shellcheck disable=SC2016
    printing='case ${GLIBC_TUNABLES:-} in "") echo rate 100.$$ ;; *) echo rate 150.$$ ;; esac'
    advise --try pages --metric 'rate ([0-9.]+)' --higher -- sh -c "$printing"
    ends_with 0
    answers 'thp: (49|50)\.[0-9] % more of the metric'
    advise --try pages --metric 'rate ([0-9.]+)' -- sh -c "$printing"
    answers 'no placement is better than as it is'
    advise --metric 'rate ([0-9]+)' -- echo nothing
    ends_with 2
    warns '--metric: the program printed no metric'
    advise --metric 'rate ([0-9]+)' -- echo rate 1 rate 2
    ends_with 2
    warns 'more than once' ;;
  min_effect) # a gain that is sure, but small, is none
    needs_two_cpus
    # shellcheck disable=SC2016
    printing='case $(nproc) in 1) echo rate 101.5 ;; *) echo rate 100 ;; esac'
    advise --try cpus --metric 'rate ([0-9.]+)' --higher -- sh -c "$printing"
    ends_with 0
    answers 'no placement is better than as it is; pinned: 1\.5 % more of the metric \(1\.5 to 1\.5 %\), less than --min-effect$'
    advise --try cpus --min-effect 1% --metric 'rate ([0-9.]+)' --higher -- sh -c "$printing"
    ends_with 0
    answers 'pinned: 1\.5 % more of the metric'
    advise --min-effect 2 -- true
    ends_with 2
    warns "--min-effect: '2' is not a fraction between 0 and 1" ;;
  candidate_fails)
    needs_thp
    # shellcheck disable=SC2016
    advise --try pages -- sh -c 'test -z "${GLIBC_TUNABLES:-}" || { echo no memory >&2; exit 9; }'
    ends_with 0
    says '^Failed +thp ended with exit code 9 \(no memory\)$'
    answers 'as it is: every other candidate failed$' ;;
  program_fails)
    advise -- sh -c 'echo broken >&2; exit 3'
    ends_with 1
    warns 'sh: ended with exit code 3 \(broken\)'
    advise -- sh -c 'kill -ABRT $$'
    ends_with 1
    warns 'signal 6'
    advise --timeout 0.2s -- sleep 60
    ends_with 1
    warns 'did not end'
    advise -- ./nowhere
    ends_with 3
    echo text >file
    advise -- ./file
    ends_with 4 ;;
  left_behind)
    advise --try cpus -- sh -c 'sleep 50 & exit 0'
    ends_with 0
    says 'left processes behind' ;;
  no_time) # which is no answer
    needs_two_cpus
    run "$numatlas" advise -q --time 2s --try cpus -- sleep 1
    ends_with 9
    answers 'no answer: no time to try any candidate; increase --time'
    SECONDS=0
    run "$numatlas" advise -q --time 1s --try cpus -- sleep 300
    ends_with 9
    answers 'no answer: the program as it is did not end within --time; increase it$'
    run "$numatlas" advise -q --time 1s --warmup 1 --try cpus -- sleep 300
    ends_with 9
    answers 'no answer: the program as it is did not end within --time; increase it$'
    # A candidate that would take far longer than the rest of the time.
    # shellcheck disable=SC2016
    run "$numatlas" advise -q --time 5s --try cpus -- sh -c 'case $(nproc) in 1) sleep 300 ;; *) sleep 0.2 ;; esac'
    ends_with 9
    answers 'no answer: too few runs in the time available'
    [ "$SECONDS" -lt 60 ] || fail "--time is not kept: $SECONDS s"
    run "$numatlas" advise -q --time 2s --try cpus --prepare 'sleep 60' -- true
    ends_with 2
    warns "--prepare: 'sleep 60' did not end within its time limit" ;;
  prepare_fails)
    needs_two_cpus
    # shellcheck disable=SC2016
    advise --try cpus --prepare 'echo x >>times; test "$(wc -l <times)" -lt 4' -- sleep 0.06
    ends_with 1
    answers 'no answer: --prepare: .* ended with exit code 1' ;;
  lost_input)
    needs_two_cpus
    out=$(seq 10 | "$numatlas" advise -q --runs 5 --try cpus -- sleep 0.06 2>errors)
    status=$? err=$(<errors)
    ends_with 0
    says 'standard input is not a file' ;;
  killed) # a second Ctrl-C takes along what the program started
    needs_two_cpus
    "$numatlas" advise --try cpus -- sh -c 'trap "" TERM; sleep 4711; true' >text 2>errors &
    sleep 1
    kill -INT $!
    sleep 0.5
    kill -INT $!
    wait $!
    status=$? out=$(<text) err=$(<errors)
    ends_with 130
    sleep 0.2
    ! pgrep -f 'sleep 4711' || fail 'a process was left behind' ;;
  examples) # the shipped programs print what the documents say
    programs=$(dirname "$numatlas")/../examples
    advise --try pages --metric 'ns per lookup: ([0-9.]+)' -- "$programs/hash_lookups" 16 1
    ends_with 0
    says '^as it is +\(?(unknown: )?[0-9.]+'
    advise --try pages --metric 'GB/s: ([0-9.]+)' --higher -- "$programs/stream_checksum" 16 2
    ends_with 0
    says '^as it is +\(?(unknown: )?[0-9.]+'
    advise --try pages -- "$programs/compute_only" 50
    ends_with 0
    says '^as it is +\(?(unknown: )?[0-9.]+' ;;
  files)
    needs_two_cpus
    advise --try cpus --json a.json -- sh -c 'sleep 0.02'
    ends_with 0
    run "$numatlas" compare a.json a.json --format csv --no-fail
    ends_with 0
    says 'run_time'
    mkdir gone
    advise --try cpus --json gone/a.json -- sh -c 'rm -rf gone; sleep 0.06'
    ends_with 6
    says '^Placements' ;; # a file that fails takes nothing of it
  curve) # who reads its memory is slowed, and it is told by how much
    needs_two_cpus
    run "$numatlas" advise --curve --runs 5 -q --json curve.json -- dd if=/dev/zero of=/dev/null bs=16M count=20
    ends_with 0
    answers '.* under a load of |.* up to a load of '
    says '^load 95%'
    python3 - <<'CHECK' || fail 'curve.json'
import json

report = json.load(open("curve.json"))
cases = {case["name"]: case for case in report["cases"]}
figures = {name: {one["key"]: one["estimate"] for one in case["figures"]} for name, case in cases.items()}
assert figures["idle"]["bandwidth_sum"]["value"] == 0, figures["idle"]
for name in ("load 25%", "load 50%", "load 75%", "load 95%"):
    assert figures[name]["bandwidth_sum"]["value"] > 0 and figures[name]["slowdown"]["low"] is not None, figures[name]
assert report["views"][0]["kind"] == "curve" and len(report["views"][0]["drawn"][0]["rows"]) == 5
CHECK
    ;;
  interrupted)
    "$numatlas" advise --try cpus -- sleep 0.2 >text 2>errors &
    sleep 2
    kill -INT $!
    wait $!
    status=$? out=$(<text) err=$(<errors)
    ends_with 130
    answers '(stopped before there was an answer|there is nothing)' ;;
  input) # every run reads it from its start
    seq 1000 >numbers
    # shellcheck disable=SC2016
    adding=(sh -c 's=0; while read -r n; do s=$((s + n)); done; echo sum $s')
    advise --try cpus --metric 'sum ([0-9]+)' -- "${adding[@]}"
    ends_with 2 # nothing to read
    warns 'only metrics above 0'
    out=$("$numatlas" advise --runs 5 -q --try cpus --metric 'sum ([0-9]+)' -- "${adding[@]}" \
      <numbers 2>errors)
    status=$? err=$(<errors)
    ends_with 0
    says '500500' ;;
  *) echo "unknown case $case"; exit 1 ;;
esac
