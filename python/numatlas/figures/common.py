"""What figures of several kinds need: spread in words, observed placement, pivots."""

import re
from collections.abc import Iterable
from typing import Any

import pandas as pd

from numatlas.figures.model import absent_as_none
from numatlas.figures.placement import column, placement_of
from numatlas.result import IN_UNIT, Result
from numatlas.units import percent_text, shown

INTERVAL = "95 % interval of the median"
SUM_INTERVAL = "95 % interval of the sum"

#: Why a flow stopped before its median was known well enough.
STOPS = {"time_cap": "stopped at the time cap", "interrupted": "were interrupted"}

__all__ = [
    "INTERVAL",
    "SUM_INTERVAL",
    "absent_as_none",
    "column",
    "convergence_of",
    "grid",
    "hosts_of",
    "in_shown_unit",
    "key_of",
    "median_over_workers",
    "natural",
    "placement_of",
    "shown_flows",
    "skips_of",
    "sum_spread",
    "sums_by_host",
    "warnings_of",
    "worker_of_cell",
]


def in_shown_unit(frame: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Value and spread in the unit that people read; of rows of one metric."""
    unit, factor = shown(frame["unit"].iloc[0])
    scaled = frame.copy()
    for name in IN_UNIT:
        if name in scaled:
            scaled[name] = pd.to_numeric(scaled[name]) * factor
    return scaled.assign(unit=unit), unit


def key_of(words: str) -> str:
    """Words as a key of a figure: letters, digits and dashes."""
    return "".join(letter if letter.isalnum() else "-" for letter in words)


def convergence_of(flows: pd.DataFrame) -> list[str]:
    """How many medians are known to what was asked for."""
    stops = (
        column(flows.drop_duplicates(["point", "flow"]), "stop").dropna()
        if "flow" in flows
        else pd.Series(dtype=object)
    )
    if stops.empty or (stops == "converged").all():
        return []
    widths = pd.to_numeric(column(flows, "half_width"))
    worst = f" (the widest interval is +-{percent_text(widths.max())})" if widths.notna().any() else ""
    known = f"{(stops == 'converged').sum()} of {len(stops)} medians converged"
    others = stops[stops != "converged"].value_counts()
    words = [
        f"{'the others' if len(others) == 1 else count} {STOPS.get(stop, f'ended by {stop}')}"
        for stop, count in others.items()
    ]
    return [f"{known}; {', '.join(words)}{worst}"]


def warnings_of(result: Result, flows: pd.DataFrame | None = None) -> list[str]:
    """Those of the run, and those of the flows shown, each once."""
    found = dict.fromkeys(result.warnings)
    if str(result.meta.get("engine", "")).startswith("null"):
        found = {"no measurement: numbers of the null engine, which touches no memory": None, **found}
    if flows is not None:
        for text in column(flows, "flow_warnings").dropna().unique():
            found.update(dict.fromkeys(word for word in str(text).split("; ") if word))
    return list(found)


def skips_of(result: Result) -> list[str]:
    if result.skipped.empty:
        return []
    by_reason = result.skipped.groupby("reason", sort=False, dropna=False)["name"].agg(["first", "size"])
    return [
        f"not measured: {row['first']}"
        + (f" and {row['size'] - 1} more" if row["size"] > 1 else "")
        + f": {reason}"
        for reason, row in by_reason.head(5).iterrows()
    ]


def hosts_of(result: Result) -> list[str]:
    return [str(host) for host in column(result.flows, "host").dropna().unique()]


def sums_by_host(result: Result) -> pd.DataFrame:
    """The sums of bandwidth at each point: of several hosts those of each, with a column `host`. A sum over
    all hosts says nothing of a node's memory. Empty where the file has none."""
    sums = (
        result.host_totals
        if len(hosts_of(result)) > 1
        else result.totals.drop(columns="host", errors="ignore")
    )
    if sums.empty:
        return pd.DataFrame()
    return sums[(sums["metric"] == "bandwidth_sum") & sums["value"].notna()]


def shown_flows(result: Result, frame: pd.DataFrame) -> pd.DataFrame:
    """The flows of the points (and hosts, where it tells them) of a frame."""
    by = [name for name in ("point", "host") if name in frame and name in result.flows]
    return result.flows.merge(frame[by].drop_duplicates(), on=by)


def sum_spread(frame: pd.DataFrame) -> str:
    """What the spread of sums is: a CSV file of numatlas 0.1 has none."""
    return SUM_INTERVAL if column(frame, "low").notna().any() else "the file has no interval of the sums"


def natural(values: Iterable[Any]) -> list[Any]:
    """Sorted, numbers in words by their value: "2" before "10"."""
    return sorted(
        set(values),
        key=lambda value: [
            (0, float(part), "") if part.isdigit() else (1, 0.0, part) for part in _parts(str(value))
        ],
    )


def _parts(text: str) -> list[str]:
    return [part for part in re.split(r"(\d+)", text) if part]


def grid(
    frame: pd.DataFrame, row: str, col: str, rows: list[Any], cols: list[Any]
) -> dict[str, list[list[float | None]]]:
    """`values`, `low` and `high` of one number a cell, for a Matrix.

    Raises ValueError where a cell has several: what tells them apart belongs into figures of their own
    (or, where that is workers, their median is to be taken before, see worker_of_cell)."""
    twice = frame[frame.duplicated([row, col])]
    if len(twice):
        first = twice.iloc[0]
        raise ValueError(f"several numbers for the cell of {row} {first[row]} and {col} {first[col]}")
    cells = frame.set_index([row, col])
    grids = {}
    for name, source in (("values", "value"), ("low", "low"), ("high", "high")):
        numbers = pd.to_numeric(cells[source]).to_dict()
        grids[name] = [absent_as_none(numbers.get((y, x)) for x in cols) for y in rows]
    return grids


def worker_of_cell(frame: pd.DataFrame, row: str, col: str) -> pd.DataFrame:
    """One row a cell: the median over the workers of its one point.

    Raises ValueError where a cell has several points."""
    points = frame.groupby([row, col], sort=False)["point"].nunique()
    if (points > 1).any():
        y, x = points.index[points > 1][0]
        raise ValueError(f"several points for the cell of {row} {y} and {col} {x}")
    return median_over_workers(frame, [row, col])


def median_over_workers(frame: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """A row for each of `by`: the median over the workers.

    Its spread is the worker's own interval where there is one, and goes from the lowest to the highest
    worker where there are several."""

    def of_group(group: pd.DataFrame) -> pd.Series:
        values = group["value"].dropna()
        if len(values) == 1:
            only = group.loc[values.index[0]]
            return pd.Series({"value": only["value"], "low": only["low"], "high": only["high"], "workers": 1})
        return pd.Series(
            {"value": values.median(), "low": values.min(), "high": values.max(), "workers": len(values)}
        )

    present = [name for name in by if name in frame]
    return (
        frame.groupby(present, sort=False, dropna=False).apply(of_group, include_groups=False).reset_index()
    )
