"""An atlas: colours and widths as measured, dashed where they are hardly known."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.patches import FancyBboxPatch

from numatlas.figures.atlas import UNITS
from numatlas.figures.atlas_layout import TITLE, WIDE
from numatlas.figures.model import Atlas, Box, Spot
from numatlas.figures.scales import colour_range
from numatlas.file_error import FileError
from numatlas.plot.matrix import colour_of
from numatlas.plot.style import MARGIN, PAPER, QUIET, SMALL, Frame, describe, page, shorten, text_width, wrap
from numatlas.units import quantity_text

OTHER = {"latency": "bandwidth", "bandwidth": "latency"}
#: Points of a link's line.
THIN, THICK = 2.0, 9.0
SOCKET, EMPTY, EDGE = "#F2F2F2", "#FFFFFF", "#777777"
DASHED = (0, (3, 1.5))
NAME, VALUE, LABEL = 7.5, 10.0, 8.0
#: Points: smaller words nobody reads.
SMALLEST = 4.5
#: Inches from a box to the words in it.
INSET = 0.07
#: Inches of a line of words below.
KEY = 0.125


class _Paint:
    """Colours of what a map shows."""

    def __init__(self, figure: Atlas, mode: str) -> None:
        self.mode = mode
        shown = [*figure.places, *figure.links]
        self.values = [one.values[mode] for one in shown if mode in one.values]
        self.low, self.high = colour_range(self.values)
        self.alone = len(self.values) == 1  # nothing to compare it with
        self.most = max((link.values.get("bandwidth", 0) for link in figure.links), default=0)

    def of(self, value: float | None) -> tuple[str, str]:
        """A colour, and an ink to be read on it. Light is better."""
        if value is None or self.alone:
            return EMPTY, "black"
        return colour_of(value, self.low, self.high, self.mode == "latency")

    def width(self, link: Spot) -> float:
        """Points, by the bandwidth."""
        rate = link.values.get("bandwidth")
        return THIN if not rate or not self.most else THIN + (THICK - THIN) * rate / self.most


def build(figure: Atlas, frame: Frame = PAPER, mode: str = "") -> Picture:
    """`mode`: one of the figure's; its first by default."""
    if mode and mode not in figure.modes:
        raise FileError(
            "--mode", f"nothing of {mode} is in this file", hint=f"it has {', '.join(figure.modes)}"
        )
    mode = mode or figure.modes[0]
    paint = _Paint(figure, mode)
    scale = frame.free / WIDE
    key = wrap(_key(figure, paint), frame.free, SMALL)
    height = figure.height + (KEY * len(key) + 0.06) / scale
    made = page(figure, height * scale, frame=frame)
    axes = made.axes(MARGIN, made.bottom, frame.free, made.top - made.bottom)
    axes.set(xlim=(0, WIDE), ylim=(height, 0))
    axes.axis("off")
    pen = _Pen(axes, scale)
    for index, link in enumerate(figure.links):
        if link.line:
            _link(pen, link, paint, index)
    for socket in figure.sockets:
        box = socket.box
        pen.box(box, SOCKET, f"socket-{socket.name}")
        text = socket.texts.get(mode, socket.name)
        pen.words(text, box.x + 0.08, box.y + TITLE / 2, NAME, wide=box.wide - 0.1)
    for x, start, end in figure.stems:
        axes.plot([x, x], [start, end], color=EDGE, linewidth=1.5)
    for index, place in enumerate(figure.places):
        _place(pen, place, paint, index)
    for index, hop in enumerate(figure.chain):
        _hop(pen, hop, index)
    for index, line in enumerate(key):
        y = figure.height + (0.06 + KEY * (index + 0.5)) / scale
        axes.text(0, y, line, size=SMALL, color=QUIET, va="center", gid="words")
    return made.picture


def _size(points: float, scale: float) -> float:
    """Of words in a picture that is so much smaller: less than half of it, and never too small to be read."""
    return max(SMALLEST, points * min(1.0, scale**0.5))


class _Pen:
    """Draws in inches of the figure, whatever the frame's width."""

    def __init__(self, axes: Axes, scale: float) -> None:
        self.axes, self.scale = axes, scale

    def box(self, box: Box, colour: str, gid: str, dashed: bool = False, told: str = "") -> None:
        shape = FancyBboxPatch(
            (box.x, box.y),
            box.wide,
            box.tall,
            boxstyle="round,pad=0,rounding_size=0.05",
            facecolor=colour,
            edgecolor=EDGE,
            linewidth=1.6 if dashed else 0.7,
            linestyle=DASHED if dashed else "-",
            clip_on=False,
            gid=gid,
        )
        self.axes.add_patch(shape)
        if told:
            describe(shape, [told])

    def words(
        self, text: str, x: float, y: float, size: float, colour: str = "black", **more: object
    ) -> None:
        """`wide`: inches that there are for it: it is set smaller, and cut at last."""
        size, wide = _size(size, self.scale), more.pop("wide", 0) * self.scale
        bold = more.get("fontweight") == "bold"
        while wide and size > SMALLEST and text_width(text, size, bold) > wide:
            size -= 0.5
        text = shorten(text, wide, size, bold) if wide else text
        look = {"size": size, "color": colour, "va": "center", "gid": "words", **more}
        self.axes.text(x, y, text, **look)

    def pair(self, left: str, right: str, box: Box, y: float, size: float, ink: str, side: str) -> None:
        """Bold words at the left of a box, and small ones where there is room for them: at the box's `side`,
        or of "left" right behind the bold ones, which are set smaller for that, down to the size of names."""
        free = box.wide - 2 * INSET
        behind = text_width(right, _size(SMALL, self.scale)) / self.scale + INSET if right else 0.0
        sizes = [size] if side == "right" else [size, *(one for one in (9.0, LABEL, NAME) if one < size)]
        widths = [text_width(left, _size(one, self.scale), True) / self.scale for one in sizes]
        fits = [pair for pair in zip(sizes, widths, strict=True) if pair[1] + behind <= free]
        size, width = fits[0] if fits else (size, 0.0)
        self.words(left, box.x + INSET, y, size, ink, wide=free, fontweight="bold")
        if right and fits:
            x = box.x + (box.wide - INSET if side == "right" else 2 * INSET + width)
            self.words(right, x, y, SMALL, ink, ha=side)


def _place(pen: _Pen, place: Spot, paint: _Paint, index: int) -> None:
    box, mode = place.box, paint.mode
    colour, ink = paint.of(place.values.get(mode))
    # The frame is of all figures in it, the smaller one too.
    pen.box(box, colour, f"place-{index}", bool(place.unsteady), place.detail)
    # Each interval stands beside its own figure.
    big, spread = place.texts.get(mode), place.spreads.get(mode, "")
    other = _with_spread(place, OTHER[mode])
    if "other" in place.texts:  # a GPU has no latency
        big, spread = place.texts["bandwidth"], place.spreads.get("bandwidth", "")
        other = place.texts["other"]
    pen.pair(place.name, other, box, box.y + 0.12, NAME, ink, "right")
    nothing = "not measured" if place.far else "own: not measured"
    size = VALUE if big else SMALL
    side = "left" if big else "right"
    pen.pair(big or nothing, spread, box, box.y + 0.5 * box.tall, size, ink, side)
    pen.words(place.note, box.x + INSET, box.y + box.tall - 0.11, SMALL, ink, wide=box.wide - 2 * INSET)


def _with_spread(place: Spot, what: str) -> str:
    """ "41.7 GB/s ±1.0 %"; "" where the place has no figure of its own."""
    return f"{place.texts[what]} {place.spreads.get(what, '')}".rstrip() if what in place.texts else ""


def _link(pen: _Pen, link: Spot, paint: _Paint, index: int) -> None:
    x0, y0, x1, y1 = link.line
    mode = paint.mode
    width = paint.width(link) * pen.scale
    colour = paint.of(link.values[mode])[0] if mode in link.values else EDGE
    for line_width, line_colour in ((width + 2, EDGE), (width, colour)):
        # matplotlib's dashes are in widths of the line: those of the edge and of the line are as long.
        dash = (0, (7 / line_width, 4 / line_width)) if mode in link.unsteady else "-"
        look = {"linewidth": line_width, "color": line_colour, "linestyle": dash, "solid_capstyle": "butt"}
        (line,) = pen.axes.plot([x0, x1], [y0, y1], gid=f"link-{index}", zorder=0.8, **look)
        describe(line, [link.detail])
    times = f" ({link.note})" if link.note and mode == "latency" else ""
    lines = [link.texts.get(mode, "") + times, link.texts.get(OTHER[mode], "")]
    lines = [line for line in lines if line]
    x, y, edge = (x0 + x1) / 2, (y0 + y1) / 2, None
    if y0 == y1:  # above and below the line
        places = [(x, y - 0.17, "center"), (x, y + 0.17, "center")]
    elif x0 == x1:
        places = [(x + 0.12, y - 0.09, "left"), (x + 0.12, y + 0.09, "left")]
    else:  # two that cross: one above the other, in the middle of all
        lines, shift = [" ".join(lines[:1])], -0.22 if (y1 > y0) else 0.22
        places = [(x, y + shift, "center")]
        edge = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"}
    for number, (line, (at, high, side)) in enumerate(zip(lines, places, strict=False)):
        look = {"ha": side, "fontweight": "bold" if number == 0 else "normal", "bbox": edge}
        pen.words(line, at, high, LABEL if number == 0 else NAME, **look)


def _hop(pen: _Pen, hop: Spot, index: int) -> None:
    """Caches as steps of one row, the nearest first."""
    box = hop.box
    pen.box(box, SOCKET, f"hop-{index}", told=hop.detail)
    pen.words(hop.name, box.x + 0.08, box.y + 0.12, SMALL, QUIET, wide=box.wide - 0.1)
    pen.pair(hop.texts["latency"], hop.spreads["latency"], box, box.y + 0.28, LABEL, "black", "left")


def _key(figure: Atlas, paint: _Paint) -> str:
    unit = UNITS[paint.mode]
    ends = [quantity_text(end, unit) for end in (min(paint.values, default=0), max(paint.values, default=0))]
    light, dark = ends if paint.mode == "latency" else ends[::-1]
    words = [f"colour: {light} (light, better) to {dark}" if len(paint.values) > 1 else ""]
    words.append("width: bandwidth" if paint.most and any(link.line for link in figure.links) else "")
    shown = [*figure.places, *figure.links]
    words.append("dashed: interval of ±10 % or wider" if any(one.unsteady for one in shown) else "")
    words.append("random loads, one CPU alone" if paint.mode == "latency" else "reads by all CPUs of a node")
    return "; ".join(filter(None, words))
