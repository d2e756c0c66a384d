"""How long a line takes from CPU to CPU."""

import pandas as pd

from numatlas.figures.common import (
    INTERVAL,
    convergence_of,
    grid,
    in_shown_unit,
    natural,
    placement_of,
    skips_of,
    warnings_of,
)
from numatlas.figures.model import Figure, Matrix
from numatlas.result import Result


def figures(result: Result) -> list[Figure]:
    if result.kind != "cores" or result.flows.empty:
        return []
    flows = result.flows[result.flows["metric"] == "hand_over"]
    found: list[Figure] = []
    for (kernel, home), mine in flows.groupby(["kernel", "home"], sort=False):
        mine, unit = in_shown_unit(mine)
        ends = natural([*mine["first_cpu"], *mine["second_cpu"]])
        # A pair that is measured in one order only is shown on both sides.
        turned = mine.rename(columns={"first_cpu": "second_cpu", "second_cpu": "first_cpu"})
        both = pd.concat([mine, turned]).drop_duplicates(["first_cpu", "second_cpu"])
        near = mine.groupby("nearness", sort=False)["value"].median()
        words = [f"{name}: {value:.4g} {unit} (median of pairs)" for name, value in near.items()]
        found.append(
            Matrix(
                f"cores-{kernel}",
                f"Hand-over of a line between CPUs ({kernel}, line at home on the {home} CPU's node)",
                spread=INTERVAL,
                placement=placement_of(mine),
                notes=words + convergence_of(mine) + skips_of(result),
                warnings=warnings_of(result, mine),
                data=mine,
                row_label="CPU",
                column_label="CPU",
                rows=ends,
                columns=ends,
                unit=unit,
                less_is_better=True,
                whys=[["a CPU with itself" if row == column else "" for column in ends] for row in ends],
                **grid(both, "first_cpu", "second_cpu", ends, ends),
            )
        )
    return found
