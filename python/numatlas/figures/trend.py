"""Many runs: what became of their headline figures, in the order in which they were started."""

import pandas as pd

from numatlas.figures.model import Axis, Curves, Figure, Series
from numatlas.figures.summary import metrics
from numatlas.result import Result

#: Of these figures.
KIND = "trend"
#: Fewer runs show no trend.
LEAST_RUNS = 3


def figures(results: list[Result], names: list[str]) -> list[Figure]:
    """One of fleets, with the median host of each kernel, and one of other runs, with their headline figures
    over those of the first run that has them; `names`: letters of the runs."""
    order = sorted(range(len(results)), key=lambda at: str(results[at].meta.get("started") or ""))
    fleets = [at for at in order if len(results[at].hosts)]
    others = [at for at in order if not len(results[at].hosts)]
    found = []
    if len(fleets) >= LEAST_RUNS:
        found.append(_fleets([results[at] for at in fleets], [names[at] for at in fleets]))
    if len(others) >= LEAST_RUNS:
        found += _headlines([results[at] for at in others], [names[at] for at in others])
    return found


def _axis(names: list[str]) -> Axis:
    return Axis(f"run, from the earliest ({names[0]}) to the newest ({names[-1]})")


def _fleets(results: list[Result], names: list[str]) -> Figure:
    rows = pd.concat([result.hosts.assign(run=at + 1) for at, result in enumerate(results)])
    rows = rows.dropna(subset=["value"])
    parts = rows.groupby(["kernel", "run"], sort=False)["value"].describe() * 1e-9
    series = [
        Series(
            str(kernel),
            [float(run) for run in mine.index.get_level_values("run")],
            *(list(mine[column]) for column in ("50%", "25%", "75%")),
        )
        for kernel, mine in parts.groupby(level="kernel", sort=False)
    ]
    return Curves(
        "trend-fleet",
        "The median host by run",
        kind=KIND,
        spread="half of the hosts",
        data=parts[["25%", "50%", "75%"]].reset_index().assign(unit="GB/s"),
        x=_axis(names),
        y=Axis("bandwidth of a host", "GB/s"),
        series=series,
    )


def _headlines(results: list[Result], names: list[str]) -> list[Figure]:
    told: dict[str, list] = {}
    for at, result in enumerate(results):
        for one in metrics(result):
            told.setdefault(one.key, []).append((at + 1, one))
    series, rows = [], []
    for points in told.values():
        first = points[0][1].value
        if len(points) < LEAST_RUNS or not first:
            continue
        ends = [[None if end is None else end / first for end in (one.low, one.high)] for _, one in points]
        lows, highs = zip(*ends, strict=True)
        ratios = [one.value / first for _, one in points]
        series.append(
            Series(points[0][1].words, [float(at) for at, _ in points], ratios, list(lows), list(highs))
        )
        rows += [
            {"run": names[at - 1], "figure": one.key, "value": one.value, "unit": one.unit}
            for at, one in points
        ]
    if not series:
        return []
    axes = {"x": _axis(names), "y": Axis("over the first run")}
    told_of = {"spread": "95 % interval", "data": pd.DataFrame(rows), "kind": KIND}
    return [Curves("trend", "Headline figures by run", series=series, **axes, **told_of)]
