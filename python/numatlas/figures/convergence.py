"""How many cases came to be known as precisely as was asked for, in a sentence."""

from dataclasses import dataclass

import pandas as pd

from numatlas.units import POORLY_KNOWN, width_text

#: Why a flow stopped before its figure was known well enough.
STOPS = {"time_cap": "stopped at the time cap", "interrupted": "were interrupted"}
ONE_STOPS = {"time_cap": "stopped at the time cap", "interrupted": "was interrupted"}


@dataclass(frozen=True)
class Convergence:
    """Of what a panel shows. `stops`: how each case ended. `widths`: half of each interval that the
    panel shows, over its value. `of`: the figure that these are of, where the panel shows intervals of
    others too."""

    stops: tuple[str, ...] = ()
    widths: tuple[float, ...] = ()
    of: str = ""

    def __add__(self, other: "Convergence") -> "Convergence":
        """Of both in one panel."""
        of = self.of if self.of == other.of else ""
        return Convergence(self.stops + other.stops, self.widths + other.widths, of)

    def lines(self) -> list[str]:
        """A sentence, or nothing where all converged."""
        count = len(self.stops)
        others = pd.Series([stop for stop in self.stops if stop != "converged"], dtype=object).value_counts()
        if others.empty:
            return []
        if count == 1:
            stop = str(others.index[0])
            return [f"did not converge: {ONE_STOPS.get(stop, f'ended by {stop}')}{self._worst()}"]
        done = count - others.sum()
        rest = "all" if not done else "the other" if count - done == 1 else "the others"
        words = [
            f"{rest if len(others) == 1 else number} {STOPS.get(stop, f'ended by {stop}')}"
            for stop, number in others.items()
        ]
        return [f"{done or 'none'} of {count} cases converged; {', '.join(words)}{self._worst()}"]

    def _worst(self) -> str:
        """Without those of unknown values."""
        known = [width for width in self.widths if width <= POORLY_KNOWN]
        if not known:
            return ""
        which = "interval" if len(self.widths) == 1 else "widest interval"
        of = f" of the {self.of}" if self.of else " shown"
        return f" (the {which}{of} is {width_text(max(known))})"


def stops_of(flows: pd.DataFrame) -> tuple[str, ...]:
    """How each case ended: it converged where all that was measured did; a load has nothing of its own to
    converge."""
    if not {"point", "flow", "stop"} <= set(flows):
        return ()
    measured = flows[flows["role"] != "load"] if "role" in flows else flows
    known = measured.dropna(subset=["stop"]).astype({"stop": str})
    known = known.assign(done=known["stop"] == "converged").sort_values(["point", "done"], kind="stable")
    return tuple(known.drop_duplicates("point")["stop"])
