"""JSON of `numatlas stream`: rounds of every host."""

from pathlib import Path
from typing import Any

import pandas as pd

from numatlas.result import Result, Warning
from numatlas.statistics import median_interval

ROUND_COLUMNS = ("host", "kernel", "mode", "round", "seconds", "slowest", "overlap", "bandwidth")


def read(path: Path, data: dict[str, Any]) -> Result:
    """`rounds`: a row for each host, kernel and round (the first round warms up: `counted` is false).
    `hosts`: a row for each host and kernel: the node's median bandwidth over the counted rounds (B/s, as
    STREAM counts bytes) with its interval, and whether the run called it slow."""
    slow = {
        (host["host"], kernel["kernel"]): kernel
        for host in data.get("slow") or []
        for kernel in host["kernels"]
    }
    rounds: dict[str, list[Any]] = {name: [] for name in ROUND_COLUMNS}
    rows = []
    for host in data["hosts"]:
        kind = data["kinds"][host["kind"]]
        passes = host.get("rounds") or [None] * len(data["kernels"])
        for index, kernel in enumerate(data["kernels"]):
            moved = kernel["bytes"] * kind["processes"]
            told = {"host": host["name"], "kernel": kernel["name"], "mode": kernel["mode"]}
            if passes[index]:
                figures = _of_rounds(passes[index], moved, told, rounds)
            else:
                figures = _of_summary((host.get("summaries") or [None] * (index + 1))[index], moved)
            found = slow.get((host["name"], index), {})
            rows.append(
                {
                    **told,
                    **dict(zip(("value", "low", "high", "min", "max", "n"), figures, strict=True)),
                    "unit": "B/s",
                    "kind": host["kind"],
                    "cpu_model": kind["cpu_model"],
                    "processes": kind["processes"],
                    "placement": host.get("placement") or None,
                    "slow": bool(found),
                    "drop": found.get("drop"),
                    "mads": found.get("mads"),
                    "warnings": "; ".join(host.get("warnings", [])),
                }
            )
    frame = pd.DataFrame(rounds)
    return Result(
        path,
        "stream",
        {key: value for key, value in data.items() if key not in ("hosts", "machines", "warnings")},
        hosts=pd.DataFrame(rows),
        rounds=frame.assign(counted=frame["round"] > 0),
        machines=data.get("machines", []),
        warnings=[Warning(text) for text in data.get("warnings", [])],
    )


def _of_rounds(
    passes: dict[str, Any], moved: float, told: dict[str, Any], rounds: dict[str, list[Any]]
) -> tuple[Any, ...]:
    """The median round, its interval and its extremes; adds the rounds to the lists."""
    seconds = passes["node"]
    count = len(seconds)
    bandwidths = [moved / time if time else None for time in seconds]
    for name, value in told.items():
        rounds[name] += [value] * count
    rounds["round"] += range(count)
    rounds["seconds"] += seconds
    rounds["slowest"] += passes.get("slowest") or [None] * count
    rounds["overlap"] += passes.get("overlap") or [None] * count
    rounds["bandwidth"] += bandwidths
    counted = sorted(value for value in bandwidths[1:] if value is not None)
    if not counted:
        return (None,) * 6
    return (*median_interval(counted), counted[0], counted[-1], len(counted))


def _of_summary(summary: dict[str, Any] | None, moved: float) -> tuple[Any, ...]:
    """Of a host whose rounds are not told: its average and extremes."""
    if not summary:
        return (None,) * 6
    return (
        moved / summary["average"],
        None,
        None,
        moved / summary["maximum"],
        moved / summary["minimum"],
        None,
    )
