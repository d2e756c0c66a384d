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
    judged = [case for case in data["cases"] if "finding" in case["labels"]]
    measured = [case for case in data["cases"] if "finding" not in case["labels"]]
    slow = {
        (case["labels"]["host"], case["labels"]["case"]): _figures(case["figures"])
        for case in judged
        if case["labels"]["finding"] == "slow"
    }
    rounds: dict[str, list[Any]] = {name: [] for name in ROUND_COLUMNS}
    rows = []
    by_host = [{one["host"]: one for one in case["host_figures"]} for case in measured]
    for place, (name, host) in enumerate(zip(data["hosts"], data["host_rows"], strict=True)):
        for case, hosts in zip(measured, by_host, strict=True):
            totals = hosts.get(place, {"figures": []})
            told = {"host": name, "kernel": case["kernel"], "mode": case["labels"]["mode"]}
            if "passes" in totals:
                moved = _figures(case["figures"])["pass_size"] * host["processes"]
                _add_rounds(totals["passes"], moved, told, rounds)
            figure = totals["figures"][0] if totals["figures"] else {}
            estimate, summary = figure.get("estimate") or {}, figure.get("summary") or {}
            found = slow.get((name, case["name"]), {})
            rows.append(
                {
                    **told,
                    **{name: estimate.get(name) for name in ("value", "low", "high")},
                    **{name: summary.get(name) for name in ("min", "max", "n")},
                    "unit": "B/s",
                    "kind": host["kind"],
                    "cpu_model": data["machines"][host["kind"]]["cpu_model"],
                    "processes": host["processes"],
                    "placement": host.get("placement") or None,
                    "slow": bool(found),
                    "drop": -found["change"] if found else None,
                    "mads": found.get("deviations"),
                }
            )
    frame = pd.DataFrame(rounds)
    labels = measured[0]["labels"] if measured else {}
    warnings = [Warning(**warning) for warning in data["warnings"]]
    return Result(
        path,
        "stream",
        {key: value for key, value in data.items() if key in HEAD}
        | {key: labels[key] for key in ("memory", "elements") if labels.get(key)}
        | {"judged": bool(judged)},
        hosts=pd.DataFrame(rows),
        rounds=frame.assign(counted=frame["round"] > 0),
        machines=data["machines"],
        warnings=warnings,
    )


def _figures(figures: list[dict[str, Any]]) -> dict[str, float | None]:
    """Their values by key."""
    return {figure["key"]: (figure["estimate"] or {}).get("value") for figure in figures}


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
