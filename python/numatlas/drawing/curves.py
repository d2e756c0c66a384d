"""Curves: lines with their intervals, cache sizes as marks."""

from numatlas.drawing.axes import Axes
from numatlas.drawing.shapes import (
    DIAMOND,
    HUES,
    SAMPLE,
    SHAPES,
    STAR,
    Drawing,
    Group,
    Path,
    Point,
    Shape,
    Words,
    colour_at,
    legend,
    line,
    mark,
    shorten,
    small_print,
    stacked,
    widest_of,
    width_of,
)
from numatlas.figures.loaded import legend_of
from numatlas.figures.model import Box, Curves, Mark, Series
from numatlas.figures.scales import colour_of, x_scale, y_scale

#: Lines that have names: they differ by colour and shape, and by dash where these are used again.
MOST_NAMED = 5 * HUES
#: Units: of words of marks, of a line of them, and of the height of the frame at most.
WORDS, WORDS_LINE, TALLEST = 10.0, 13.0, 340.0
#: Words of more marks than this stand in as many lines as there are marks.
MOST_IN_TWO_LINES = 4


def curves(figure: Curves, wide: float) -> Drawing:
    """A legend above and the lines; many lines have no names but a colour by their order."""
    names, marked, small = legend_of(figure, MOST_NAMED)
    upright, values, label = y_scale(figure)
    texts = [f"{value:g}" for value in values]
    left = 32 + widest_of(texts)
    above = sum(not one.level for one in figure.marks)
    top = 10.0 + WORDS_LINE * min(above, 2 if above <= MOST_IN_TWO_LINES else above)
    across, places = x_scale(figure, int(wide / 62))
    tall = max(min(0.46 * wide, TALLEST), width_of(label))
    axes = Axes(Box(left, top, wide - left - 14, tall), across, upright)
    axes.name(
        [(place, figure.x.text(place)) for place in places],
        list(zip(values, texts, strict=True)),
        (figure.x.words, label),
    )
    _marks(axes, figure.marks)
    entries = []
    for index, series in enumerate(figure.series):
        shape, kind = SHAPES[index % HUES], f"line d{index // HUES}"
        colour = colour_at(index)
        if len(figure.series) > MOST_NAMED:
            shape, kind = [], "line"
            colour = colour_of(index, (0, len(figure.series)), False)[0]
        axes.parts.append(Group(_series(axes, series, shape, kind), colour))
        sample = [line(0, 0, SAMPLE, 0, kind), mark(SAMPLE / 2, 0, shape)]
        entries.append((Group(sample, colour), names[index] if names else ""))
    entries = [pair for pair in entries if pair[1]]
    entries += [(Group([mark(SAMPLE / 2, 0, _special(what), "hollow")]), what) for what in marked]
    blocks = [legend(entries if names else [], wide), (axes.parts, axes.bottom + 36)]
    return stacked(figure.title, wide, [*blocks, small_print([(text, "label") for text in small], wide)])


def _special(what: str) -> list[Point]:
    return STAR if what.startswith("knee") else DIAMOND


def _series(axes: Axes, series: Series, shape: list[Point], kind: str) -> list[Shape]:
    """Its intervals as a band, or, where there are some in both directions, as crosses; its line, with gaps
    where values are absent; its points."""

    def up(value: float) -> float:
        return min(max(axes.y(value), axes.box.y - 8), axes.bottom)

    def along(value: float) -> float:
        return min(max(axes.x(value), axes.box.x), axes.box.x + axes.box.wide + 8)

    found: list[Shape] = []
    runs: list[list[Point]] = [[]]
    bands: list[list[tuple[float, float, float]]] = [[]]
    both = any(end is not None for end in series.x_low)
    for at, (x, y) in enumerate(zip(series.x, series.y, strict=True)):
        low, high = series.low[at], series.high[at]
        if x is not None and low is not None and high is not None:
            place = (axes.x(x), up(low), up(high))
            if both or y is None or len(series.x) == 1:
                found.append(line(place[0], place[1], place[0], place[2], "spread"))
            else:
                bands[-1].append(place)
        if both and y is not None and series.x_low[at] is not None:
            ends = along(series.x_low[at]), along(series.x_high[at])
            found.append(line(ends[0], up(y), ends[1], up(y), "spread"))
        if x is None or y is None or low is None:
            bands.append([])
        if x is None or y is None:
            runs.append([])
        else:
            runs[-1].append(axes.at(x, y))
    found += [band(one) for one in bands if one]
    runs = [run for run in runs if len(run) > 1]
    found += [Path(runs, kind, series.name)] if runs else []
    for at in series.points() if shape else []:
        look = "hollow" if series.flagged[at] else "mark"
        found.append(mark(*axes.at(series.x[at], series.y[at]), shape, look, series.texts[at]))
    for one in series.special:
        told = "\n".join(filter(None, [series.name, one.text]))
        found.append(mark(*axes.at(one.x, one.y), _special(one.what), "hollow", told))
    return found


def band(places: list[tuple[float, float, float]]) -> Path:
    """Between two lines; `places`: x and both ends. Of a single one it is a line."""
    if len(places) == 1:
        x, low, high = places[0]
        return line(x, low, x, high, "spread")
    ends = [(x, low) for x, low, _ in places] + [(x, high) for x, _, high in reversed(places)]
    return Path([ends], "band", closed=True)


def _marks(axes: Axes, marks: list[Mark]) -> None:
    """Lines across. Words of those that stand upright are above, by turns a line higher."""
    box, lines = axes.box, round((axes.box.y - 10) / WORDS_LINE)
    upright = [one for one in marks if not one.level and 0 <= axes.across.part(one.at) <= 1]
    for index, one in enumerate(upright):
        x, y = axes.x(one.at), box.y - 7 - WORDS_LINE * (index % lines)
        axes.parts.append(line(x, box.y, x, axes.bottom, "rule"))
        text = shorten(one.text, box.wide, WORDS)
        half = width_of(text, WORDS) / 2
        side = "end" if x + half > box.x + box.wide else "start" if x < half else "middle"
        axes.parts.append(Words(text, x, y, side, "label", WORDS))
    levels = [(one.at, one.text) for one in marks if one.level and 0 <= axes.upright.part(one.at) <= 1]
    for index, (at, text) in enumerate(sorted(levels)):
        y, end = axes.y(at), box.x + box.wide
        axes.parts.append(line(box.x, y, end, y, "rule"))
        above = 0 < index == len(levels) - 1  # two may lie close to each other
        text = shorten(text, box.wide, WORDS)
        axes.parts.append(Words(text, end - 2, y - 8 if above else y + 8, "end", "label", WORDS))
