"""Of the JSON of `numatlas stream`: hosts and their rounds."""

from dataclasses import replace
from typing import Any

import pandas as pd

from numatlas.result import Result

ENDS = ["value", "low", "high", "min", "max", "n"]
ROUND_COLUMNS = ("host", "kernel", "mode", "round", "seconds", "slowest", "overlap", "bandwidth")


def with_hosts(result: Result, data: dict[str, Any], found: list[dict[str, Any]]) -> Result:
    """`rounds`: a row for each host, kernel and round (the first round warms up: `counted` is false).
    `hosts`: a row for each host and kernel: the node's median bandwidth over the counted rounds (B/s, as
    STREAM counts bytes) with its interval, as stored, and whether the run called it slow: `found`."""
    measured = {at: case for at, case in enumerate(data["cases"]) if "finding" not in case["labels"]}
    cases = pd.DataFrame(
        [(at, one["name"], one["kernel"], one["labels"]["mode"]) for at, one in measured.items()],
        columns=["point", "case", "kernel", "mode"],
    )
    hosts = pd.DataFrame(data["host_rows"], columns=["kind", "processes", "placement"])
    models = [data["machines"][kind]["cpu_model"] for kind in hosts["kind"]]
    placement = hosts["placement"].replace("", None)
    hosts = hosts.assign(cpu_model=models, placement=placement, unit="B/s")
    hosts.insert(0, "host", data["hosts"])
    totals = result.host_totals.reindex(columns=["point", "host", *ENDS]).drop_duplicates(["point", "host"])
    slow = pd.DataFrame([one for one in found if one["finding"] == "slow"])
    slow = slow.reindex(columns=["host", "case", "change", "deviations"]).drop_duplicates(["host", "case"])
    rows = hosts.merge(cases, how="cross").merge(totals.astype({"point": int}), "left", ["host", "point"])
    rows = rows.merge(slow.astype({"host": str, "case": str}), "left", ["host", "case"], indicator="slow")
    rows = rows.assign(slow=rows["slow"] == "both", drop=-rows["change"].astype(float))
    rounds = pd.DataFrame(_rounds(data, measured), columns=ROUND_COLUMNS)
    labels = next(iter(measured.values()))["labels"] if measured else {}
    told = {key: labels[key] for key in ("memory", "elements") if labels.get(key)}
    rows = rows.rename(columns={"deviations": "mads"}).drop(columns=["point", "case", "change"])
    kept = {name: result.tables[name] for name in ("flows", "groups")}
    return replace(
        result,
        meta=result.meta | told | {"judged": len(measured) < len(data["cases"])},
        tables={**kept, "hosts": lambda: rows, "rounds": lambda: rounds.assign(counted=rounds["round"] > 0)},
        labels=[],
        views=[],
    )


def _rounds(data: dict[str, Any], measured: dict[int, dict[str, Any]]) -> list[tuple[Any, ...]]:
    """By host, then by case."""
    every = [
        (one["host"], case, one["passes"])
        for case in measured.values()
        for one in case["host_figures"]
        if "passes" in one
    ]
    rows = []
    for host, case, passes in sorted(every, key=lambda one: one[0]):
        (size,) = (one["estimate"]["value"] for one in case["figures"] if one["key"] == "pass_size")
        moved = size * data["host_rows"][host]["processes"]
        named = (data["hosts"][host], case["kernel"], case["labels"]["mode"])
        lists = (passes[name] for name in ("node", "slowest", "overlap"))
        for number, (seconds, *others) in enumerate(zip(*lists, strict=True)):
            rows.append((*named, number, seconds, *others, moved / seconds if seconds else None))
    return rows
