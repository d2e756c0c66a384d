"""Curves: lines with their spread, cache sizes as marks."""

import numpy as np
from cycler import cycler
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

from numatlas.figures.model import Curves, Mark, Series, by_ratio
from numatlas.plot.style import COLOURS, MARKERS, QUIET, numbers, page
from numatlas.units import number_text, size_text

BODY = 3.3
DASHES = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (8, 2)))
#: Up to 40 lines differ by colour and marker, and by dash where these are used again. Those below are wider:
#: lines on the same values are seen nevertheless.
LOOKS = cycler(linestyle=DASHES) * cycler(
    color=COLOURS,
    marker=list(MARKERS),
    linewidth=[2.4 - 0.2 * place for place in range(len(COLOURS))],
    markersize=[5.6 - 0.4 * place for place in range(len(COLOURS))],
)
#: Labels of sizes.
MOST_TICKS = 12
#: The part of the map of colours that is seen on white.
DARK = 0.92


def build(figure: Curves) -> Picture:
    """A legend above, the lines, and the small print; many lines have no names but a colour by their
    order."""
    names = [series.name for series in figure.series]
    named = names if 1 < len(names) <= len(LOOKS) else []
    small = names if len(names) == 1 else []
    if len(names) > len(LOOKS):
        small = [f"{len(names)} lines, in order from {names[0]} to {names[-1]}"]
    made = page(figure, BODY, named, small)
    axes = made.picture.add_subplot()
    lines = panel(axes, figure)
    if named:
        made.legend(lines, named)
    made.fill()
    return made.picture


def panel(axes: Axes, figure: Curves, ratios: bool = True) -> list[Line2D]:
    """The lines in axes of the caller's. `ratios`: values of more than a decade may have a logarithmic
    axis."""
    count = len(figure.series)
    looks = LOOKS
    if count > len(LOOKS):
        looks = cycler(color=colormaps["viridis"](np.linspace(0, DARK, count)), linewidth=[0.7] * count)
    lines = [_line(axes, series, look) for series, look in zip(figure.series, looks, strict=False)]
    _x_axis(axes, figure)
    _y_axis(axes, figure, ratios)
    _marks(axes, figure.marks)
    return lines


def _line(axes: Axes, series: Series, look: dict) -> Line2D:
    x, y = numbers(series.x), numbers(series.y)
    (line,) = axes.plot(x, y, label=series.name, clip_on=False, **look)
    if series.low and series.high:
        # Not errorbar(): an average may lie outside of the spread that the file tells.
        ends = numbers(series.low), numbers(series.high)
        axes.vlines(x, *ends, color=line.get_color(), linewidth=1.2, alpha=0.6, gid="spread")
    return line


def _x_axis(axes: Axes, figure: Curves) -> None:
    axes.set_xlabel(figure.x.words)
    steps = sorted({value for series in figure.series for value in series.x}) or [0]
    if figure.x.log2 and steps[0] > 0:
        text = size_text if figure.x.unit == "bytes" else number_text
        margin = (steps[-1] / steps[0]) ** 0.03 if len(steps) > 1 else 2
        axes.set_xscale("log", base=2)
        axes.set_xlim(steps[0] / margin, steps[-1] * margin)
        axes.xaxis.set_major_locator(FixedLocator(steps[:: -(-len(steps) // MOST_TICKS)]))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))
        return
    axes.set_xlim(0, 1.03 * steps[-1] or 1)
    whole = figure.x.unit == "" and all(float(step).is_integer() for step in steps)
    axes.xaxis.set_major_locator(MaxNLocator(integer=whole, nbins=10))


def _y_axis(axes: Axes, figure: Curves, ratios: bool) -> None:
    """From 0. Over sizes, values of more than a decade are shown by ratio, and the axis says so."""
    low, high = min(figure.ends(), default=0), max(figure.ends(), default=0)
    axes.set_ylabel(figure.y.words)
    axes.grid(axis="y")
    if not ratios or not by_ratio(figure.x, low, high):
        axes.set_ylim(0, 1.06 * high or 1)
        return
    axes.set(yscale="log", ylim=(0.8 * low, 1.2 * high), ylabel=f"{figure.y.words}, logarithmic")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _marks(axes: Axes, marks: list[Mark]) -> None:
    """Lines across; their words above the axes, by turns a line higher."""
    low, high = axes.get_xlim()
    place = {"xycoords": axes.get_xaxis_transform(), "textcoords": "offset points"}
    look = {"ha": "center", "va": "bottom", "fontsize": 6.5, "color": QUIET}
    for index, mark in enumerate(mark for mark in marks if low <= mark.x <= high):
        axes.axvline(mark.x, color=QUIET, linewidth=0.6, linestyle=(0, (2, 2)), zorder=0.5, gid="mark")
        axes.annotate(mark.text, (mark.x, 1), (0, 2 + 8 * (index % 2)), **place, **look)
