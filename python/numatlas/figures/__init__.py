"""Figures of a result: what a page and the plots draw."""

from numatlas.figures import atlas, drawn, fleet
from numatlas.figures.model import Figure
from numatlas.result import Result


def figures_of(result: Result, kind: str | None = None) -> list[Figure]:
    """All figures of a result (a survey's benchmarks included), or those of one kind: "atlas", or the
    command that measured them."""
    found: list[Figure] = atlas.figures(result) if kind in (None, "atlas") else []
    for part in result.all():
        if kind not in (None, part.command):
            continue
        mine = _measured(part)
        for one in mine:
            one.kind = part.command
        found += mine
    return found


def _measured(part: Result) -> list[Figure]:
    return fleet.figures(part) if len(part.hosts) else drawn.figures(part)
