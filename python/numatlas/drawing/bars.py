"""Lying bars from 0, with their intervals and their numbers."""

from numatlas.drawing.shapes import (
    SQUARE,
    Drawing,
    Group,
    Shape,
    Words,
    box,
    colour_at,
    legend,
    line,
    mark,
    shorten,
    small_print,
    stacked,
    widest_of,
)
from numatlas.figures.model import Bars, Box

#: More bars than this nobody reads: the best of them.
MOST_BARS = 60
#: Part of the width that names have at most; units of a bar and between names.
NAMES, BAR, GAP = 0.42, 15.0, 9.0


def bars(figure: Bars, wide: float) -> Drawing:
    """Those of one name stand together, those of one group have one colour; what has no value says so."""
    rows = figure.best(MOST_BARS)
    groups = list(dict.fromkeys(row.group for row in rows))
    left = min(widest_of(row.name for row in rows) + 12, NAMES * wide)
    right = widest_of(row.text for row in rows) + 12
    unit = (wide - left - right) / (figure.most() or 1.0)
    y, last = 4.0, None
    parts: list[Shape] = []
    for row in rows:
        y += GAP if row.name != last and last is not None and len(groups) > 1 else 3
        if row.name != last:
            parts.append(Words(shorten(row.name, left - 8), left - 6, y + BAR / 2, "end"))
        last = row.name
        bar = box(Box(left, y, unit * (row.value or 0.0), BAR), "mark bar")
        parts.append(Group([bar], colour_at(groups.index(row.group))))
        if row.low is not None and row.high is not None:
            ends = [left + unit * min(max(end, 0.0), figure.most()) for end in (row.low, row.high)]
            parts.append(line(ends[0], y + BAR / 2, ends[1], y + BAR / 2, "whisker"))
        end = left + unit * min(max(row.value or 0.0, row.high or 0.0), figure.most())
        parts.append(Words(row.text, end + 5, y + BAR / 2, kind="number"))
        y += BAR
    parts.append(line(left, 4, left, y + 4, "axis"))
    better = f"{'less' if figure.less_is_better else 'more'} is better"
    label = f"{figure.unit} ({better})" if figure.unit else better
    parts.append(Words(label, left, y + 14, kind="label"))
    entries = [(Group([mark(12, 0, SQUARE)], colour_at(at)), name) for at, name in enumerate(groups)]
    small = [f"the best {MOST_BARS} of {len(figure.rows)}"] if len(rows) < len(figure.rows) else []
    blocks = [legend(entries if len(groups) > 1 else [], wide), (parts, y + 24)]
    return stacked(figure.title, wide, [*blocks, small_print([(text, "label") for text in small], wide)])
