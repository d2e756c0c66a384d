"""How all pictures look: colours, the page with its title and the small print, text that fits."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Picture
from matplotlib.font_manager import FontProperties

from numatlas.figures.model import Figure

#: For png; a page's width of 7 inches is then 1400 pixels.
DPI = 200

#: Inches: the text width of most papers.
WIDTH = 7.0
MARGIN = 0.1

#: Okabe and Ito's colours, which the colour-blind tell apart, without the yellow that is faint on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C8C8C")
DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (8, 2)))
MARKERS = "os^Dv<>P"
ALARM = "#B00020"
QUIET = "#555555"

STYLE = {
    "font.family": "DejaVu Sans",  # matplotlib brings it along
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "axes.linewidth": 0.6,
    "grid.linewidth": 0.4,
    "grid.color": "#DDDDDD",
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

TITLE, SMALL = 9.5, 6.5
#: Inches of a line of the title and of the small print.
TITLE_LINE, SMALL_LINE = 0.19, 0.125
MOST_NOTES = 2
MOST_WARNINGS = 1
MOST_LINES = 3


@dataclass
class Page:
    """A picture with a title above and the small print below; the axes get what is between."""

    picture: Picture
    top: float  #: of what is free, in inches from the bottom
    bottom: float

    @property
    def height(self) -> float:
        """Inches."""
        return self.picture.get_size_inches()[1]

    def axes(self, left: float, bottom: float, width: float, height: float) -> Axes:
        """Axes at a place in inches."""
        return self.picture.add_axes(
            (left / WIDTH, bottom / self.height, width / WIDTH, height / self.height)
        )


def page(figure: Figure, body: float, head: float = 0, extra: list[str] | None = None) -> Page:
    """Title and small print of a figure around `body` + `head` inches of height. `head` is kept free below
    the title (for a legend); `extra` are lines of small print that the drawer adds."""
    picture = Picture(figsize=(WIDTH, 1))
    FigureCanvasAgg(picture)
    title = wrap(figure.title, WIDTH - 2 * MARGIN, TITLE, bold=True)
    small = [
        (line, colour, bold)
        for text, colour, bold in small_print(figure, extra or [])
        for line in _few(wrap(text, WIDTH - 2 * MARGIN, SMALL, bold))
    ]
    above = MARGIN + TITLE_LINE * len(title)
    below = MARGIN + SMALL_LINE * len(small)
    height = above + head + body + below
    picture.set_size_inches(WIDTH, height)
    left = MARGIN / WIDTH
    for index, line in enumerate(title):
        y = 1 - (MARGIN + TITLE_LINE * index) / height
        picture.text(left, y, line, fontsize=TITLE, fontweight="bold", va="top", gid="title")
    for index, (line, colour, bold) in enumerate(small):
        y = (below - SMALL_LINE * index) / height
        weight = "bold" if bold else "normal"
        picture.text(left, y, line, fontsize=SMALL, color=colour, weight=weight, va="top", gid="small")
    return Page(picture, height - above, below)


def fill(made: Page, head: float = 0) -> None:
    """Lays the axes out between the small print and `head` inches below the title."""
    rect = (0.01, made.bottom / made.height, 0.98, (made.top - made.bottom - head) / made.height)
    made.picture.set_layout_engine("constrained", rect=rect, h_pad=0.05, w_pad=0.04)


def small_print(figure: Figure, extra: list[str]) -> list[tuple[str, str, bool]]:
    """Text, colour and whether it is bold. That nothing was measured is never among those left out."""
    lines = [(text, QUIET, False) for text in extra]
    told = "; ".join(
        text for text in (figure.spread and f"spread: {figure.spread}", figure.placement) if text
    )
    lines += [(told, QUIET, False)] if told else []
    notes = _first(figure.notes, MOST_NOTES)
    lines += [(note, QUIET, False) for note in notes]
    nothing = [text for text in figure.warnings if text.startswith("no measurement")]
    others = [text for text in figure.warnings if text not in nothing]
    lines += [(f"! {text}", ALARM, True) for text in nothing]
    warnings = _first(others, MOST_WARNINGS)
    lines += [(f"! {text}", ALARM, False) for text in warnings]
    left = [
        f"{count} more {word if count > 1 else word[:-1]}"
        for count, word in (
            (len(others) - len(warnings), "warnings"),
            (len(figure.notes) - len(notes), "notes"),
        )
        if count > 0
    ]
    if left:
        lines.append((f"and {' and '.join(left)}: `numatlas report` has them all", QUIET, False))
    return lines


def _first(texts: list[str], most: int) -> list[str]:
    """The first ones; all of them where the line that counts the rest would take as much room."""
    return texts if len(texts) <= most + 1 else texts[:most]


def _few(lines: list[str]) -> list[str]:
    return lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], lines[MOST_LINES - 1] + " ..."]


_MEASURE = FigureCanvasAgg(Picture(figsize=(1, 1), dpi=72)).get_renderer()


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Inches."""
    font = FontProperties(family="DejaVu Sans", size=size, weight="bold" if bold else "normal")
    return _MEASURE.get_text_width_height_descent(text, font, False)[0] / 72


def room(texts: Iterable[str], size: float) -> float:
    """Inches for the widest of these; in tenths: another version of the font changes nothing."""
    return math.ceil(10 * max((text_width(text, size) for text in texts), default=0) + 0.3) / 10


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
    if text_width(text, size, bold) <= width:
        return text
    while text and text_width(text + "...", size, bold) > width:
        text = text[:-1]
    return text + "..."


def legend(made: Page, top: float, entries: list[tuple[Any, str]], rows_of: tuple[int, int]) -> None:
    """Names of lines or bars, from `top` (inches) down, where nothing else is: it never covers data.
    `rows_of`: from legend_rows."""
    if not entries:
        return
    rows, columns = rows_of
    handles, names = zip(*entries, strict=True)
    width = (WIDTH - 2 * MARGIN) / columns - LEGEND_HANDLE
    made.picture.legend(
        handles,
        [shorten(name, width, 7) for name in names],
        loc="upper left",
        bbox_to_anchor=(0, top / made.height),
        ncols=columns,
        fontsize=7,
        frameon=False,
        handlelength=2.6,
        columnspacing=1.2,
        labelspacing=0.25,
        borderaxespad=0.2,
    ).set_in_layout(False)


#: Inches that a legend's line, and the space around a name, take.
LEGEND_HANDLE = 0.55
LEGEND_LINE = 0.145


def legend_rows(names: list[str]) -> tuple[int, int]:
    """Rows and columns of a legend of these names."""
    if not names:
        return 0, 1
    widest = max(text_width(name, 7) for name in names) + LEGEND_HANDLE
    columns = max(1, min(len(names), int((WIDTH - 2 * MARGIN) / widest)))
    return -(-len(names) // columns), columns


def legend_height(rows: int) -> float:
    """Inches."""
    return rows * LEGEND_LINE + 0.08 if rows else 0.0


def numbers(values: list[float | None]) -> np.ndarray:
    """Absent as NaN, which matplotlib leaves out."""
    return np.array([np.nan if value is None else float(value) for value in values], dtype=float)


def axis_label(label: str, unit: str) -> str:
    """ "a dependent load (ns)"."""
    if not unit:
        return label
    return f"{label} ({unit})" if label else unit


def honest_limits(low: float, high: float, least: float = 0.1) -> tuple[float, float]:
    """An axis that does not begin at 0: at least `least` of its largest value, so that noise stays small."""
    span = max(high - low, least * abs(high), 1e-12)
    middle = (low + high) / 2
    return middle - 0.55 * span, middle + 0.55 * span


def grid_lines(axes: Axes, which: str = "y") -> None:
    """Faint lines behind the data."""
    axes.grid(True, axis=which, which="major")
    axes.set_axisbelow(True)
