"""Bandwidth of each kernel by all workers."""

import pandas as pd

from numatlas.figures.common import (
    INTERVAL,
    convergence_of,
    hosts_of,
    in_shown_unit,
    median_over_workers,
    placement_of,
    skips_of,
    sum_spread,
    warnings_of,
)
from numatlas.figures.model import Bars, Figure, Series
from numatlas.result import Result
from numatlas.units import size_text


def sums_of(result: Result) -> pd.DataFrame:
    """A row for each point: the sum of its workers."""
    if result.kind != "bandwidth" or result.totals.empty:
        return pd.DataFrame()
    return result.totals[(result.totals["metric"] == "bandwidth_sum") & result.totals["value"].notna()]


def one_by_one(result: Result) -> pd.DataFrame:
    """Of workers that were measured one at a time (`--serial`), so that they have no sum: their median, a
    row for each point. Points that were stopped in the middle have no sum either, and are none of these."""
    serial = result.meta.get("serial", "form" in result.meta)  # a CSV file does not tell
    if result.kind != "bandwidth" or result.flows.empty or not result.totals.empty or not serial:
        return pd.DataFrame()
    flows = result.flows[(result.flows["metric"] == "bandwidth") & (result.flows["status"] == "ok")]
    flows = flows[pd.to_numeric(flows["value"]).notna()]
    if flows.empty:
        return flows
    telling = ["point", "kernel", "stores", "size", "pages", "unit"]
    return median_over_workers(flows, telling).astype({"workers": int})


def figures(result: Result) -> list[Figure]:
    sums = sums_of(result)
    apart = sums.empty
    sums = one_by_one(result) if apart else sums
    if sums.empty:
        return []
    sums, unit = in_shown_unit(sums[sums["workers"] == sums["workers"].max()])
    sums = sums.assign(
        stores=sums["stores"].astype(object).fillna("reads only"),
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
    workers, hosts = int(sums["workers"].max()), len(hosts_of(result))
    title = f"Bandwidth by all {workers} workers" if workers > 1 else "Bandwidth by one worker"
    words = [sums["where"].iloc[0]] * (sums["where"].nunique() == 1)
    spread, how = sum_spread(sums), "of all workers in the time in which all were recording"
    if apart:
        title = f"Bandwidth of one worker at a time: the median of {workers}" if workers > 1 else title
        spread, how = f"from the lowest to the highest worker; of one worker {INTERVAL}", "each worker alone"
    elif hosts > 1:
        words.append(f"sum over {hosts} hosts")
    if words:
        title += f" ({', '.join(words)})"
    return [
        Bars(
            "bandwidth",
            title,
            spread=spread,
            placement=placement_of(flows),
            notes=[f"bytes as STREAM counts them, {how}"] + convergence_of(flows) + skips_of(result),
            warnings=warnings_of(result, flows),
            data=sums,
            unit=unit,
            less_is_better=False,
            names=names,
            groups=groups,
        )
    ]
