"""Heat maps: a number in each cell where there is room for it."""

from numatlas.drawing.shapes import (
    LEGEND_LINE,
    SIZE,
    Drawing,
    Group,
    Image,
    Shape,
    Words,
    box,
    line,
    shorten,
    small_print,
    stacked,
    widest_of,
    width_of,
)
from numatlas.figures.model import Box, Matrix
from numatlas.figures.scales import colour_of, common_ends
from numatlas.units import number_text

#: Units: of words in cells at most, smaller ones nobody reads, nor smaller intervals.
LARGEST, SMALLEST, INTERVAL = 11.0, 6.2, 7.6
#: Units of a cell at most, of its height where there is room, of its height at least, of all of them.
WIDEST, TALL, LOWEST, ALL = 92.0, 36.0, 9.0, 560.0
#: Less wide maps have that many units nevertheless.
NARROW = 480.0
#: Part of the width that names of rows have at most; units of a name of a column.
ROW_NAMES, COLUMN_NAME = 0.35, 120.0
#: More cells than this are one image; more columns than this have all of the width.
MOST_CELLS, FEW_COLUMNS = 1200, 8
#: Colours of the ramp below, and its units.
RAMP, RAMP_WIDE = 24, 100.0

#: Ends of a scale of colours; None: its own.
Ends = tuple[float, float] | None
#: Words of cells, their size, and whether they have intervals.
CellWords = tuple[dict[tuple[int, int], str], float, bool]


def matrix(figure: Matrix, wide: float, ends: Ends) -> Drawing:
    """Cells, what their colours mean, and what they cannot tell themselves. `ends`: of the colours, where
    several maps have one scale."""
    scale = ends or (common_ends([figure]) if len(figure.ends()) > 1 else None)
    rows, columns = len(figure.rows), len(figure.columns)
    names = [shorten(str(name), ROW_NAMES * wide) for name in figure.rows]
    heads = [shorten(str(name), COLUMN_NAME) for name in figure.columns]
    left = 32 + widest_of(names)
    cell = min((wide - left - 4) / max(columns, 1), WIDEST)
    low = min(max(cell, LOWEST) if cell < TALL else TALL, ALL / max(rows, 1))
    top = 4 + max(0.0, width_of(figure.row_label) - rows * low) / 2
    place = Box(left, top, columns * cell, rows * low)
    texts = fitting(figure, cell, low)
    parts: list[Shape] = [Group(_cells(figure, place, scale, texts), name="cells")]
    for at, weight in figure.breaks.items():
        x, y = left + at * cell, top + at * low
        parts.append(line(left, y, left + place.wide, y, f"b{weight}"))
        parts.append(line(x, top, x, top + place.tall, f"b{weight}"))
    bottom = top + place.tall
    for at in range(0, rows, _step(13 / low)):
        parts.append(Words(names[at], left - 5, top + (at + 0.5) * low, "end"))
    for at in range(0, columns, _step((widest_of(heads) + 5) / cell)):
        parts.append(Words(heads[at], left + (at + 0.5) * cell, bottom + 11, "middle"))
    parts.append(Words(figure.column_label, left + place.wide / 2, bottom + 26, "middle", "label"))
    parts.append(Words(figure.row_label, 10.0, top + place.tall / 2, "middle", "label", upright=True))
    wide = max(left + place.wide + 4, wide if columns > FEW_COLUMNS else min(wide, NARROW))
    small = small_print([(text, "label") for text in _extra(figure, texts)], wide)
    return stacked(figure.title, wide, [(parts, bottom + 36), _ramp(figure, scale, wide), small])


def _cells(figure: Matrix, place: Box, ends: Ends, texts: CellWords) -> list[Shape]:
    rows, columns = len(figure.rows), len(figure.columns)
    colours = [
        [
            ("", "") if value is None or not ends else colour_of(value, ends, figure.less_is_better)
            for value in line
        ]
        for line in figure.values
    ]
    if rows * columns > MOST_CELLS:
        return [Image(place, [[fill for fill, _ in line] for line in colours])]
    words, size, _ = texts
    cell, low = place.wide / max(columns, 1), place.tall / max(rows, 1)
    cells: list[Shape] = []
    inks: list[Shape] = []
    for row, line_of_colours in enumerate(colours):
        for column, (fill, ink) in enumerate(line_of_colours):
            x, y = place.x + column * cell, place.y + row * low
            look = {"fill": fill} if fill else {}
            cells.append(box(Box(x, y, cell, low), "cell" if fill else "empty", **look))
            if figure.values[row][column] is None and not figure.spread_of(row, column):
                cells.append(line(x, y + low, x + cell, y, "axis"))
            lines = words.get((row, column), "").split("\n")
            for at, text in enumerate(filter(None, lines)):
                middle = y + low / 2 + (at - (len(lines) - 1) / 2) * 1.15 * size
                inks.append(Words(text, x + cell / 2, middle, "middle", "number", size, fill=ink))
    return [*cells, *inks]


def _step(part: float) -> int:
    """Every how many names have room, of which each takes so many parts of its place: a power of two, as CPUs
    are counted."""
    step = 1
    while step < part:
        step *= 2
    return step


def _ramp(figure: Matrix, ends: Ends, wide: float) -> tuple[list[Shape], float]:
    """A block: what the colours mean; the light end is the better one. A value alone has no colour."""
    if not ends:
        return [], 0.0
    light, dark = ends if figure.less_is_better else ends[::-1]
    texts = [f"{number_text(end, 3)} {figure.unit}".strip() for end in (light, dark)]
    texts[1] += f"; light is better ({'less' if figure.less_is_better else 'more'})"
    x = width_of(texts[0]) + 6
    room = wide - x - width_of(texts[1]) - 6
    step = min(RAMP_WIDE, room if room > RAMP else RAMP_WIDE) / RAMP
    behind = (x + step * RAMP + 6, 9.0) if room > RAMP else (0.0, 9.0 + LEGEND_LINE)
    parts: list[Shape] = [Words(texts[0], 0.0, 9.0), Words(texts[1], *behind)]
    for at in range(RAMP):
        value = light + (dark - light) * at / (RAMP - 1)
        fill = colour_of(value, ends, figure.less_is_better)[0]
        parts.append(box(Box(x + at * step, 4.0, step + 0.3, 10.0), "", fill=fill))
    return parts, behind[1] + 9


def fitting(figure: Matrix, wide: float, tall: float) -> CellWords:
    """Words of the cells, as many as fit: with what stands beside the numbers and with intervals, with
    either, or numbers alone."""
    there = [
        (row, at)
        for row, values in enumerate(figure.values)
        for at, value in enumerate(values)
        if value is not None or figure.spread_of(row, at)
    ]
    for beside, intervals in ((True, True), (False, True), (True, False), (False, False)):
        words = {}
        for row, at in there:
            value = figure.values[row][at]
            lines = [figure.texts[row][at] if beside else ""]
            lines.append("unknown" if value is None else number_text(value, 3))
            lines.append(figure.spread_of(row, at, 3, " - ") if intervals else "")
            words[row, at] = "\n".join(filter(None, lines))
        widest = widest_of((line for text in words.values() for line in text.split("\n")), 1.0)
        most = max((text.count("\n") + 1 for text in words.values()), default=1)
        size = min(LARGEST, 0.9 * wide / max(widest, 1.0), 0.72 * tall / most)
        if size >= (SMALLEST if most == 1 else INTERVAL):
            return words, size, intervals and any(figure.spread_of(*cell) for cell in there)
    return {}, SIZE, False


def _extra(figure: Matrix, texts: CellWords) -> list[str]:
    """What the cells cannot tell themselves."""
    empty = [
        figure.texts[row][column] or "no value"
        for row, values in enumerate(figure.values)
        for column, value in enumerate(values)
        if value is None and not figure.spread_of(row, column)
    ]
    what = "crossed out" if len(figure.rows) * len(figure.columns) <= MOST_CELLS else "empty"
    lines = [f"{what}: {'; '.join(dict.fromkeys(empty))}"] if empty else []
    if figure.widest() and not texts[2]:
        lines.append(f"the widest spread of a cell is {figure.widest()}")
    return lines
