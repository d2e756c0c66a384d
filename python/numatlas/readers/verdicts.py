"""JSON of `compare` and `check`: verdicts on other files' results."""

from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd

from numatlas.result import Result

Json = dict[str, Any]

#: Commands whose JSON this is.
VERDICTS = ("compare", "check")
ENDS = ("value", "low", "high")


def read(path: Path, data: Json) -> Result:
    """`rows`: of `compare` one for each case and figure, in SI units; of `check` one for each slow host,
    kernel and run. What else the file says is in `meta`."""
    if "groups" in data:
        data = _of_history(data)
    rows = _cases(data) if data["command"] == "compare" else _slow_hosts(data)
    meta = {key: value for key, value in data.items() if key != "cases"}
    return Result(path, data["command"], meta, rows=pd.DataFrame(rows))


def _of_history(data: Json) -> Json:
    """`compare --history` as a comparison of two sides: the earlier runs of each host are the base, its
    newest run is new. `hosts` are their names, as in other files."""
    cases = [
        {
            **case,
            "of": ": ".join(filter(None, [", ".join(group["hosts"]), case["of"]])),
            "base": case["earlier"],
            "new": case["newest"],
        }
        for group in data["groups"]
        for case in group["cases"]
    ]
    counts = Counter(case["verdict"].replace(" ", "_") for case in cases)
    hosts = list(dict.fromkeys(host for group in data["groups"] for host in group["hosts"]))
    return {**data, "cases": cases, "counts": counts, "hosts": hosts, "judged": data["hosts"]}


def _cases(data: Json) -> list[Json]:
    names = ("command", "case", "of", "metric", "unit", "verdict", "reason", "doubt", "p")
    changes = ("change", "change_low", "change_high")
    return [
        {
            **{name: case.get(name) for name in (*names, *changes)},
            **{f"{side}_{end}": (case.get(side) or {}).get(end) for side in ("base", "new") for end in ENDS},
        }
        for case in data["cases"]
    ]


def _slow_hosts(data: Json) -> list[Json]:
    return [
        {
            "run": number,
            "started": run.get("started"),
            "file": Path(run["file"]).name,
            "host": host["host"],
            "verdict": host.get("verdict"),
            "kernel": kernel["name"],
            **{name: kernel.get(name) for name in ("rate", "median", "drop", "mads")},
            "text": host["text"],
        }
        for number, run in enumerate(data["runs"])
        for host in run["slow"]
        for kernel in host["kernels"]
    ]
