"""Copies from node to node."""

import pandas as pd

from numatlas.figures.common import (
    convergence_of,
    grid,
    in_shown_unit,
    natural,
    placement_of,
    shown_flows,
    skips_of,
    sum_spread,
    sums_by_host,
    warnings_of,
)
from numatlas.figures.model import Figure, Matrix
from numatlas.result import Result
from numatlas.units import size_text


def figures(result: Result) -> list[Figure]:
    if result.kind != "copy" or result.flows.empty:
        return []
    # The rate counts a byte copied once, the sum twice; the sum has the spread.
    sums = sums_by_host(result)
    if sums.empty:
        return []
    sums = sums.assign(
        value=lambda frame: frame["value"] / 2,
        low=lambda frame: frame["low"] / 2,
        high=lambda frame: frame["high"] / 2,
    )
    found: list[Figure] = []
    telling = ["side", "size", "pages", "stores", "workers"]
    telling += [name for name in ("threads", "host") if name in sums]
    for (side, size, pages, stores, workers, *more), mine in sums.groupby(telling, sort=False, dropna=False):
        words = [f"{size_text(size)} a worker", f"{pages} pages", f"{stores} stores"]
        words += [f"{workers} workers"] * (sums["workers"].nunique() > 1)
        words += [
            f"{name} {value}" for name, value in zip(telling[5:], more, strict=True) if not pd.isna(value)
        ]
        mine, unit = in_shown_unit(mine)
        rows, columns = natural(mine["from"]), natural(mine["to"])
        flows = shown_flows(result, mine)
        found.append(
            Matrix(
                "-".join(
                    str(part)
                    for part in ("copy", side, int(size), pages, stores, workers, *more)
                    if not pd.isna(part)
                ),
                f"Copies {_by(side)} ({', '.join(words)})",
                spread=sum_spread(mine),
                placement=placement_of(flows),
                notes=[_who(side, mine), "a byte copied counts once"]
                + convergence_of(flows)
                + skips_of(result),
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
