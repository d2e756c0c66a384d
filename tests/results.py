"""JSON results of the program, as the tests look at them. Needs nothing but Python."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any


def whole(result: dict[str, Any]) -> dict[str, Any]:
    """A report, or a survey of several, whose flows are whole: what all flows of a case have alike no longer
    stands in its `flow_common`, but in each of them. Other results are returned as they are."""
    for report in [result, *result.get("results", [])]:
        for case in report.get("cases", []):
            if "flows" not in case:
                continue  # of `numatlas compare`
            case["flows"] = [{**copy.deepcopy(case["flow_common"]), **flow} for flow in case["flows"]]
            case["flow_common"] = {}
    return result


def load(path: str | Path) -> dict[str, Any]:
    """The report in a file, with whole flows."""
    return whole(json.loads(Path(path).read_text(encoding="utf-8")))


def figure(of: dict[str, Any], key: str) -> dict[str, Any]:
    """The figure of that key, of a case or a flow. Raises LookupError for none, and for several."""
    found = [one for one in of["figures"] if one["key"] == key]
    if len(found) != 1:
        raise LookupError(f"{len(found)} figures {key}, not 1")
    return found[0]


def value(of: dict[str, Any], key: str) -> float:
    """The value of the figure of that key. Raises LookupError where it could not be measured."""
    estimate = figure(of, key)["estimate"]
    if estimate is None:
        raise LookupError(f"{key} has no estimate")
    return estimate["value"]


def fleet(result: dict[str, Any], hosts: dict[str, float]) -> dict[str, Any]:
    """A result of `numatlas stream` with these hosts, each as the first one of `result`, but so many times as fast;
    without findings."""
    made = copy.deepcopy(result)
    made["hosts"] = list(hosts)
    row = made["host_rows"][0]
    made["host_rows"] = [{**row, "first_rank": index * row["processes"]} for index in range(len(hosts))]
    made["cases"] = [case for case in made["cases"] if "finding" not in case["labels"]]
    for case in made["cases"]:
        first = case["host_figures"][0]
        case["host_figures"] = [
            {**_faster(first, factor), "host": index} for index, factor in enumerate(hosts.values())
        ]
    return made


def _faster(of_host: dict[str, Any], factor: float) -> dict[str, Any]:
    """Figures and passes of a host."""
    one = copy.deepcopy(of_host)
    for found in one["figures"]:
        for part in (found["estimate"], found["summary"]) if found["unit"] == "B/s" else ():
            part |= {key: number * factor for key, number in part.items() if isinstance(number, float)}
    for name in ("node", "slowest"):
        one["passes"][name] = [seconds / factor for seconds in one["passes"][name]]
    return one
