#!/usr/bin/env bash
# check.sh CASE NUMATLAS: memory of files and memkind. Exit 77: cannot be tried here.
set -u
case=$1 numatlas=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d) || exit 1
trap 'umount -l "$folder/mnt" 2>/dev/null; rm -rf "$folder"' EXIT
# shellcheck source=tests/outside.sh
. "$here/../outside.sh"
hide_outside
unset PMEM_IS_PMEM_FORCE
mkdir "$folder/mnt"
status=- ; : >"$folder/out"; : >"$folder/err"

fail() {
  printf 'FAILED: %s\n--- exit code %s, standard output ---\n' "$1" "$status"
  cat "$folder/out"
  echo '--- standard error ---'
  cat "$folder/err"
  exit 1
}
skip() { echo "skipped: $1"; exit 77; }
run() {
  timeout -k 5 60 "$@" >"$folder/out" 2>"$folder/err" </dev/null
  status=$?
}
ends_with() { [ "$status" -eq "$1" ] || fail "the exit code is not $1"; }
err_says() { grep -qF -- "$1" "$folder/err" || fail "standard error does not say: $1"; }
nothing_left() { [ -z "$(ls -A "$folder/mnt")" ] || fail "left behind: $(ls -A "$folder/mnt")"; }
needs() { # LINE OF FEATURES
  "$numatlas" features | grep -qE "^memory +$1.* yes " || skip "$("$numatlas" features | grep "$1")"
}
# json WORDS...: of the report on standard output, each a true Python expression; f is the first flow.
json() {
  PYTHONPATH=$here/.. python3 - "$folder/out" "$@" <<'END' 2>"$folder/python" ||
import sys
from results import load
report = load(sys.argv[1])
flows = [flow for case in report["cases"] for flow in case["flows"]]
assert flows, "no flow"
for f in flows:
    for words in sys.argv[2:]:
        assert eval(words), (words, f["memory"], f["residency"], f["policy"], f["warnings"])
END
    fail "$(tail -n 1 "$folder/python")"
}
bandwidth=("$numatlas" bandwidth --threads 2 --kernels 'read,triad' --time 20ms -q
  --format json)
pmem="pmem:$folder/mnt"

case $case in
  pmem)
    needs libpmem
    for command in bandwidth latency; do
      run "$numatlas" $command --threads 2 --memory "$pmem" --size 1MiB --time 20ms -q \
        --format json
      ends_with 0
      json "f['memory'] == '$pmem'" "f['policy']['mechanism'] == 'pmem_map_file'" \
        "f['residency']['problem'] is None" "f['residency']['pages_unknown'] == 0" \
        "'$folder/mnt is not real persistent memory: a file on ' in f['policy']['note']"
      json "any(w['code'] == 'placement-method' and 'is not real persistent memory' in w['text']
        for w in report['warnings'])"
      nothing_left
    done ;;
  forced)
    needs libpmem
    run env PMEM_IS_PMEM_FORCE=1 "${bandwidth[@]}" --size 1MiB --memory "$pmem"
    ends_with 0
    json "'is not real persistent memory' in f['policy']['note']"
    nothing_left ;;
  killed) # in the middle: the memory is there
    needs libpmem
    "$numatlas" bandwidth --threads 1 --kernels triad --size 8MiB --time 60s --precision 0.000001% \
      --memory "$pmem" >"$folder/out" 2>"$folder/err" </dev/null &
    pid=$!
    for _ in $(seq 200); do
      grep -q "$folder/mnt/.*deleted" "/proc/$pid/maps" 2>/dev/null && break
      kill -0 "$pid" 2>/dev/null || { wait "$pid"; status=$?; fail 'ended before it was killed'; }
      sleep 0.05
    done
    grep -q "$folder/mnt/.*deleted" "/proc/$pid/maps" || fail 'the file is not mapped'
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null
    nothing_left ;;
  full)
    needs libpmem
    mount -t tmpfs -o size=4m tmpfs "$folder/mnt" 2>"$folder/err" || skip "$(cat "$folder/err")"
    run "${bandwidth[@]}" --memory "$pmem" --size 3MiB
    ends_with 5
    err_says "--memory $pmem: 6 MiB needed by 2 regions, 4 MiB free on tmpfs"
    run "${bandwidth[@]}" --memory "$pmem" --size 1MiB,3MiB --skip-too-large
    ends_with 0
    json 'f["size"] == 1 << 20'
    nothing_left ;;
  scenario) # a path with every letter that the grammar uses elsewhere
    needs libpmem
    path="$folder/mnt/a b, c:d=e/{socket}-{node}"
    mkdir -p "$folder/mnt/a b, c:d=e"
    for socket in 0 1 2 3; do for node in 0 1 2 3 4 5 6 7; do
      mkdir "${path%/*}/$socket-$node"
    done; done
    printf '%s\n' '[[scenario]]' 'name = "a"' '[[scenario.flow]]' 'cpu = 0' 'kernel = "copy"' 'size = "256KiB"' \
      "memory = \"pmem:$path\"" >"$folder/file"
    run "$numatlas" run "$folder/file" --time 20ms -q --format json
    ends_with 0
    json "'{' not in f['memory']"
    run "$numatlas" bandwidth --threads 1 --kernels copy --size 256KiB --time 20ms --memory "pmem:$path" \
      --format csv -q
    ends_with 0
    [ -z "$(find "$folder/mnt" -type f)" ] || fail 'files are left' ;;
  memkind)
    needs libmemkind
    run "${bandwidth[@]}" --size 1MiB --memory memkind:DEFAULT
    ends_with 0
    json "f['memory'] == 'memkind:DEFAULT'" "f['policy']['note'] is None" \
      "f['policy']['mechanism'] == 'memkind_posix_memalign'" "f['residency']['told_by'] is None" ;;
  memkind-folder)
    needs libmemkind
    run "${bandwidth[@]}" --size 1MiB --memory "memkind:$folder/mnt"
    ends_with 0
    json "f['memory'] == 'memkind:$folder/mnt'" "f['residency']['problem'] is None"
    nothing_left ;;
  no-library) # a file in its place that is none
    : >"$folder/libpmem.so.1"
    : >"$folder/libmemkind.so.0"
    for memory in "$pmem" memkind:DEFAULT; do
      run env LD_LIBRARY_PATH="$folder" "${bandwidth[@]}" --size 1MiB --memory "$memory"
      ends_with 3
      err_says "$folder/lib"
      err_says 'apt-get install lib'
    done
    run env LD_LIBRARY_PATH="$folder" "$numatlas" features
    ends_with 0
    grep -qE '^memory +libmemkind \(memkind:\) +no .*apt-get install libmemkind0' "$folder/out" || fail 'features' ;;
  mistakes) # before anything is measured
    needs libpmem
    run "${bandwidth[@]}" --size 1MiB --memory "$pmem/none"
    ends_with 6
    err_says "--memory $pmem/none: No such file or directory"
    run "${bandwidth[@]}" --size 1MiB --memory "pmem:$0"
    ends_with 2
    run "${bandwidth[@]}" --size 1MiB --memory "$pmem" --pages thp
    ends_with 2
    err_says "--pages thp: memory $pmem has"
    run "$numatlas" exec --memory "$pmem" -- true
    ends_with 2
    run "$numatlas" copy --from "$pmem" --to "$pmem/none" --size 1MiB --time 20ms -q
    ends_with 6
    run "$numatlas" copy --from "$pmem" --to local --size 1MiB --time 20ms -q
    ends_with 0
    nothing_left ;;
  *) fail "no case $case" ;;
esac
