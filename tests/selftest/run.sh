#!/usr/bin/env bash
# run.sh CASE NUMATLAS SOURCE_FOLDER BUILD_FOLDER: `numatlas selftest` where everything is well, and
# where something is not.
set -u
case=$1 numatlas=$2 source=$3 build=$4
# shellcheck source=tests/legacy/checks.sh
. "$source/tests/legacy/checks.sh"
cd "$folder" || exit 1
unset NUMATLAS_TEST_QUIET
# What no other test beside this one disturbs.
steady=clock,kernels,chain,placement,pages

case $case in
  passes)
    run "$numatlas" selftest --only $steady
    ends_with 0
    says '^numatlas selftest: [45] passed, [01] skipped, 0 failed$'
    says '^passed +kernels +[0-9]+ runs verified, with '
    says '^passed +chain +65536 lines of 4 MiB form one cycle$'
    says '^passed +clock +' ;;
  json)
    run "$numatlas" selftest --only chain,ranks --format json
    ends_with 0
    python3 -c '
import json, sys
value = json.loads(sys.argv[1])
labels = [one["labels"] for one in value["cases"]]
assert [one["test"] for one in labels] == ["chain", "ranks"], value
assert [one["verdict"] for one in labels] == ["passed", "skipped"], value
assert [one["status"] for one in value["cases"]] == ["ok", "skipped"], value
assert value["cases"][1]["reason"].startswith("one rank"), value
figures = {one["key"]: one["estimate"]["value"] for one in value["cases"][0]["figures"]}
assert figures["failed"] == 0 and figures["took"] > 0, value
assert value["answer"] == "numatlas selftest: 1 passed, 1 skipped, 0 failed", value
' "$out" || fail 'not that JSON'
    run "$numatlas" selftest --only chain,ranks --format line
    [ "$out" = 'numatlas selftest: 1 passed, 1 skipped, 0 failed' ] || fail 'not that line' ;;
  input)
    run "$numatlas" selftest --only chian
    ends_with 2
    grep -q -- '--only' <<<"$err" || fail 'the option is not named'
    run "$numatlas" selftest --only ranks
    ends_with 3 # all were skipped
    run "$numatlas" selftest --dry-run --only chain
    ends_with 0
    says '^chain +the pointer chase visits every line once ' ;;
  one_cpu)
    run taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')" "$numatlas" selftest --only overlap,clock
    ends_with 0
    says '^overlap: skipped: one CPU: '
    says '^passed +clock .* monotonic on 1 CPU$' ;;
  refused) # as in containers
    run "$build/tests/faults/refuse_calls" move_pages "$numatlas" selftest --only placement,chain
    ends_with 0
    says '^placement: skipped: cannot be observed: move_pages: '
    says '^passed +chain ' ;;
  interference)
    grep -q '^cpu ' /proc/stat || { echo 'skipped: /proc/stat is hidden'; exit 77; }
    hogs=()
    for _ in $(seq "$(nproc)"); do
      (while :; do :; done) &
      hogs+=($!)
    done
    run "$numatlas" selftest --only interference
    kill "${hogs[@]}"
    ends_with 1
    says '^UNRELIABLE: .*other programs used .*; run again when it is quiet$'
    says '^[(]numatlas selftest: 0 passed, 0 skipped, 1 failed: interference[)]$'
    says '^failed +interference +other programs used .*; next: stop other programs' ;;
  openmpi | mpich)
    # shellcheck source=tests/mpi_launcher.sh
    . "$source/tests/mpi_launcher.sh"
    find_launcher "$case" "$numatlas"
    run "${launcher[@]}" -n 2 "$numatlas" selftest --only ranks,chain
    ends_with 0
    says '^passed +ranks +2 ranks on 1 host: same version and kernels'
    says '^passed +chain +rank 0 on .*; passed on 2 of 2 ranks$' ;;
  *) fail "no case $case" ;;
esac
