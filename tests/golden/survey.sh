#!/usr/bin/env bash
# survey.sh NUMATLAS ARGUMENT...: a survey by the null engine: its summary, the files that it left,
# and of survey.json what it has and what the summary says there.
set -u
numatlas=$1
shift
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/report" # what an earlier survey left there
touch "$folder/report/"{survey.json,transfer.txt,transfer.json,report.html}
"$numatlas" survey --engine null -q --no-report --output "$folder/report" "$@" |
  sed "s|$(realpath "$folder")|FOLDER|"
status=${PIPESTATUS[0]}
echo '--- files ---'
(cd "$folder/report" 2>/dev/null && echo * | fmt -w 100)
[ -s "$folder/report/survey.json" ] || exit "$status"
echo '--- survey.json ---'
python3 - "$folder/report/survey.json" <<'END'
import json
import sys
import textwrap

survey = json.load(open(sys.argv[1]))
print(textwrap.fill(" ".join(survey), 100))
told = ("schema_version", "command", "started", "seconds", "time_asked", "complete", "incomplete_reason")
print(textwrap.fill(", ".join(f"{name}: {json.dumps(survey[name])}" for name in told), 100))
print("results:", *(result["command"] for result in survey["results"]))
print("cases:", *(len(result["cases"]) for result in survey["results"]))
shares = ", ".join(f"{item['benchmark']} {item['share']:.1f} s" for item in survey["plan"])
print(textwrap.fill("plan: " + shares, 100))
for item in survey["plan"]:
    if item["left_out"]:
        print(f"left out of {item['benchmark']}: {item['left_out']}")
for item in survey["skipped"]:
    print(f"skipped: {item['benchmark']}: {item['reason']}")
facts = [fact for result in survey["results"] for fact in result["facts"]]
if len(survey["results"]) > 15:  # of all benchmarks and GPUs; the summary is made of them
    for key in dict.fromkeys(fact["key"] for fact in facts):
        those = [fact for fact in facts if fact["key"] == key]
        print(f"{len(those)} of {key}, such as {json.dumps(those[0])}")
END
exit "$status"
