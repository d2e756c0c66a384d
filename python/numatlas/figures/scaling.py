"""Bandwidth by the number of workers."""

import pandas as pd

from numatlas.figures.bandwidth import sums_of
from numatlas.figures.common import hosts_of, in_shown_unit, placement_of, sum_spread, warnings_of
from numatlas.figures.model import Axis, Curves, Figure, Series
from numatlas.result import Result


def figures(result: Result) -> list[Figure]:
    sums = sums_of(result)
    if sums.empty or sums["workers"].nunique() < 2:
        return []
    sums, unit = in_shown_unit(sums.assign(stores=sums["stores"].fillna("")))
    series = []
    for (kernel, stores, size, pages), line in sums.groupby(
        ["kernel", "stores", "size", "pages"], sort=False
    ):
        line = line.sort_values("workers")
        words = (
            [kernel]
            + [stores] * bool(stores)
            + [f"{int(size)} B"] * (sums["size"].nunique() > 1)
            + [pages] * (sums["pages"].nunique() > 1)
        )
        series.append(
            Series(
                ", ".join(words),
                [float(count) for count in line["workers"]],
                list(line["value"]),
                list(line["low"]),
                list(line["high"]),
                _efficiency(line),
            )
        )
    hosts = len(hosts_of(result))
    flows = result.flows[result.flows["point"].isin(sums["point"])] if "point" in sums else result.flows
    return [
        Curves(
            "scaling",
            "Bandwidth by number of workers" + (f", sum over {hosts} hosts" if hosts > 1 else ""),
            spread=sum_spread(sums),
            placement=placement_of(flows),
            notes=["each number of workers takes the first CPUs of the list"],
            warnings=warnings_of(result, flows),
            data=sums,
            x=Axis("workers"),
            y=Axis("sum of all workers", unit),
            series=series,
        )
    ]


def _efficiency(line: pd.DataFrame) -> list[str]:
    """Of each number of workers: the sum over as many times the fewest workers' share."""
    first = line.iloc[0]
    one = first["value"] / first["workers"]
    return [
        f"{100 * value / (one * count):.0f} % of {int(count)} times one worker"
        if first["workers"] == 1
        else ""
        for value, count in zip(line["value"], line["workers"], strict=True)
    ]
