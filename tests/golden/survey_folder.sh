#!/usr/bin/env bash
# survey_folder.sh NUMATLAS: a survey replaces the one in its folder, but one of more benchmarks only when told to.
set -u
numatlas=$1
command -v python3 >/dev/null || { echo 'skipped: python3 is not installed'; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0
survey() { # survey STATUS OPTION...
  local wanted=$1 status
  shift
  "$numatlas" survey --engine null --machine 'numa:2 core:2 pu:1' -q --no-report -o "$folder/report" "$@" \
    >"$folder/out" 2>"$folder/err"
  status=$?
  [ "$status" -eq "$wanted" ] && return
  echo "survey $*: $status instead of $wanted: $(cat "$folder/err")"
  failed=1
}
holds() { # holds BENCHMARK...: these are the results in the folder, and there is a table of each
  local found
  found=$(cd "$folder/report" && python3 -c '
import json
print(*sorted(one["command"] for one in json.load(open("survey.json"))["results"]))' && ls ./*.txt)
  [ "$found" = "$*
$(printf './%s.txt\n' "$@" topology | sort)" ] && return
  echo "the folder has $found, and not $*"
  failed=1
}
survey 0 --only latency,touch
holds latency touch
survey 2 --only latency
holds latency touch
grep -q 'report holds a survey of more benchmarks (touch)' "$folder/err" || cat "$folder/err"
grep -q 'hint: .*--force' "$folder/err" || { echo 'no hint'; failed=1; }
survey 2 --without touch
survey 0 --only touch,latency
survey 0 --only latency,touch,copy
holds copy latency touch
survey 0 --only latency --force
holds latency
echo '{"results": [7, {"command": 1}]}' >"$folder/report/survey.json" # of no survey: it is replaced
survey 0 --only touch
holds touch
exit $failed
