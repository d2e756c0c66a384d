"""What figures look like on the page: scales that several files share, drawings, numbers for the scripts."""

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from matplotlib import colormaps
from matplotlib.colors import to_hex

from numatlas.figures.fleet import judged_hosts, summaries
from numatlas.figures.model import Atlas, Bars, Curves, Figure, Fleet, Matrix
from numatlas.figures.scales import colour_range
from numatlas.plot import build
from numatlas.plot.matrix import COLOURS, colour_of
from numatlas.plot.style import Frame
from numatlas.report.drawing import inline
from numatlas.report.pack import rounded
from numatlas.units import percent_text

#: The scale as CSS writes it: from dark blue (worse) to yellow (better). Lightness rises all along it, for
#: readers with any kind of colour vision and printers without colours.
GRADIENT = (
    f"linear-gradient(to right, {', '.join(to_hex(colormaps[COLOURS](step / 8)) for step in range(9))})"
)
#: More rows or columns than this nobody reads as a table.
MOST_IN_TABLE = 32
#: Hosts that are printed, besides suspects.
MOST_PRINTED = 50
#: Inches of a picture that stands beside another, and of one alone.
HALF, WHOLE = 4.8, 7.0
#: Inches of a map for a phone.
PHONE = 3.6

Spec = dict[str, Any]


@dataclass
class Scale:
    """What figures that are looked at side by side have in common."""

    low: float
    high: float
    several: bool = False  #: files
    less_is_better: bool = True

    def colour(self, value: float) -> str:
        """As CSS writes it, with an ink that can be read on it."""
        colour, ink = colour_of(value, self.low, self.high, self.less_is_better)
        return f"background:{colour};color:{ink}"

    def percent(self, value: float) -> str:
        """Of a bar, from 0 to the highest value; intervals that reach further are cut."""
        return f"{100 * min(max(value, 0) / self.high, 1):.2f}%"


def common_scale(figures: list[Figure]) -> Scale:
    """Of figures of one key, one a file."""
    first, several = figures[0], len(figures) > 1
    if isinstance(first, Matrix):
        ends = colour_range(end for one in figures for end in one.ends())
        return Scale(*ends, several, first.less_is_better)
    if isinstance(first, Bars):
        return Scale(0, max((one.most() for one in figures), default=1.0) or 1.0, several)
    return Scale(0, 1, several)


def is_drawn(figure: Figure) -> bool:
    """Whether it is a picture; others are tables."""
    large = isinstance(figure, Matrix) and max(len(figure.rows), len(figure.columns)) > MOST_IN_TABLE
    return large or isinstance(figure, Curves | Fleet)


def drawing_of(figure: Figure, identity: str, flat: float = 1.0) -> Markup:
    """An svg element. `flat`: part of its usual height."""
    width = HALF if isinstance(figure, Curves) else WHOLE
    return inline(build(figure, Frame(width, title=False, footer=False, flat=flat)), identity, figure.title)


def maps_of(figure: Atlas, identity: str) -> dict[str, list[Markup]]:
    """Two svg elements for each of its modes: a wide one, and one for a phone."""
    return {
        mode: [
            inline(
                build(figure, Frame(width, title=False, footer=False), mode),
                f"{identity}-{mode}-{name}",
                f"{figure.title}: {mode}",
            )
            for name, width in (("wide", WHOLE), ("narrow", PHONE))
        ]
        for mode in figure.modes
    }


def spec_of(figure: Figure) -> Spec | None:
    """The numbers that the scripts need of a picture; None where they need none."""
    if isinstance(figure, Fleet):
        return _fleet(figure)
    return _cells(figure) if isinstance(figure, Matrix) and is_drawn(figure) else None


def _cells(figure: Matrix) -> Spec:
    """What page.js tells of the cell that is pointed at."""
    grids = {"values": figure.values, "low": figure.low, "high": figure.high}
    return {
        **{"rows": figure.rows, "columns": figure.columns, "unit": figure.unit},
        **{"row": figure.row_label, "column": figure.column_label},
        **{name: [rounded(row, 5) for row in grid] for name, grid in grids.items()},
    }


def _fleet(figure: Fleet) -> Spec:
    """What fleet.js makes the tables of."""
    grids = {"values": "value", "low": "low", "high": "high", "least": "min", "most": "max"}
    lists = {
        name: [rounded(line) for line in figure.grid(column).to_numpy()] for name, column in grids.items()
    }
    first, suspects = figure.hosts.drop_duplicates("host"), figure.suspects()
    place = {host: at for at, host in enumerate(figure.names())}
    return {
        **{"unit": figure.unit, "kernels": figure.kernels(), "hosts": list(place), **lists},
        "rounds": [[rounded(rounds, 5) for rounds in line] for line in figure.grid("rounds").to_numpy()],
        "kinds": first["kind"].tolist(),
        "kind_names": figure.kind_names,
        "judged": figure.judged,
        "facts": first["facts"].tolist(),
        "suspects": [[place[one.host], one.words] for one in suspects.itertuples()],
    }


def _slowest(figure: Fleet) -> list[str]:
    """Hosts whose worst kernel is furthest below the median of their kind."""
    hosts = figure.hosts
    part = hosts["value"] / hosts.groupby(["kernel", "kind"])["value"].transform("median")
    return list(part.groupby(hosts["host"]).min().nsmallest(MOST_PRINTED).index)


def fleet_in_sum(figure: Fleet) -> Spec:
    """What the page tells of a fleet without a script: of each suspect its worst kernel first."""
    by_host = figure.suspects().groupby("host", sort=False)
    words = []
    for _, rows in by_host:
        others = [f"{one.kernel} {percent_text(one.drop)}" for one in rows[1:].itertuples()]
        words.append(rows["words"].iloc[0] + (f"; also {', '.join(others)}" if others else ""))
    return {
        "summaries": summaries(figure).to_dict("records"),
        "judged": judged_hosts(figure),
        "suspects": words,
        "drops": by_host["drop"].max().to_dict(),
        "printed": {*_slowest(figure), *by_host.groups},
        "printed_slowest": MOST_PRINTED,
        "values": figure.grid("value").T,
        "kinds": figure.hosts.drop_duplicates("host").set_index("host")["kind"],
    }
