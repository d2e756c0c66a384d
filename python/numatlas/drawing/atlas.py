"""An atlas: colours and widths as measured, dashed where they are hardly known."""

from numatlas.drawing.shapes import (
    POINTS,
    Drawing,
    Group,
    Path,
    Shape,
    Words,
    box,
    shorten,
    small_print,
    stacked,
    width_of,
)
from numatlas.figures.atlas_layout import TITLE, UNITS, WIDE
from numatlas.figures.model import Atlas, Box, Spot
from numatlas.figures.scales import colour_of, colour_range
from numatlas.file_error import FileError
from numatlas.units import quantity_text

OTHER = {"latency": "bandwidth", "bandwidth": "latency"}
#: Points of a link's line.
THIN, THICK = 2.0, 9.0
#: Points of words.
NAME, VALUE, LABEL, SMALL = 7.5, 10.0, 8.0, 6.5
#: Points: smaller words nobody reads.
SMALLEST = 4.5
#: Inches from a box to the words in it; of words beside an upright line.
INSET, BESIDE = 0.07, 1.2
#: Units of an inch from which on words are as large as they are called.
LARGE = 76.0


def atlas(figure: Atlas, wide: float, mode: str = "") -> Drawing:
    """The map, and what its colours mean. `mode`: one of the figure's; its first by default."""
    mode = mode_of(figure, mode)
    paint = _Map(figure, mode, (wide - 4) / WIDE)
    _draw(paint, figure)
    parts: list[Shape] = [Group(paint.parts, x=2.0, y=2.0)]
    key = small_print([(_key_of(figure, mode), "label")], wide)
    return stacked(f"{figure.title}: {mode}", wide, [(parts, figure.height * paint.inch + 10), key])


def mode_of(figure: Atlas, mode: str) -> str:
    """`mode`: one of the figure's; its first by default."""
    if mode and mode not in figure.modes:
        raise FileError(
            "--mode", f"nothing of {mode} is in this file", hint=f"it has {', '.join(figure.modes)}"
        )
    return mode or figure.modes[0]


class _Map:
    """What a map shows, in its inches, which are so many units."""

    def __init__(self, figure: Atlas, mode: str, inch: float) -> None:
        self.mode, self.inch, self.scale = mode, inch, min(1.0, inch / LARGE)
        self.parts: list[Shape] = []
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
        side: str = "start",
        bold: bool = False,
        wide: float = 0.0,
    ) -> None:
        """Smaller in a smaller picture, by less than it. `wide`: inches that there are for it: it is set
        smaller, and cut at last. `colour`: "ink", "quiet" or "#rrggbb"."""
        size = self._size(size)
        while wide and size > SMALLEST and self.width(text, size, bold) > wide:
            size -= 0.5
        units = size / POINTS
        text = shorten(text, wide * self.inch, units, bold) if wide else text
        kind = ("label " if colour == "quiet" else "") + "bold" * bold
        fill = colour if colour[0] == "#" else ""
        self.parts.append(Words(text, x * self.inch, y * self.inch, side, kind.strip(), units, fill=fill))

    def _size(self, points: float) -> float:
        return max(SMALLEST, points * self.scale**0.5)

    def width(self, text: str, points: float, bold: bool = False) -> float:
        """Inches."""
        return width_of(text, points / POINTS, bold) / self.inch

    def box(self, place: Box, fill: str, told: str = "", unsteady: bool = False) -> None:
        """`fill`: "soft", "card" or "#rrggbb"."""
        place = Box(*(one * self.inch for one in (place.x, place.y, place.wide, place.tall)))
        kind = f"place{'' if fill[0] == '#' else f' {fill}'}{' unsteady' * unsteady}"
        self.parts.append(box(place, kind, told, **({"fill": fill} if fill[0] == "#" else {})))

    def line(self, line: tuple, width: float, colour: str, told: str = "", dashed: bool = False) -> None:
        """x and y of both ends; `width` in points; `colour`: "edge", "card" or "#rrggbb"."""
        x0, y0, x1, y1 = (one * self.inch for one in line)
        look = {"stroke-width": width / POINTS} | ({"stroke": colour} if colour[0] == "#" else {})
        kind = f"{'' if colour[0] == '#' else f'{colour}-line'}{' far' * dashed}".strip()
        self.parts.append(Path([[(x0, y0), (x1, y1)]], kind, told, look=look))

    def pair(self, left: str, right: str, box: Box, y: float, size: float, ink: str, side: str) -> None:
        """Bold words at the left of a box, and small ones where there is room for them: at the `side`
        of the box, or of "start" right behind the bold ones, which are set smaller for that, down to the size
        of names."""
        free = box.wide - 2 * INSET
        behind = self.width(right, self._size(SMALL)) + INSET if right else 0.0
        sizes = [size] if side == "end" else [size, *(one for one in (9.0, LABEL, NAME) if one < size)]
        widths = [self.width(left, self._size(one), True) for one in sizes]
        fits = [pair for pair in zip(sizes, widths, strict=True) if pair[1] + behind <= free]
        size, width = fits[0] if fits else (size, 0.0)
        self.words(left, box.x + INSET, y, size, ink, bold=True, wide=free)
        if right and fits:
            x = box.x + (box.wide - INSET if side == "end" else 2 * INSET + width)
            self.words(right, x, y, SMALL, ink, side)


def _draw(paint: _Map, figure: Atlas) -> None:
    links = [link for link in figure.links if link.line and (link.values or link.texts)]
    for link in links:
        _link(paint, link)
    for link in links:  # over all lines
        _link_words(paint, link)
    for socket in figure.sockets:
        box = socket.box
        paint.box(box, "soft")
        text = socket.texts.get(paint.mode, socket.name)
        paint.words(text, box.x + 0.08, box.y + TITLE / 2, NAME, wide=box.wide - 0.1)
    for stem in figure.stems:
        x, y0, _, y1 = stem.line
        paint.line(stem.line, 1.5, "edge")
        free = stem.box.wide / 2 - 0.08
        fits = [one for one in stem.beside if paint.width(one, SMALL) <= free]
        for text in [*fits, *stem.beside[-1:]][:1]:
            paint.words(text, x + 0.08, (y0 + y1) / 2, SMALL, wide=free)
    for place in figure.places:
        _place(paint, place)
    for hop in figure.chain:
        _hop(paint, hop)


def _place(paint: _Map, place: Spot) -> None:
    box, mode = place.box, paint.mode
    colour, ink = paint.colour(place.values.get(mode))
    # The frame is of all figures in it, the smaller one too.
    paint.box(box, colour, place.detail, bool(place.unsteady))
    # Each interval stands beside its own figure.
    big, spread = place.texts.get(mode, ""), place.spreads.get(mode, "")
    other = OTHER[mode]
    beside = f"{place.texts[other]} {place.spreads.get(other, '')}".rstrip() if other in place.texts else ""
    paint.pair(place.name, beside, box, box.y + 0.12, NAME, ink, "end")
    if big or spread or not place.far:
        side, size = ("start", VALUE) if big else ("end", SMALL)
        paint.pair(big or "own: not measured", spread, box, box.y + 0.5 * box.tall, size, ink, side)
    at = box.x + INSET, box.y + box.tall - 0.11
    paint.words(place.note, *at, SMALL, ink, wide=box.wide - 2 * INSET)


def _link(paint: _Map, link: Spot) -> None:
    mode, rate = paint.mode, link.values.get("bandwidth")
    part = rate / paint.most if rate and paint.most else 0.0
    width = (THIN + (THICK - THIN) * part) * paint.scale
    colour = paint.colour(link.values[mode])[0] if mode in link.values else "edge"
    for line_width, line_colour in ((width + 2, "edge"), (width, colour)):
        paint.line(link.line, line_width, line_colour, link.detail, mode in link.unsteady)


def _link_words(paint: _Map, link: Spot) -> None:
    (x0, y0, x1, y1), mode = link.line, paint.mode
    times = f" ({link.note})" if link.note and mode == "latency" else ""
    lines = [link.texts.get(mode, "") + times, link.texts.get(OTHER[mode], "")]
    lines = [line for line in lines if line]
    x, y = (x0 + x1) / 2, (y0 + y1) / 2
    wide = abs(x1 - x0) - 0.05 if y0 == y1 else BESIDE
    if y0 == y1:  # above and below the line
        places = [(x, y - 0.17, "middle"), (x, y + 0.17, "middle")]
    elif x0 == x1:
        places = [(x + 0.12, y - 0.09, "start"), (x + 0.12, y + 0.09, "start")]
    else:  # two that cross: one above the other, in the middle of all
        lines, places = [" ".join(lines[:1])], [(x, y + (-0.22 if y1 > y0 else 0.22), "middle")]
        for line in lines:
            wide = paint.width(line, LABEL, True) + 0.1
            paint.box(Box(x - wide / 2, places[0][1] - 0.1, wide, 0.2), "card")
    for number, (line, (at, high, side)) in enumerate(zip(lines, places, strict=False)):
        size = LABEL if number == 0 else NAME
        paint.words(line, at, high, size, side=side, bold=number == 0, wide=wide)


def _hop(paint: _Map, hop: Spot) -> None:
    """Caches as steps of one row, the nearest first."""
    box = hop.box
    paint.box(box, "soft", hop.detail)
    paint.words(hop.name, box.x + INSET, box.y + 0.12, SMALL, "quiet", wide=box.wide - 0.1)
    paint.pair(hop.texts["latency"], hop.spreads["latency"], box, box.y + 0.28, LABEL, "ink", "start")


def _values(figure: Atlas, mode: str) -> list[float]:
    return [one.values[mode] for one in (*figure.places, *figure.links) if mode in one.values]


def _key_of(figure: Atlas, mode: str) -> str:
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
