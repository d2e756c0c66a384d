"""Curves of latency under load: a family of one for each share of reads, what is marked in them, and the same
for the plots of Mess."""

import math
import re
from typing import Any

import pandas as pd

from numatlas.facts import facts
from numatlas.figures.model import Mark, Series, Special
from numatlas.result import Cell, Result, View
from numatlas.units import is_unknown, is_wide, number_text, plus_minus, scaled_unit, spread_text

#: Lines that a kernel reads and writes, as STREAM counts them.
LINES = {"read": (1, 0), "write": (0, 1), "copy": (1, 1), "scale": (1, 1), "update": (1, 1)}
LINES |= {"add": (2, 1), "triad": (2, 1)}
COUNTED, MOVED = "bandwidth_sum", "traffic_sum"
MOVED_WORDS = "memory traffic: with lines that are read before they are written"
#: The part of the peak at which programs that use their memory well are.
WELL_USED = 0.8
#: What is marked.
AT_80 = "at 80 %: where a load of 80 % of the peak was asked for, or between its neighbours"
#: Facts that are marked.
IDLE, KNEE, LOAD_PEAK = "loaded_latency_idle", "loaded_latency_80", "loaded_bandwidth_peak"
BEND = "knee: where two straight lines meet that fit better than one"


def lines_of(kernel: str) -> tuple[int, int] | None:
    """Read and written."""
    found = re.fullmatch(r"mix (\d+):(\d+)", kernel)
    return (int(found[1]), int(found[2])) if found else LINES.get(kernel)


def load_words(kernel: str) -> str:
    """ "100 % reads", "67 % reads (mix 2:1)", "writes alone"."""
    lines = lines_of(kernel)
    if not lines or kernel == "write":
        return "writes alone" if lines else kernel
    share = f"{100 * lines[0] / sum(lines):.0f} % reads"
    return share if kernel == "read" else f"{share} ({kernel})"


def over_traffic(view: View, metrics: Any) -> View:
    """The view over what the memory moved, with the lines that are read before they are written, where the
    file has that."""
    if view["rows"] != COUNTED or MOVED not in metrics:
        return view
    counted = next(cell for cell in view["cells"] if cell["figure"] == COUNTED)
    return {**view, "rows": MOVED, "cells": [*view["cells"], {**counted, "figure": MOVED, "head": "moved"}]}


# ---- What is marked


def special_points(frame: pd.DataFrame, x_unit: str, y: Cell, y_unit: str) -> list[Special]:
    """Of a curve the latency at 80 % of its peak and its knee, as the program states them."""
    found = []
    ends = [f"latency_at_80_percent.{end}" for end in ("value", "low", "high")]
    at_80 = frame.reindex(columns=ends).apply(pd.to_numeric).dropna(subset=ends[:1]) * y["scale"]
    for at, *estimate in at_80.head(1).itertuples():
        value, low, high = (None if pd.isna(end) else end for end in estimate)
        # The program has it of the row that asked for this load, or between two rows.
        own = math.isclose(value, frame["value"].astype(float)[at], rel_tol=1e-9)
        x = frame["x"][at] if own else WELL_USED * frame["x"].max()
        if pd.notna(x) and not is_unknown(value, low, high):
            wide = is_wide(value, low, high)
            ends = f"({spread_text(low, high, 3)})" if wide else plus_minus(value, low, high)
            told = f"{number_text(value, 3)} {y_unit} {ends}".strip()
            found.append(Special(x, value, f"{told} at 80 %", AT_80))
    columns = ["x", f"{COUNTED}.value", "knee.value", "knee_latency.value"]
    known = frame.reindex(columns=columns).apply(pd.to_numeric).dropna()
    for x, counted, load, latency in known.head(1).itertuples(index=False):
        # The axis may be the traffic.
        at = x * load / counted
        found.append(Special(at, latency * y["scale"], f"knee {number_text(at, 3)} {x_unit}", BEND))
    return found


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
        marks.append(Mark(most, f"highest load {number_text(most, 3)} {scaled_unit('B/s', scale)}"))
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
    text = f"{peak[1]} {number_text(peak[0] * scale, 3)} {scaled_unit('B/s', scale)}"
    return [Mark(peak[0] * scale, text, level, wanted=True)]


# ---- For others


def _moved_reads(counted: float, moved: float, lines: tuple[int, int]) -> int:
    """Percent: lines that are read before they are written are reads of the memory."""
    return round(100 * (1 - counted / moved * lines[1] / sum(lines)))


def mess_tables(flows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """By name of a file, a curve for each share of reads of what the memory moved, in the columns of
    memory_curves.csv that the plots of Mess 2 read; GB/s and ns. `flows`: a row for each point."""
    rows = []
    for one in flows.to_dict("records"):
        lines = lines_of(str(one.get("load_kernel")))
        moved, counted, latency = (one.get(f"{name}.value") for name in (MOVED, COUNTED, "latency"))
        if lines and all(pd.notna(value) and value > 0 for value in (moved, counted, latency)):
            read = _moved_reads(counted, moved, lines)
            pair = f"{one['cpu_node']}-{one['memory_node']}"
            rows.append((pair, read, moved * 1e-9, latency * 1e9))
    frame = pd.DataFrame(rows, columns=["pair", "read_pct_rounded", "bandwidth_mean", "latency_mean"])
    frame = frame.sort_values(["pair", "read_pct_rounded", "bandwidth_mean"])
    order = frame.groupby(["pair", "read_pct_rounded"]).cumcount(ascending=False)
    frame = frame.assign(
        pause=order, bandwidth_smooth=frame["bandwidth_mean"], latency_smooth=frame["latency_mean"]
    )
    named = frame.groupby("pair")
    return {f"memory_curves-{pair}.csv": mine.drop(columns="pair") for pair, mine in named}


def legend_words(series: Series) -> str:
    """Its name, and what is marked of it."""
    told = ", ".join(one.text for one in series.special)
    return ": ".join(filter(None, [series.name, told]))
