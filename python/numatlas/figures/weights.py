"""Bandwidth by the weights of interleaved memory."""

from numatlas.figures.common import hosts_of, in_shown_unit, placement_of, skips_of, sum_spread, warnings_of
from numatlas.figures.model import Bars, Figure, Series
from numatlas.result import Result

#: The best ones tell; a grid over four nodes has dozens.
MOST_WEIGHTS = 16


def figures(result: Result) -> list[Figure]:
    if result.kind != "weights" or result.totals.empty:
        return []
    sums = result.totals[(result.totals["metric"] == "bandwidth_sum") & result.totals["value"].notna()]
    if sums.empty:
        return []
    sums, unit = in_shown_unit(sums)
    best = sums.sort_values("value", ascending=False).drop_duplicates("weights")
    shown = best.head(MOST_WEIGHTS)
    if "nearest" not in set(shown["weights"]):
        shown = best[best["weights"].isin([*shown["weights"], "nearest"])]
    flows = result.flows[result.flows["point"].isin(shown["point"])]
    groups = [
        Series(
            "bandwidth",
            list(range(len(shown))),
            list(shown["value"]),
            list(shown["low"]),
            list(shown["high"]),
        )
    ]
    hosts = len(hosts_of(result))
    words = [shown["kernel"].iloc[0]] + [f"sum over {hosts} hosts"] * (hosts > 1)
    notes = (
        [f"the best {len(shown)} of {len(best)} weights that were measured (node=weight)"]
        if len(best) > len(shown)
        else ["node=weight"]
    )
    return [
        Bars(
            "weights",
            f"Bandwidth by weights of interleaved memory ({', '.join(words)})",
            spread=sum_spread(shown),
            placement=placement_of(flows),
            notes=notes + skips_of(result),
            warnings=warnings_of(result, flows),
            data=sums,
            unit=unit,
            less_is_better=False,
            names=list(shown["weights"]),
            groups=groups,
        )
    ]
