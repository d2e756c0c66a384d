#!/usr/bin/env bash
# fault.sh CASE NUMATLAS REFUSE: the real program on the machine at hand, and something goes wrong.
# Exit 77: the fault cannot be made here.
set -u
case=$1 numatlas=$2 refuse=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d) || exit 1
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
# shellcheck source=tests/outside.sh
. "$here/../outside.sh"
hide_outside
status=- ; : >"$folder/out"; : >"$folder/err"

fail() {
  printf 'FAILED: %s\n--- exit code %s, standard output ---\n' "$1" "$status"
  cat "$folder/out"
  echo '--- standard error ---'
  cat "$folder/err"
  exit 1
}
skip() {
  echo "skipped: $1"
  exit 77
}
run() {
  timeout -k 5 90 "$@" >"$folder/out" 2>"$folder/err" </dev/null
  status=$?
}
ends_with() { [ "$status" -eq "$1" ] || fail "the exit code is not $1"; }
out_says() { grep -qE -- "$1" "$folder/out" || fail "standard output does not say: $1"; }
err_says() { grep -qE -- "$1" "$folder/err" || fail "standard error does not say: $1"; }
out_is_empty() { [ ! -s "$folder/out" ] || fail 'something on standard output'; }
report_is() { # complete|incomplete LEAST_OK
  python3 "$here/check_report.py" "$folder/report.json" "$@" 2>"$folder/python" ||
    fail "the JSON report: $(tail -n 1 "$folder/python")"
}
no_leftovers() { # of files written beside the real one and renamed
  local left
  left=$(find "$folder" -name '*.json.*' -o -name '*.csv.*')
  [ -z "$left" ] || fail "left over: $left"
}
# Long enough for a signal to come in the middle. One visit each, so that there is always one in progress, and no pilot
# between them.
slow=(latency --size '1,2,3,4,5,6' --time 2s --visits 1 --json "$folder/report.json")

# In the background, with the first point on disk already: $pid.
start_slow() {
  "$numatlas" "${slow[@]}" >"$folder/out" 2>"$folder/err" </dev/null &
  pid=$!
  for _ in $(seq 600); do
    [ -e "$folder/report.json" ] && return
    kill -0 "$pid" 2>/dev/null || { wait "$pid"; status=$?; fail 'ended before the fault'; }
    sleep 0.05
  done
  fail 'no first point after 30 seconds'
}
signalled() { # SIGNAL NUMBER
  start_slow
  local start=$SECONDS
  kill -"$1" "$pid"
  wait "$pid"
  status=$?
  [ $((SECONDS - start)) -le 10 ] || fail 'took more than 10 seconds to end'
  ends_with $((128 + $2))
  out_says '^Pointer-chase latency in ns '
  out_says '^INCOMPLETE: interrupted'
  out_says ' (base|thp): incomplete: '
  err_says "^numatlas: interrupted by signal $2: what was finished before is kept"
  report_is incomplete 1
  no_leftovers
}
# A command without root's right to write everywhere.
as_nobody() {
  if [ "$(id -u)" -ne 0 ]; then run "$@"; return; fi
  command -v setpriv >/dev/null || skip 'root, and no setpriv to be someone else'
  run setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}
needs_nobody() {
  chmod 755 "$folder"
  cp "$numatlas" "$folder/numatlas" || exit 1
  numatlas=$folder/numatlas
  as_nobody "$numatlas" --version
  [ "$status" -eq 0 ] || skip "the program does not run as another user: $(cat "$folder/err")"
}

case $case in
  sigint) signalled INT 2 ;;
  sighup) signalled HUP 1 ;;
  rerun-stopped) # an earlier run that ended stays, and the new one's cases are beside it
    for signal in KILL INT none; do
      run "$numatlas" latency --size 1 --time 50ms --json "$folder/report.json"
      ends_with 0
      cp "$folder/report.json" "$folder/whole"
      words=("${slow[@]}")
      [ $signal = none ] && words=(latency --size 1 --time 50ms --json "$folder/report.json")
      "$numatlas" "${words[@]}" >"$folder/out" 2>"$folder/err" </dev/null &
      pid=$!
      if [ $signal != none ]; then
        for _ in $(seq 600); do
          [ ! -e "$folder/report.json.partial" ] || break
          sleep 0.05
        done
        kill -$signal "$pid"
      fi
      wait "$pid"
      [ $signal = none ] || cmp "$folder/whole" "$folder/report.json" || fail 'the earlier run is not as it was'
      [ $signal = INT ] && err_says 'keeps the earlier run, which ended; this one is in .*report.json.partial$'
      [ $signal = none ] || { mv "$folder/report.json.partial" "$folder/report.json" && report_is incomplete 1; }
    done
    report_is complete 1
    no_leftovers ;;
  nohup) # the hangup that nohup(1) ignores ends nothing
    (
      trap '' HUP
      exec "$numatlas" latency --size 1 --time 2s --precision 0.000001% -q
    ) >"$folder/out" 2>"$folder/err" </dev/null &
    pid=$!
    sleep 0.5
    kill -HUP "$pid" || fail 'ended before the hangup'
    wait "$pid"
    status=$?
    ends_with 0
    out_says '^Pointer-chase latency in ns ' ;;
  sigint-early) # while memory is prepared, before any sample
    "$numatlas" latency --size 1024 --time 60s --json "$folder/report.json" \
      >"$folder/out" 2>"$folder/err" </dev/null &
    pid=$!
    sleep 0.3
    start=$SECONDS
    kill -INT "$pid"
    wait "$pid"
    status=$?
    [ $((SECONDS - start)) -le 20 ] || fail 'took more than 20 seconds to end'
    ends_with 130
    err_says '^numatlas: interrupted by signal 2'
    [ ! -e "$folder/report.json" ] || report_is incomplete 0 ;;
  sigint-twice) # the second one ends at once
    start_slow
    kill -INT "$pid"
    kill -INT "$pid"
    wait "$pid"
    status=$?
    ends_with 130 ;;

  stdout-closed)
    run bash -c '"$@" >&-' - "$numatlas" latency --size 1 --time 50ms --json "$folder/report.json"
    ends_with 6
    err_says '^numatlas: error: standard output: write: '
    report_is complete 1 ;;
  stdout-full)
    [ -e /dev/full ] || skip 'no /dev/full'
    for words in 'latency --size 1 --time 50ms' topology features 'topology --format json' \
      'latency --size 1 --dry-run'; do
      # shellcheck disable=SC2086  # the words are words
      run bash -c '"$@" >/dev/full' - "$numatlas" $words
      ends_with 6
      err_says '^numatlas: error: standard output: write: No space left on device'
    done ;;
  stdout-gone) # the reader of a pipe has left
    mkfifo "$folder/pipe" || exit 1
    (exec 3<"$folder/pipe"; exec 3<&-) &
    run bash -c '"$@" >"$0"' "$folder/pipe" "$numatlas" latency --size 1 --time 200ms
    ends_with 6
    err_says '^numatlas: error: standard output: write: Broken pipe' ;;
  stderr-closed)
    run bash -c '"$@" 2>&-' - "$numatlas" latency --size 1 --time 50ms
    ends_with 0
    out_says '^Pointer-chase latency in ns ' ;;
  json-full)
    [ -e /dev/full ] || skip 'no /dev/full'
    run "$numatlas" latency --size 1 --time 50ms --json /dev/full
    ends_with 6
    err_says '^numatlas: error: --json: /dev/full: write: No space left on device' ;;
  disk-full) # in the middle of a file: the old one stays, whole
    echo old >"$folder/report.json"
    run bash -c 'ulimit -f 1; exec "$@"' - "$numatlas" latency --size 1 --time 300ms --json "$folder/report.json"
    if [ "$status" -eq 153 ]; then fail 'killed by SIGXFSZ'; fi
    ends_with 6
    err_says '^numatlas: error: --json: .*report.json: write: File too large'
    [ "$(cat "$folder/report.json")" = old ] || fail 'the old file is not as it was'
    no_leftovers ;;
  unwritable)
    needs_nobody
    mkdir "$folder/locked" && chmod 555 "$folder/locked"
    for option in --csv --json; do
      as_nobody "$numatlas" latency --size 512 --time 60s "$option" "$folder/locked/file"
      ends_with 4
      out_is_empty
      err_says "^numatlas: error: $option: $folder/locked/file: open: Permission denied"
      ! grep -q MiB "$folder/err" || fail 'measured first'
    done ;;
  survey-unwritable)
    needs_nobody
    mkdir "$folder/locked" && chmod 555 "$folder/locked"
    for output in "$folder/locked" "$folder/locked/below"; do
      as_nobody "$numatlas" survey --output "$output" --time 5s
      ends_with 4
      out_is_empty
      err_says "^numatlas: error: --output: $output.*Permission denied"
    done ;;

  survey-foreign) # a file of somebody else where one of the survey's is to be
    needs_nobody
    [ "$(id -u)" -eq 0 ] || skip 'not root, and nobody else to own a file'
    mkdir "$folder/shared" && chmod 1777 "$folder/shared"
    touch "$folder/shared/cores.txt"
    as_nobody "$numatlas" survey --engine null --machine 'numa:1 core:2 pu:1' --only cores,latency \
      --no-report --output "$folder/shared"
    ends_with 4
    err_says '^numatlas: error: --output: .*/shared/cores.txt: .*(Permission denied|not permitted)'
    [ ! -s "$folder/shared/cores.txt" ] || fail 'the file of somebody else has changed' ;;
  survey-again) # what the earlier one left, and nothing else, is removed
    mkdir "$folder/report"
    (cd "$folder/report" && touch survey.json report.html cores.json transfer.txt stream.json \
      run.json notes.txt)
    run "$numatlas" survey --engine null --machine 'numa:1 core:2 pu:1' --only latency --no-report \
      --output "$folder/report"
    ends_with 0
    [ "$(cd "$folder/report" && echo *)" = 'latency.txt notes.txt run.json stream.json survey.json '\
'topology.json topology.txt topology.xml' ] || fail "left: $(ls "$folder/report")" ;;
  unreadable)
    needs_nobody
    mkdir "$folder/locked" && echo '{}' >"$folder/locked/file.json" && chmod 700 "$folder/locked"
    echo '{}' >"$folder/file.json" && chmod 000 "$folder/file.json"
    [ "$(id -u)" -eq 0 ] || chmod 000 "$folder/locked"
    for file in "$folder/file.json" "$folder/locked/file.json"; do
      for words in "compare $file $file" "check $file" "run $file" "topology --machine $file"; do
        # shellcheck disable=SC2086  # the words are words
        as_nobody "$numatlas" $words
        ends_with 4
        out_is_empty
        err_says '^numatlas: error: .*/file.json.*Permission denied'
      done
    done
    for words in "compare $folder/locked $folder/locked" "check $folder/locked"; do
      # shellcheck disable=SC2086  # the words are words
      as_nobody "$numatlas" $words
      ends_with 4
      err_says '^numatlas: error: .*/locked.*Permission denied'
    done
    chmod 700 "$folder/locked" ;;
  too-large)
    run "$numatlas" latency --size 1,10PiB
    ends_with 5
    out_is_empty
    err_says '^numatlas: error: --size: [0-9]+ workers? requests? 10 PiB.*, but .* (KiB|MiB|GiB|TiB) is available'
    err_says '^numatlas: hint: .*--skip-too-large'
    run "$numatlas" latency --size 1,10PiB --time 50ms --skip-too-large \
      --json "$folder/report.json"
    ends_with 0
    out_says '^10PiB (base|thp): skipped: --size: [0-9]+ workers? requests? 10 PiB'
    err_says '\[2/2\] 10PiB (base|thp): skipped'
    report_is complete 1 ;;
  address-space)
    # gcc links its sanitizers as libraries, clang puts them into the program.
    ! { ldd "$numatlas" | grep -qE "lib[at]san" || grep -qE "__[at]san_init" "$numatlas"; } ||
      skip "a sanitizer takes all of the address space"
    run bash -c 'ulimit -v 1000000; exec "$@"' - "$numatlas" latency --size 2048
    ends_with 5
    err_says '^numatlas: error: --size: .*(address space|mmap)' ;;
  no-room-to-start) # a small limit of the shell is an error, and no signal
    ! { ldd "$numatlas" | grep -qE "lib[at]san" || grep -qE "__[at]san_init" "$numatlas"; } ||
      skip "a sanitizer takes all of the address space"
    for kib in 64 112; do
      run bash -c "ulimit -s $kib; exec \"\$@\"" - "$numatlas" features
      ends_with 5
      err_says '^numatlas: error: the limit of the stack \(ulimit -s\) leaves too little to start$'
    done
    for limit in s:128 d:2000 d:10000 d:40000 v:32000 v:60000 v:150000 v:300000; do
      for command in features topology "latency --size 1 --time 10ms --visits 1"; do
        # shellcheck disable=SC2086 # words
        run bash -c "ulimit -${limit%:*} ${limit#*:}; exec \"\$@\"" - "$numatlas" $command
        case $command in latency*) [ "$status" -eq 5 ] || ends_with 0 ;; *) ends_with 0 ;; esac
      done
    done ;;
  small-limit) # default sizes follow the limits of the shell
    ! { ldd "$numatlas" | grep -qE "lib[at]san" || grep -qE "__[at]san_init" "$numatlas"; } ||
      skip "a sanitizer takes all of the address space"
    for letter in v d; do
      run bash -c "ulimit -$letter 600000; exec \"\$@\"" - "$numatlas" topology
      out_says "memory limit  585.9 MiB of (address space|data), .* used \(ulimit -$letter\)"
      run bash -c "ulimit -$letter 600000; exec \"\$@\"" - "$numatlas" latency --time 20ms \
        --visits 1 --json "$folder/report.json"
      ends_with 0
      report_is complete 1
      run bash -c "ulimit -$letter 600000; exec \"\$@\"" - "$numatlas" latency --size 1GiB
      ends_with 5
      err_says "^numatlas: error: --size: 1 worker requests 1(.0)? GiB, but .* \(ulimit -$letter\)"
    done ;;
  taken-back) # pages of a pool that are mapped, and not to be had when they are touched
    pool=$(cat /sys/devices/system/node/node*/hugepages/hugepages-2048kB/free_hugepages \
      /sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages 2>/dev/null | head -n 1)
    [ "${pool:-0}" -ge 32 ] || skip 'the pool has no 64 MiB'
    run env LD_PRELOAD="$refuse" "$numatlas" latency --size 16 --pages 2M --time 50ms --visits 1
    ends_with 5
    err_says '^numatlas: error: --pages 2M: a page of 2 MiB could not be had when it was first'
    run env LD_PRELOAD="$refuse" "$numatlas" latency --size 16 --pages base,2M --time 50ms --visits 1
    ends_with 0
    out_says '^16MiB 2M: skipped: --pages 2M: a page of 2 MiB could not be had when it was first' ;;
  no-pool) # --pages 2M
    free=$(cat /sys/devices/system/node/node*/hugepages/hugepages-2048kB/free_hugepages \
      2>/dev/null | paste -sd+)
    [ -n "$free" ] || skip 'no huge pages in this kernel'
    [ $((free)) -eq 0 ] || skip 'the pool is not empty'
    run "$numatlas" latency --size 1 --pages 2M
    ends_with 5
    out_is_empty
    err_says '^numatlas: error: --pages 2M: 1 page of 2 MiB is needed'
    err_says '^numatlas: hint: as root: (echo|sysctl)'
    # Beside another kind it is a skip with the same words.
    run "$numatlas" latency --size 1 --time 50ms --pages base,2M
    ends_with 0
    out_says '^1MiB 2M: skipped: --pages 2M: .*as root: (echo|sysctl)' ;;

  sigsys) # a filter traps calls that it can do without, or one that it cannot and names
    calls=sigsys:mbind,set_mempolicy,get_mempolicy,move_pages
    for words in 'topology' 'features' 'latency --size 1 --time 50ms' 'exec --memory local -- true' 'matrix --dry-run'; do
      # shellcheck disable=SC2086  # words
      run "$refuse" "$calls" "$numatlas" $words
      [ "$status" -ne 77 ] || skip 'no seccomp filters here'
      ends_with 0
    done
    run "$refuse" sigsys:sched_setaffinity "$numatlas" latency --size 1 --time 50ms
    ends_with 4
    err_says '^numatlas: error: --cpus: sched_setaffinity'
    run "$refuse" sigsys:madvise "$numatlas" latency --size 1 --time 50ms
    ends_with 4
    err_says '^numatlas: error: .*the system call madvise .SIGSYS.' ;;
  not-observed) # without --strict a warning, with it an error
    run "$refuse" move_pages "$numatlas" latency --stats --size 1 --time 50ms
    [ "$status" -ne 77 ] || skip 'no seccomp filters here'
    ends_with 0
    out_says '^warning: .*placement could not be observed: move_pages'
    run "$refuse" move_pages "$numatlas" latency --size 1 --time 50ms --strict
    ends_with 7
    out_is_empty
    err_says '^numatlas: error: placement could not be observed' ;;
  crowded-cpu) # one after the other they need not take turns
    cpu=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' /proc/self/status)
    run "$numatlas" latency --size 64KiB --cpus "$cpu" --threads 70
    ends_with 2
    err_says '^numatlas: error: --threads: 70 workers per CPU cannot run concurrently'
    if grep -q -- --serial "$folder/err"; then fail 'names an option that not all commands have'; fi
    run "$numatlas" latency --size 64KiB --cpus "$cpu" --threads 70 --serial --time 20ms \
      --visits 1 --json "$folder/report.json"
    ends_with 0
    report_is complete 1 ;;
  thread-limit)
    OMP_THREAD_LIMIT=1 run "$numatlas" latency --size 1 --threads 2 --time 50ms
    if "$numatlas" features | grep -q 'OpenMP worker team  *no'; then skip 'no OpenMP'; fi
    ends_with 5
    err_says '^numatlas: error: --threads: 2 worker threads requested, 1 available' ;;
  no-clone3) # as the seccomp profile of Docker before 20.10.10 answers
    run "$refuse" clone3 "$numatlas" latency --size 1 --threads 2 --time 50ms
    [ "$status" -ne 77 ] || skip 'no seccomp filters here'
    [ "$status" -ne 0 ] || skip 'this libc does not use clone3'
    ends_with 4
    err_says '^numatlas: error: --threads: 2 worker threads requested, 1 available: pthread_create: Operation not permitted'
    err_says '^numatlas: hint: the container.s seccomp profile may refuse the system call clone3' ;;
  stack-size)
    if "$numatlas" features | grep -q 'OpenMP worker team  *no'; then skip 'no OpenMP'; fi
    OMP_STACKSIZE=33554432G run "$numatlas" latency --size 1 --threads 2 --time 50ms
    ends_with 5
    err_says '^numatlas: error: OMP_STACKSIZE: 2 worker threads with a stack of ' ;;

  survey)
    run "$numatlas" survey --output "$folder/deep/report" --time 4s --only latency -q
    ends_with 0
    out_says '^Machine '
    out_says '^Idle latency  *[(]?(L1|memory) [0-9.]* ns'
    out_says "^Files  *$(realpath "$folder")/deep/report: survey.json"
    for file in topology.txt topology.json latency.txt survey.json; do
      [ -s "$folder/deep/report/$file" ] || fail "no $file"
    done
    [ ! -e "$folder/deep/report/latency.json" ] || fail 'latency.json, which survey.json holds'
    python3 - "$folder/deep/report/survey.json" "$folder/report.json" <<'END' || fail 'survey.json'
import json
import sys

survey = json.load(open(sys.argv[1]))
assert survey["complete"]
report, = survey["results"]
json.dump(report, open(sys.argv[2], "w"))
END
    report_is complete 3
    python3 -m json.tool "$folder/deep/report/topology.json" >/dev/null || fail 'topology.json'
    "$numatlas" topology --machine "$folder/deep/report/topology.json" >/dev/null ||
      fail 'topology.json is no machine' ;;
  survey-stopped) # once the first benchmark is in survey.json
    "$numatlas" survey --output "$folder" --time 20s --only cores,copy \
      >"$folder/out" 2>"$folder/err" </dev/null &
    pid=$!
    for _ in $(seq 4000); do
      grep -qs '"cases"' "$folder/survey.json" && break
      kill -0 "$pid" 2>/dev/null || { wait "$pid"; status=$?; fail 'ended before the stop'; }
      sleep 0.05
    done
    kill -INT "$pid"
    wait "$pid"
    status=$?
    # On a machine so busy that the first one took all the time.
    ((status != 0)) || ! grep -q 'skipped: no time left' "$folder/err" || skip 'no second benchmark to stop'
    # Of one benchmark alone there is nothing after it to stop.
    [ "$(nproc)" -ge 2 ] || skip 'one CPU'
    ends_with 130
    out_says '^INCOMPLETE: interrupted'
    err_says '^numatlas: interrupted by signal 2: what was finished before is kept'
    python3 - "$folder/survey.json" <<'END' || fail 'survey.json'
import json
import sys

survey = json.load(open(sys.argv[1]))
assert not survey["complete"] and survey["incomplete_reason"] == "interrupted", survey["incomplete_reason"]
assert survey["results"][0]["facts"] and not survey["results"][0]["complete"]
END
    no_leftovers ;;
  survey-early) # before there is a figure: the results of an earlier survey stay
    echo old >"$folder/survey.json"
    echo table >"$folder/matrix.txt"
    "$numatlas" survey --output "$folder" --time 20s --only matrix -q >"$folder/out" 2>"$folder/err" &
    pid=$!
    sleep 0.3
    kill -INT "$pid"
    wait "$pid"
    status=$?
    ends_with 130
    [ "$(cat "$folder/survey.json" "$folder/matrix.txt")" = "$(printf 'old\ntable')" ] ||
      fail 'the earlier results are not as they were' ;;
  *)
    echo "unknown case $case"
    exit 1 ;;
esac
