"""Bandwidth of each kernel by all workers."""

import pandas as pd

from numatlas.figures.common import (
    SUM_INTERVAL,
    convergence_of,
    in_shown_unit,
    placement_of,
    skips_of,
    warnings_of,
)
from numatlas.figures.model import Bars, Figure, Series
from numatlas.result import Result
from numatlas.units import size_text


def sums_of(result: Result) -> pd.DataFrame:
    """A row for each point: the sum of its workers."""
    if result.kind not in ("bandwidth", "csv") or result.totals.empty:
        return pd.DataFrame()
    sums = result.totals[(result.totals["metric"] == "bandwidth_sum") & result.totals["value"].notna()]
    return sums if "cell_cpu_node" not in sums and "from" not in sums else pd.DataFrame()


def figures(result: Result) -> list[Figure]:
    sums = sums_of(result)
    if sums.empty:
        return []
    sums, unit = in_shown_unit(sums[sums["workers"] == sums["workers"].max()])
    sums = sums.assign(
        stores=sums["stores"].fillna("reads only"),
        where=[
            f"{size_text(size)} a worker, {pages} pages"
            for size, pages in zip(sums["size"], sums["pages"], strict=True)
        ],
    )
    names = list(dict.fromkeys(sums["kernel"]))
    groups = []
    for (where, stores), mine in sums.groupby(["where", "stores"], sort=False):
        by_kernel = mine.drop_duplicates("kernel").set_index("kernel")
        there = [name for name in names if name in by_kernel.index]
        name = stores if sums["where"].nunique() == 1 else f"{where}, {stores}"
        groups.append(
            Series(
                name,
                [names.index(kernel) for kernel in there],
                *(list(by_kernel.loc[there, what]) for what in ("value", "low", "high")),
            )
        )
    flows = result.flows[result.flows["point"].isin(sums["point"])] if "point" in sums else result.flows
    workers = int(sums["workers"].max())
    title = f"Bandwidth by all {workers} workers" if workers > 1 else "Bandwidth by one worker"
    if sums["where"].nunique() == 1:
        title += f" ({sums['where'].iloc[0]})"
    return [
        Bars(
            "bandwidth",
            title,
            spread=SUM_INTERVAL,
            placement=placement_of(flows),
            notes=["bytes as STREAM counts them, of all workers in the time in which all were recording"]
            + convergence_of(flows)
            + skips_of(result),
            warnings=warnings_of(result, flows),
            data=sums,
            unit=unit,
            less_is_better=False,
            names=names,
            groups=groups,
        )
    ]
