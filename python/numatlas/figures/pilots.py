"""How fast the machine was as a whole while it was measured: the pilots of a run."""

import pandas as pd

from numatlas.facts import QUANTITIES
from numatlas.figures.model import Axis, Curves, Figure, Series
from numatlas.figures.told import warnings_of
from numatlas.result import Result
from numatlas.units import shown


def figures(result: Result) -> list[Figure]:
    """One for each kind of pilot, with a line for each run of a survey."""
    found: dict[str, Curves] = {}
    for part in result.all():
        command = str(part.command)
        for pilot in part.meta.get("pilots") or []:
            quantity, (unit, scale) = QUANTITIES.get(pilot["unit"], pilot["key"]), shown(pilot["unit"])
            figure = found.setdefault(
                pilot["key"],
                Curves(
                    pilot["key"].replace("_", "-"),
                    f"The machine during the run: {quantity} of the pilot in {unit}",
                    spread="each point is one measurement of 10 ms, without an interval",
                    placement="memory of each worker's own, beyond the caches",
                    notes=[
                        "pilot: the same short measurement, repeated between visits; what changes here "
                        "changed for the machine as a whole",
                    ],
                    x=Axis("time in the run", "s"),
                    y=Axis(quantity, unit, from_zero=False),
                    warnings=warnings_of(result, pd.DataFrame()),
                ),
            )
            if len(pilot["start"]) != len(pilot["values"]):
                continue
            values = [None if value is None else value * scale for value in pilot["values"]]
            # The benchmarks of a survey have their pilots in common.
            if any((line.x, line.y) == (pilot["start"], values) for line in figure.series):
                figure.series[0].name = "survey"
                continue
            figure.series.append(Series(command, pilot["start"], values))
            mine = pd.DataFrame({"command": command, "seconds": pilot["start"], unit: values})
            figure.data = pd.concat([figure.data, mine], ignore_index=True)
    return list(found.values())
