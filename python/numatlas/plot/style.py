"""How all pictures look: colours, the page with its title, its legend and the small print, text that fits."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Picture
from matplotlib.figure import SubFigure
from matplotlib.font_manager import FontProperties
from matplotlib.transforms import Bbox

from numatlas.figures.model import Figure
from numatlas.figures.told import GRAVE
from numatlas.text import cut

#: For png; a page's width of 7 inches is then 1400 pixels.
DPI = 200

#: Inches: the text width of most papers.
WIDTH = 7.0
MARGIN = 0.1

#: Okabe and Ito's colours, which the colour-blind tell apart, without the yellow that is faint on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C8C8C")
MARKERS = "os^Dv<>P"
ALARM = "#B00020"
QUIET = "#555555"
GRID = "#DDDDDD"

STYLE = {
    "font.family": "DejaVu Sans",  # matplotlib brings it along
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.linewidth": 0.6,
    "grid.linewidth": 0.4,
    "grid.color": GRID,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.2,
    "hatch.linewidth": 0.4,
    "text.parse_math": False,  # names of hosts and folders may have a $
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "numatlas",  # the same names in the same picture
    "pdf.fonttype": 42,  # whole outlines: journals refuse type 3
}

TITLE, SMALL, LEGEND = 9.5, 6.5, 7
#: Inches of a line of the title, of the small print and of a legend, and of what a legend's line takes.
TITLE_LINE, SMALL_LINE, LEGEND_LINE, HANDLE = 0.19, 0.125, 0.145, 0.55
MOST_NOTES = 2
MOST_WARNINGS = 1
MOST_LINES = 3


@dataclass(frozen=True)
class Frame:
    """What stands around a picture; its width in inches. Lines wider than the space are wrapped or cut."""

    width: float = WIDTH
    title: bool = True
    footer: bool = True
    within: SubFigure | None = None  #: a part of a picture, to draw in
    tall: float = 0.0  #: inches of that part

    @property
    def free(self) -> float:
        """Inches between the margins."""
        return self.width - 2 * MARGIN


PAPER = Frame()


@dataclass
class Page:
    """A picture with a title and a legend above and the small print below; the axes get what is between."""

    picture: Picture
    top: float  #: of what is free, in inches from the bottom
    bottom: float
    frame: Frame
    tall: float  #: all of it

    def axes(self, left: float, bottom: float, width: float, height: float) -> Axes:
        """Axes at a place in inches."""
        wide = self.frame.width
        return self.picture.add_axes((left / wide, bottom / self.tall, width / wide, height / self.tall))

    def fill(self) -> None:
        """Lays the axes out in what is free."""
        rect = (0.01, self.bottom / self.tall, 0.98, (self.top - self.bottom) / self.tall)
        if self.frame.within is None:
            self.picture.set_layout_engine("constrained", rect=rect, h_pad=0.05, w_pad=0.04)
            return
        pad = 0.05 / self.tall  # as h_pad above: a part of a picture has no engine
        free, (axes,) = Bbox.from_bounds(rect[0], rect[1] + pad, rect[2], rect[3] - pad), self.picture.axes
        axes.set_position(free)
        renderer, to_part = (
            axes.get_figure(root=True).canvas.get_renderer(),
            self.picture.transSubfigure.inverted(),
        )
        for _ in range(3):  # other ticks may be wider
            taken = axes.get_tightbbox(renderer).transformed(to_part)
            place = axes.get_position()
            ends = place.get_points() + free.get_points() - taken.get_points()
            axes.set_position(Bbox(ends))

    def legend(self, handles: list[Any], names: list[str]) -> None:
        """Names of lines or bars above what is free, where nothing else is: it never covers data."""
        _, columns = _legend_shape(names, self.frame.free)
        width = self.frame.free / columns - HANDLE
        self.picture.legend(
            handles,
            [shorten(name, width, LEGEND) for name in names],
            loc="upper left",
            bbox_to_anchor=(0, (self.top + _legend_height(names, self.frame)) / self.tall),
            ncols=columns,
            fontsize=LEGEND,
            frameon=False,
            handlelength=2.6,
            columnspacing=1.2,
            labelspacing=0.25,
            borderaxespad=0.2,
        ).set_in_layout(False)


def _legend_shape(names: list[str], free: float) -> tuple[int, int]:
    """Rows and columns in so many inches."""
    widest = max((text_width(name, LEGEND) for name in names), default=0) + HANDLE
    columns = max(1, min(len(names), int(free / widest)))
    return -(-len(names) // columns), columns


def _legend_height(names: list[str], frame: Frame) -> float:
    """Inches."""
    return _legend_shape(names, frame.free)[0] * LEGEND_LINE + 0.08 if names else 0.0


def page(
    figure: Figure,
    body: float,
    names: Iterable[str] = (),
    extra: Iterable[str] = (),
    frame: Frame = PAPER,
) -> Page:
    """Title and small print of a figure around `body` inches of height, and room for a legend of these
    names. `extra` are lines of small print that the drawer adds."""
    title = wrap(figure.title, frame.free, TITLE, bold=True) if frame.title else []
    printed = small_print(figure, extra) if frame.footer else []
    small = [
        (line, colour, weight)
        for text, colour, weight in printed
        for line in _few(wrap(text, frame.free, SMALL, weight == "bold"))
    ]
    head = _legend_height(list(names), frame)
    above, below = MARGIN + TITLE_LINE * len(title), MARGIN + SMALL_LINE * len(small)
    height = above + head + body + below
    picture, tall = frame.within, frame.tall
    if picture is None:
        picture, tall = Picture(figsize=(frame.width, height)), height
        FigureCanvasAgg(picture)
    for index, line in enumerate(title):
        y = 1 - (MARGIN + TITLE_LINE * index) / tall
        picture.text(MARGIN / frame.width, y, line, size=TITLE, weight="bold", va="top", gid="title")
    for index, (line, colour, weight) in enumerate(small):
        y = (tall - height + below - SMALL_LINE * index) / tall
        picture.text(
            MARGIN / frame.width, y, line, size=SMALL, color=colour, weight=weight, va="top", gid="small"
        )
    return Page(picture, tall - above - head, tall - height + below, frame, tall)


def small_print(figure: Figure, extra: Iterable[str]) -> list[tuple[str, str, str]]:
    """Text, colour and weight. That nothing was measured, or that the run is unreliable, is always told."""
    told = "; ".join(filter(None, (figure.spread and f"spread: {figure.spread}", figure.placement)))
    notes = _first(figure.notes, MOST_NOTES)
    grave = [str(one) for one in figure.warnings if one.code in GRAVE]
    others = [str(one) for one in figure.warnings if one.code not in GRAVE]
    warnings = _first(others, MOST_WARNINGS)
    lines = [(text, QUIET, "normal") for text in [*extra, told, *notes] if text]
    lines += [(f"! {text}", ALARM, "bold") for text in grave]
    lines += [(f"! {text}", ALARM, "normal") for text in warnings]
    left = {"warning": len(others) - len(warnings), "note": len(figure.notes) - len(notes)}
    words = [f"{count} more {word}{'s' * (count > 1)}" for word, count in left.items() if count > 0]
    if words:
        lines.append((f"and {' and '.join(words)}: `numatlas report` has them all", QUIET, "normal"))
    return lines


def _first(texts: list[str], most: int) -> list[str]:
    """The first ones; all of them where the line that counts the rest would take as much room."""
    return texts if len(texts) <= most + 1 else texts[:most]


def _few(lines: list[str]) -> list[str]:
    return lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], lines[MOST_LINES - 1] + " ..."]


_MEASURE = FigureCanvasAgg(Picture(figsize=(1, 1), dpi=72)).get_renderer()


@lru_cache(maxsize=1 << 16)  # measuring takes longer than all else where there are many
def text_width(text: str, size: float, bold: bool = False) -> float:
    """Inches."""
    font = FontProperties(family="DejaVu Sans", size=size, weight="bold" if bold else "normal")
    return _MEASURE.get_text_width_height_descent(text, font, False)[0] / 72


def room(texts: Iterable[Any], size: float) -> float:
    """Inches for the widest of these; in tenths: another version of the font changes nothing."""
    return math.ceil(10 * max((text_width(str(text), size) for text in texts), default=0) + 0.3) / 10


def wrap(text: str, width: float, size: float, bold: bool = False) -> list[str]:
    """Lines of at most `width` inches; a word that is longer is cut."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size, bold) <= width:
            lines[-1] = longer
        else:
            lines.append(shorten(word, width, size, bold))
    return lines


def shorten(text: str, width: float, size: float, bold: bool = False) -> str:
    """The text, or as much of it as fits into `width` inches, and "..."."""
    return cut(text, lambda one: text_width(one, size, bold) <= width)


def numbers(values: Iterable[float | None]) -> np.ndarray:
    """Absent as NaN, which matplotlib leaves out."""
    return np.array([np.nan if value is None else float(value) for value in values], dtype=float)
