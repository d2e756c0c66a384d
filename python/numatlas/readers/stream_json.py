"""JSON of `numatlas stream`: rounds of every host."""

from pathlib import Path
from typing import Any

import pandas as pd

from numatlas.result import Result


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
        warnings=[warning["text"] for warning in data["warnings"]],
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
                    **_bandwidth(host["figures"][index]),
                    "unit": "B/s",
                    "kind": host["kind"],
                    "cpu_model": data["kinds"][host["kind"]]["cpu_model"],
                    "processes": _processes(data, host),
                    "placement": host.get("placement") or None,
                    "slow": bool(found),
                    "drop": found.get("drop"),
                    "mads": found.get("mads"),
                    "warnings": "; ".join(warning["text"] for warning in host["warnings"]),
                }
            )
    return pd.DataFrame(rows)


def _bandwidth(figure: dict[str, Any] | None) -> dict[str, Any]:
    """The stored figure of a host and kernel; all None of a host that finished no round."""
    estimate = (figure or {}).get("estimate") or {}
    summary = (figure or {}).get("summary") or {}
    return {key: estimate.get(key) for key in ("value", "low", "high")} | {
        key: summary.get(key) for key in ("min", "max", "n")
    }
