"""How a map looks, for the pens of the plots and of the page: colours and widths as measured, dashed where
they are hardly known. In inches of a picture that is atlas_layout.WIDE, and points of words and lines."""

from typing import Protocol

from numatlas.figures.atlas_layout import TITLE
from numatlas.figures.model import Atlas, Box, Spot
from numatlas.figures.scales import colour_of, colour_range
from numatlas.file_error import FileError
from numatlas.text import cut
from numatlas.units import quantity_text

OTHER = {"latency": "bandwidth", "bandwidth": "latency"}
UNITS = {"latency": "s", "bandwidth": "B/s"}
#: Points of a link's line.
THIN, THICK = 2.0, 9.0
#: Points of words.
NAME, VALUE, LABEL, SMALL = 7.5, 10.0, 8.0, 6.5
#: Points: smaller words nobody reads.
SMALLEST = 4.5
#: Inches from a box to the words in it.
INSET = 0.07


class Pen(Protocol):
    """Draws in colours by name ("ink", "quiet", "edge", "soft", "card") or as they are; y grows downwards."""

    scale: float  #: of the picture to one that is WIDE

    def box(self, box: Box, fill: str, told: str = "", dashed: bool = False) -> None:
        """`told`: to those who point at it."""

    def words(self, text: str, x: float, y: float, size: float, colour: str, side: str, bold: bool) -> None:
        """`side`: "left", "center" or "right" of the words is at x."""

    def line(self, line: tuple, width: float, colour: str, told: str = "", dashed: bool = False) -> None:
        """x and y of both ends."""

    def width(self, text: str, size: float, bold: bool = False) -> float:
        """Inches of the picture."""


def mode_of(figure: Atlas, mode: str) -> str:
    """`mode`: one of the figure's; its first by default."""
    if mode and mode not in figure.modes:
        raise FileError(
            "--mode", f"nothing of {mode} is in this file", hint=f"it has {', '.join(figure.modes)}"
        )
    return mode or figure.modes[0]


class _Paint:
    """What a map shows, drawn by a pen."""

    def __init__(self, figure: Atlas, mode: str, pen: Pen) -> None:
        self.mode, self.pen = mode, pen
        self.values = _values(figure, mode)
        self.most = max((link.values.get("bandwidth", 0) for link in figure.links), default=0)

    def colour(self, value: float | None) -> tuple[str, str]:
        """A colour, and an ink to be read on it. Light is better; one alone has nothing to compare with."""
        if value is None or len(self.values) < 2:
            return "card", "ink"
        return colour_of(value, colour_range(self.values), self.mode == "latency")

    def words(
        self,
        text: str,
        x: float,
        y: float,
        size: float,
        colour: str = "ink",
        side: str = "left",
        bold: bool = False,
        wide: float = 0.0,
    ) -> None:
        """Smaller in a smaller picture, by less than it. `wide`: inches that there are for it: it is set
        smaller, and cut at last."""
        size = self._size(size)
        while wide and size > SMALLEST and self.pen.width(text, size, bold) > wide:
            size -= 0.5
        text = cut(text, lambda one: not wide or self.pen.width(one, size, bold) <= wide)
        self.pen.words(text, x, y, size, colour, side, bold)

    def _size(self, points: float) -> float:
        return max(SMALLEST, points * min(1.0, self.pen.scale**0.5))

    def pair(self, left: str, right: str, box: Box, y: float, size: float, ink: str, side: str) -> None:
        """Bold words at the left of a box, and small ones where there is room for them: at the box's `side`,
        or of "left" right behind the bold ones, which are set smaller for that, down to the size of names."""
        free = box.wide - 2 * INSET
        behind = self.pen.width(right, self._size(SMALL)) + INSET if right else 0.0
        sizes = [size] if side == "right" else [size, *(one for one in (9.0, LABEL, NAME) if one < size)]
        widths = [self.pen.width(left, self._size(one), True) for one in sizes]
        fits = [pair for pair in zip(sizes, widths, strict=True) if pair[1] + behind <= free]
        size, width = fits[0] if fits else (size, 0.0)
        self.words(left, box.x + INSET, y, size, ink, bold=True, wide=free)
        if right and fits:
            x = box.x + (box.wide - INSET if side == "right" else 2 * INSET + width)
            self.words(right, x, y, SMALL, ink, side)


def paint(figure: Atlas, mode: str, pen: Pen) -> None:
    """All of a map."""
    with_pen = _Paint(figure, mode, pen)
    links = [link for link in figure.links if link.line and (link.values or link.texts)]
    for link in links:
        _link(with_pen, link)
    for link in links:  # over all lines
        _link_words(with_pen, link)
    for socket in figure.sockets:
        box = socket.box
        pen.box(box, "soft")
        text = socket.texts.get(mode, socket.name)
        with_pen.words(text, box.x + 0.08, box.y + TITLE / 2, NAME, wide=box.wide - 0.1)
    for stem in figure.stems:
        x, y0, _, y1 = stem.line
        pen.line(stem.line, 1.5, "edge")
        free = stem.box.wide / 2 - 0.08
        fits = [one for one in stem.beside if pen.width(one, SMALL) <= free]
        for text in [*fits, *stem.beside[-1:]][:1]:
            with_pen.words(text, x + 0.08, (y0 + y1) / 2, SMALL, wide=free)
    for place in figure.places:
        _place(with_pen, place)
    for hop in figure.chain:
        _hop(with_pen, hop)


def _place(paint: _Paint, place: Spot) -> None:
    box, mode = place.box, paint.mode
    colour, ink = paint.colour(place.values.get(mode))
    # The frame is of all figures in it, the smaller one too.
    paint.pen.box(box, colour, place.detail, bool(place.unsteady))
    # Each interval stands beside its own figure.
    big, spread = place.texts.get(mode, ""), place.spreads.get(mode, "")
    other = OTHER[mode]
    beside = f"{place.texts[other]} {place.spreads.get(other, '')}".rstrip() if other in place.texts else ""
    paint.pair(place.name, beside, box, box.y + 0.12, NAME, ink, "right")
    if big or spread or not place.far:
        side, size = ("left", VALUE) if big else ("right", SMALL)
        paint.pair(big or "own: not measured", spread, box, box.y + 0.5 * box.tall, size, ink, side)
    at = box.x + INSET, box.y + box.tall - 0.11
    paint.words(place.note, *at, SMALL, ink, wide=box.wide - 2 * INSET)


def _link(paint: _Paint, link: Spot) -> None:
    mode, rate = paint.mode, link.values.get("bandwidth")
    part = rate / paint.most if rate and paint.most else 0.0
    width = (THIN + (THICK - THIN) * part) * paint.pen.scale
    colour = paint.colour(link.values[mode])[0] if mode in link.values else "edge"
    for line_width, line_colour in ((width + 2, "edge"), (width, colour)):
        paint.pen.line(link.line, line_width, line_colour, link.detail, mode in link.unsteady)


def _link_words(paint: _Paint, link: Spot) -> None:
    (x0, y0, x1, y1), mode = link.line, paint.mode
    times = f" ({link.note})" if link.note and mode == "latency" else ""
    lines = [link.texts.get(mode, "") + times, link.texts.get(OTHER[mode], "")]
    lines = [line for line in lines if line]
    x, y = (x0 + x1) / 2, (y0 + y1) / 2
    if y0 == y1:  # above and below the line
        places = [(x, y - 0.17, "center"), (x, y + 0.17, "center")]
    elif x0 == x1:
        places = [(x + 0.12, y - 0.09, "left"), (x + 0.12, y + 0.09, "left")]
    else:  # two that cross: one above the other, in the middle of all
        lines, places = [" ".join(lines[:1])], [(x, y + (-0.22 if y1 > y0 else 0.22), "center")]
        for line in lines:
            wide = paint.pen.width(line, LABEL, True) + 0.1
            paint.pen.box(Box(x - wide / 2, places[0][1] - 0.1, wide, 0.2), "card")
    for number, (line, (at, high, side)) in enumerate(zip(lines, places, strict=False)):
        paint.words(line, at, high, LABEL if number == 0 else NAME, side=side, bold=number == 0)


def _hop(paint: _Paint, hop: Spot) -> None:
    """Caches as steps of one row, the nearest first."""
    box = hop.box
    paint.pen.box(box, "soft", hop.detail)
    paint.words(hop.name, box.x + INSET, box.y + 0.12, SMALL, "quiet", wide=box.wide - 0.1)
    paint.pair(hop.texts["latency"], hop.spreads["latency"], box, box.y + 0.28, LABEL, "ink", "left")


def _values(figure: Atlas, mode: str) -> list[float]:
    return [one.values[mode] for one in (*figure.places, *figure.links) if mode in one.values]


def key_of(figure: Atlas, mode: str) -> str:
    """What colours and lines mean, in words."""
    values = sorted(_values(figure, mode), reverse=mode == "bandwidth")
    words = []
    if len(values) > 1:
        light, dark = (quantity_text(end, UNITS[mode]) for end in (values[0], values[-1]))
        words.append(f"colour: {light} (light, better) to {dark}")
    if any(link.line and "bandwidth" in link.values for link in figure.links):
        words.append("width: bandwidth")
    if any(one.unsteady for one in (*figure.places, *figure.links)):
        words.append("dashed: interval of ±10 % or wider")
    words.append("random loads, one CPU alone" if mode == "latency" else "reads by all CPUs of a node")
    return "; ".join([*words, *figure.said])
