"""Many hosts, from the slowest to the fastest: with their names as long as these fit; slow ones always by
name."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D

from numatlas.figures.fleet import NONE_JUDGED, judged_hosts
from numatlas.figures.model import Fleet, Suspect
from numatlas.plot.style import ALARM, COLOURS, MARKERS, QUIET, honest_limits, numbers, page, room, shorten

#: Up to so many hosts two panels stand beside each other; up to so many each has its name.
SIDE_BY_SIDE, NAMED = 16, 64
PANEL, LONGEST_NAME = 1.75, 0.9
#: Suspects named in a panel.
MOST_SUSPECTS = 5


def build(figure: Fleet) -> Picture:
    """A panel a kernel."""
    count = len(figure.hosts)
    columns = 2 if count <= SIDE_BY_SIDE and len(figure.kernels) > 1 else 1
    rows = max(-(-len(figure.kernels) // columns), 1)
    longest = min(room(figure.hosts, 6), LONGEST_NAME) if count <= NAMED else 0
    entries = _entries(figure)
    made = page(figure, (PANEL + longest) * rows, entries, _extra(figure))
    for index, kernel in enumerate(figure.kernels):
        axes = made.picture.add_subplot(rows, columns, index + 1)
        suspects = [suspect for suspect in figure.suspects if suspect.kernel == kernel]
        _panel(axes, figure, index, suspects)
        missing = sum(value is None for value in figure.values[index])
        words = f" ({missing} without a value)" if missing and count > NAMED else ""
        axes.set_title(kernel + words, loc="left", fontweight="bold")
    if entries:
        made.legend([Line2D([], [], **look) for look in entries.values()], list(entries))
    made.fill()
    return made.picture


def _entries(figure: Fleet) -> dict[str, dict]:
    """Of a legend: kinds of hosts, what the lines are, suspects."""
    entries = {}
    kinds = sorted(set(figure.kinds))
    for kind in kinds if len(kinds) > 1 else []:
        name = figure.kind_names[kind] if kind < len(figure.kind_names) else ""
        entries[f"kind {kind + 1}: {name or 'no CPU model'}"] = _look(kind)
    for name, grid, width in (("95 % interval", figure.low, 2.4), ("worst to best round", figure.least, 0.7)):
        if any(value is not None for row in grid for value in row):
            entries[name] = {"color": QUIET, "linewidth": width}
    if figure.suspects:
        entries["slow"] = {"color": ALARM, "marker": "o", "linestyle": "", "markerfacecolor": "none"}
    return entries


def _look(kind: int) -> dict:
    place = kind % len(COLOURS)
    return {"color": COLOURS[place], "marker": MARKERS[place], "linestyle": ""}


def _panel(axes: Axes, figure: Fleet, index: int, suspects: list[Suspect]) -> None:
    """Hosts without a value stand at the end."""
    values = numbers(figure.values[index])
    order = np.argsort(values, kind="stable")  # NaN is last
    values, kinds, hosts = values[order], np.array(figure.kinds)[order], np.array(figure.hosts)[order]
    places, named = np.arange(len(order)), len(order) <= NAMED
    ends = [numbers(grid[index])[order] for grid in (figure.least, figure.most, figure.low, figure.high)]
    colours = np.array([_look(kind)["color"] for kind in kinds])
    for low, high, width in ((*ends[:2], 0.7), (*ends[2:], 2.4)):
        there = ~np.isnan(low) & ~np.isnan(high)
        if named:
            look = {"linewidth": width, "alpha": 0.55, "gid": "spread"}
            axes.vlines(places[there], low[there], high[there], colors=colours[there], **look)
        else:
            axes.fill_between(places, low, high, color=QUIET, alpha=0.3, linewidth=0)
    for kind in sorted(set(kinds)):
        mine = kinds == kind
        axes.plot(places[mine], values[mine], gid="hosts", markersize=3.2 if named else 1, **_look(kind))
    slow = np.isin(hosts, [suspect.host for suspect in suspects])
    ring = {"markersize": 7, "markerfacecolor": "none", "color": ALARM, "gid": "slow"}
    axes.plot(places[slow], values[slow], "o", **ring)
    if named:
        axes.set_xticks(places, [shorten(host, LONGEST_NAME, 6) for host in hosts], rotation=90, fontsize=6)
        for place in places[slow]:
            axes.get_xticklabels()[place].set(color=ALARM, fontweight="bold")
        for place in places[np.isnan(values)]:
            look = {"rotation": 90, "size": 5.5, "ha": "center", "transform": axes.get_xaxis_transform()}
            axes.text(place, 0.02, "no value", **look)
    else:
        axes.set_xlabel("hosts, from the slowest to the fastest")
        words = ", ".join(shorten(one.host, LONGEST_NAME, 6) for one in suspects[:MOST_SUSPECTS])
        words += f" and {len(suspects) - MOST_SUSPECTS} more" if len(suspects) > MOST_SUSPECTS else ""
        axes.set_title(f"slow: {words}" if words else "", loc="right", fontsize=6, color=ALARM)
    axes.tick_params(axis="x", length=0)
    axes.set(xlim=(-0.7, len(order) - 0.3), ylabel=figure.unit)
    every = np.concatenate([values, *ends])
    if not np.isnan(every).all():
        axes.set_ylim(*honest_limits(np.nanmin(every), np.nanmax(every)))
    axes.grid(axis="y")


def _extra(figure: Fleet) -> list[str]:
    """The worst hosts in words."""
    axis, more = "the value axes do not begin at 0", len(figure.suspects) - 2
    if figure.suspects:
        slow = [f"slow: {one.words}" for one in figure.suspects[:2]]
        return [axis, *slow, *([f"and {more} more slow hosts and kernels"] if more > 0 else [])]
    if not figure.judged:
        return [axis, "nobody looked for slow hosts in this run (`numatlas check` does)"]
    return [axis, "no slow hosts by the run's rule" if judged_hosts(figure) else NONE_JUDGED]
