"""Bars from 0, with their spread and their numbers."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from numatlas.figures.model import Bars, Series
from numatlas.plot.style import (
    COLOURS,
    WIDTH,
    axis_label,
    fill,
    grid_lines,
    legend,
    legend_height,
    legend_rows,
    page,
    shorten,
    text_width,
)
from numatlas.units import number_text

BODY = 3.0
#: Inches of the axes when bars stand, and of one lying bar.
AXES_WIDTH = 6.1
#: Inches of the axes when bars lie, at least.
LYING_WIDTH = 3.8
BAR = 0.2
#: Of the numbers beside the bars, in points.
NUMBER = 6.0
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\")
LONGEST_NAME = 2.6


def build(figure: Bars) -> Picture:
    """Standing bars where the names fit below them, lying ones otherwise."""
    several = len(figure.groups) > 1
    rows = legend_rows([group.name for group in figure.groups] if several else [])
    head = legend_height(rows[0])
    slot = AXES_WIDTH / max(len(figure.names), 1)
    number = max((text_width(text, NUMBER) for group in figure.groups for text in _texts(group)), default=0)
    lying = max((text_width(name, 7) for name in figure.names), default=0) > 0.94 * slot or number > 0.8 * (
        slot / max(len(figure.groups), 1)
    )
    bars = len(figure.names) * max(len(figure.groups), 1)
    made = page(figure, max(1.2, BAR * bars + 0.2 * len(figure.names) + 0.5) if lying else BODY, head)
    axes = made.picture.add_subplot()
    handles = [_group(axes, group, index, figure, lying) for index, group in enumerate(figure.groups)]
    _axes(axes, figure, lying)
    if several:
        legend(
            made,
            made.top,
            [(handle, group.name) for handle, group in zip(handles, figure.groups, strict=True)],
            rows,
        )
    fill(made, head)
    return made.picture


def _places(figure: Bars, group: Series, index: int) -> tuple[list[float], list[float]]:
    """Middle and thickness of a group's bars: those at a name share its room."""
    there = [[at for at, other in enumerate(figure.groups) if place in other.x] for place in group.x]
    thick = [0.8 / max(len(those), 1) for those in there]
    if len(figure.groups) > 1:
        thick = [min(part, 0.4) for part in thick]
    middles = [
        place + each * (those.index(index) + 0.5 - len(those) / 2)
        for place, each, those in zip(group.x, thick, there, strict=True)
    ]
    return middles, thick


def _group(axes: Axes, group: Series, index: int, figure: Bars, lying: bool) -> object:
    """One bar a name; what has no value has no bar, and says so."""
    places, thick = _places(figure, group, index)
    heights = [0.0 if value is None or value != value else value for value in group.y]
    look = {
        "color": COLOURS[index % len(COLOURS)],
        "hatch": HATCHES[index // len(COLOURS) % len(HATCHES)],
        "edgecolor": "white",
        "linewidth": 0.5,
    }
    bars = (axes.barh if lying else axes.bar)(
        places, heights, [0.94 * each for each in thick], label=group.name, **look
    )
    lows = group.low or [None] * len(places)
    highs = group.high or [None] * len(places)
    for place, value, low, high, text in zip(places, heights, lows, highs, _texts(group), strict=True):
        if low is not None and high is not None and low == low and high == high:
            line = axes.hlines if lying else axes.vlines
            line(place, low, high, color="white", linewidth=2.2, alpha=0.7)  # to be seen on a black bar
            line(place, low, high, color="black", linewidth=0.9, gid="spread")
        end = max(value, high) if high is not None and high == high else value
        _number(axes, text, place, end, lying)
    return bars


def _number(axes: Axes, text: str, place: float, end: float, lying: bool) -> None:
    axes.annotate(
        text,
        (end, place) if lying else (place, end),
        (3, 0) if lying else (0, 2),
        textcoords="offset points",
        ha="left" if lying else "center",
        va="center_baseline" if lying else "bottom",
        fontsize=NUMBER,
        gid="number",
    )


def _texts(group: Series) -> list[str]:
    words = group.texts or [""] * len(group.y)
    numbers = ["no value" if value is None or value != value else number_text(value, 3) for value in group.y]
    return [f"{number} {word}".strip() for number, word in zip(numbers, words, strict=True)]


def _axes(axes: Axes, figure: Bars, lying: bool) -> None:
    better = "less is better" if figure.less_is_better else "more is better"
    label = axis_label("", figure.unit)
    label = f"{label} ({better})" if label else better
    places = range(len(figure.names))
    ends = [
        value
        for group in figure.groups
        for value in [*group.y, *group.high]
        if value is not None and value == value
    ]
    # Room for the numbers beyond the longest bar.
    number = max((text_width(text, NUMBER) for group in figure.groups for text in _texts(group)), default=0)
    end = max(ends, default=0) / (1 - (number + 0.1) / LYING_WIDTH if lying else 0.92) or 1
    if lying:
        axes.set_yticks(places, [shorten(name, LONGEST_NAME, 7) for name in figure.names])
        axes.set_ylim(len(figure.names) - 0.5, -0.5)
        axes.set_xlim(0, end)
        axes.set_xlabel(label)
        axes.tick_params(axis="y", length=0)
        grid_lines(axes, "x")
        return
    axes.set_xticks(places, figure.names)
    axes.set_xlim(-0.6, len(figure.names) - 0.4)
    if len(figure.names) * WIDTH < 12:  # one bar as wide as the page is no picture
        axes.set_xlim(-1.2, len(figure.names) + 0.2)
    axes.set_ylim(0, end)
    axes.set_ylabel(label)
    axes.tick_params(axis="x", length=0)
    grid_lines(axes)
