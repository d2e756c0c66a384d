"""Figures as pictures for papers: png, svg, pdf. The same figure gives the same bytes."""

from pathlib import Path

import matplotlib.figure
import matplotlib.style

from numatlas.figures.model import Bars, Curves, Figure, Fleet, MachinePicture, Matrix
from numatlas.plot import bars, curves, fleet, machine, matrix
from numatlas.plot.style import DPI, STYLE

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


def build(figure: Figure) -> matplotlib.figure.Figure:
    """The picture, to be looked at or changed before it is saved."""
    # Not with the settings of whoever calls: a picture does not depend on a matplotlibrc.
    with matplotlib.style.context(["default", STYLE]):
        return _DRAWERS[type(figure)](figure)


def save(picture: matplotlib.figure.Figure, path: str | Path, dpi: int = DPI) -> None:
    """Writes a picture in the form that the file's name ends in, one of FORMATS. Raises OSError where the
    file cannot be written."""
    form = Path(path).suffix.lstrip(".").lower()
    with matplotlib.style.context(["default", STYLE]):
        picture.savefig(path, format=form, dpi=dpi, metadata=FORMATS[form])


def draw(figure: Figure, path: str | Path, dpi: int = DPI) -> None:
    """Builds and saves; see there."""
    save(build(figure), path, dpi)
