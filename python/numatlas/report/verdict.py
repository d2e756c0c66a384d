"""Whether the figures of a run can be believed, in a few lines."""

from collections import Counter
from dataclasses import dataclass

import pandas as pd

from numatlas.facts import metrics, nodes_with_cpus, pairs
from numatlas.figures.scales import UNSTEADY
from numatlas.figures.told import column, half_widths
from numatlas.readers.placement import NODE, PAGE_SIZE, UNSEEN
from numatlas.result import Result
from numatlas.units import ranges_of

#: What a code of a warning means, for one case and for several.
CODES = {
    "pages-moved": ("case had pages moved while it ran", "cases had pages moved while they ran"),
    "two-speeds": ("figure has two speeds", "figures have two speeds"),
    "stopped": ("worker was stopped while measuring", "workers were stopped while measuring"),
    "other-processes": ("host was busy with other programs", "hosts were busy with other programs"),
    "low-overlap": ("worker measured partly alone", "workers measured partly alone"),
    "oversubscribed": ("run has more workers than CPUs", "runs have more workers than CPUs"),
}


#: The same of what differs where the code is "placement".
PLACEMENT = {
    NODE: ("case had memory elsewhere than asked", "cases had memory elsewhere than asked"),
    PAGE_SIZE: (
        "case had pages of another size than asked",
        "cases had pages of other sizes than asked",
    ),
    UNSEEN: (
        "case had memory whose place was not observed",
        "cases had memory whose place was not observed",
    ),
}
#: Codes that are counted by case; others by worker.
OF_CASES = ("pages-moved",)


@dataclass
class Line:
    """Of the verdict: `good`, or something to be wary of."""

    text: str
    good: bool = False


def verdict(result: Result) -> list[Line]:
    """Whether the figures can be believed: placement, steadiness, what disturbed, what is missing."""
    parts = [part for part in result.all() if len(part.flows)]
    flows = pd.concat([part.flows for part in parts]) if parts else pd.DataFrame(columns=["name", "flow"])
    codes = _counts(parts, "flow_warning_codes")
    differs = _counts(parts, "placement_differs")
    lines = []
    if result.meta.get("complete") is False:
        lines.append(Line(f"not complete: {result.meta.get('incomplete_reason') or 'ended early'}"))
    if column(flows, "pages_observed").notna().any() and not {NODE, UNSEEN} & set(differs):
        astray = (pd.to_numeric(column(flows, "pages_elsewhere")) > 0).any()
        lines.append(
            Line("some pages were elsewhere than asked")
            if astray
            else Line("memory lay where it was asked for", good=True)
        )
    lines += _steadiness([frame for part in parts for frame in (part.flows, part.totals) if len(frame)])
    if any(one.few_visits and one.spread for one in metrics(result)):
        lines.append(Line("* fewer than 5 visits: the interval does not cover changes between visits"))
    for counts, every in ((differs, PLACEMENT), (codes, CODES)):
        lines += [
            Line(f"{counts[one]:,} {words[counts[one] > 1]}") for one, words in every.items() if one in counts
        ]
    lines += _disturbance(result)
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


def _counts(parts: list[Result], name: str) -> dict[str, int]:
    """How many cases, or workers of cases, have each of the words in a column."""
    found: Counter[str] = Counter()
    for flows in (part.flows for part in parts if {"point", "flow", name} <= set(part.flows)):
        told = flows.assign(word=flows[name].fillna("").astype(str).str.split("; "))
        told = told[["point", "flow", "word"]].explode("word")
        of_case = told["word"].isin([*PLACEMENT, *OF_CASES])
        told["flow"] = told["flow"].mask(of_case, 0)
        found.update(told.drop_duplicates()["word"])
    return found


def _disturbance(result: Result) -> list[Line]:
    """Of whole runs, by other programs; of a survey the first benchmark's words stand for all."""
    warnings = [one for part in result.all() for one in part.warnings if one.where is None]
    told = list(dict.fromkeys(one.text for one in warnings if one.code == "other-processes"))
    more = f" (and {len(told) - 1} more)" if len(told) > 1 else ""
    return [Line(f"{told[0]}{more}")] if told else []


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
