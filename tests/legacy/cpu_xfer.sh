#!/usr/bin/env bash
# cpu_xfer.sh CASE BIN_FOLDER SOURCE_FOLDER: numa_cpu_xfer_bench when it is stopped, and when MLC
# fails. What stands for MLC is a script.
# shellcheck disable=SC2016 # words with $ are the script's
set -u
case=$1 bin=$2 source=$3
# shellcheck source=tests/legacy/checks.sh
. "$source/tests/legacy/checks.sh"

# Really measured, on one CPU, and stopped when the first of five lines is done.
stop_with() { # SIGNAL
  local cpu pid
  : >"$folder/err" # the last one's must not be seen here
  cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
  taskset -c "$cpu" "$bin/numa_cpu_xfer_bench" --peak_injection_bandwidth --time 20s \
    >"$folder/out" 2>"$folder/err" </dev/null &
  pid=$!
  until grep -q '^\[1/5\]' "$folder/err"; do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.01
  done
  kill -"$1" "$pid"
  wait "$pid"
  status=$?
  out=$(<"$folder/out") err=$(<"$folder/err")
}
with_mlc() { # SCRIPT [WORDS...]
  mkdir -p "$folder/bin"
  printf '#!/bin/sh\n%s\n' "$1" >"$folder/bin/mlc"
  chmod +x "$folder/bin/mlc"
  shift
  PATH=$folder/bin:$PATH NUMATLAS_ENGINE=null \
    NUMATLAS_TEST_MACHINE='numa:2(memory=34359738368) l3:1(size=16777216) core:1 pu:1' \
    run timeout -k 5 60 "$bin/numa_cpu_xfer_bench" --engine mlc "$@"
}
figures='printf "ALL Reads        :\t50000.0\t\n"'

case $case in
  stopped)
    for signal in 2 15; do
      stop_with "$signal"
      ends_with $((128 + signal))
      says $'^ALL Reads        :\t[0-9]+\\.[0-9]\t$'
      says $'^1:1 Reads-Writes :\t-\t$'
      warns_once "^numatlas: interrupted by signal $signal: what was finished before is kept$"
    done ;;
  mlc-fails)
    with_mlc 'echo cannot open msr; exit 5'
    ends_with 3
    says $'^ALL Reads        :\t[0-9]+\\.[0-9]\t$'
    warns_once '^numa_cpu_xfer_bench: error: --engine mlc: `mlc --peak_injection_bandwidth` ended with exit code 5: cannot open msr$'
    with_mlc "$figures"' && exit 1' --membind 0 --peak_injection_bandwidth
    ends_with 3
    if command -v numactl >/dev/null; then
      says '^ALL Reads +:.* 50000\.0'
      warns_once '`numactl --membind=0 mlc --peak_injection_bandwidth` ended with exit code 1'
    else
      warns_once '--engine mlc: numactl: No such file or directory$'
    fi
    with_mlc 'kill -KILL $$'
    ends_with 3
    warns_once '`mlc --peak_injection_bandwidth` was ended by signal 9$'
    with_mlc 'exit 0' --bandwidth_matrix
    ends_with 3
    says $'^       0\t[0-9]+\\.[0-9]\t'
    warns_once '`mlc --bandwidth_matrix` printed no bandwidths$' ;;
  mlc-stopped)
    with_mlc 'kill -INT $PPID; exec sleep 120'
    ends_with 130
    says $'^ALL Reads        :\t[0-9]+\\.[0-9]\t$'
    warns_once '^numatlas: interrupted by signal 2: '
    with_mlc "[ \$1 = --peak_injection_bandwidth ] && $figures && exit"'
      kill -TERM $PPID; exec sleep 120'
    ends_with 143
    says '^ALL Reads +:.* 50000\.0'
    says $'^       0\t[0-9]+\\.[0-9]\t'
    warns_once '^numatlas: interrupted by signal 15: '
    [ "$(grep -c error: <<<"$err")" -eq 0 ] || fail 'a stop is no error' ;;
  *) echo "unknown case $case"; exit 1 ;;
esac
