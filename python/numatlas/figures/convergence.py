"""How many cases came to be known as precisely as was asked for, in a sentence."""

from collections.abc import Iterable

import pandas as pd

from numatlas.units import POORLY_KNOWN, width_text

#: Why a flow stopped before its figure was known well enough; of one case, and of several.
STOPS = {"time_cap": ("stopped at the time cap",) * 2, "interrupted": ("was interrupted", "were interrupted")}


def convergence(stops: Iterable[str], widths: Iterable[float] = (), of: str = "") -> list[str]:
    """A sentence, or nothing where all converged. `stops`: how each case ended. `widths`: half of each
    interval that is shown, over its value. `of`: the figure that these are of, where intervals of others are
    shown too."""
    every, widths = list(stops), list(widths)
    others = pd.Series([stop for stop in every if stop != "converged"], dtype=object).value_counts()
    if others.empty:
        return []
    known = [width for width in widths if width <= POORLY_KNOWN]  # without those of unknown values
    which = "interval" if len(widths) == 1 else "widest interval"
    shown = f" of the {of}" if of else " shown"
    worst = f" (the {which}{shown} is {width_text(max(known))})" if known else ""

    def words(stop: str) -> str:
        return STOPS.get(stop, (f"ended by {stop}",) * 2)[len(every) > 1]

    if len(every) == 1:
        return [f"did not converge: {words(every[0])}{worst}"]
    done = len(every) - others.sum()
    rest = "all" if not done else "the other" if len(every) - done == 1 else "the others"
    told = [f"{rest if len(others) == 1 else count} {words(stop)}" for stop, count in others.items()]
    return [f"{done or 'none'} of {len(every)} cases converged; {', '.join(told)}{worst}"]


def stops_of(flows: pd.DataFrame) -> tuple[str, ...]:
    """How each case ended: it converged where all that was measured did; a load has nothing of its own to
    converge."""
    if not {"point", "flow", "stop"} <= set(flows):
        return ()
    measured = flows[flows["role"] != "load"] if "role" in flows else flows
    known = measured.dropna(subset=["stop"]).astype({"stop": str})
    known = known.assign(done=known["stop"] == "converged").sort_values(["point", "done"], kind="stable")
    return tuple(known.drop_duplicates("point")["stop"])
