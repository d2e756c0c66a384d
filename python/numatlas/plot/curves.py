"""Curves: lines with their spread, cache sizes as marks."""

import numpy as np
from cycler import cycler
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D

from numatlas.figures.loaded import AT_80, BEND, legend_of
from numatlas.figures.model import Curves, Mark, Series
from numatlas.figures.scales import Scale, x_scale, y_scale
from numatlas.plot.style import COLOURS, MARKERS, PAPER, QUIET, WIDTH, Frame, numbers, page

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
#: Words of more marks than this stand in as many lines as there are marks.
MOST_IN_TWO_LINES = 4
#: The part of the map of colours that is seen on white.
DARK = 0.92
#: Marks of special places.
SHAPES = {AT_80: {"marker": "D", "markersize": 6}, BEND: {"marker": "*", "markersize": 9}}
SPECIAL = {"linestyle": "", "markerfacecolor": "white"}


def build(figure: Curves, frame: Frame = PAPER) -> Picture:
    """A legend above, the lines, and the small print; many lines have no names but a colour by their
    order."""
    names, marked, small = legend_of(figure, len(LOOKS))
    named = [*names, *marked]
    made = page(figure, BODY * min(1, frame.width / WIDTH + 0.15), named, small, frame)
    axes = made.picture.add_subplot()
    looks = LOOKS
    if len(figure.series) > len(LOOKS):
        looks = cycler(
            color=colormaps["viridis"](np.linspace(0, DARK, len(figure.series))),
            linewidth=[0.7] * len(figure.series),
        )
    lines = [_line(axes, figure, series, look) for series, look in zip(figure.series, looks, strict=False)]
    _marks(axes, figure.marks, _axes(axes, figure))
    if named:
        marks = [Line2D([], [], color=QUIET, **SPECIAL, **SHAPES[what]) for what in marked]
        made.legend([*lines, *marks], named)
    made.fill()
    return made.picture


def _line(axes: Axes, figure: Curves, series: Series, look: dict) -> Line2D:
    x, y = numbers(series.x), numbers(series.y)
    known = np.isfinite(x)
    (line,) = axes.plot(x[known], y[known], label=series.name, clip_on=False, gid="points", **look)
    arms = {"color": line.get_color(), "linewidth": 1.2, "alpha": 0.6}
    # Not errorbar(): an average may lie outside of the spread that the file tells.
    axes.vlines(x, numbers(series.low), numbers(series.high), gid="spread", **arms)
    axes.hlines(y, numbers(series.x_low), numbers(series.x_high), gid="spread-x", **arms)
    for one in series.special:
        ring = {"zorder": 2.6, "gid": "special", **SPECIAL, **SHAPES[one.what]}
        axes.plot([one.x], [one.y], color=line.get_color(), **ring)
    hollow = np.array(series.flagged, dtype=bool)
    if hollow.any() and line.get_marker() != "None":
        points = {"markerfacecolor": "white", "linestyle": "", "gid": "hollow", "clip_on": False}
        look = {name: look[name] for name in ("color", "marker", "markersize")}
        axes.plot(x[hollow], y[hollow], zorder=line.get_zorder() + 0.1, **points, **look)
    return line


def _axes(axes: Axes, figure: Curves) -> Scale:
    """Returns the horizontal one."""
    most = max(4, int(MOST_TICKS * axes.get_figure(root=True).get_size_inches()[0] / WIDTH))
    across, places = x_scale(figure, most)
    upright, values, words = y_scale(figure)
    if across.log:
        axes.set_xscale("log", base=2)
    if upright.log:
        axes.set_yscale("log")
    axes.set(xlim=(across.low, across.high), ylim=(upright.low, upright.high))
    axes.set(xlabel=figure.x.words, ylabel=words)
    for axis, ticks, text in ((axes.xaxis, places, figure.x.text), (axes.yaxis, values, "{:g}".format)):
        axis.set_ticks(ticks, [text(tick) for tick in ticks])
        axis.set_ticks([], minor=True)
    axes.grid(axis="y")
    return across


def _marks(axes: Axes, marks: list[Mark], across: Scale) -> None:
    """Lines across. Words of those that stand upright are above the axes, by turns a line higher."""
    low, high = axes.get_ylim()
    line = {"color": QUIET, "linewidth": 0.6, "linestyle": (0, (2, 2)), "zorder": 0.5, "gid": "mark"}
    words = {"textcoords": "offset points", "fontsize": 6.5, "color": QUIET}
    lines = max(2, sum(not mark.level for mark in marks) if len(marks) > MOST_IN_TWO_LINES else 0)
    upright = [mark for mark in marks if not mark.level and across.low <= mark.at <= across.high]
    for index, mark in enumerate(upright):
        axes.axvline(mark.at, **line)
        side = "right" if across.part(mark.at) > 0.7 else "center"
        place = {"xycoords": axes.get_xaxis_transform(), "ha": side, "va": "bottom"}
        axes.annotate(mark.text, (mark.at, 1), (0, 2 + 8 * (index % lines)), **place, **words)
    levels = sorted((mark.at, mark.text) for mark in marks if mark.level and low <= mark.at <= high)
    for index, (at, text) in enumerate(levels):
        axes.axhline(at, **line)
        above = 0 < index == len(levels) - 1  # two may lie close to each other
        side = {"va": "bottom" if above else "top", "ha": "right"}
        place = {"xycoords": axes.get_yaxis_transform(), **side}
        axes.annotate(text, (1, at), (-2, 2 if above else -2), **place, **words)
