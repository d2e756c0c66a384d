"""Pictures of the page, as SVG in the page's colours, with tooltips: light or dark as the page is."""

import base64
import struct
import zlib
from typing import Any

from markupsafe import Markup, escape

from numatlas.figures.atlas_layout import WIDE
from numatlas.figures.atlas_paint import key_of, paint
from numatlas.figures.loaded import AT_80, legend_of
from numatlas.figures.matrix_words import fitting
from numatlas.figures.model import Atlas, Bars, Box, Curves, Figure, Fleet, Mark, Matrix, Series
from numatlas.figures.scales import Scale, around, colour_of, common_ends, x_scale, y_scale
from numatlas.text import cut
from numatlas.units import number_text, spread_text

#: Units of a picture that has half of a page, and of one that has all of it.
HALF, ALL = 480.0, 760.0
#: Of words; of a letter, those as narrow as a dot, others, and the widest.
SIZE, NARROW_LETTER, LETTER, WIDE_LETTER = 11.0, 0.34, 0.61, 0.87
#: Shapes of points, by turns; those of special places.
SHAPES = (
    *("M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z", "M-3-3h6v6h-6z", "M0-4l4 7h-8z"),
    "M0-4.5l4 4.5-4 4.5-4-4.5z",
    *("M0 4l4-7h-8z", "M-4 0l7-4v8z", "M4 0l-7-4v8z", "M-1-4h2v3h3v2h-3v3h-2v-3h-3v-2h3z"),
)
DIAMOND, STAR = "M0-6l5 6-5 6-5-6z", "M0-7l2 5h5l-4 3 2 6-5-4-5 4 2-6-4-3h5z"
#: Lines that have names; colours of lines.
MOST_NAMED, HUES = 40, len(SHAPES)
#: More cells than this are one image.
MOST_CELLS = 1200
#: Bars and hosts that are drawn with their names.
MOST_BARS, MOST_HOSTS = 60, 64


def tag(name: str, *inside: str, **attributes: Any) -> str:
    """An element of what is inside; `_` of an attribute's name is "-" but at its end."""
    words = [f' {key.rstrip("_").replace("_", "-")}="{_text(value)}"' for key, value in attributes.items()]
    return f"<{name}{''.join(words)}>{''.join(inside)}</{name}>"


def _text(value: Any) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(escape(value))


def _words(text: str, x: float, y: float, anchor: str = "start", size: float = SIZE, **more: Any) -> str:
    """`y`: of their middle."""
    more = {"font_size": size} | more if size != SIZE else more
    return tag("text", str(escape(text)), x=x, y=y + 0.36 * size, text_anchor=anchor, **more)


def _told(*lines: str) -> str:
    text = "\n".join(filter(None, lines))
    return tag("title", str(escape(text))) if text else ""


def _line(x0: float, y0: float, x1: float, y1: float, kind: str, *inside: str) -> str:
    return tag("path", *inside, class_=kind, d=f"M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}")


def _path(points: list[tuple[float, float]], end: str = "") -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + end


def width_of(text: str, size: float = SIZE) -> float:
    """About, in any font without serifs."""
    narrow, widest = " .,:;|'()-/ijlft1", "%±<>MWm"
    kinds = [NARROW_LETTER if one in narrow else WIDE_LETTER if one in widest else LETTER for one in text]
    return size * sum(kinds)


def _cut(text: str, width: float) -> str:
    return cut(text, lambda one: width_of(one) <= width, "…")


def _picture(wide: float, tall: float, words: str, parts: list[str]) -> str:
    box = f"0 0 {_text(wide)} {_text(tall)}"
    look = {"viewBox": box, "style": f"max-width:{1.3 * wide:.0f}px", "font_size": SIZE}
    return tag("svg", *parts, role="img", aria_label=words, **look)


def drawn(figure: Figure, wide: float, ends: tuple[float, float] | None = None, mode: str = "") -> Markup:
    """Its legend and its picture. `ends`: of the colours of maps that stand side by side; `mode`: what an
    atlas shows."""
    draw = {Atlas: _atlas, Bars: _bars, Curves: _curves, Fleet: _fleet, Matrix: _matrix}[type(figure)]
    more = {Atlas: [mode], Matrix: [ends]}.get(type(figure), [])
    return Markup(draw(figure, wide, *more))


def _legend(entries: list[tuple[str, str, str]], small: list[str]) -> str:
    """Class, shape and words of each; lines of small print."""
    items = [
        tag("li", tag("svg", tag("path", class_="line", d="M0 6h24"), _mark(12, 6, shape), class_=kind), text)
        for kind, shape, text in ((kind, shape, str(escape(text))) for kind, shape, text in entries)
    ]
    lines = "".join(tag("p", str(escape(text)), class_="quiet") for text in small)
    return (tag("ul", *items, class_="legend") if items else "") + lines


def _mark(x: float, y: float, shape: str, *inside: str, kind: str = "mark") -> str:
    return (
        tag("path", *inside, class_=kind, d=shape, transform=f"translate({x:.1f} {y:.1f})") if shape else ""
    )


class _Axes:
    """A frame with named values at both sides."""

    def __init__(self, box: Box, across: Scale, upright: Scale) -> None:
        self.box, self.across, self.upright = box, across, upright
        self.parts: list[str] = []

    def x(self, value: float) -> float:
        return self.box.x + self.box.wide * self.across.part(value)

    def y(self, value: float) -> float:
        return self.box.y + self.box.tall * (1 - self.upright.part(value))

    def name(self, xs: list[tuple[float, str]], ys: list[tuple[float, str]], labels: tuple[str, str]) -> None:
        box, low = self.box, self.box.y + self.box.tall
        for value, text in ys:
            self.parts.append(_line(box.x, self.y(value), box.x + box.wide, self.y(value), "grid"))
            self.parts.append(_words(text, box.x - 5, self.y(value), "end"))
        for value, text in xs:
            self.parts.append(_line(self.x(value), low, self.x(value), low + 3, "axis"))
            self.parts.append(_words(text, self.x(value), low + 11, "middle"))
        self.parts.append(_line(box.x, low, box.x + box.wide, low, "axis"))
        self.parts.append(_words(labels[0], box.x + box.wide / 2, low + 27, "middle", class_="label"))
        turn = f"translate({_text(10.0)} {_text(box.y + box.tall / 2)}) rotate(-90)"
        self.parts.append(_words(labels[1], 0.0, 0.0, "middle", class_="label", transform=turn))


# ---- Curves


def _curves(figure: Curves, wide: float) -> str:
    names, marked, small = legend_of(figure, MOST_NAMED)
    upright, values, label = y_scale(figure)
    texts = [f"{value:g}" for value in values]
    left = 32 + max(map(width_of, texts), default=0)
    above = [mark for mark in figure.marks if not mark.level]
    top = 10.0 + 13 * min(len(above), 2 if len(above) <= 4 else len(above))
    across, places = x_scale(figure, int(wide / 62))
    axes = _Axes(Box(left, top, wide - left - 14, 0.46 * wide), across, upright)
    axes.name(
        [(place, figure.x.text(place)) for place in places],
        list(zip(values, texts, strict=True)),
        (figure.x.words, label),
    )
    _marks(axes, figure.marks)
    order = len(figure.series) > MOST_NAMED
    for index, series in enumerate(figure.series):
        look = {"class_": f"s{index % HUES} d{index // HUES % 5}"}
        if order:
            look = {"style": f"color:{colour_of(index, (0, len(figure.series)), False)[0]}"}
        shape = "" if order else SHAPES[index % HUES]
        axes.parts.append(tag("g", *_series(axes, series, shape), **look))
    entries = [
        (f"s{at % HUES} d{at // HUES % 5}", SHAPES[at % HUES], name) for at, name in enumerate(names) if name
    ]
    entries += [("marks", DIAMOND if what == AT_80 else STAR, what) for what in marked]
    tall = axes.box.y + axes.box.tall + 36
    return _legend(entries if names else [], small) + _picture(wide, tall, figure.title, axes.parts)


def _series(axes: _Axes, series: Series, shape: str) -> list[str]:
    """Its intervals as a band, or, where there are some in both directions, as crosses; its line, with gaps
    where values are absent; its points."""
    found, run = [], []
    bottom, top = axes.box.y + axes.box.tall, axes.box.y

    def up(value: float) -> float:
        return min(max(axes.y(value), top - 8), bottom)

    both = any(end is not None for end in series.x_low)
    band: list[tuple[float, float, float]] = []
    for at, (x, y) in enumerate(zip(series.x, series.y, strict=True)):
        low, high = series.low[at], series.high[at]
        if x is not None and low is not None and high is not None:
            place = (axes.x(x), up(low), up(high))
            if both or y is None or len(series.x) == 1:
                found.append(_line(place[0], place[1], place[0], place[2], "spread"))
            else:
                band.append(place)
        if both and y is not None and series.x_low[at] is not None:
            found.append(_line(axes.x(series.x_low[at]), up(y), axes.x(series.x_high[at]), up(y), "spread"))
        if x is None or y is None or low is None:
            found += [_band(band)] if band else []
            band = []
        if x is None or y is None:
            found += [tag("path", class_="line", d=_path(run))] if len(run) > 1 else []
            run = []
        else:
            run.append((axes.x(x), axes.y(y)))
    found += [_band(band)] if band else []
    found += [tag("path", _told(series.name), class_="line", d=_path(run))] if len(run) > 1 else []
    for at in series.points():
        place, kind = (axes.x(series.x[at]), axes.y(series.y[at])), "hollow" if series.flagged[at] else "mark"
        found.append(_mark(*place, shape, _told(series.texts[at]), kind=kind))
    for one in series.special:
        shape = DIAMOND if one.what == AT_80 else STAR
        found.append(_mark(axes.x(one.x), axes.y(one.y), shape, _told(series.name, one.text), kind="hollow"))
    return found


def _band(places: list[tuple[float, float, float]]) -> str:
    if len(places) == 1:
        x, low, high = places[0]
        return _line(x, low, x, high, "spread")
    ends = [(x, low) for x, low, _ in places] + [(x, high) for x, _, high in reversed(places)]
    return tag("path", class_="band", d=_path(ends, "Z"))


def _marks(axes: _Axes, marks: list[Mark]) -> None:
    """Lines across. Words of those that stand upright are above, by turns a line higher."""
    box, lines = axes.box, round((axes.box.y - 10) / 13)
    upright = [mark for mark in marks if not mark.level and 0 <= axes.across.part(mark.at) <= 1]
    for index, mark in enumerate(upright):
        x = axes.x(mark.at)
        axes.parts.append(_line(x, box.y, x, box.y + box.tall, "rule"))
        side = "end" if axes.across.part(mark.at) > 0.7 else "middle"
        axes.parts.append(_words(mark.text, x, box.y - 7 - 13 * (index % lines), side, 10, class_="label"))
    there = [mark for mark in marks if mark.level and 0 <= axes.upright.part(mark.at) <= 1]
    levels = sorted((mark.at, mark.text) for mark in there)
    for index, (at, text) in enumerate(levels):
        y, end = axes.y(at), box.x + box.wide
        axes.parts.append(_line(box.x, y, end, y, "rule"))
        above = 0 < index == len(levels) - 1  # two may lie close to each other
        axes.parts.append(_words(text, end - 2, y - 8 if above else y + 8, "end", 10, class_="label"))


# ---- Maps


def _matrix(figure: Matrix, wide: float, ends: tuple[float, float] | None) -> str:
    ends = ends or common_ends([figure])
    rows, columns = len(figure.rows), len(figure.columns)
    left = 32 + max((width_of(str(name)) for name in figure.rows), default=0)
    cell = min((wide - left - 4) / max(columns, 1), 92.0)
    low = min(max(cell, 9.0) if cell < 36 else 36.0, 560 / max(rows, 1))
    widest = max((width_of(str(name)) for name in figure.columns), default=0)
    words, size, _ = fitting(figure, 0.75 * cell, 0.75 * low, lambda text: width_of(text, 1.0))
    size /= 0.75
    parts, inks = [], []
    for row, line in enumerate(figure.values):
        for column, value in enumerate(line):
            x, y = left + column * cell, 4 + row * low
            fill, ink = ("", "") if value is None else colour_of(value, ends, figure.less_is_better)
            look = {"fill": fill} if fill else {"class_": "empty"}
            if rows * columns <= MOST_CELLS:
                parts.append(tag("rect", x=x, y=y, width=cell, height=low, **look))
            lines = words.get((row, column), "").split("\n")
            for at, text in enumerate(filter(None, lines)):
                place = y + low / 2 + (at - (len(lines) - 1) / 2) * 1.15 * size
                ink_of = {"fill": ink} if ink else {}
                inks.append(_words(text, x + cell / 2, place, "middle", size, **ink_of))
    if rows * columns > MOST_CELLS:
        look = {"x": left, "y": 4.0, "width": columns * cell, "height": rows * low}
        parts = [tag("image", href=_image(figure, ends), preserveAspectRatio="none", **look)]
    parts = [tag("g", *parts, class_="cells")]
    for at, weight in figure.breaks.items():
        parts.append(_line(left, 4 + at * low, left + columns * cell, 4 + at * low, f"break b{weight}"))
        parts.append(_line(left + at * cell, 4, left + at * cell, 4 + rows * low, f"break b{weight}"))
    bottom = 4 + rows * low
    for at in range(0, rows, _step(13 / low)):
        parts.append(_words(str(figure.rows[at]), left - 5, 4 + (at + 0.5) * low, "end"))
    for at in range(0, columns, _step((widest + 5) / cell)):
        parts.append(_words(str(figure.columns[at]), left + (at + 0.5) * cell, bottom + 11, "middle"))
    middle = left + columns * cell / 2
    parts.append(_words(figure.column_label, middle, bottom + 26, "middle", class_="label"))
    turn = f"translate({_text(10.0)} {_text(4 + rows * low / 2)}) rotate(-90)"
    parts.append(_words(figure.row_label, 0.0, 0.0, "middle", class_="label", transform=turn))
    wide = max(left + columns * cell + 4, wide if columns > 8 else HALF)
    return _picture(wide, bottom + 36, figure.title, [*parts, *inks]) + _ramp(figure, ends)


def _step(part: float) -> int:
    """Every how many names have room, of which each takes so many parts of its place: a power of two."""
    step = 1
    while step < part:
        step *= 2
    return step


def _ramp(figure: Matrix, ends: tuple[float, float]) -> str:
    """What the colours mean."""
    light, dark = ends if figure.less_is_better else ends[::-1]
    texts = [str(escape(f"{number_text(end, 3)} {figure.unit}".strip())) for end in (light, dark)]
    better = "less" if figure.less_is_better else "more"
    texts[1] += f"; light is better ({better})"
    return tag("p", texts[0], tag("span", class_="ramp"), texts[1], class_="quiet")


def _image(figure: Matrix, ends: tuple[float, float]) -> str:
    """A pixel a cell; empty ones are clear."""
    lines = []
    for line in figure.values:
        pixels = [
            bytes(4)
            if value is None
            else bytes.fromhex(colour_of(value, ends, figure.less_is_better)[0][1:]) + b"\xff"
            for value in line
        ]
        lines.append(b"\0" + b"".join(pixels))
    size = struct.pack(">IIBBBBB", len(figure.columns), len(figure.rows), 8, 6, 0, 0, 0)
    chunks = ((b"IHDR", size), (b"IDAT", zlib.compress(b"".join(lines), 9)), (b"IEND", b""))
    made = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )
    return "data:image/png;base64," + base64.b64encode(made).decode()


class _Pen:
    """Draws a map, whose inches are so many units."""

    UNITS = 76.0

    def __init__(self, wide: float) -> None:
        self.scale = wide / WIDE / self.UNITS
        self.inch, self.parts = wide / WIDE, []

    def box(self, box: Box, fill: str, told: str = "", dashed: bool = False) -> None:
        x, y, wide, tall = (one * self.inch for one in (box.x, box.y, box.wide, box.tall))
        look = {"class_": f"place{' dashed' if dashed else ''}{'' if fill[0] == '#' else f' {fill}'}"}
        look |= {"fill": fill} if fill[0] == "#" else {}
        self.parts.append(tag("rect", _told(told), x=x, y=y, width=wide, height=tall, rx=4, **look))

    def words(self, text: str, x: float, y: float, size: float, colour: str, side: str, bold: bool) -> None:
        look = {"fill": colour} if colour[0] == "#" else {"class_": "label"} if colour == "quiet" else {}
        look |= {"font_weight": 700} if bold else {}
        anchor = {"left": "start", "center": "middle", "right": "end"}[side]
        self.parts.append(_words(text, x * self.inch, y * self.inch, anchor, _px(size), **look))

    def line(self, line: tuple, width: float, colour: str, told: str = "", dashed: bool = False) -> None:
        look = {"stroke": colour} if colour[0] == "#" else {"class_": f"link {colour}"}
        look |= {"stroke_dasharray": "8 5"} if dashed else {}
        ends = [one * self.inch for one in line]
        d = _path([(ends[0], ends[1]), (ends[2], ends[3])])
        self.parts.append(tag("path", _told(told), d=d, stroke_width=width * 1.2, **look))

    def width(self, text: str, size: float, bold: bool = False) -> float:
        return width_of(text, _px(size)) * (1.16 if bold else 1) / self.inch


def _px(points: float) -> float:
    return round(1.34 * points, 1)


def _atlas(figure: Atlas, wide: float, mode: str) -> str:
    pen = _Pen(wide - 4)
    paint(figure, mode, pen)
    tall = figure.height * pen.inch + 4
    inside = tag("g", *pen.parts, transform="translate(2 2)")
    words = tag("p", str(escape(key_of(figure, mode))), class_="quiet")
    return _picture(wide, tall, f"{figure.title}: {mode}", [inside]) + words


# ---- Bars and hosts


def _bars(figure: Bars, wide: float) -> str:
    """From 0, with their intervals and numbers; those of one name stand together, the best of many."""
    rows = figure.best(MOST_BARS)
    groups = list(dict.fromkeys(row.group for row in rows))
    left = min(max((width_of(row.name) for row in rows), default=0) + 12, 0.42 * wide)
    right = max((width_of(row.text) for row in rows), default=0) + 12
    most, y, parts, last = figure.most() or 1.0, 4.0, [], None
    for row in rows:
        y += 9 if row.name != last and last is not None and len(groups) > 1 else 3
        if row.name != last:
            parts.append(_words(_cut(row.name, left - 8), left - 6, y + 8, "end"))
        unit, kind, last = (wide - left - right) / most, f"bar s{groups.index(row.group) % HUES}", row.name
        parts.append(tag("rect", x=left, y=y, width=unit * (row.value or 0.0), height=15, class_=kind))
        if row.low is not None and row.high is not None:
            ends = [left + unit * min(max(end, 0.0), most) for end in (row.low, row.high)]
            parts.append(_line(ends[0], y + 7.5, ends[1], y + 7.5, "whisker"))
        end = left + unit * min(max(row.value or 0.0, row.high or 0.0), most)
        parts.append(_words(row.text, end + 5, y + 7.5))
        y += 15
    parts.append(_line(left, 4, left, y + 4, "axis"))
    better = f"{'less' if figure.less_is_better else 'more'} is better"
    label = f"{figure.unit} ({better})" if figure.unit else better
    parts.append(_words(label, left, y + 14, class_="label"))
    entries = [(f"bar s{at % HUES}", SHAPES[1], name) for at, name in enumerate(groups)]
    small = [f"the best {MOST_BARS} of {len(figure.rows)}"] if len(rows) < len(figure.rows) else []
    return _legend(entries if len(groups) > 1 else [], small) + _picture(wide, y + 24, figure.title, parts)


def _fleet(figure: Fleet, wide: float) -> str:
    """A panel a kernel: hosts from the slowest to the fastest; rings: slow ones."""
    parts, top = [], 22.0
    many = len(figure.names()) > MOST_HOSTS
    for kernel, hosts in figure.hosts.groupby("kernel", sort=False):
        hosts = hosts.sort_values("value", kind="stable", ignore_index=True)
        values = hosts[["value", "low", "high", "min", "max"]].to_numpy(dtype=float)
        there = values[values == values]
        upright = Scale(*around(there.min(), there.max())) if len(there) else Scale(0.0, 1.0)
        axes = _Axes(Box(52.0, top, wide - 60, 130.0), Scale(-0.7, len(hosts) - 0.3), upright)
        ticks = [(value, f"{value:g}") for value in upright.ticks(6)]
        axes.name([], ticks, ("" if not many else "hosts, from the slowest to the fastest", figure.unit))
        missing = int(hosts["value"].isna().sum())
        words = kernel + (f" ({missing} without a value)" if missing else "")
        axes.parts.append(_words(words, 52, top - 10, font_weight=700))
        dots, ends = [], []
        for at, host in enumerate(hosts.itertuples()):
            if host.value != host.value:
                continue
            x, y = axes.x(at), axes.y(host.value)
            rounds = spread_text(host.min, host.max)
            told = f"{host.host}: {number_text(host.value)} {figure.unit}, rounds {rounds}"
            if host.min == host.min:
                ends.append((x, axes.y(host.min), axes.y(host.max)))
            if many:
                dots.append((x, y))
            else:
                kind = f"s{host.kind % HUES}"
                axes.parts.append(tag("g", _mark(x, y, SHAPES[host.kind % HUES], _told(told)), class_=kind))
            if host.slow:
                axes.parts.append(tag("circle", _told(told, host.words), cx=x, cy=y, r=6, class_="ring"))
        if many:
            axes.parts.append(tag("path", class_="dots", d="".join(f"M{x:.1f} {y:.1f}h0" for x, y in dots)))
            axes.parts += [_band(ends)] if ends else []
        else:
            axes.parts += [_line(x, low, x, high, "spread") for x, low, high in ends]
            for at, host in enumerate(hosts.itertuples()):
                turn = f"translate({_text(axes.x(at))} {_text(top + 136)}) rotate(-90)"
                look = {"class_": "slow"} if host.slow else {}
                words = host.host if host.value == host.value else f"{host.host}: no value"
                axes.parts.append(_words(_cut(words, 62), 0.0, 0.0, "end", 10, transform=turn, **look))
        parts += axes.parts
        top += 130 + (50 if many else 92)
    return _picture(wide, top - 14, figure.title, parts)
