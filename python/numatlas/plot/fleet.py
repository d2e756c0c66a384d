"""Many hosts: every one of them as long as names fit, then a histogram; slow ones always by name."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from numatlas.figures.fleet import NONE_JUDGED, judged_hosts
from numatlas.figures.model import Fleet, Suspect
from numatlas.plot.style import (
    ALARM,
    COLOURS,
    MARKERS,
    QUIET,
    fill,
    grid_lines,
    honest_limits,
    legend,
    legend_height,
    legend_rows,
    numbers,
    page,
    room,
    shorten,
)

#: Up to so many hosts two panels stand beside each other; up to so many each has its name.
SIDE_BY_SIDE, NAMED = 16, 64
PANEL = 1.75
LONGEST_NAME = 0.9
#: Suspects named in a panel, and told of in the small print.
MOST_SUSPECTS = 5
MOST_BINS = 80
#: Up to here numbers of hosts are linear.
LINEAR_HOSTS = 10


def build(figure: Fleet) -> Picture:
    """A panel a kernel."""
    count = len(figure.hosts)
    columns = 2 if count <= SIDE_BY_SIDE and len(figure.kernels) > 1 else 1
    rows = -(-len(figure.kernels) // columns)
    longest = room(figure.hosts, 6) if count <= NAMED else 0
    panel = PANEL + min(longest, LONGEST_NAME)
    entries = _entries(figure)
    shape = legend_rows([name for _, name in entries])
    head = legend_height(shape[0])
    made = page(figure, panel * max(rows, 1), head, _extra(figure))
    for index, kernel in enumerate(figure.kernels):
        axes = made.picture.add_subplot(rows, columns, index + 1)
        suspects = [suspect for suspect in figure.suspects if suspect.kernel == kernel]
        (_points if count <= NAMED else _histogram)(axes, figure, index, suspects)
        missing = sum(value is None for value in figure.values[index])
        words = f" ({missing} without a value)" if missing and count > NAMED else ""
        axes.set_title(kernel + words, loc="left", fontweight="bold")
    legend(made, made.top, entries, shape)
    fill(made, head)
    return made.picture


def _colour(kind: int) -> str:
    return COLOURS[kind % len(COLOURS)]


def _kinds(figure: Fleet) -> list[int]:
    return figure.kinds or [0] * len(figure.hosts)


def _entries(figure: Fleet) -> list[tuple[Line2D, str]]:
    """Kinds of hosts, what the lines are, suspects."""
    kinds = sorted(set(_kinds(figure)))
    entries = []
    if len(kinds) > 1:
        for kind in kinds:
            name = figure.kind_names[kind] if kind < len(figure.kind_names) else ""
            look = {"color": _colour(kind), "marker": MARKERS[kind % len(MARKERS)], "linestyle": ""}
            entries.append((Line2D([], [], **look), f"kind {kind + 1}: {name or 'no CPU model'}"))
    if len(figure.hosts) <= NAMED:
        if _any(figure.low):
            entries.append((Line2D([], [], color=QUIET, linewidth=2.4), "95 % interval"))
        if _any(figure.least):
            entries.append((Line2D([], [], color=QUIET, linewidth=0.7), "worst to best round"))
    if figure.suspects:
        look = {"marker": "o", "linestyle": "", "markerfacecolor": "none", "markersize": 6}
        entries.append((Line2D([], [], color=ALARM, **look), "slow"))
    return entries


def _any(grid: list[list[float | None]]) -> bool:
    return any(value is not None for row in grid for value in row)


def _points(axes: Axes, figure: Fleet, index: int, suspects: list[Suspect]) -> None:
    """Hosts from the slowest to the fastest, those without a value at the end."""
    values = numbers(figure.values[index])
    order = np.argsort(values, kind="stable")  # NaN is last
    places = np.arange(len(order))
    slow = {suspect.host for suspect in suspects}
    for place, host in zip(places, order, strict=True):
        colour = _colour(_kinds(figure)[host])
        for grid, width in ((figure.least, 0.7), (figure.low, 2.4)):
            ends = (grid, figure.most if grid is figure.least else figure.high)
            low, high = (side[index][host] if side else None for side in ends)
            if low is not None and high is not None:
                axes.vlines(place, low, high, color=colour, linewidth=width, alpha=0.55, gid="spread")
        if np.isnan(values[host]):
            axes.text(
                place,
                0.02,
                "no value",
                rotation=90,
                size=5.5,
                ha="center",
                transform=axes.get_xaxis_transform(),
            )
        if figure.hosts[host] in slow:
            axes.plot(place, values[host], "o", markersize=7, markerfacecolor="none", color=ALARM, gid="slow")
    for kind in sorted(set(_kinds(figure))):
        mine = np.array([_kinds(figure)[host] == kind for host in order])
        marker = MARKERS[kind % len(MARKERS)]
        axes.plot(places[mine], values[order][mine], marker, color=_colour(kind), linestyle="", gid="hosts")
    names = [shorten(figure.hosts[host], LONGEST_NAME, 6) for host in order]
    axes.set_xticks(places, names, rotation=90, fontsize=6)
    for label, host in zip(axes.get_xticklabels(), order, strict=True):
        if figure.hosts[host] in slow:
            label.set(color=ALARM, fontweight="bold")
    axes.set_xlim(-0.7, len(order) - 0.3)
    axes.tick_params(axis="x", length=0)
    _value_axis(axes, figure, index)
    axes.set_ylabel(figure.unit)
    grid_lines(axes)


def _value_axis(axes: Axes, figure: Fleet, index: int) -> None:
    every = [
        value
        for grid in (figure.values, figure.low, figure.high, figure.least, figure.most)
        if grid
        for value in grid[index]
        if value is not None and value == value
    ]
    if every:
        axes.set_ylim(*honest_limits(min(every), max(every)))


def _histogram(axes: Axes, figure: Fleet, index: int, suspects: list[Suspect]) -> None:
    """Hosts by value, kinds over each other; slow ones as ticks, the worst by name."""
    values = numbers(figure.values[index])
    there = ~np.isnan(values)
    most = 0.0
    if there.any():
        low, high = honest_limits(float(values[there].min()), float(values[there].max()))
        kind_of = np.array(_kinds(figure))
        edges = np.linspace(low, high, min(MOST_BINS, int(2 * np.sqrt(there.sum()))) + 1)
        for kind in sorted(set(_kinds(figure))):
            # Not on top of each other: on a logarithmic axis nobody could read the upper one.
            look = {"facecolor": (_colour(kind), 0.35), "edgecolor": _colour(kind), "linewidth": 1}
            counts, *_ = axes.hist(values[there & (kind_of == kind)], edges, histtype="stepfilled", **look)
            most = max(most, counts.max())
        axes.set_xlim(low, high)
    if most > LINEAR_HOSTS:  # a handful of slow hosts must be seen beside thousands
        axes.set_yscale("symlog", linthresh=LINEAR_HOSTS)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    else:
        axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    axes.set_ylim(bottom=0)
    axes.set_xlabel(figure.unit)
    axes.set_ylabel("hosts")
    axes.xaxis.set_major_locator(MaxNLocator(nbins=10))
    grid_lines(axes)
    _name_suspects(axes, suspects)


def _name_suspects(axes: Axes, suspects: list[Suspect]) -> None:
    """A tick for each; names above the axes, from left to right, where they do not cover anything."""
    transform = axes.get_xaxis_transform()
    axes.plot(
        [one.value for one in suspects],
        [1.0] * len(suspects),
        "|",
        color=ALARM,
        markersize=6,
        transform=transform,
        clip_on=False,
        gid="slow",
    )
    named = suspects[:MOST_SUSPECTS]
    words = ", ".join(shorten(one.host, LONGEST_NAME, 6) for one in named)
    if len(suspects) > len(named):
        words += f" and {len(suspects) - len(named)} more"
    if words:
        axes.set_title(f"slow: {words}", loc="right", fontsize=6, color=ALARM)


def _extra(figure: Fleet) -> list[str]:
    """The worst hosts in words."""
    axis = "the value axes do not begin at 0"
    if len(figure.hosts) > NAMED:
        axis += f"; numbers of hosts above {LINEAR_HOSTS} are logarithmic"
    lines = [axis]
    if figure.suspects:
        lines += [f"slow: {one.words}" for one in figure.suspects[:2]]
        if len(figure.suspects) > 2:
            lines.append(f"and {len(figure.suspects) - 2} more slow hosts and kernels")
    elif not figure.judged:
        lines.append("nobody looked for slow hosts in this run (`numatlas check` does)")
    elif not judged_hosts(figure):
        lines.append(NONE_JUDGED)
    else:
        lines.append("no slow hosts by the run's rule")
    return lines
