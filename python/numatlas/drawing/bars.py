"""Lying bars from 0, with their intervals and their numbers."""

from numatlas.drawing.shapes import (
    HUES,
    Drawing,
    Group,
    Shape,
    Words,
    box,
    colour_at,
    legend,
    line,
    shorten,
    small_print,
    stacked,
    widest_of,
)
from numatlas.figures.model import Bars, Box

#: More bars than this nobody reads: the best of them.
MOST_BARS = 60
#: Parts of the width that names and numbers have at most; units of a bar and between names.
NAMES, NUMBERS, BAR, GAP = 0.42, 0.4, 15.0, 9.0


def bars(figure: Bars, wide: float) -> Drawing:
    """Those of one name stand together, those of one group have one colour; what has no value says so."""
    rows = figure.best(MOST_BARS)
    groups = list(dict.fromkeys(row.group for row in rows))
    left = min(widest_of(row.name for row in rows) + 12, NAMES * wide)
    right = min(widest_of(row.text for row in rows) + 12, NUMBERS * wide)
    unit = (wide - left - right) / (figure.most() or 1.0)
    y, last = 4.0, None
    parts: list[Shape] = []
    for row in rows:
        y += GAP if row.name != last and last is not None and len(groups) > 1 else 3
        if row.name != last:
            parts.append(Words(shorten(row.name, left - 8), left - 6, y + BAR / 2, "end"))
        last = row.name
        parts.append(_bar(groups.index(row.group), Box(left, y, unit * (row.value or 0.0), BAR), "mark bar"))
        if row.low is not None and row.high is not None:
            ends = [left + unit * min(max(end, 0.0), figure.most()) for end in (row.low, row.high)]
            parts.append(line(ends[0], y + BAR / 2, ends[1], y + BAR / 2, "whisker"))
        end = left + unit * min(max(row.value or 0.0, row.high or 0.0), figure.most())
        text = shorten(row.text, wide - end - 5)
        parts.append(Words(text, end + 5, y + BAR / 2, kind="number"))
        y += BAR
    parts.append(line(left, 4, left, y + 4, "axis"))
    better = f"{'less' if figure.less_is_better else 'more'} is better"
    label = f"{figure.unit} ({better})" if figure.unit else better
    parts.append(Words(label, left, y + 14, kind="label"))
    entries = [(_bar(at, Box(6, -4, 12, 8), "mark"), name) for at, name in enumerate(groups)]
    small = [f"the best {MOST_BARS} of {len(figure.rows)}"] if len(rows) < len(figure.rows) else []
    blocks = [legend(entries if len(groups) > 1 else [], wide), (parts, y + 24)]
    return stacked(figure.title, wide, [*blocks, small_print([(text, "label") for text in small], wide)])


def _bar(group: int, place: Box, kind: str) -> Group:
    """In its group's colour; where colours are used again, with as many lines along it as they were."""
    again = group // HUES
    steps = [place.y + place.tall * (at + 1) / (again + 1) for at in range(again)]
    lines = [line(place.x, y, place.x + place.wide, y, "b2") for y in steps]
    return Group([box(place, kind), *lines], colour_at(group))
