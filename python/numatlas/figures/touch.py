"""Own and each other's first-touched memory."""

from numatlas.figures.common import (
    INTERVAL,
    in_shown_unit,
    median_over_workers,
    placement_of,
    skips_of,
    warnings_of,
)
from numatlas.figures.model import Bars, Figure, Series
from numatlas.result import Result
from numatlas.units import size_text


def figures(result: Result) -> list[Figure]:
    if result.kind != "touch" or result.flows.empty:
        return []
    flows = result.flows[result.flows["metric"] == "access_time"]
    if flows.empty:
        return []
    flows, unit = in_shown_unit(flows)
    found: list[Figure] = []
    for (kernel, size, pages), mine in flows.groupby(["kernel", "size", "pages"], sort=False):
        names = list(dict.fromkeys(mine["pattern"]))
        groups = []
        for run, rows in mine.groupby("run", sort=False):
            line = median_over_workers(rows, ["pattern"]).set_index("pattern")
            there = [name for name in names if name in line.index]
            groups.append(
                Series(
                    run,
                    [names.index(name) for name in there],
                    *(list(line.loc[there, what]) for what in ("value", "low", "high")),
                )
            )
        found.append(
            Bars(
                f"touch-{kernel}-{int(size)}-{pages}",
                f"Time of a line by who touched it first ({kernel}, {size_text(size)}, {pages} pages)",
                spread=f"from the lowest to the highest worker; of one worker {INTERVAL}",
                placement=placement_of(mine),
                notes=["own: each worker's own; other: another worker's; crossed: each worker on the other's"]
                + skips_of(result),
                warnings=warnings_of(result, mine),
                data=mine,
                unit=unit,
                less_is_better=True,
                names=names,
                groups=groups,
            )
        )
    return found
