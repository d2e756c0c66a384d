"""Figures as shapes, which the page shows as SVG and the plots paint with matplotlib."""

from numatlas.drawing.atlas import atlas
from numatlas.drawing.bars import bars
from numatlas.drawing.curves import curves
from numatlas.drawing.fleet import fleet
from numatlas.drawing.matrix import Ends, matrix
from numatlas.drawing.shapes import Drawing
from numatlas.figures.model import Atlas, Bars, Curves, Figure, Fleet, Matrix

__all__ = ["Ends", "drawn"]


def drawn(figure: Figure, wide: float, ends: Ends = None, mode: str = "") -> Drawing:
    """The figure with its legend, so many units wide. `ends`: of the colours of maps that stand side by side;
    `mode`: what an atlas shows, its first by default."""
    if isinstance(figure, Atlas):
        return atlas(figure, wide, mode)
    if isinstance(figure, Matrix):
        return matrix(figure, wide, ends)
    return {Bars: bars, Curves: curves, Fleet: fleet}[type(figure)](figure, wide)
