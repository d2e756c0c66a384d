"""Figures as pictures for papers: png, svg, pdf. The same figure gives the same bytes."""

from pathlib import Path

import matplotlib.figure
import matplotlib.style

from numatlas.figures.model import Bars, Curves, Figure, Fleet, MachinePicture, Matrix
from numatlas.file_error import FileError
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


#: Of a function that draws: in our style and not with the settings of whoever calls, as a matplotlibrc.
styled = matplotlib.style.context(["default", STYLE])


def check_form(path: Path, hint: str = "") -> None:
    """Raises FileError where a picture cannot have this name."""
    if path.suffix.lstrip(".").lower() not in FORMATS:
        raise FileError("--output", f"{path}: ends in none of {', '.join(FORMATS)}", hint=hint)


@styled
def build(figure: Figure) -> matplotlib.figure.Figure:
    """The picture, to be looked at or changed before it is saved."""
    return _DRAWERS[type(figure)](figure)


@styled
def save(picture: matplotlib.figure.Figure, path: str | Path, dpi: int = DPI) -> None:
    """Writes a picture in the form that the file's name ends in, one of FORMATS. Raises OSError where the
    file cannot be written."""
    form = Path(path).suffix.lstrip(".").lower()
    picture.savefig(path, format=form, dpi=dpi, metadata=FORMATS[form])


def draw(figure: Figure, path: str | Path, dpi: int = DPI) -> None:
    """Builds and saves; see there."""
    save(build(figure), path, dpi)
