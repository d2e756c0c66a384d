"""What `compare` and `check` found, as lists."""

from pathlib import Path
from typing import Any

import pandas as pd

from numatlas.figures.model import Axis, Curves, Figure, Listing, Series
from numatlas.result import NO_TIME, Result
from numatlas.units import quantity_text

#: What decides stands above what could not be told.
FIRST = ("slower", "faster", "same", "not comparable", "not distinguishable")
#: Rows seen at once at least.
LEAST_SHOWN = 12
MARKS = {"slower": "▼ slower", "faster": "▲ faster"}


def figures(result: Result) -> list[Figure]:
    """Of a file of `compare` or `check`."""
    return _compared(result) if result.kind == "compare" else _checked(result)


def _compared(result: Result) -> list[Figure]:
    rows, meta = result.rows, result.meta
    order = {verdict: at for at, verdict in enumerate(FIRST)}
    if len(rows):
        rows = rows.sort_values("verdict", key=lambda names: names.map(order), kind="stable")
    counts = [f"{count} {name.replace('_', ' ')}" for name, count in meta.get("counts", {}).items() if count]
    differs = [
        f"differs: {_difference(one)}" for one in [*meta.get("machine", []), *meta.get("differences", [])]
    ]
    sides = [f"{side}: {_side(meta.get(side) or {})}" for side in ("base", "new")]
    effect = meta.get("min_effect")
    spread = "" if effect is None else f"a change counts from {100 * effect:g} % on"
    return [
        Listing(
            "compare",
            f"{_side(meta.get('base') or {})} against {_side(meta.get('new') or {})}",
            kind="compare",
            spread=f"95 % interval of the change; {spread}",
            notes=[*sides, *differs],
            verdict=[", ".join(counts)],
            data=rows,
            heads=["verdict", "command", "case", "of", "figure", "base", "new", "change", "its interval"],
            rows=[_case(row) for row in rows.itertuples()],
            shown=max(LEAST_SHOWN, sum(row.verdict in FIRST[:2] for row in rows.itertuples())),
        )
    ]


def _side(side: dict[str, Any]) -> str:
    """Host and moment, or the file."""
    run = next(iter(side.get("runs") or []), {})
    started = str(run.get("started") or "")[:10]
    words = [", ".join(run.get("hosts") or []), "" if started == NO_TIME else started]
    return " ".join(filter(None, words)) or Path(str(side.get("file") or "?")).name


def _difference(one: Any) -> str:
    return ", ".join(f"{name} {value}" for name, value in one.items()) if isinstance(one, dict) else str(one)


def _case(row: Any) -> list[str]:
    values = [_quantity(getattr(row, f"{side}_value"), row.unit) for side in ("base", "new")]
    low, high = _percent(row.change_low), _percent(row.change_high)
    ends = f"{low} to {high}" if low and high else ""
    verdict = MARKS.get(row.verdict, row.verdict)
    return [verdict, row.command, row.case, row.of, row.metric, *values, _percent(row.change), ends]


def _quantity(value: Any, unit: str) -> str:
    return "-" if pd.isna(value) else quantity_text(value, unit, 4)


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
    told = {"kind": "check", "data": result.rows}
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
        axes = {"x": Axis("run, the newest last"), "y": Axis("slow hosts")}
        found.append(Curves("check-history", "Slow hosts by run", series=[line], **axes, **told))
    return found
