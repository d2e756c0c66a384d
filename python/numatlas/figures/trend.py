"""Many runs: what became of their headline figures, in the order in which they were started."""

import pandas as pd

from numatlas.facts import summary
from numatlas.figures.model import Axis, Curves, Figure, Series
from numatlas.result import Result
from numatlas.units import is_unknown

KIND = "trend"
#: Fewer runs show no trend.
LEAST_RUNS = 3
ENDS = ["value", "low", "high"]


def figures(results: list[Result], names: list[str]) -> list[Figure]:
    """One of fleets, with the median host of each kernel, and one of other runs, with their headline figures
    over those of the first run that has them; `names`: letters of the runs."""
    order = sorted(range(len(results)), key=lambda at: str(results[at].meta.get("started") or ""))
    found: list[Figure] = []
    for of_fleets, rows_of in ((True, _median_hosts), (False, _headlines)):
        runs = [at for at in order if (len(results[at].hosts) > 0) == of_fleets]
        if len(runs) >= LEAST_RUNS:
            frames = [rows_of(results[at]).assign(run=place + 1) for place, at in enumerate(runs)]
            found += _trend(pd.concat(frames, ignore_index=True), [names[at] for at in runs], of_fleets)
    return found


def _median_hosts(result: Result) -> pd.DataFrame:
    hosts = result.hosts.assign(value=pd.to_numeric(result.hosts["value"]) * 1e-9)
    parts = hosts.groupby("kernel", sort=False)["value"].quantile([0.5, 0.25, 0.75]).unstack()
    return parts.set_axis(ENDS, axis=1).dropna().rename_axis("line").reset_index()


def _headlines(result: Result) -> pd.DataFrame:
    return summary(result).drop(columns="line", errors="ignore").rename(columns={"name": "line"})


def _trend(rows: pd.DataFrame, names: list[str], of_fleets: bool) -> list[Figure]:
    if rows.empty:
        return []
    if not of_fleets:
        rows = rows[rows.groupby("line")["run"].transform("size") >= LEAST_RUNS]
        unknown = [is_unknown(*ends) for ends in rows[ENDS].itertuples(index=False)]
        rows = rows.assign(value=rows["value"].mask(pd.Series(unknown, rows.index, dtype=bool)))
        first = rows.groupby("line")["value"].transform("first")
        rows = rows.assign(**rows[ENDS].astype(float).div(first, axis=0))
    series = [
        Series(str(name), list(mine["run"].astype(float)), *(list(mine[end]) for end in ENDS))
        for name, mine in rows.groupby("line", sort=False)
    ]
    y = Axis("bandwidth of a host", "GB/s") if of_fleets else Axis("times the first run")
    y.from_zero = False
    figure = Curves(
        *(("trend-fleet", "The median host by run") if of_fleets else (KIND, "Headline figures by run")),
        kind=KIND,
        spread="half of the hosts" if of_fleets else "95 % interval",
        data=rows.assign(run=[names[run - 1] for run in rows["run"]]),
        x=Axis("run, from the earliest to the newest", names=names),
        y=y,
        series=series,
    )
    return [figure] if series else []
