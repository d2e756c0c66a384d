"""Curves: lines with their spread, cache sizes as marks."""

import math

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize, to_hex
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

from numatlas.figures.model import Curves, Mark, Series
from numatlas.plot.style import (
    COLOURS,
    DASHES,
    MARKERS,
    QUIET,
    WIDTH,
    axis_label,
    fill,
    grid_lines,
    legend,
    legend_height,
    legend_rows,
    numbers,
    page,
    text_width,
)
from numatlas.units import number_text, size_text

BODY = 3.3
#: More lines than this have no names but a colour by their order.
MOST_NAMED = 40
#: From this ratio on a linear axis hides what is small.
LOG_FROM = 20
#: Labels of sizes, and inches of the axes: for marks that must not cover each other.
MOST_TICKS = 12
AXES_WIDTH = 6.1
#: The part of the map of colours that is seen on white.
DARK = 0.92


def build(figure: Curves) -> Picture:
    """A legend above, the lines, and the small print."""
    named = len(figure.series) <= MOST_NAMED
    several = len(figure.series) > 1
    rows = legend_rows([series.name for series in figure.series] if named and several else [])
    head = legend_height(rows[0])
    extra = [] if several or not figure.series else [figure.series[0].name]
    made = page(figure, BODY, head, extra)
    axes = made.picture.add_subplot()
    lines = panel(axes, figure)
    if named and several:
        legend(made, made.top, lines, rows)
    elif several:
        _order_bar(made.picture, axes, figure.series)
    fill(made, head)
    return made.picture


def panel(axes: Axes, figure: Curves, ratios: bool = True) -> list[tuple[Line2D, str]]:
    """The lines in axes of the caller's; returns what a legend needs. `ratios`: values of more than a decade
    may have a logarithmic axis."""
    count = len(figure.series)
    lines = [(_line(axes, series, index, count), series.name) for index, series in enumerate(figure.series)]
    _x_axis(axes, figure)
    _y_axis(axes, figure, ratios)
    _marks(axes, figure.marks)
    return lines


def _line(axes: Axes, series: Series, index: int, count: int) -> Line2D:
    """Up to 40 lines differ by colour, and by dash and marker where colours are used again."""
    again = index // len(COLOURS)
    if count > MOST_NAMED:
        look = {"color": _by_order(index, count), "linewidth": 0.7}
    else:
        look = {
            "color": COLOURS[index % len(COLOURS)],
            "linestyle": DASHES[again % len(DASHES)],
            "marker": MARKERS[(index + again) % len(MARKERS)],
        }
    if 1 < count <= MOST_NAMED:
        # Those below are wider: lines on the same values are seen nevertheless.
        place = index % len(COLOURS)
        look |= {"linewidth": 2.4 - 0.2 * place, "markersize": 5.6 - 0.4 * place}
    x, y = numbers(series.x), numbers(series.y)
    (line,) = axes.plot(x, y, label=series.name, clip_on=False, **look)
    if series.low and series.high:
        _spread(
            axes, x, y, numbers(series.low), numbers(series.high), line.get_color(), 0.2 / (1 + count / 8)
        )
    return line


def _spread(
    axes: Axes, x: np.ndarray, y: np.ndarray, low: np.ndarray, high: np.ndarray, colour: str, alpha: float
) -> None:
    """A band; bars at points that have no neighbour to make a band with."""
    there = ~np.isnan(low) & ~np.isnan(high) & ~np.isnan(y)
    beside = np.zeros_like(there)
    beside[:-1] |= there[1:]
    beside[1:] |= there[:-1]
    band, alone = there & beside, there & ~beside
    if band.any():
        axes.fill_between(x, low, high, where=band, color=colour, alpha=alpha, linewidth=0)
    if alone.any():
        # Not errorbar(): an average may lie outside of the spread that the file tells.
        axes.vlines(x[alone], low[alone], high[alone], color=colour, linewidth=1.2)


def _by_order(index: int, count: int) -> str:
    return to_hex(colormaps["viridis"](index / max(count - 1, 1) * DARK))


def _order_bar(picture: Picture, axes: Axes, series: list[Series]) -> None:
    bar = ScalarMappable(Normalize(0, (len(series) - 1) / DARK), "viridis")
    shown = picture.colorbar(
        bar, ax=axes, ticks=[0, len(series) - 1], fraction=0.03, pad=0.01, use_gridspec=False
    )
    shown.ax.set_ylim(0, len(series) - 1)
    shown.ax.set_yticklabels([series[0].name, series[-1].name], fontsize=6.5)
    shown.set_label(f"{len(series)} lines, in order", fontsize=7)


def _x_axis(axes: Axes, figure: Curves) -> None:
    axes.set_xlabel(axis_label(figure.x.label, "" if figure.x.unit == "bytes" else figure.x.unit))
    every = numbers([value for series in figure.series for value in series.x])
    text = size_text if figure.x.unit == "bytes" else number_text
    if figure.x.log2 and len(every) and every.min() > 0:
        low, high = math.log2(every.min()), math.log2(every.max())
        pad = 0.03 * (high - low) if high > low else 1.0
        axes.set_xscale("log", base=2)
        axes.set_xlim(2 ** (low - pad), 2 ** (high + pad))
        powers = range(math.ceil(low), math.floor(high) + 1)
        step = -(-len(powers) // MOST_TICKS) or 1
        ticks = [2.0**power for power in powers][::step] if len(powers) > 1 else sorted(set(every))
        axes.xaxis.set_major_locator(FixedLocator(ticks))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))
        return
    axes.set_xlim(left=0, right=1.03 * every.max() if len(every) and every.max() > 0 else 1)
    whole = bool(len(every)) and figure.x.unit == "" and (every == every.round()).all()
    axes.xaxis.set_major_locator(MaxNLocator(integer=whole, nbins=10))


def _y_axis(axes: Axes, figure: Curves, ratios: bool) -> None:
    """From 0. Over sizes, values of more than a decade are shown by ratio, and the axis says so."""
    every = [value for series in figure.series for value in series.y if value is not None and value == value]
    reach = every + [value for series in figure.series for value in series.high if value is not None]
    label = axis_label(figure.y.label, figure.y.unit)
    if ratios and figure.x.log2 and every and min(every) > 0 and max(every) / min(every) > LOG_FROM:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_ylim(0.7 * min(every), 1.3 * max(reach))
        label += ", logarithmic"
    else:
        axes.set_ylim(0, 1.06 * max(reach) if reach and max(reach) > 0 else 1)
    axes.set_ylabel(label)
    grid_lines(axes)


def _marks(axes: Axes, marks: list[Mark]) -> None:
    """Lines across; their words above the axes, in as many rows as they need."""
    low, high = axes.get_xlim()
    ends: list[float] = []  # of the words in each row, in inches
    for mark in marks:
        if not low <= mark.x <= high:
            continue
        part = math.log(mark.x / low) / math.log(high / low) if low > 0 else (mark.x - low) / (high - low)
        half = text_width(mark.text, 6.5) / 2 + 0.04
        start = part * min(AXES_WIDTH, WIDTH) - half
        row = next((index for index, end in enumerate(ends) if end <= start), len(ends))
        ends[row:] = [start + 2 * half, *ends[row + 1 :]]
        axes.axvline(mark.x, color=QUIET, linewidth=0.6, linestyle=(0, (2, 2)), zorder=0.5, gid="mark")
        axes.annotate(
            mark.text,
            (mark.x, 1),
            (0, 2 + 8 * row),
            xycoords=axes.get_xaxis_transform(),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=6.5,
            color=QUIET,
        )
