#!/usr/bin/env bash
# ranks.sh MPI CASE NUMATLAS: three ranks of the real program under that MPI's launcher, and
# something goes wrong with one of them. Exit 77: this launcher or plug-in is not here.
set -u
mpi=$1 case=$2 numatlas=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../mpi_launcher.sh"
find_launcher "$mpi" "$numatlas"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
status=-

fail() {
  printf 'FAILED: %s\n--- exit code %s, standard output ---\n' "$1" "$status"
  cat "$folder/out"
  echo '--- standard error ---'
  cat "$folder/err"
  exit 1
}
run() {
  timeout -k 5 60 "${launcher[@]}" -n 3 "$@" >"$folder/out" 2>"$folder/err" </dev/null
  status=$?
}
ends_with() { [ "$status" -eq "$1" ] || fail "the exit code is not $1"; }
out_says() { grep -qE -- "$1" "$folder/out" || fail "standard output does not say: $1"; }
err_says() { grep -qE -- "$1" "$folder/err" || fail "standard error does not say: $1"; }
says_once() {
  local count
  count=$(cat "$folder/out" "$folder/err" | grep -cE -- "$1")
  [ "$count" -eq 1 ] || fail "says $count times, not once: $1"
}
report_is() { # complete|incomplete LEAST_OK
  python3 "$here/check_report.py" "$folder/report.json" "$@" 2>"$folder/python" ||
    fail "the JSON report: $(tail -n 1 "$folder/python")"
}

# Under way, with the first point on disk: $pid is the launcher's.
start_slow() {
  NUMATLAS_FAULT_MARK=$folder "${launcher[@]}" -n 3 "$numatlas" latency --size '1,2,3,4,5,6' \
    --time 2s --precision 0.000001% --json "$folder/report.json" \
    >"$folder/out" 2>"$folder/err" </dev/null &
  pid=$!
  for _ in $(seq 600); do
    [ -e "$folder/report.json" ] && return
    kill -0 "$pid" 2>/dev/null || { wait "$pid"; status=$?; fail 'ended before the fault'; }
    sleep 0.05
  done
  fail 'no first point after 30 seconds'
}
# Process of a rank of this very run: by the mark in its environment.
pid_of_rank() {
  local process
  for process in /proc/[0-9]*; do
    [ "$(cat "$process/comm" 2>/dev/null)" = numatlas ] || continue
    { tr '\0' '\n' <"$process/environ" >"$folder/environ"; } 2>/dev/null || continue
    grep -qxF "NUMATLAS_FAULT_MARK=$folder" "$folder/environ" || continue
    if grep -qxE "(OMPI_COMM_WORLD_RANK|PMI_RANK)=$1" "$folder/environ"; then
      echo "${process#/proc/}"
      return
    fi
  done
}
wait_at_most() { # SECONDS: for the launcher to end
  local start=$SECONDS
  wait "$pid"
  status=$?
  [ $((SECONDS - start)) -le "$1" ] || fail "took $((SECONDS - start)) seconds to end, not $1"
}
none_left() {
  local rank
  for _ in $(seq 50); do
    rank=$(pid_of_rank 0)$(pid_of_rank 1)$(pid_of_rank 2)
    [ -z "$rank" ] && return
    sleep 0.1
  done
  fail "still running: $rank"
}

case $case in
  killed-0 | killed-1 | killed-2)
    start_slow
    victim=$(pid_of_rank "${case#killed-}")
    [ -n "$victim" ] || fail 'the rank is not to be found'
    kill -KILL "$victim"
    wait_at_most 15
    [ "$status" -ne 0 ] || fail 'the exit code is 0'
    [ -s "$folder/err" ] || [ -s "$folder/out" ] || fail 'not a word'
    report_is incomplete 1
    none_left ;;
  sigterm | sigint) # to the launcher, which passes it on
    start_slow
    if [ "$case" = sigint ]; then kill -INT "$pid"; else kill -TERM "$pid"; fi
    wait_at_most 15
    # Hydra that is told to stop ends its ranks and, now and then, with 0 whatever they say.
    [ "$status" -ne 0 ] || [ "$mpi" = mpich ] || fail 'the exit code is 0'
    report_is incomplete 1
    none_left ;;
  one-rank-told) # a signal to one rank stops all of them
    start_slow
    kill -TERM "$(pid_of_rank 1)"
    wait_at_most 15
    [ "$status" -ne 0 ] || fail 'the exit code is 0'
    says_once '^numatlas: interrupted'
    report_is incomplete 1
    none_left ;;

  same-mistake) # of all ranks is the command line's
    for words in '--size 0' '--sice 1' '--memory bind:1021 --size 1' '--size' '--size 10PiB'; do
      # shellcheck disable=SC2086  # the words are words
      run "$numatlas" latency $words
      [ "$status" -ne 0 ] || fail 'the exit code is 0'
      says_once '^numatlas: error: '
      ! grep -q 'rank 0 on' "$folder/err" || fail 'blames one rank'
    done ;;
  one-mistake) # of one rank is named
    for words in 'bind:1021' 'nowhere'; do
      # shellcheck disable=SC2016  # for the inner shell
      run bash -c 'rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
        if [ "$rank" = 1 ]; then set -- "$@" --memory "$0"; fi
        exec "$@"' "$words" "$numatlas" latency --size 1 --time 50ms
      [ "$status" -ne 0 ] || fail 'the exit code is 0'
      says_once '^numatlas: error: '
      err_says '^numatlas: error: rank 1 on [^:]*: --memory: '
      [ ! -s "$folder/out" ] || ! grep -q '^Pointer-chase latency' "$folder/out" || fail 'a table all the same'
    done ;;
  unwritable)
    run "$numatlas" latency --size 1 --csv "$folder/no/file"
    ends_with 6
    says_once '^numatlas: error: (rank 0 on [^:]*: )?--csv: ' ;;
  file-lost) # the folder of the results goes away while measuring
    mkdir "$folder/gone"
    : >"$folder/err"
    # Only once a result is there: how long the ranks take to start is the launcher's.
    (for _ in $(seq 600); do
      grep -q '^\[1/2\]' "$folder/err" && break
      sleep 0.1
    done
    rm -r "$folder/gone") &
    run "$numatlas" latency --size '1,2' --time 2s --precision 0.000001% \
      --json "$folder/gone/report.json"
    wait
    ends_with 6
    says_once '^numatlas: error: (rank 0 on [^:]*: )?--json: '
    out_says '^Pointer-chase latency in ns ' ;;
  many) # more ranks than CPUs: all of them measure and are shown
    timeout -k 5 60 "${launcher[@]}" -n 9 "$numatlas" latency --size 1 --time 20ms --stats \
      --json "$folder/report.json" >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
    ends_with 0
    for rank in 0 1 2 3 4 5 6 7 8; do out_says "^[0-8] +00$rank .* [0-9.]+( \\(.*\\))?$"; done
    out_says '^9 of 9 cells|^[0-8] of 9 cells'
    report_is complete 1 ;;
  dry-run-of-one | other-command) # nobody waits for a rank that does something else
    one=(latency --size 1 --time 50ms) other=(latency --size 1 --time 50ms --dry-run)
    [ "$case" = dry-run-of-one ] || other=(bandwidth --size 1 --time 50ms)
    # shellcheck disable=SC2016  # for the inner shell
    run bash -c 'count=$0 rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK} program=$1; shift
      if [ "$rank" = 1 ]; then shift "$count"; else set -- "${@:1:count}"; fi
      exec "$program" "$@"' "${#one[@]}" "$numatlas" "${one[@]}" "${other[@]}"
    ends_with 8
    says_once '^numatlas: error: '
    [ "$case" = dry-run-of-one ] && differs='latency --dry-run' || differs=bandwidth
    err_says "^numatlas: error: rank 1 runs a different command from rank 0: \`numatlas $differs\`, not \`numatlas latency\`"
    [ ! -s "$folder/out" ] || ! grep -q '^Pointer-chase latency' "$folder/out" || fail 'a table all the same' ;;
  stopped | stopped-host) # a rank that answers no more is named, and the run goes on with it
    [ "$case" = stopped ] || export NUMATLAS_TEST_HOSTS=3
    start_slow
    victim=$(pid_of_rank 1)
    kill -STOP "$victim"
    for _ in $(seq 400); do
      grep -q 'has not answered' "$folder/err" && break
      sleep 0.1
    done
    kill -CONT "$victim"
    wait_at_most 60
    ends_with 0
    says_once "^numatlas: rank 1 \\(pid $victim\\) on [^ ]* has not answered for 15 s\$"
    out_says "^UNRELIABLE: .*rank 1 \\(pid $victim\\) on [^ ]* did not answer for [0-9]+ s, and the others waited"
    grep -q '"silent-rank"' "$folder/report.json" || fail 'the JSON report does not say so'
    report_is complete 1 ;;
  never-comes) # a signal ends a rank that waits in MPI_Init
    for signal in TERM HUP INT; do
      rm -f "$folder/pid" "$folder/code"
      # Job control leaves SIGINT as it is for what runs in the background; Hydra ignores SIGHUP.
      # shellcheck disable=SC2016  # for the inner shell
      timeout -k 5 60 "${launcher[@]}" -n 2 bash -c 'rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
        if [ "$rank" = 1 ]; then exec sleep 50; fi
        set -m
        env --default-signal=HUP "$1" latency --size 1 & echo $! >"$0/pid.new"; mv "$0/pid.new" "$0/pid"
        wait $!; echo $? >"$0/code.new"; mv "$0/code.new" "$0/code"; exit 1' "$folder" "$numatlas" \
        >"$folder/out" 2>"$folder/err" </dev/null &
      pid=$!
      for _ in $(seq 300); do
        rank=$(cat "$folder/pid" 2>/dev/null) && grep -q libmpi "/proc/$rank/maps" 2>/dev/null && break
        sleep 0.1
      done
      sleep 1 # it waits now
      [ ! -e "$folder/code" ] || fail 'ended before the signal'
      kill -"$signal" "$rank"
      for _ in $(seq 50); do [ -e "$folder/code" ] && break; sleep 0.1; done
      [ -e "$folder/code" ] || fail "SIG$signal has no effect in MPI_Init"
      [ "$(cat "$folder/code")" -eq $((128 + $(kill -l "$signal"))) ] ||
        fail "after SIG$signal the code is $(cat "$folder/code")"
      wait_at_most 15
    done ;;
  *)
    echo "unknown case $case"
    exit 1 ;;
esac
