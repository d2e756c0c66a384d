"""How long a line takes from CPU to CPU."""

import pandas as pd

from numatlas.figures.common import (
    INTERVAL,
    convergence_of,
    grid,
    hosts_of,
    in_shown_unit,
    natural,
    placement_of,
    skips_of,
    warnings_of,
    worker_of_cell,
)
from numatlas.figures.model import Figure, Matrix
from numatlas.result import Result


def figures(result: Result) -> list[Figure]:
    if result.kind != "cores" or result.flows.empty:
        return []
    flows = result.flows[result.flows["metric"] == "hand_over"]
    found: list[Figure] = []
    hosts, kinds = hosts_of(result), flows["pages"].nunique()
    telling = ["kernel", "home", "pages", "size"] + ["host"] * (len(hosts) > 1)
    for (kernel, home, pages, _, *host), mine in flows.groupby(telling, sort=False):
        more = [f"{pages} pages"] * (kinds > 1) + host
        mine, unit = in_shown_unit(mine)
        pairs = worker_of_cell(mine, "first_cpu", "second_cpu")
        ends = natural([*mine["first_cpu"], *mine["second_cpu"]])
        # A pair that is measured in one order only is shown on both sides.
        turned = pairs.rename(columns={"first_cpu": "second_cpu", "second_cpu": "first_cpu"})
        both = pd.concat([pairs, turned]).drop_duplicates(["first_cpu", "second_cpu"])
        near = mine.groupby("nearness", sort=False)["value"].median()
        words = [f"{name}: {value:.4g} {unit} (median of pairs)" for name, value in near.dropna().items()]
        found.append(
            Matrix(
                "-".join([f"cores-{kernel}", *([pages] * (kinds > 1)), *host]),
                f"Hand-over of a line between CPUs ({', '.join([kernel, _home(home), *more])})",
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


def _home(home: str) -> str:
    if home in ("first", "second"):
        return f"line at home on the {home} CPU's node"
    return f"line at home on node {home}"
