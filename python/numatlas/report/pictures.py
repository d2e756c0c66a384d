"""What figures look like on the page: drawings, and numbers for the scripts."""

from typing import Any

from markupsafe import Markup

from numatlas.drawing import Ends, drawn
from numatlas.figures.fleet import judged_hosts, summaries
from numatlas.figures.model import Atlas, Bars, Curves, Figure, Fleet, Listing, Matrix
from numatlas.report.svg import svg
from numatlas.units import number_text, percent_text, spread_text

#: Units of a picture that has half of a page, and of one that has all of it.
HALF, ALL = 480.0, 760.0
#: Columns of a map, and of a table, that fit half of a page.
FEW_COLUMNS, FEW_HEADS = 16, 8
#: Hosts that are printed, besides suspects.
MOST_PRINTED = 50

Spec = dict[str, Any]


def is_narrow(figure: Figure) -> bool:
    """Whether half of a page has room for it."""
    if isinstance(figure, Matrix):
        return len(figure.columns) <= FEW_COLUMNS
    return isinstance(figure, Curves) or (isinstance(figure, Bars) and len(figure.heads) <= FEW_HEADS)


def is_drawn(figure: Figure) -> bool:
    """Whether a picture says more than its table: of words, and of a single value, it does not."""
    alone = isinstance(figure, Bars) and len(figure.rows) < 2
    alone = alone or (isinstance(figure, Matrix) and len(figure.ends()) < 2)
    return not alone and not isinstance(figure, Listing)


def drawing_of(figure: Figure, ends: Ends = None, mode: str = "") -> Markup:
    """Its picture. `ends`: of the colours of maps that stand side by side; `mode`: what an atlas shows."""
    half = is_narrow(figure) or isinstance(figure, Atlas | Bars)
    wide = HALF if half else ALL
    return svg(drawn(figure, wide, ends, mode))


def sentence_of(figure: Figure) -> str:
    """A table of one row, in words; "" of others."""
    if isinstance(figure, Matrix) and figure.words and len(figure.rows) == len(figure.columns) == 1:
        where = f"{figure.row_label} {figure.rows[0]}, {figure.column_label} {figure.columns[0]}"
        value, *spread = figure.words[0][0].split(" ", 1)
        return f"{where}: {' '.join(filter(None, [value, figure.unit, *spread]))}"
    if len(figure.cells) != 1:
        return ""
    pairs = zip(figure.heads, figure.cells[0], strict=True)
    return ", ".join(f"{head} {cell}".strip() for head, cell in pairs if cell not in ("", "-"))


def cells_of(figure: Matrix) -> Spec:
    """What page.js tells of the cell that is pointed at."""
    return {
        **{"rows": figure.rows, "columns": figure.columns},
        **{"row": figure.row_label, "column": figure.column_label},
        "words": figure.words,
    }


def told_of(row: Any, unit: str) -> str:
    """Of a host and a kernel, for those who point at its value."""
    parts = {
        "95 % interval": spread_text(row.low, row.high),
        "worst to best round": spread_text(row.min, row.max),
        "rounds": " ".join(number_text(one) for one in row.rounds),
    }
    told = [f"{name} {text}" for name, text in parts.items() if text]
    return "; ".join([*told, f"in {unit}", *filter(None, [row.words, row.facts])])


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
    hosts: dict[str, dict[str, Any]] = {}
    for one in figure.hosts.itertuples():
        hosts.setdefault(one.host, {})[one.kernel] = one
    return {
        "summaries": summaries(figure).to_dict("records"),
        "judged": judged_hosts(figure),
        "suspects": words,
        "drops": by_host["drop"].max().to_dict(),
        "printed": {*_slowest(figure), *by_host.groups},
        "printed_slowest": MOST_PRINTED,
        "hosts": hosts,
    }
