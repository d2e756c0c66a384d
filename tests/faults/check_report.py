"""check_report.py FILE complete|incomplete LEAST_OK: the file is JSON as the standard has it (no NaN),
has no number written as a word, and holds at least so many cases that were measured whole."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from results import whole  # noqa: E402


def no_nan(word):
    raise ValueError(f"{word} is not JSON")


def look(value, where):
    if isinstance(value, dict):
        for key, item in value.items():
            look(item, f"{where}/{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            look(item, f"{where}/{index}")
    elif isinstance(value, str) and value.lower() in ("nan", "inf", "-inf", "null"):
        raise ValueError(f"{where} is the word {value}")


path, state, least_ok = sys.argv[1], sys.argv[2], int(sys.argv[3])
with open(path, encoding="utf-8") as file:
    report = whole(json.load(file, parse_constant=no_nan))
# Settings of the machine are quoted from the system as they stand there.
look({key: value for key, value in report.items() if key != "machines"}, "")
assert report["complete"] == (state == "complete"), f"complete is {report['complete']}"
assert state == "complete" or report["incomplete_reason"], "no reason for being incomplete"
measured = [case for case in report["cases"] if case["status"] == "ok"]
assert len(measured) >= least_ok, f"{len(measured)} cases are ok, not {least_ok}"
for case in measured:
    assert sum(case["distribution"]["counts"]) > 0, case["name"]
    for flow in case["flows"]:
        assert flow["figures"][0]["estimate"]["value"] > 0, case["name"]
