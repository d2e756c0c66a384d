"""Scenarios of `numatlas run`: every flow."""

from numatlas.figures.common import INTERVAL, column, in_shown_unit, placement_of, skips_of, warnings_of
from numatlas.figures.model import Bars, Figure, Series
from numatlas.result import Result


def figures(result: Result) -> list[Figure]:
    if result.kind != "run" or result.flows.empty:
        return []
    found: list[Figure] = []
    for metric in ("latency", "bandwidth", "hand_over"):
        mine = result.flows[(result.flows["metric"] == metric) & result.flows["value"].notna()]
        if mine.empty:
            continue
        mine, unit = in_shown_unit(mine)
        names = [
            f"{row.name}: {row.kernel}, CPU {row.cpu}, {row.memory}"
            for row in mine.assign(name=column(mine, "name")).itertuples(index=False)
        ]
        groups = [
            Series(
                metric,
                list(range(len(mine))),
                list(mine["value"]),
                list(mine["low"]),
                list(mine["high"]),
                list(mine["role"]),
            )
        ]
        found.append(
            Bars(
                f"flows-{metric}",
                f"{metric.capitalize().replace('_', '-')} of each flow",
                spread=INTERVAL,
                placement=placement_of(mine),
                notes=skips_of(result),
                warnings=warnings_of(result, mine),
                data=mine,
                unit=unit,
                less_is_better=unit == "ns",
                names=names,
                groups=groups,
            )
        )
    return found
