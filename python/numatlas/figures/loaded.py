"""Curves of latency under load: a family of one for each share of reads, what is marked in them, and the same
for the plots of Mess."""

import math
import re
from typing import Any

import pandas as pd

from numatlas.facts import facts
from numatlas.figures.model import Curves, Mark, Special
from numatlas.result import Cell, Result, View
from numatlas.units import is_unknown, is_wide, number_text, plus_minus, spread_text

#: Lines that a kernel reads and writes, as STREAM counts them.
LINES = {"read": (1, 0), "write": (0, 1), "copy": (1, 1), "scale": (1, 1), "update": (1, 1)}
LINES |= {"add": (2, 1), "triad": (2, 1)}
COUNTED, MOVED = "bandwidth_sum", "traffic_sum"
#: The part of the peak at which programs that use their memory well are.
WELL_USED = 0.8
#: What is marked.
AT_80 = "at 80 %: where a load of 80 % of the peak was asked for, or between its neighbours"
#: Facts that are marked.
IDLE, KNEE, LOAD_PEAK = "loaded_latency_idle", "loaded_latency_80", "loaded_bandwidth_peak"
CASE_FIGURES = ("latency_at_80_percent", "knee", "knee_latency", COUNTED)
BEND = "knee: where two straight lines meet that fit better than one"


def lines_of(kernel: str) -> tuple[int, int] | None:
    """Read and written."""
    found = re.fullmatch(r"mix (\d+):(\d+)", kernel)
    return (int(found[1]), int(found[2])) if found else LINES.get(kernel)


# ---- What is marked


def _of_cases(result: Result) -> dict[tuple[int, str], Any]:
    """Rows of figures over all flows, by number of case and figure."""
    totals = result.totals.drop_duplicates(["point", "metric"]) if len(result.totals) else result.totals
    return {(row.point, row.metric): row for row in totals.itertuples()}


def special_points(result: Result, points: list[Any], view: View, drawn: dict[str, Any]) -> list[Special]:
    """Of a curve the latency at 80 % of its peak and its knee, as the program states them. `points`: row,
    place and figure of each, as the program drew them."""
    figures, found = _of_cases(result), {}
    scale = view["cells"][drawn["main"]]["scale"]
    x_unit, y_unit = (drawn[name]["unit"] for name in ("over", "shown"))
    most = max((place.get("value", 0.0) for _, place, _ in points), default=0.0)
    for row, place, figure in points:
        mine = {name: figures.get((row["case"], name)) for name in CASE_FIGURES}
        at_80, knee = mine["latency_at_80_percent"], mine["knee"]
        if at_80 is not None and not is_unknown(at_80.value, at_80.low, at_80.high):
            value, low, high = (
                None if pd.isna(end) else end * scale for end in (at_80.value, at_80.low, at_80.high)
            )
            # The program has it of the row that asked for this load, or between two rows.
            own = math.isclose(value, figure.get("value", 0.0), rel_tol=1e-6)
            wide = is_wide(value, low, high)
            width = f"({spread_text(low, high, 3)})" if wide else plus_minus(value, low, high)
            told = f"{number_text(value, 3)} {y_unit} {width}".strip()
            x = place["value"] if own else WELL_USED * most
            if own and is_unknown(*(place.get(end) for end in ("value", "low", "high"))):
                continue
            found.setdefault(AT_80, Special(x, value, f"{told} at 80 %", AT_80))
        if knee is not None and mine["knee_latency"] is not None:
            at = place["value"] * knee.value / mine[COUNTED].value  # the axis may be the traffic
            text = f"knee {number_text(at, 3)} {x_unit}"
            found.setdefault(BEND, Special(at, mine["knee_latency"].value * scale, text, BEND))
    return list(found.values())


def load_marks(result: Result, main: Cell, unit: str, scale: float) -> list[Mark]:
    """Of one curve, as the facts of the run have them: the latency when idle, and the highest load, which is
    shown in `scale`."""
    every = facts(result)
    every = every[every["key"].str.startswith("loaded_")]
    ends = every[["value", "low", "high"]].itertuples(index=False)
    every = every[[not is_unknown(*one) for one in ends]]
    own = every[every["key"] == KNEE]
    pair = (own if len(own) else every).head(1)[["cpu_node", "memory_node"]]
    found = {row.key: row.value for row in every.merge(pair).drop_duplicates("key").itertuples()}
    marks = []
    if IDLE in found:
        idle = found[IDLE] * main["scale"]
        marks.append(Mark(idle, f"idle {number_text(idle, 3)} {unit}", level=True))
    if LOAD_PEAK in found:
        most = found[LOAD_PEAK] * scale
        marks.append(Mark(most, f"highest load {number_text(most, 3)} GB/s"))
    return marks


def peak_of(result: Result, nodes: set[int] | None = None) -> tuple[float, str] | None:
    """What the memory of these nodes can carry in theory, B/s, and who says so: the modules, of all nodes
    with CPUs (`nodes` absent, or the only one), or the firmware, for reads. Not the modules of a virtual
    machine's host, of which it gets a part."""
    machine = result.machine
    every = {node["id"] for node in machine.get("nodes", []) if node.get("cpus")}
    peak = (machine.get("memory_slots") or {}).get("peak_bandwidth")
    if peak and machine.get("hypervisor") == "" and nodes in (None, every) and every:
        return peak, "theoretical peak"
    asked = every if nodes is None else nodes
    claims = [
        (node.get("hmat") or {}).get("read_bandwidth")
        for node in machine.get("nodes", [])
        if node["id"] in asked
    ]
    return (sum(claims), "firmware's claim") if claims and all(claims) else None


def peak_marks(
    result: Result, scale: float, nodes: set[int] | None = None, level: bool = False
) -> list[Mark]:
    """What the memory of these nodes, or all of it, can carry in theory, where that is known."""
    peak = peak_of(result, nodes)
    if not peak:
        return []
    text = f"{peak[1]} {number_text(peak[0] * scale, 3)} GB/s"
    return [Mark(peak[0] * scale, text, level, wanted=True)]


# ---- For others


def _moved_reads(counted: float, moved: float, lines: tuple[int, int]) -> int:
    """Percent: lines that are read before they are written are reads of the memory."""
    return round(100 * (1 - counted / moved * lines[1] / sum(lines)))


def mess_tables(result: Result, points: list[Any]) -> dict[str, pd.DataFrame]:
    """By name of a file, a curve for each share of reads of what the memory moved, in the columns of
    memory_curves.csv that the plots of Mess 2 read; GB/s and ns."""
    figures, rows = _of_cases(result), []
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
