"""Curves: those of latency under load for the plots of Mess, and what the legends of all say."""

import re
from typing import Any

import pandas as pd

from numatlas.figures.model import Curves
from numatlas.result import Result

#: Lines that a kernel reads and writes, as STREAM counts them.
LINES = {"read": (1, 0), "write": (0, 1), "copy": (1, 1), "scale": (1, 1), "update": (1, 1)}
LINES |= {"add": (2, 1), "triad": (2, 1)}
COUNTED, MOVED = "bandwidth_sum", "traffic_sum"


def lines_of(kernel: str) -> tuple[int, int] | None:
    """Read and written."""
    found = re.fullmatch(r"mix (\d+):(\d+)", kernel)
    return (int(found[1]), int(found[2])) if found else LINES.get(kernel)


def _moved_reads(counted: float, moved: float, lines: tuple[int, int]) -> int:
    """Percent: lines that are read before they are written are reads of the memory."""
    return round(100 * (1 - counted / moved * lines[1] / sum(lines)))


def mess_tables(result: Result, points: list[Any]) -> dict[str, pd.DataFrame]:
    """By name of a file, a curve for each share of reads of what the memory moved, in the columns of
    memory_curves.csv that the plots of Mess 2 read; GB/s and ns."""
    totals = result.totals.drop_duplicates(["point", "metric"]) if len(result.totals) else result.totals
    figures, rows = {(row.point, row.metric): row for row in totals.itertuples()}, []
    for row, _, figure in points:
        moved, counted = (figures.get((row["case"], name)) for name in (MOVED, COUNTED))
        lines = lines_of(str(getattr(counted, "load_kernel", "")))
        known = lines and moved is not None and figure.get("value", 0) > 0
        if known and moved.value > 0 and counted.value > 0:
            read = _moved_reads(counted.value, moved.value, lines)
            pair = f"{counted.cpu_node}-{counted.memory_node}"
            rows.append((pair, read, moved.value * 1e-9, figure["value"]))
    frame = pd.DataFrame(rows, columns=["pair", "read_pct_rounded", "bandwidth_mean", "latency_mean"])
    frame = frame.sort_values(["pair", "read_pct_rounded", "bandwidth_mean"])
    order = frame.groupby(["pair", "read_pct_rounded"]).cumcount(ascending=False)
    frame = frame.assign(
        pause=order, bandwidth_smooth=frame["bandwidth_mean"], latency_smooth=frame["latency_mean"]
    )
    named = frame.groupby("pair")
    return {f"memory_curves-{pair}.csv": mine.drop(columns="pair") for pair, mine in named}


def legend_of(figure: Curves, most: int) -> tuple[list[str], list[str], list[str]]:
    """Names of the lines, with what is marked of each, and of the marks; none where no line has a name, or
    more have one than can be told apart (`most`). And what else has to be said, in lines."""
    names = [
        ": ".join(filter(None, [one.name, ", ".join(mark.text for mark in one.special)]))
        for one in figure.series
    ]
    marked = list(dict.fromkeys(mark.what for one in figure.series for mark in one.special))
    small = [f"{len(names)} lines, in order from {names[0]} to {names[-1]}"] if len(names) > most else []
    if any(any(one.flagged) for one in figure.series):
        small.append("hollow: with a warning, or known to within more than 10 % only")
    if any(one.unknown() for one in figure.series):
        small.append("an interval without a point: it reaches zero")
    return (names, marked, small) if any(names) and len(names) <= most else ([], [], [*small, *marked])
