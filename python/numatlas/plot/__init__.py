"""Figures as pictures for papers: png, svg, pdf. The same figure gives the same bytes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import matplotlib.style
from matplotlib.figure import Figure as Picture

from numatlas.figures.model import Atlas, Bars, Beside, Curves, Figure, Fleet, Matrix
from numatlas.figures.overlay import can_stand_beside
from numatlas.figures.scales import common_ends
from numatlas.file_error import FileError
from numatlas.plot import atlas, bars, curves, fleet, matrix
from numatlas.plot.style import DPI, MARGIN, PAPER, STYLE, Frame, page

#: Of each: what keeps dates and versions out of the file.
FORMATS = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}

#: Inches of a map that stands beside another, at least.
NARROWEST = 3.3

Ends = tuple[float, float] | None

_DRAWERS = {
    Bars: bars.build,
    Curves: curves.build,
    Fleet: fleet.build,
}


@contextmanager
def our_style() -> Iterator[None]:
    """Our settings and not those of whoever calls, as a matplotlibrc."""
    with matplotlib.style.context(["default", STYLE]):
        yield


def check_form(path: Path, hint: str = "") -> None:
    """Raises FileError where a picture cannot have this name."""
    if path.suffix.lstrip(".").lower() not in FORMATS:
        raise FileError("--output", f"{path}: ends in none of {', '.join(FORMATS)}", hint=hint)


def build(figure: Figure, frame: Frame = PAPER, mode: str = "", ends: Ends = None) -> Picture:
    """The picture, to be looked at or changed before it is saved. `mode`: what an atlas shows; `ends`: of the
    colours of a map, where several have one scale."""
    with our_style():
        if isinstance(figure, Beside):
            return _beside(figure, frame, mode)
        return _drawn(figure, frame, mode, ends)


def _drawn(figure: Figure, frame: Frame, mode: str, ends: Ends = None) -> Picture:
    if isinstance(figure, Atlas):
        return atlas.build(figure, frame, mode)
    if isinstance(figure, Matrix):
        return matrix.build(figure, frame, ends)
    return _DRAWERS[type(figure)](figure, frame)


def _beside(figure: Beside, frame: Frame, mode: str) -> Picture:
    """Maps: as many in a row as there is room for, on one scale of colours where they have one unit; others
    one below the other. The small print that is of all stands below."""
    figures = figure.figures
    columns = max(1, min(len(figures), int(frame.width / NARROWEST))) if can_stand_beside(figures) else 1
    rows = [figures[at : at + columns] for at in range(0, len(figures), columns)]
    part = Frame(frame.width / columns, frame.title, frame.footer)
    maps = [one for one in figures if isinstance(one, Matrix)]
    one_scale = len(maps) == len(figures) and len({one.unit for one in maps}) == 1
    ends = common_ends(maps) if one_scale else None
    heights = [max(_drawn(one, part, mode).get_size_inches()[1] for one in row) for row in rows]
    below = Figure("", "", notes=figure.notes)
    made = page(below, sum(heights), frame=replace(frame, title=False))
    free = made.picture.subfigures(2, 1, height_ratios=(sum(heights) + MARGIN, made.bottom), hspace=0)[0]
    grid = free.subfigures(len(rows), columns, height_ratios=heights, hspace=0, wspace=0, squeeze=False)
    share = (sum(heights) + MARGIN) / sum(heights)
    for row, places, tall in zip(rows, grid, heights, strict=True):
        for one, place in zip(row, places, strict=False):
            _drawn(one, replace(part, within=place, tall=tall * share), mode, ends)
    return made.picture


def save(picture: Picture, path: str | Path, dpi: int = DPI) -> None:
    """Writes a picture in the form that the file's name ends in, one of FORMATS. Raises OSError where the
    file cannot be written."""
    form = Path(path).suffix.lstrip(".").lower()
    with our_style():
        picture.savefig(path, format=form, dpi=dpi, metadata=FORMATS[form])


def draw(
    figure: Figure,
    path: str | Path,
    dpi: int = DPI,
    frame: Frame = PAPER,
    mode: str = "",
) -> None:
    """Builds and saves; see there."""
    save(build(figure, frame, mode), path, dpi)
