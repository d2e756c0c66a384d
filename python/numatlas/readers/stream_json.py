"""JSON of `numatlas stream`: rounds of every host."""

from pathlib import Path
from typing import Any

import pandas as pd

from numatlas.result import Result
from numatlas.statistics import median_interval


def read(path: Path, data: dict[str, Any]) -> Result:
    """`rounds`: a row for each host, kernel and round (the first round warms up: `counted` is false).
    `hosts`: a row for each host and kernel: the node's median bandwidth over the counted rounds (B/s, as
    STREAM counts bytes) with its interval, and whether the run called it slow."""
    rounds = _rounds(data)
    meta = {key: value for key, value in data.items() if key not in ("hosts", "machines", "warnings")}
    return Result(
        path,
        "stream",
        meta,
        hosts=_hosts(data),
        rounds=rounds,
        machines=data.get("machines", []),
        warnings=list(data.get("warnings", [])),
    )


def _processes(data: dict[str, Any], host: dict[str, Any]) -> int:
    return data["kinds"][host["kind"]]["processes"]


def _rounds(data: dict[str, Any]) -> pd.DataFrame:
    names = ("host", "kernel", "mode", "round", "seconds", "slowest", "overlap", "bandwidth")
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for host in data["hosts"]:
        for kernel, passes in zip(data["kernels"], host.get("rounds", []), strict=False):
            seconds = passes["node"]
            count = len(seconds)
            moved = kernel["bytes"] * _processes(data, host)
            columns["host"] += [host["name"]] * count
            columns["kernel"] += [kernel["name"]] * count
            columns["mode"] += [kernel["mode"]] * count
            columns["round"] += range(count)
            columns["seconds"] += seconds
            columns["slowest"] += passes.get("slowest") or [None] * count
            columns["overlap"] += passes.get("overlap") or [None] * count
            columns["bandwidth"] += [moved / time if time else None for time in seconds]
    frame = pd.DataFrame(columns)
    frame["counted"] = frame["round"] > 0
    return frame


def _hosts(data: dict[str, Any]) -> pd.DataFrame:
    slow = {
        (host["host"], kernel["kernel"]): kernel
        for host in data.get("slow") or []
        for kernel in host["kernels"]
    }
    rows = []
    for host in data["hosts"]:
        for index, kernel in enumerate(data["kernels"]):
            found = slow.get((host["name"], index), {})
            rows.append(
                {
                    "host": host["name"],
                    "kernel": kernel["name"],
                    "mode": kernel["mode"],
                    **_bandwidth(data, host, index),
                    "unit": "B/s",
                    "kind": host["kind"],
                    "cpu_model": data["kinds"][host["kind"]]["cpu_model"],
                    "processes": _processes(data, host),
                    "placement": host.get("placement") or None,
                    "slow": bool(found),
                    "drop": found.get("drop"),
                    "mads": found.get("mads"),
                    "warnings": "; ".join(host.get("warnings", [])),
                }
            )
    return pd.DataFrame(rows)


def _bandwidth(data: dict[str, Any], host: dict[str, Any], index: int) -> dict[str, Any]:
    """The median round and its interval; of a host whose rounds are not told, its average and extremes."""
    moved = data["kernels"][index]["bytes"] * _processes(data, host)
    if host.get("rounds"):
        counted = sorted(moved / time for time in host["rounds"][index]["node"][1:] if time)
        if not counted:
            return dict.fromkeys(("value", "low", "high", "min", "max", "n"))
        value, low, high = median_interval(counted)
        return {
            "value": value,
            "low": low,
            "high": high,
            "min": counted[0],
            "max": counted[-1],
            "n": len(counted),
        }
    summary = (host.get("summaries") or [None] * (index + 1))[index]
    if not summary:
        return dict.fromkeys(("value", "low", "high", "min", "max", "n"))
    return {
        "value": moved / summary["average"],
        "low": None,
        "high": None,
        "min": moved / summary["maximum"],
        "max": moved / summary["minimum"],
        "n": None,
    }
