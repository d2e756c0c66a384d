#!/usr/bin/env bash
# run_file.sh CASE NUMATLAS FAKE: `numatlas run` with flows of a GPU, by the real engine and the fake
# driver in folder FAKE. Exit 77: the machine has too few CPUs.
set -u
case=$1 numatlas=$2 fake=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
# shellcheck source=tests/outside.sh
. "$here/../outside.sh"
hide_outside
# As in scripts/test: LeakSanitizer misreads the thread-local memory of the loaded driver.
export ASAN_OPTIONS=intercept_tls_get_addr=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
status=- ; : >"$folder/out"; : >"$folder/err"

fail() {
  printf 'FAILED: %s\n--- exit code %s, standard output ---\n' "$1" "$status"
  cat "$folder/out"
  echo '--- standard error ---'
  cat "$folder/err"
  exit 1
}
# Two CPUs that this process may use.
mapfile -t cpus < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep="\n")')
[ "${#cpus[@]}" -ge 2 ] || { echo 'skipped: one CPU'; exit 77; }
words=() # further options
run() { # [NAME=VALUE...]: $folder/file
  env LD_LIBRARY_PATH="$fake" "$@" timeout -k 5 100 "$numatlas" run - --time 100ms --quiet "${words[@]}" \
    --json "$folder/report.json" <"$folder/file" >"$folder/out" 2>"$folder/err"
  status=$?
}
ends_with() { [ "$status" -eq "$1" ] || fail "the exit code is not $1"; }
err_says() { grep -qE -- "$1" "$folder/err" || fail "standard error does not say: $1"; }
out_says() { grep -qE -- "$1" "$folder/out" || fail "standard output does not say: $1"; }
report_is() { # a Python expression of `cases`, by their names, and value(CASE_OR_FLOW, KEY)
  PYTHONPATH=$here/.. python3 - "$folder/report.json" "$1" <<'P' || fail "the report is not so: $1"
import sys
from results import load, value
cases = {case["name"]: case for case in load(sys.argv[1])["cases"]}
sys.exit(not eval(sys.argv[2]))
P
}
copy_in() { # NAME [KEY...]
  printf '[[scenario]]\nname = "%s"\n[[scenario.flow]]\ncpu = %s\nkernel = "device copy"\n' \
    "$1" "${cpus[0]}"
  printf 'size = "1MiB"\nmemory = "gpu:0"\nsource = { memory = "local" }\n'
  shift
  printf '%s\n' "$@"
}
beside() { # KERNEL
  printf '[[scenario.flow]]\ncpu = %s\nkernel = "%s"\nsize = "1MiB"\nmemory = "local"\n' \
    "${cpus[1]}" "$1"
}

case $case in
  beside_cpu)
    { copy_in both && beside read && copy_in load 'role = "load"' && beside chase; } >"$folder/file"
    run
    ends_with 0
    report_is 'all(c["status"] == "ok" and len(c["flows"]) == 2 for c in cases.values())'
    report_is 'all(f["overlap"] > 0 for c in cases.values() for f in c["flows"] if not f["load"])'
    report_is '[f["load"] for f in cases["load"]["flows"]] == [True, False]'
    report_is 'all(value(f, "bandwidth") > 0 for f in cases["both"]["flows"])'
    report_is 'value(cases["load"]["flows"][1], "latency") > 0'
    report_is 'value(cases["load"]["flows"][0], "bandwidth") > 0'
    report_is 'value(cases["both"], "bandwidth_sum") > 0'
    out_says '^both +[0-9]+ .* device copy +measured +0 +pinned +gpu:0 from local +gpu:0 from [0-9]'
    out_says '^Copies of GPUs'
    out_says '^both +[0-9]+ +0 +h2d +(unknown: )?[0-9.]+ ' ;;
  kinds)
    { copy_in back | sed 's/"gpu:0"/"X"/; s/"local"/"gpu:1"/; s/"X"/"local"/'
      copy_in between | sed 's/"local"/"gpu:1"/'
      printf '[[scenario]]\nname = "chase"\n[[scenario.flow]]\ncpu = %s\n' "${cpus[0]}"
      printf 'kernel = "device chase"\nsize = "256KiB"\ngpu = 1\n'
    } >"$folder/file"
    run
    ends_with 0
    report_is '[c["flows"][0]["gpu"]["direction"] for c in cases.values()] == ["d2h", "p2p", None]'
    report_is 'all(c["flows"][0]["gpu"]["gpu"] == 1 for c in cases.values())'
    report_is 'value(cases["chase"]["flows"][0], "latency") > 0' ;;
  rate)
    # Without the limit it copies gigabytes. The fake measures time by threads that may wait for a CPU.
    copy_in held 'rate = "100MB/s"' >"$folder/file"
    run
    ends_with 0
    report_is '0 < value(cases["held"], "bandwidth_sum") < 5e8'
    report_is 'cases["held"]["flows"][0]["rate"] == 1e8' ;;
  corrupt)
    { copy_in wrong && beside read; } >"$folder/file"
    run NUMATLAS_FAKE_CUDA_CORRUPT=1
    ends_with 70
    err_says 'wrong, worker 0: the copy is wrong from byte'
    report_is 'cases["wrong"]["status"] == "failed"'
    report_is 'cases["wrong"]["flows"][0]["wrong"]["message"].startswith("the copy is wrong from byte")' ;;
  lost)
    # A device that is lost in the second scenario, at its first allocation there. A single visit is not
    # measured again, however busy this machine is.
    words=(--visits 1)
    { copy_in first && beside read && copy_in second && copy_in third; } >"$folder/file"
    run NUMATLAS_FAKE_CUDA_FAIL=cuMemAlloc:2:700
    ends_with 6
    report_is 'cases["first"]["status"] == "ok" and cases["second"]["status"] == "failed"'
    report_is '"third" not in cases'
    report_is 'value(cases["first"]["flows"][0], "bandwidth") > 0' ;;
  not_there)
    copy_in absent | sed 's/gpu:0/gpu:7/' >"$folder/file"
    run
    ends_with 3
    err_says 'standard input:7:1: memory: no GPU 7; available: 0, 1' ;;
  no_driver)
    copy_in none >"$folder/file"
    run NUMATLAS_FAKE_CUDA_INIT=100
    ends_with 3
    err_says 'standard input:7:1: memory: no GPU can be used: .*CUDA_ERROR_NO_DEVICE' ;;
  left_alone)
    # Without a flow of a GPU no driver is asked.
    { printf '[[scenario]]\nname = "read"\n' && beside read; } >"$folder/file"
    run "NUMATLAS_FAKE_CUDA_LOG=$folder/calls"
    ends_with 0
    [ ! -s "$folder/calls" ] || fail 'the driver was called'
    copy_in copy >"$folder/file"
    run "NUMATLAS_FAKE_CUDA_LOG=$folder/calls"
    ends_with 0
    [ -s "$folder/calls" ] || fail 'the driver was not called' ;;
  example-*)
    # As it stands, but for CPUs, nodes and sizes that any machine has.
    file=$here/../../examples/scenarios/${case#example-}.toml
    sed -E "s/^cpu = [1-9].*/cpu = ${cpus[1]}/; s/^cpu = 0.*/cpu = ${cpus[0]}/
            s/^cpus = .*/cpus = \"${cpus[1]}\"/; s/(64|256)MiB/1MiB/; s/bind:0/local/" \
      "$file" >"$folder/file"
    if [ "$case" = example-latency_while_a_gpu_copies ]; then
      # Three CPUs are more than any machine has: the last flow goes.
      python3 - "$folder/file" <<'P'
import sys
text = open(sys.argv[1], encoding="utf-8").read()
open(sys.argv[1], "w", encoding="utf-8").write(text[: text.rindex("[[scenario.flow]]")])
P
    fi
    run
    ends_with 0
    report_is 'len(cases) == 3 and all(c["status"] == "ok" for c in cases.values())' ;;
  *) fail "no case $case" ;;
esac
