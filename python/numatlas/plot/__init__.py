"""Figures as pictures for papers: png, svg, pdf. The same figure gives the same bytes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import matplotlib.figure
import matplotlib.style

from numatlas.figures.model import Atlas, Bars, Curves, Figure, Fleet, MachinePicture, Matrix
from numatlas.file_error import FileError
from numatlas.plot import atlas, bars, curves, fleet, machine, matrix
from numatlas.plot.style import DPI, PAPER, STYLE, Frame

#: Of each: what keeps dates and versions out of the file.
FORMATS = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}

_DRAWERS = {
    Bars: bars.build,
    Curves: curves.build,
    Fleet: fleet.build,
    MachinePicture: machine.build,
    Matrix: matrix.build,
}


@contextmanager
def our_style(more: str = "") -> Iterator[None]:
    """Our settings and not those of whoever calls, as a matplotlibrc. `more`: a style of matplotlib's, by its
    name or file, on top of them."""
    with matplotlib.style.context(["default", STYLE, *([more] if more else [])]):
        yield


#: Of a function that draws.
styled = our_style()


def in_style(name: str) -> str:
    """The name of a style that can be used. Raises FileError for others."""
    try:
        with our_style(name):
            return name
    except (OSError, ValueError) as error:
        hint = "a file of matplotlib settings (.mplstyle), or a name such as grayscale"
        raise FileError("--style", f"{name}: no such style", hint=hint) from error


def check_form(path: Path, hint: str = "") -> None:
    """Raises FileError where a picture cannot have this name."""
    if path.suffix.lstrip(".").lower() not in FORMATS:
        raise FileError("--output", f"{path}: ends in none of {', '.join(FORMATS)}", hint=hint)


def build(figure: Figure, frame: Frame = PAPER, mode: str = "", style: str = "") -> matplotlib.figure.Figure:
    """The picture, to be looked at or changed before it is saved. `mode`: what an atlas shows; `style`: see
    our_style."""
    with our_style(style):
        if isinstance(figure, Atlas):
            return atlas.build(figure, frame, mode)
        return _DRAWERS[type(figure)](figure, frame)


def save(picture: matplotlib.figure.Figure, path: str | Path, dpi: int = DPI, style: str = "") -> None:
    """Writes a picture in the form that the file's name ends in, one of FORMATS. Raises OSError where the
    file cannot be written."""
    form = Path(path).suffix.lstrip(".").lower()
    with our_style(style):
        picture.savefig(path, format=form, dpi=dpi, metadata=FORMATS[form])


def write_svg(picture: matplotlib.figure.Figure, file: BinaryIO) -> None:
    """As `save`, to a file that is open; without a background."""
    with our_style():
        picture.savefig(file, format="svg", dpi=DPI, metadata=FORMATS["svg"], transparent=True)


def draw(
    figure: Figure,
    path: str | Path,
    dpi: int = DPI,
    frame: Frame = PAPER,
    mode: str = "",
    style: str = "",
) -> None:
    """Builds and saves; see there."""
    save(build(figure, frame, mode, style), path, dpi, style)
