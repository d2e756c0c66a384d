"""What figures of several kinds need: spread in words, observed placement, pivots."""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from numatlas.result import Result
from numatlas.units import percent_text, shown

INTERVAL = "95 % interval of the median"
SUM_INTERVAL = "95 % interval of the sum"


def absent_as_none(values: Iterable[Any]) -> list[float | None]:
    return [None if value is None or pd.isna(value) else float(value) for value in values]


def column(frame: pd.DataFrame, name: str) -> pd.Series:
    """A column, or as many absent values where the file has none of that name."""
    return frame[name] if name in frame else pd.Series([None] * len(frame), index=frame.index, dtype=object)


def in_shown_unit(frame: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Value and spread in the unit that people read; of rows of one metric."""
    unit, factor = shown(frame["unit"].iloc[0])
    scaled = frame.copy()
    for name in (
        "value",
        "low",
        "high",
        "p5",
        "p25",
        "p75",
        "p95",
        "p99",
        "min",
        "max",
        "mean",
        "stddev",
        "mad",
    ):
        if name in scaled:
            scaled[name] = pd.to_numeric(scaled[name]) * factor
    return scaled.assign(unit=unit), unit


def placement_of(flows: pd.DataFrame) -> str:
    """Where the memory of these flows was seen to lie, in a sentence."""
    seen = flows.drop_duplicates(["point", "flow"]) if {"point", "flow"} <= set(flows) else flows
    texts = column(seen, "placement").dropna()
    if texts.empty:
        return "" if seen.empty else "where the pages lay was not observed"
    bound = seen[
        column(seen, "memory").astype(str).str.fullmatch(r"bind:\d+") & column(seen, "placement").notna()
    ]
    wanted = bound["memory"].str.removeprefix("bind:").map(lambda node: f"node {node}: 100 %")
    astray = bound[[not text.startswith(want) for text, want in zip(bound["placement"], wanted, strict=True)]]
    pages = sorted({str(page) for page in column(seen, "page_size").dropna()})
    kinds = f"; pages of {', '.join(pages)}" if pages else ""
    if len(bound) == len(texts) and astray.empty:
        return f"observed: all pages on the node asked for{kinds}"
    counts = texts.value_counts()
    shown_texts = [
        f"{text} ({count} of {len(texts)})" if len(counts) > 1 else text
        for text, count in counts.head(4).items()
    ]
    more = f", and {len(counts) - 4} others" if len(counts) > 4 else ""
    text = "observed: " + "; ".join(shown_texts) + more
    for row in astray.head(3).itertuples():
        text += f"; asked {row.memory}, seen {row.placement}"
    return text


def convergence_of(flows: pd.DataFrame) -> list[str]:
    """How many medians are known to what was asked for."""
    stops = (
        column(flows.drop_duplicates(["point", "flow"]), "stop").dropna() if "flow" in flows else pd.Series()
    )
    if stops.empty or (stops == "converged").all():
        return []
    widths = pd.to_numeric(column(flows, "half_width"))
    worst = f" (the widest interval is +-{percent_text(widths.max())})" if widths.notna().any() else ""
    known = f"{(stops == 'converged').sum()} of {len(stops)} medians converged"
    return [f"{known}; the others stopped at the time cap{worst}"]


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
    """`values`, `low` and `high` of one number a cell, for a Matrix."""
    grids = {}
    for name, source in (("values", "value"), ("low", "low"), ("high", "high")):
        table = frame.pivot_table(index=row, columns=col, values=source, aggfunc="median", dropna=False)
        table = table.reindex(index=rows, columns=cols)
        grids[name] = [absent_as_none(line) for line in table.to_numpy(dtype=float, na_value=np.nan)]
    return grids


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
