"""Whether the figures of a run can be believed, in a few lines."""

from dataclasses import dataclass

import pandas as pd

from numatlas.facts import metrics, nodes_with_cpus, pairs
from numatlas.figures.scales import UNSTEADY
from numatlas.figures.told import column, half_widths
from numatlas.result import Result, Warning
from numatlas.units import ranges_of

#: Codes of memory that does not lie where it was asked for, or that nobody saw.
ASTRAY = ("placement", "placement-unknown", "pages-moved")


@dataclass
class Line:
    """Of the verdict: `good`, or something to be wary of."""

    text: str
    good: bool = False


def verdict(result: Result) -> list[Line]:
    """Whether the figures can be believed: placement, steadiness, what disturbed, what is missing."""
    parts = [part for part in result.all() if len(part.flows)]
    flows = pd.concat([part.flows for part in parts]) if parts else pd.DataFrame(columns=["name", "flow"])
    warnings = [one for part in result.parts for one in part.warnings_of_survey()] or result.warnings
    lines = []
    if result.meta.get("complete") is False:
        lines.append(Line(f"not complete: {result.meta.get('incomplete_reason') or 'ended early'}"))
    observed = column(flows, "pages_observed").notna().any()
    astray = (pd.to_numeric(column(flows, "pages_elsewhere")) > 0).any()
    if observed and not astray and not any(one.code in ASTRAY for one in warnings):
        lines.append(Line("memory lay where it was asked for", good=True))
    lines += _steadiness([frame for part in parts for frame in (part.flows, part.totals) if len(frame)])
    if any(one.few_visits and one.spread for one in metrics(result)):
        lines.append(Line("* fewer than 5 visits: the interval does not cover changes between visits"))
    lines += _told(warnings)
    settings = [one.text.split(":")[0] for one in result.warnings if one.code == "setting"]
    if settings:
        lines.append(Line(f"may disturb: {', '.join(settings)}"))
    lines += [Line(f"own memory not measured: {words}") for words in [nodes_left_out(result)] if words]
    cut = cut_short(result)
    if cut:
        lines.append(Line(f"cut short for lack of time: {', '.join(cut)}"))
    if len(result.skipped) and result.parts:
        lines.append(Line(f"not measured: {', '.join(dict.fromkeys(map(str, result.skipped['name'])))}"))
    return lines


def _told(warnings: list[Warning]) -> list[Line]:
    """In the words of the program: of each code the first, and how many more."""
    texts: dict[str, dict[str, None]] = {}
    for one in warnings:
        if one.code not in ("", "setting"):
            texts.setdefault(one.code, {})[str(one)] = None
    return [
        Line(next(iter(mine)) + (f" (and {len(mine) - 1:,} more)" if len(mine) > 1 else ""))
        for mine in texts.values()
    ]


def cut_short(result: Result) -> list[str]:
    """Benchmarks of a survey that left something out."""
    return [str(one["benchmark"]) for one in result.meta.get("plan") or [] if one.get("left_out")]


def nodes_left_out(result: Result) -> str:
    """Nodes with CPUs that did not reach their own memory, where others did: "nodes 2-7"."""
    found = pairs(result)
    own = set(found["cpu_node"][found["cpu_node"] == found["memory_node"]])
    missing = sorted(nodes_with_cpus(result) - own) if own else []
    return f"node{'s' * (len(missing) > 1)} {ranges_of(missing)}" if missing else ""


def _steadiness(frames: list[pd.DataFrame]) -> list[Line]:
    if not frames:
        return []
    rows = pd.concat([frame[["value", "low", "high"]] for frame in frames]).apply(pd.to_numeric).dropna()
    rows = rows[rows["value"] != 0]
    if rows.empty:
        return []
    wide = int((half_widths(**rows) > UNSTEADY).sum())
    if not wide:
        return [Line(f"all {len(rows):,} figures are known to ±10 % or better", good=True)]
    return [Line(f"{wide:,} of {len(rows):,} figures unsteady (> ±10 %)")]
