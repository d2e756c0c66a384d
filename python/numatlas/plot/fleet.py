"""Many hosts, from the slowest to the fastest: with their names as long as these fit; slow ones always by
name."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D

from numatlas.figures.fleet import NONE_JUDGED, judged_hosts
from numatlas.figures.model import Fleet
from numatlas.figures.scales import around
from numatlas.plot.style import ALARM, COLOURS, MARKERS, PAPER, QUIET, Frame, page, room, shorten

#: Up to so many hosts two panels stand beside each other; up to so many each has its name.
SIDE_BY_SIDE, NAMED = 16, 64
#: Inches: in less, panels stand below each other.
WIDE = 5.0
PANEL, LONGEST_NAME = 1.75, 0.9
#: Suspects named in a panel.
MOST_SUSPECTS = 5
#: Ends of the lines of a host, and their width in points.
SPREADS = {"worst to best round": ("min", "max", 0.7), "95 % interval": ("low", "high", 2.4)}


def build(figure: Fleet, frame: Frame = PAPER) -> Picture:
    """A panel a kernel."""
    names, kernels = figure.names(), figure.kernels()
    columns = 2 if len(names) <= SIDE_BY_SIDE and len(kernels) > 1 and frame.width >= WIDE else 1
    rows = max(-(-len(kernels) // columns), 1)
    longest = min(room(names, 6), LONGEST_NAME) if len(names) <= NAMED else 0
    entries = _entries(figure)
    made = page(figure, (PANEL + longest) * rows, entries, _extra(figure), frame)
    for index, (kernel, hosts) in enumerate(figure.hosts.groupby("kernel", sort=False)):
        axes = made.picture.add_subplot(rows, columns, index + 1)
        _panel(axes, hosts.sort_values("value", kind="stable", ignore_index=True), figure.unit)
        missing = hosts["value"].isna().sum() if len(names) > NAMED else 0
        words = f" ({missing} without a value)" if missing else ""
        axes.set_title(kernel + words, loc="left", fontweight="bold")
    made.legend([Line2D([], [], **look) for look in entries.values()], list(entries))
    made.fill()
    return made.picture


def _entries(figure: Fleet) -> dict[str, dict]:
    """Of a legend: kinds of hosts, what the lines are, suspects."""
    kinds = sorted(set(figure.hosts["kind"]))
    names = dict(enumerate(figure.kind_names))
    entries = {f"kind {kind + 1}: {names.get(kind) or 'no CPU model'}": _look(kind) for kind in kinds}
    entries = entries if len(kinds) > 1 else {}
    for name, (low, _, width) in reversed(SPREADS.items()):
        if figure.hosts[low].notna().any():
            entries[name] = {"color": QUIET, "linewidth": width}
    if figure.hosts["slow"].any():
        entries["slow"] = {"color": ALARM, "marker": "o", "linestyle": "", "markerfacecolor": "none"}
    return entries


def _look(kind: int) -> dict:
    place = kind % len(COLOURS)
    return {"color": COLOURS[place], "marker": MARKERS[place], "linestyle": ""}


def _panel(axes: Axes, hosts: pd.DataFrame, unit: str) -> None:
    """Hosts in order; those without a value stand at the end."""
    named, slow = len(hosts) <= NAMED, hosts[hosts["slow"]]
    for low, high, width in SPREADS.values():
        there = hosts.dropna(subset=[low, high])
        if named:
            colours = [_look(kind)["color"] for kind in there["kind"]]
            look = {"linewidth": width, "alpha": 0.55, "gid": "spread"}
            axes.vlines(there.index, there[low], there[high], colors=colours, **look)
        else:
            look = {"color": QUIET, "alpha": 0.3, "linewidth": 0, "rasterized": True}
            axes.fill_between(there.index, there[low], there[high], **look)
    for kind, mine in hosts.groupby("kind"):
        look = {"markersize": 3.2 if named else 1, "rasterized": not named, **_look(kind)}
        axes.plot(mine.index, mine["value"], gid="hosts", **look)
    ring = {"markersize": 7, "markerfacecolor": "none", "color": ALARM, "gid": "slow"}
    axes.plot(slow.index, slow["value"], "o", **ring)
    (_name if named else _name_slow)(axes, hosts, slow)
    axes.tick_params(axis="x", length=0)
    axes.set(xlim=(-0.7, len(hosts) - 0.3), ylabel=unit)
    every = hosts[["value", "low", "high", "min", "max"]].to_numpy(dtype=float)
    if not np.isnan(every).all():
        axes.set_ylim(*around(np.nanmin(every), np.nanmax(every)))
    axes.grid(axis="y")


def _name(axes: Axes, hosts: pd.DataFrame, slow: pd.DataFrame) -> None:
    """Each host."""
    names = [shorten(host, LONGEST_NAME, 6) for host in hosts["host"]]
    axes.set_xticks(hosts.index, names, rotation=90, fontsize=6)
    for place in slow.index:
        axes.get_xticklabels()[place].set(color=ALARM, fontweight="bold")
    for place in hosts.index[hosts["value"].isna()]:
        look = {"rotation": 90, "size": 5.5, "ha": "center", "transform": axes.get_xaxis_transform()}
        axes.text(place, 0.02, "no value", **look)


def _name_slow(axes: Axes, hosts: pd.DataFrame, slow: pd.DataFrame) -> None:
    """The worst of them."""
    axes.set_xlabel("hosts, from the slowest to the fastest")
    worst = slow.sort_values("drop", ascending=False, kind="stable").head(MOST_SUSPECTS)
    words = ", ".join(shorten(host, LONGEST_NAME, 6) for host in worst["host"])
    words += f" and {len(slow) - MOST_SUSPECTS} more" if len(slow) > MOST_SUSPECTS else ""
    axes.set_title(f"slow: {words}" if words else "", loc="right", fontsize=6, color=ALARM)


def _extra(figure: Fleet) -> list[str]:
    """The worst hosts in words."""
    axis, suspects = "the value axes do not begin at 0", list(figure.suspects()["words"])
    if suspects:
        more = [f"and {len(suspects) - 2} more slow hosts and kernels"] if len(suspects) > 2 else []
        return [axis, *(f"slow: {words}" for words in suspects[:2]), *more]
    if not figure.judged:
        return [axis, "nobody looked for slow hosts in this run (`numatlas check` does)"]
    return [axis, "no slow hosts by the run's rule" if judged_hosts(figure) else NONE_JUDGED]
