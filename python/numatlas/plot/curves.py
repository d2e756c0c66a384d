"""Curves: lines with their spread, cache sizes as marks."""

import numpy as np
from cycler import cycler
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

from numatlas.figures.loaded import AT_80, BEND, legend_words
from numatlas.figures.model import Curves, Mark, Series
from numatlas.figures.scales import Scale, value_scale
from numatlas.plot.style import COLOURS, MARKERS, PAPER, QUIET, WIDTH, Frame, describe, numbers, page

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
#: A theoretical peak beyond so many times the highest value is not drawn: there would be no room for values.
FAR = 3
#: The part of the map of colours that is seen on white.
DARK = 0.92
#: Marks of special places.
SHAPES = {AT_80: {"marker": "D", "markersize": 6}, BEND: {"marker": "*", "markersize": 9}}
SPECIAL = {"linestyle": "", "markerfacecolor": "white"}


def build(figure: Curves, frame: Frame = PAPER) -> Picture:
    """A legend above, the lines, and the small print; many lines have no names but a colour by their
    order."""
    names = [legend_words(series) for series in figure.series]
    marked = list(dict.fromkeys(one.what for series in figure.series for one in series.special))
    named, small = names if any(names) and len(names) <= len(LOOKS) else [], []
    if len(names) > len(LOOKS):
        small = [f"{len(names)} lines, in order from {names[0]} to {names[-1]}"]
    if any(flag for series in figure.series for flag in series.flagged):
        small.append("hollow: with a warning, or known to within more than 10 % only")
    small += [] if named else marked
    if any(series.unknown() for series in figure.series):
        small.append("an interval without a point: it reaches zero")
    named = [*named, *marked] if named else []
    made = page(figure, BODY * min(1, frame.width / WIDTH + 0.15), named, small, frame)
    axes = made.picture.add_subplot()
    looks = LOOKS
    if len(names) > len(LOOKS):
        looks = cycler(
            color=colormaps["viridis"](np.linspace(0, DARK, len(names))), linewidth=[0.7] * len(names)
        )
    lines = [_line(axes, figure, series, look) for series, look in zip(figure.series, looks, strict=False)]
    _x_axis(axes, figure)
    _y_axis(axes, figure, value_scale(figure))
    _marks(axes, figure.marks)
    if named:
        marks = [Line2D([], [], color=QUIET, **SPECIAL, **SHAPES[what]) for what in marked]
        made.legend([*lines, *marks], named)
    made.fill()
    return made.picture


def _line(axes: Axes, figure: Curves, series: Series, look: dict) -> Line2D:
    x, y = numbers(series.x), numbers(series.y)
    known = np.isfinite(x)
    (line,) = axes.plot(x[known], y[known], label=series.name, clip_on=False, gid="points", **look)
    told = [series.texts[at] for at in series.points()]
    describe(line, told if line.get_marker() != "None" else [series.name])
    arms = {"color": line.get_color(), "linewidth": 1.2, "alpha": 0.6}
    # Not errorbar(): an average may lie outside of the spread that the file tells.
    axes.vlines(x, numbers(series.low), numbers(series.high), gid="spread", **arms)
    axes.hlines(y, numbers(series.x_low), numbers(series.x_high), gid="spread-x", **arms)
    for one in series.special:
        ring = {"zorder": 2.6, "gid": "special", **SPECIAL, **SHAPES[one.what]}
        (place,) = axes.plot([one.x], [one.y], color=line.get_color(), **ring)
        describe(place, ["\n".join(filter(None, [series.name, one.text]))])
    hollow = np.array(series.flagged, dtype=bool)
    if hollow.any() and line.get_marker() != "None":
        points = {"markerfacecolor": "white", "linestyle": "", "gid": "hollow", "clip_on": False}
        look = {name: look[name] for name in ("color", "marker", "markersize")}
        (rings,) = axes.plot(x[hollow], y[hollow], zorder=line.get_zorder() + 0.1, **points, **look)
        every = [series.texts[at] for at in series.points() if hollow[at]]
        describe(rings, every)
    return line


def _x_axis(axes: Axes, figure: Curves) -> None:
    axis = figure.x
    axes.set_xlabel(axis.words)
    steps = sorted({value for series in figure.series for value in series.x if value is not None}) or [0.0]
    most = max(4, int(MOST_TICKS * axes.get_figure(root=True).get_size_inches()[0] / WIDTH))
    if axis.log2 and steps[0] > 0:
        margin = (steps[-1] / steps[0]) ** 0.03 if len(steps) > 1 else 2
        axes.set_xscale("log", base=2)
        axes.set_xlim(steps[0] / margin, steps[-1] * margin)
        places = FixedLocator(_apart(steps, most, axis.log2))
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)) if axis.unit == "ns" else places)
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: axis.text(value)))
        return
    axes.set_xlim(0, 1.03 * _reach(steps[-1], figure.marks, level=False) or 1)
    whole = axis.unit == "" and all(float(step).is_integer() for step in steps)
    axes.xaxis.set_major_locator(MaxNLocator(integer=whole, nbins=10))


def _reach(most: float, marks: list[Mark], level: bool) -> float:
    """The end of an axis: also of marks that are wanted, and not far away."""
    ends = [mark.at for mark in marks if mark.wanted and mark.level is level and mark.at <= FAR * most]
    return max([most, *ends])


def _apart(steps: list[float], most: int, log: bool) -> list[float]:
    """Those that have names: as many as there is room for, and none beside another."""
    places = np.log2(steps) if log else np.array(steps, dtype=float)
    least = (places[-1] - places[0]) / most
    named = [0]
    for at in range(1, len(steps)):
        if places[at] - places[named[-1]] >= least * 0.999:
            named.append(at)
    return [steps[at] for at in named]


def _y_axis(axes: Axes, figure: Curves, scale: Scale) -> None:
    """What is logarithmic says so."""
    axes.set_ylabel(figure.y.words)
    axes.grid(axis="y")
    if not scale.log:
        axes.set_ylim(scale.low, 1.03 * _reach(scale.high / 1.03, figure.marks, level=True))
        if scale.low > 0:
            axes.set_ylabel(f"{figure.y.words}, not from 0")
        if figure.y.unit == "" and all(float(end).is_integer() for end in figure.ends()):
            axes.yaxis.set_major_locator(MaxNLocator(integer=True))  # a number of something
        return
    axes.set(yscale="log", ylim=(scale.low, scale.high), ylabel=f"{figure.y.words}, logarithmic")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _marks(axes: Axes, marks: list[Mark]) -> None:
    """Lines across. Words of those that stand upright are above the axes, by turns a line higher."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    line = {"color": QUIET, "linewidth": 0.6, "linestyle": (0, (2, 2)), "zorder": 0.5, "gid": "mark"}
    words = {"textcoords": "offset points", "fontsize": 6.5, "color": QUIET}
    lines = max(2, sum(not mark.level for mark in marks) if len(marks) > MOST_IN_TWO_LINES else 0)
    upright = [mark for mark in marks if not mark.level and left <= mark.at <= right]
    for index, mark in enumerate(upright):
        axes.axvline(mark.at, **line)
        side = "right" if axes.transLimits.transform((mark.at, low))[0] > 0.7 else "center"
        place = {"xycoords": axes.get_xaxis_transform(), "ha": side, "va": "bottom"}
        axes.annotate(mark.text, (mark.at, 1), (0, 2 + 8 * (index % lines)), **place, **words)
    levels = sorted((mark.at, mark.text) for mark in marks if mark.level and low <= mark.at <= high)
    for index, (at, text) in enumerate(levels):
        axes.axhline(at, **line)
        above = 0 < index == len(levels) - 1  # two may lie close to each other
        side = {"va": "bottom" if above else "top", "ha": "right"}
        place = {"xycoords": axes.get_yaxis_transform(), **side}
        axes.annotate(text, (1, at), (-2, 2 if above else -2), **place, **words)
