"""What pictures consist of: paths, words and images in groups, and how each kind of them looks.

Lengths are in units: pixels of a page; in a plot `POINTS` points, so that words of the usual size have 8.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import cos, pi, sin
from typing import Any
from unicodedata import east_asian_width

from numatlas.figures.model import Box
from numatlas.text import cut, printable

#: Units: the size of words, of small print, of a title; the height of a line of a legend.
SIZE, SMALL, TITLE, LEGEND_LINE = 11.0, 10.0, 13.0, 16.0
POINTS = 8 / SIZE
#: Parts of its size that a letter is wide: those as narrow as a dot, others, and the widest.
NARROW_LETTER, LETTER, WIDE_LETTER, BOLD = 0.38, 0.64, 1.0, 1.12
#: Units of the sample before a name in a legend.
SAMPLE = 24.0

#: On light and on dark paper. c0 to c7: Okabe and Ito's, which the colour-blind tell apart, without the
#: yellow that is faint on white.
COLOURS = {
    "card": ("#ffffff", "#1c2024"),
    "ink": ("#1c2024", "#e8eaed"),
    "quiet": ("#5b646e", "#a3adb8"),
    "grid": ("#e6e9ec", "#2c3339"),
    "edge": ("#777777", "#c9d1d9"),
    "soft": ("#eef2f6", "#252b31"),
    "bad": ("#b3261e", "#ff8a80"),
    "c0": ("#0072b2", "#4aa8e0"),
    "c1": ("#d55e00", "#f28b3d"),
    "c2": ("#009e73", "#2fc79c"),
    "c3": ("#b5589a", "#dd93c4"),
    "c4": ("#b08a00", "#e0c04a"),
    "c5": ("#3d9bd1", "#8fd0f5"),
    "c6": ("#1c2024", "#e8eaed"),
    "c7": ("#7a848c", "#97a1aa"),
}
#: Of words of a kind: what SVG calls how they look. "currentcolor": that of the group.
LOOKS: dict[str, dict[str, Any]] = {
    "line": {"stroke": "currentcolor", "stroke-width": 2.0},
    "spread": {"stroke": "currentcolor", "stroke-width": 1.2, "opacity": 0.6},
    "thick": {"stroke-width": 3.2},
    "band": {"fill": "currentcolor", "opacity": 0.18},
    "mark": {"fill": "currentcolor"},
    "hollow": {"fill": "card", "stroke": "currentcolor", "stroke-width": 1.4},
    "ring": {"stroke": "bad", "stroke-width": 1.6},
    "dots": {"stroke": "currentcolor", "stroke-width": 2.2},
    "whisker": {"stroke": "ink", "stroke-width": 1.3},
    "grid": {"stroke": "grid"},
    "axis": {"stroke": "edge"},
    "rule": {"stroke": "quiet", "stroke-width": 0.8, "stroke-dasharray": (2, 2)},
    "cell": {"stroke": "card", "stroke-width": 0.6},
    "empty": {"fill": "soft", "stroke": "card", "stroke-width": 0.6},
    "b1": {"stroke": "card", "stroke-width": 0.8},
    "b2": {"stroke": "card", "stroke-width": 1.8},
    "b3": {"stroke": "card", "stroke-width": 3.5},
    "place": {"stroke": "edge", "stroke-width": 0.9},
    "unsteady": {"stroke-width": 2.0, "stroke-dasharray": (6, 3)},
    "soft": {"fill": "soft"},
    "card": {"fill": "card"},
    "edge-line": {"stroke": "edge"},
    "card-line": {"stroke": "card"},
    "far": {"stroke-dasharray": (8, 5)},
    "d1": {"stroke-dasharray": (7, 3)},
    "d2": {"stroke-dasharray": (2, 2)},
    "d3": {"stroke-dasharray": (8, 2, 2, 2)},
    "d4": {"stroke-dasharray": (12, 3)},
    "label": {"fill": "quiet"},
    "alarm": {"fill": "bad"},
    "bold": {"font-weight": 700},
}

Point = tuple[float, float]


@dataclass
class Path:
    """Lines through points, or polygons."""

    runs: list[list[Point]]
    kind: str  #: words of LOOKS
    told: str = ""  #: to those who point at it
    closed: bool = False
    look: dict[str, Any] = field(default_factory=dict)  #: as LOOKS, of this one alone


@dataclass
class Words:
    """A line of text; `y` of its middle. In its kind may also stand "small" and "number": what it is."""

    text: str
    x: float
    y: float
    side: str = "start"  #: "start", "middle" or "end" of the words is at `x`
    kind: str = ""  #: words of LOOKS
    size: float = SIZE
    upright: bool = False  #: read from below
    fill: str = ""  #: a colour of its own, "#rrggbb"

    def __post_init__(self) -> None:
        self.text = printable(self.text)


@dataclass
class Image:
    """A pixel a cell, "#rrggbb" or "" for none."""

    box: Box
    pixels: list[list[str]]


@dataclass
class Group:
    """Shapes, moved by x and y."""

    parts: list["Shape"]
    colour: str = ""  #: a name of COLOURS, or "#rrggbb"
    x: float = 0.0
    y: float = 0.0
    name: str = ""  #: what a script looks for


Shape = Path | Words | Image | Group


@dataclass
class Drawing:
    """A picture; `title` for those who cannot see it."""

    title: str
    wide: float
    tall: float
    parts: list[Shape]


def width_of(text: str, size: float = SIZE, bold: bool = False) -> float:
    """Units, about: as wide as the widest of usual fonts without serifs (DejaVu Sans)."""
    narrow, widest = " .,:;|'()-/ijlft1", "%±<>MWm"
    kinds = [
        NARROW_LETTER
        if one in narrow
        else WIDE_LETTER
        if one in widest or east_asian_width(one) in "FW"
        else LETTER
        for one in text
    ]
    return size * sum(kinds) * (BOLD if bold else 1.0)


def widest_of(texts: Iterable[Any], size: float = SIZE) -> float:
    """Units; 0 of none."""
    return max((width_of(str(text), size) for text in texts), default=0.0)


def shorten(text: str, width: float, size: float = SIZE, bold: bool = False) -> str:
    """The text, or as much of it as fits with "…"."""
    return cut(text, lambda one: width_of(one, size, bold) <= width, "…")


def wrapped(text: str, width: float, size: float = SIZE, bold: bool = False) -> list[str]:
    """Lines; a word that is longer than one is cut."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_of(longer, size, bold) <= width:
            lines[-1] = longer
        else:
            lines.append(shorten(word, width, size, bold))
    return lines


def line(x0: float, y0: float, x1: float, y1: float, kind: str, told: str = "") -> Path:
    """From one place to another."""
    return Path([[(x0, y0), (x1, y1)]], kind, told)


def box(place: Box, kind: str, told: str = "", **look: Any) -> Path:
    """A rectangle; `look` as LOOKS."""
    left, top, right, bottom = place.x, place.y, place.x + place.wide, place.y + place.tall
    corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
    return Path([corners], kind, told, closed=True, look=look)


def mark(x: float, y: float, shape: list[Point], kind: str = "mark", told: str = "") -> Path:
    """One of the shapes below, at a place."""
    return Path([[(x + dx, y + dy) for dx, dy in shape]], kind, told, closed=True)


def _star(ends: int, far: float, near: float) -> list[Point]:
    """Around 0, its first end above."""
    places = [(at * pi / ends, near if at % 2 else far) for at in range(2 * ends)]
    return [(round(length * sin(turn), 2), round(-length * cos(turn), 2)) for turn, length in places]


#: Points of lines, by turns; of special places.
CIRCLE, SQUARE = _star(8, 3.6, 3.6), [(-3.0, -3.0), (3.0, -3.0), (3.0, 3.0), (-3.0, 3.0)]
SHAPES = [
    *(CIRCLE, SQUARE, [(0.0, -4.0), (4.0, 3.0), (-4.0, 3.0)]),
    *([(0.0, -4.5), (4.0, 0.0), (0.0, 4.5), (-4.0, 0.0)], [(0.0, 4.0), (4.0, -3.0), (-4.0, -3.0)]),
    *([(-4.0, 0.0), (3.0, -4.0), (3.0, 4.0)], [(4.0, 0.0), (-3.0, -4.0), (-3.0, 4.0)], _star(4, 4.6, 1.8)),
]
DIAMOND, STAR, RING = [(0.0, -6.0), (5.0, 0.0), (0.0, 6.0), (-5.0, 0.0)], _star(5, 7, 3), _star(10, 6.0, 6.0)
HUES = len(SHAPES)


def colour_at(index: int) -> str:
    """Name of the colour of a series."""
    return f"c{index % HUES}"


def stacked(title: str, wide: float, blocks: list[tuple[list[Shape], float]]) -> Drawing:
    """Blocks of so many units of height, one below the other."""
    parts, y = [], 0.0
    for shapes, tall in blocks:
        if shapes:
            parts.append(Group(shapes, y=y))
            y += tall
    return Drawing(title, wide, y, parts)


def legend(entries: list[tuple[Group, str]], wide: float) -> tuple[list[Shape], float]:
    """A block: samples, SAMPLE wide and around 0, with names beside them, in columns."""
    widest = widest_of(name for _, name in entries) + SAMPLE + 16
    columns = max(1, min(len(entries), int(wide / widest)))
    parts: list[Shape] = []
    y = 0.0
    for at, (sample, name) in enumerate(entries):
        x = wide / columns * (at % columns)
        y += LEGEND_LINE if at % columns == 0 else 0.0
        parts.append(Group(sample.parts, sample.colour, x, y - LEGEND_LINE / 2))
        # Of several columns each name is a line.
        lines = wrapped(name, wide / columns - SAMPLE - 8)
        for number, text in enumerate(lines):
            y += LEGEND_LINE * (number > 0)
            parts.append(Words(text, x + SAMPLE + 5, y - LEGEND_LINE / 2))
    return parts, y + 4


def small_print(lines: Iterable[tuple[str, str]], wide: float, most: int = 3) -> tuple[list[Shape], float]:
    """A block of sentences and their kinds, each at most so many lines."""
    parts: list[Shape] = []
    for text, kind in lines:
        rows = wrapped(text, wide, SMALL, "bold" in kind)
        rows = rows if len(rows) <= most else [*rows[: most - 1], f"{rows[most - 1]} ..."]
        for row in rows:
            parts.append(Words(row, 0.0, 1.4 * SMALL * (len(parts) + 0.5), kind=f"{kind} small", size=SMALL))
    return parts, 1.4 * SMALL * len(parts) + 2
