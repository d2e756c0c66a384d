"""Copies from node to node."""

import pandas as pd

from numatlas.figures.common import (
    SUM_INTERVAL,
    grid,
    in_shown_unit,
    natural,
    placement_of,
    skips_of,
    warnings_of,
)
from numatlas.figures.model import Figure, Matrix
from numatlas.result import Result
from numatlas.units import size_text


def figures(result: Result) -> list[Figure]:
    if result.kind != "copy" or result.totals.empty:
        return []
    # The rate counts a byte copied once, the sum twice; the sum has the spread.
    sums = result.totals[result.totals["metric"] == "bandwidth_sum"].assign(
        value=lambda frame: frame["value"] / 2,
        low=lambda frame: frame["low"] / 2,
        high=lambda frame: frame["high"] / 2,
    )
    sums = sums[sums["value"].notna()]
    found: list[Figure] = []
    telling = ["side", "size", "pages", "stores", "workers"]
    if sums.empty:
        return found
    for (side, size, pages, stores, _), mine in sums.groupby(telling, sort=False, dropna=False):
        mine, unit = in_shown_unit(mine)
        rows, columns = natural(mine["from"]), natural(mine["to"])
        flows = result.flows[result.flows["point"].isin(mine["point"])]
        found.append(
            Matrix(
                f"copy-{side}-{int(size)}-{len(found)}",
                f"Copies {_by(side)} ({size_text(size)} a worker, {pages} pages, {stores} stores)",
                spread=SUM_INTERVAL,
                placement=placement_of(flows),
                notes=[_who(side, mine), "a byte copied counts once"] + skips_of(result),
                warnings=warnings_of(result, flows),
                data=mine,
                row_label="from",
                column_label="to",
                rows=rows,
                columns=columns,
                unit=unit,
                less_is_better=False,
                **grid(mine, "from", "to", rows, columns),
            )
        )
    return found


def _by(side: str) -> str:
    return {
        "from": "by the CPUs of the source",
        "to": "by the CPUs of the target",
        "nearest": "by the nearest CPUs",
    }.get(side, "from memory to memory")


def _who(side: str, frame: pd.DataFrame) -> str:
    whose = {
        "from": "the CPUs of the node copied from",
        "to": "the CPUs of the node copied to",
        "nearest": "the CPUs nearest to the memory (a node of the two has none)",
        "any": "the CPUs chosen",
    }
    counts = sorted({int(count) for count in frame["workers"]})
    return f"copied by {whose.get(side, side)}, {' or '.join(map(str, counts))} workers"
