"""Many hosts, a panel a kernel, from the slowest to the fastest."""

import pandas as pd

from numatlas.drawing.axes import Axes
from numatlas.drawing.curves import band
from numatlas.drawing.shapes import (
    HUES,
    RING,
    SAMPLE,
    SHAPES,
    Drawing,
    Group,
    Path,
    Shape,
    Words,
    colour_at,
    legend,
    line,
    mark,
    shorten,
    stacked,
    widest_of,
    width_of,
)
from numatlas.figures.model import Box, Fleet
from numatlas.figures.scales import Scale, around
from numatlas.units import number_text, spread_text

#: Hosts that are drawn with their names; slow ones of more hosts that are named.
MOST_NAMED, MOST_SLOW = 64, 5
#: Units of a panel, of its title, of the name of a host at most.
PANEL, HEAD, NAME = 130.0, 22.0, 90.0
#: Behind the name of a host without a value.
NOTHING = ": no value"
#: Ends of the lines of a host, and their looks.
SPREADS = {"worst to best round": ("min", "max", "spread"), "95 % interval": ("low", "high", "spread thick")}


def fleet(figure: Fleet, wide: float) -> Drawing:
    """Slow hosts have rings."""
    names = figure.names()
    longest = 32.0
    if len(names) <= MOST_NAMED:
        nothing = width_of(NOTHING, 10) * bool(figure.hosts["value"].isna().any())
        longest = min(widest_of(names, 10), NAME) + nothing + 8
    blocks: list[tuple[list[Shape], float]] = [legend(_entries(figure), wide)]
    for kernel, hosts in figure.hosts.groupby("kernel", sort=False):
        hosts = hosts.sort_values("value", kind="stable", ignore_index=True)
        blocks.append((_panel(kernel, hosts, figure, wide), HEAD + PANEL + longest + 10))
    return stacked(figure.title, wide, blocks)


def _entries(figure: Fleet) -> list[tuple[Group, str]]:
    """Of the legend: kinds of hosts where there are several, what the lines are, slow hosts."""
    names = dict(enumerate(figure.kind_names))
    kinds = sorted(set(figure.hosts["kind"]))
    entries = [
        (_host(SAMPLE / 2, 0, kind), f"kind {kind + 1}: {names.get(kind) or 'no CPU model'}")
        for kind in kinds * (len(kinds) > 1)
    ]
    for name, (low, _, look) in SPREADS.items():
        if figure.hosts[low].notna().any():
            entries.append((Group([line(0, 0, SAMPLE, 0, look)], "c0"), name))
    if figure.hosts["slow"].any():
        entries.append((Group([mark(SAMPLE / 2, 0, RING, "ring")]), "slow"))
    return entries


def _host(x: float, y: float, kind: int, told: str = "") -> Group:
    return Group([mark(x, y, SHAPES[kind % HUES], told=told)], colour_at(kind))


def _panel(kernel: str, hosts: pd.DataFrame, figure: Fleet, wide: float) -> list[Shape]:
    """Hosts in order; those without a value stand at the end."""
    values = hosts[["value", "low", "high", "min", "max"]].to_numpy(dtype=float)
    there = values[values == values]
    upright = Scale(*around(there.min(), there.max())) if len(there) else Scale(0.0, 1.0)
    axes = Axes(Box(52.0, HEAD, wide - 60, PANEL), Scale(-0.7, len(hosts) - 0.3), upright)
    many = len(hosts) > MOST_NAMED
    label = "hosts, slowest to fastest" if many else ""
    axes.name([], [(value, f"{value:g}") for value in upright.ticks(6)], (label, figure.unit))
    missing = int(hosts["value"].isna().sum())
    head = kernel + (f" ({missing} without a value)" if missing else "")
    axes.parts.append(Words(shorten(head, 0.35 * wide, bold=True), axes.box.x, HEAD / 2, kind="bold"))
    known = hosts[hosts["value"].notna()]
    places = [axes.x(at) for at in known.index]
    for low, high, look in SPREADS.values():
        ends = [
            (x, axes.y(least), axes.y(most))
            for x, least, most in zip(places, known[low], known[high], strict=True)
            if least == least
        ]
        if ends and many:
            axes.parts.append(Group([band(ends)], "c0"))
        lines = [line(x, least, x, most, look) for x, least, most in ends]
        axes.parts += [] if many else [Group(lines, "c0")]
    if many:
        runs = [
            [(x - 1.1, axes.y(y)), (x + 1.1, axes.y(y))] for x, y in zip(places, known["value"], strict=True)
        ]
        axes.parts.append(Group([Path(runs, "dots")], "c0"))
    for x, host in zip(places, known.itertuples(), strict=True):
        rounds = spread_text(host.min, host.max)
        told = f"{host.host}: {number_text(host.value)} {figure.unit}, rounds {rounds}"
        axes.parts += [] if many else [_host(x, axes.y(host.value), host.kind, told)]
        if host.slow:
            axes.parts.append(mark(x, axes.y(host.value), RING, "ring", f"{told}\n{host.words}"))
    if many:
        slow = hosts[hosts["slow"]].sort_values("drop", ascending=False, kind="stable")["host"]
        words = ", ".join(slow.head(MOST_SLOW))
        words += f" and {len(slow) - MOST_SLOW} more" if len(slow) > MOST_SLOW else ""
        words = f"slow: {words}" if words else ""
        axes.parts.append(Words(shorten(words, 0.6 * wide, 10), wide - 8, HEAD / 2, "end", "alarm", 10))
        return axes.parts
    for at, host in enumerate(hosts.itertuples()):
        words = shorten(host.host, NAME, 10) + (NOTHING if host.value != host.value else "")
        kind = "alarm bold" if host.slow else ""
        axes.parts.append(Words(words, axes.x(at), axes.bottom + 6, "end", kind, 10, upright=True))
    return axes.parts
