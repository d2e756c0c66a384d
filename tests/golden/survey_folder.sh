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
kept() { # kept COUNT: so many earlier surveys are in the folder
  local files
  files=$(find "$folder/report" -name 'survey-*.json' | wc -l)
  [ "$files" -eq "$1" ] || { echo "$files earlier surveys are kept, and not $1"; failed=1; }
}
# What cannot run here does not stop a survey: the earlier one is kept.
python3 - "$folder/report/survey.json" <<'END'
import json, sys
survey = json.load(open(sys.argv[1]))
survey["results"].append({"command": "transfer"})
json.dump(survey, open(sys.argv[1], "w"))
END
survey 0 --only touch,transfer
kept 1
rm "$folder"/report/survey-*.json
# A survey that is killed after it began the folder leaves the earlier one beside its own.
survey 0 --only latency,bandwidth --force
survey 0 --only latency,bandwidth
kept 0
"$numatlas" survey -q --no-report -o "$folder/report" --only latency,bandwidth >"$folder/out" &
killed=$!
for _ in {1..300}; do
  grep -q '^  "complete": false' "$folder/report/survey.json" && break
  sleep 0.1
done
kill -KILL $killed
wait $killed 2>/dev/null
kept 1
mv "$folder"/report/survey-*.json "$folder/report/survey.json"
[ "$(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["results"]))' "$folder/report/survey.json")" = 2 ] ||
  { echo 'the earlier survey is not whole'; failed=1; }
exit $failed
