"""What `compare` and `check` found, as lists."""

from pathlib import Path
from typing import Any

import pandas as pd

from numatlas.facts import COUNT, Metric
from numatlas.figures.model import Axis, Curves, Figure, Listing, Series
from numatlas.figures.tables import words_of
from numatlas.figures.told import warnings_of
from numatlas.result import NO_TIME, Result
from numatlas.units import quantity_text

#: What decides stands above what could not be told.
FIRST = ("slower", "faster", "same", "not comparable", "not distinguishable")
#: Rows seen at once at least.
LEAST_SHOWN = 12
MARKS = {"slower": "▼ slower", "faster": "▲ faster"}


#: What is shown as alarming, where there is any of it.
ALARMS = ("slower", "slow_hosts", "fell")


def figures(result: Result) -> list[Figure]:
    """Of a file of `compare` or `check`."""
    return _compared(result) if result.kind == "compare" else _checked(result)


def _compared(result: Result) -> list[Figure]:
    rows, meta = result.rows, result.meta
    order = {verdict: at for at, verdict in enumerate(FIRST)}
    if len(rows):
        rows = rows.sort_values("verdict", key=lambda names: names.map(order), kind="stable")
    counts = [f"{count} {name.replace('_', ' ')}" for name, count in meta.get("counts", {}).items() if count]
    differences = [*meta.get("machine", []), *meta.get("differences", [])]
    differs = [f"differs: {_difference(one)}" for one in differences]
    doubts = [f"{one['what']}: {one['warning']}" for one in differences if _has(one, "warning")]
    cases = [_case(row) for row in rows.itertuples()]
    heads = ["verdict", "command", "case", "of", "figure", "base", "new", "change", "its interval", "why"]
    if not any(case[-1] for case in cases):
        heads, cases = heads[:-1], [case[:-1] for case in cases]
    title = f"{_side(meta.get('base') or {})} against {_side(meta.get('new') or {})}"
    sides = [f"{side}: {_side(meta.get(side) or {})}" for side in ("base", "new")]
    slower: list[str] = []
    if "groups" in meta:
        title, sides = "The newest runs against earlier ones", [*map(_runs, meta["groups"]), *meta["notes"]]
        slower = [text for group in meta["groups"] for text in _slower_than_others(group)]
    effect = meta.get("min_effect")
    rule = [] if effect is None else [f"a change counts from {100 * effect:g} % on"]
    return [
        Listing(
            "compare",
            title,
            kind="compare",
            spread="; ".join(["95 % interval of the change", *rule]),
            notes=[*sides, *differs],
            verdict=[", ".join(counts), *slower],
            warnings=[*warnings_of(result, pd.DataFrame()), *doubts],
            data=rows,
            heads=heads,
            rows=cases,
            shown=max(LEAST_SHOWN, sum(row.verdict in FIRST[:2] for row in rows.itertuples())),
        )
    ]


def _side(side: dict[str, Any]) -> str:
    """Host and moment, or the file."""
    run = next(iter(side.get("runs") or []), {})
    started = str(run.get("started") or "")[:10]
    words = [", ".join(run.get("hosts") or []), "" if started == NO_TIME else started]
    return " ".join(filter(None, words)) or Path(str(side.get("file") or "?")).name


def _runs(group: dict[str, Any]) -> str:
    """Of a history: "matrix, cn1: 3 runs"."""
    count = len(group["runs"])
    words = f"{group['command']}, {', '.join(group['hosts'])}: {count} run{'s' * (count != 1)}"
    return f"{words}; not judged: {group['not_judged']}" if group["not_judged"] else words


def _slower_than_others(group: dict[str, Any]) -> list[str]:
    """What a host does worse than others of its kind."""
    host = ", ".join(group["hosts"])
    return [
        f"{host}: {one['case']} {_percent(one['change'])} from the median of {one['hosts']} hosts"
        for one in group["peers"]["slow"]
    ]


def _difference(one: Any) -> str:
    """ "CPUs: 8 → 4, on cn1"."""
    if not isinstance(one, dict):
        return str(one)
    sides = " → ".join(str(one[side]) if _has(one, side) else "not told" for side in ("base", "new"))
    hosts = f", on {', '.join(map(str, one['hosts']))}" if _has(one, "hosts") else ""
    return f"{one.get('what', 'something')}: {sides}{hosts}"


def _has(one: Any, name: str) -> bool:
    return isinstance(one, dict) and one.get(name) not in (None, "", [])


def _case(row: Any) -> list[str]:
    values = [_quantity(getattr(row, f"{side}_value"), row.unit) for side in ("base", "new")]
    low, high = _percent(row.change_low), _percent(row.change_high)
    ends = f"{low} to {high}" if low and high else ""
    verdict = MARKS.get(row.verdict, row.verdict)
    what = [row.command, row.case, row.of, row.metric and words_of(_text(row.metric)).removesuffix(" sum")]
    why = "; ".join(filter(None, map(_text, (row.reason, row.doubt))))
    return [verdict, *map(_text, what), *values, _percent(row.change), ends, why]


def _text(value: Any) -> str:
    return "" if pd.isna(value) else str(value)


def _quantity(value: Any, unit: Any) -> str:
    return "" if pd.isna(value) else quantity_text(value, _text(unit), 4)


def _percent(part: Any) -> str:
    return "" if pd.isna(part) else f"{100 * part:+.1f} %"


def _checked(result: Result) -> list[Figure]:
    runs, history = result.meta["runs"], result.meta.get("history") or {}
    fell = [one["text"] for one in history.get("fell", [])]
    newest = [f"slow in the newest run: {host['text']}" for host in runs[-1]["slow"]] if runs else []
    rows = [
        [str(run.get("started") or "")[:10], Path(run["file"]).name, *map(str, (run["hosts"], run["judged"]))]
        + [str(len(run["slow"])), "; ".join(host["text"] for host in run["slow"])]
        for run in runs
    ]
    told = {"kind": "check", "data": result.rows, "warnings": warnings_of(result, pd.DataFrame())}
    found: list[Figure] = [
        Listing(
            "check",
            f"Slow hosts in {len(runs)} run{'s' * (len(runs) != 1)}",
            spread="a host counts as slow by its distance to the median of its kind",
            notes=list(result.meta.get("notes", [])),
            verdict=[*(f"became slower than its own earlier runs: {text}" for text in fell), *newest],
            heads=["started", "file", "hosts", "judged", "slow", "which"],
            rows=rows[::-1],
            shown=len(rows),
            **told,
        )
    ]
    if len(runs) > 2:
        line = Series(
            "", [float(at + 1) for at in range(len(runs))], [float(len(run["slow"])) for run in runs]
        )
        names = [str(at + 1) for at in range(len(runs))]
        axes = {"x": Axis("run, the newest last", names=names), "y": Axis("slow hosts")}
        found.append(Curves("check-history", "Slow hosts by run", series=[line], **axes, **told))
    return found


# ---- In sum: for the first screen


def cards(result: Result) -> list[Metric]:
    """How many of what, and the worst of it in words."""
    return _counts(result) if result.kind == "compare" else _slow_hosts(result)


def _count(key: str, words: str, count: float, beside: str = "") -> Metric:
    return Metric(key, words, count, None, None, COUNT, beside)


def _counts(result: Result) -> list[Metric]:
    counts, rows = result.meta.get("counts") or {}, result.rows
    found = []
    for name in FIRST:
        key = name.replace(" ", "_")
        mine = rows[rows["verdict"] == name] if len(rows) else rows
        if key in counts or len(mine):
            beside = _largest(mine) if name in FIRST[:2] else ""
            found.append(_count(key, name, counts.get(key, len(mine)), beside))
    if "judged" in result.meta:
        judged = result.meta["judged"]
        beside = f"{judged['judged']:,} judged, {judged['not_judged']:,} not"
        found.append(_count("slow_hosts", "slower than others of their kind", judged["slow"], beside))
    sides = {side: counts.get(f"only_{side}") or 0 for side in ("base", "new")}
    if any(sides.values()):
        beside = ", ".join(f"{count:,} in {side}" for side, count in sides.items() if count)
        found.append(_count("only_one", "in one side only", sum(sides.values()), beside))
    return found


def _largest(rows: pd.DataFrame) -> str:
    """The case that changed most."""
    changes = pd.to_numeric(rows["change"]).abs() if len(rows) else pd.Series(dtype=float)
    if changes.dropna().empty:
        return ""
    row = rows.loc[changes.idxmax()]
    return f"{_text(row['command'])} {_text(row['case'])}: {_percent(row['change'])}"


def _slow_hosts(result: Result) -> list[Metric]:
    runs, history = result.meta["runs"], result.meta.get("history") or {}
    found = [_count("runs", "runs", len(runs))]
    if runs:
        newest, slow = runs[-1], runs[-1]["slow"]
        judged = f"{newest['judged']:,} of {newest['hosts']:,} hosts judged"
        found.append(_count("slow_hosts", "slow in the newest run", len(slow), judged))
    if "fell" in history:
        beside = "than their own earlier runs"
        found.append(_count("fell", "became slower", len(history["fell"]), beside))
    return found
