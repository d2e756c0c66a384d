"""JSON of `numatlas stream`: rounds of every host."""

from pathlib import Path
from typing import Any

import pandas as pd

from numatlas.result import Result, Warning

#: What is told of the whole run.
HEAD = (
    *("schema_version", "program", "version", "command", "arguments", "started", "seconds", "complete"),
    *("incomplete_reason", "comm", "engine", "isa", "ranks"),
)
ROUND_COLUMNS = ("host", "kernel", "mode", "round", "seconds", "slowest", "overlap", "bandwidth")


def read(path: Path, data: dict[str, Any]) -> Result:
    """`rounds`: a row for each host, kernel and round (the first round warms up: `counted` is false).
    `hosts`: a row for each host and kernel: the node's median bandwidth over the counted rounds (B/s, as
    STREAM counts bytes) with its interval, as stored, and whether the run called it slow."""
    fleet = data["fleet"]
    slow = {
        (host["host"], kernel["kernel"]): kernel
        for host in (fleet["slow"] or {"hosts": []})["hosts"]
        for kernel in host["kernels"]
    }
    figures = {
        (totals["host"], index): totals["figures"][0]
        for index, case in enumerate(data["cases"])
        for totals in case["host_figures"]
    }
    rounds: dict[str, list[Any]] = {name: [] for name in ROUND_COLUMNS}
    rows = []
    for place, host in enumerate(fleet["hosts"]):
        kind = fleet["kinds"][host["kind"]]
        for index, kernel in enumerate(fleet["kernels"]):
            told = {"host": host["name"], "kernel": kernel["name"], "mode": kernel["mode"]}
            if host["rounds"]:
                _add_rounds(host["rounds"][index], kernel["bytes"] * kind["processes"], told, rounds)
            figure = figures.get((place, index), {})
            estimate, summary = figure.get("estimate") or {}, figure.get("summary") or {}
            found = slow.get((place, index), {})
            rows.append(
                {
                    **told,
                    **{name: estimate.get(name) for name in ("value", "low", "high")},
                    **{name: summary.get(name) for name in ("min", "max", "n")},
                    "unit": "B/s",
                    "kind": host["kind"],
                    "cpu_model": kind["cpu_model"],
                    "processes": kind["processes"],
                    "placement": host.get("placement") or None,
                    "slow": bool(found),
                    "drop": found.get("drop"),
                    "mads": found.get("mads"),
                    "warnings": "; ".join(warning["text"] for warning in host["warnings"]),
                }
            )
    frame = pd.DataFrame(rounds)
    return Result(
        path,
        "stream",
        {key: value for key, value in data.items() if key in HEAD}
        | {key: value for key, value in fleet.items() if key != "hosts"}
        | {"not_judged": (fleet["slow"] or {}).get("not_judged", [])},
        hosts=pd.DataFrame(rows),
        rounds=frame.assign(counted=frame["round"] > 0),
        machines=data.get("machines", []),
        warnings=[Warning(**warning) for warning in data["warnings"]],
    )


def _add_rounds(
    passes: dict[str, Any], moved: float, told: dict[str, Any], rounds: dict[str, list[Any]]
) -> None:
    seconds = passes["node"]
    for name, value in told.items():
        rounds[name] += [value] * len(seconds)
    rounds["round"] += range(len(seconds))
    rounds["seconds"] += seconds
    rounds["slowest"] += passes["slowest"]
    rounds["overlap"] += passes["overlap"]
    rounds["bandwidth"] += [moved / time if time else None for time in seconds]
