"""Figures of several files in one: curves on common axes, bars beside each other."""

from dataclasses import replace
from string import ascii_uppercase

import pandas as pd

from numatlas.figures.model import Bar, Bars, Curves, Figure, Mark

#: Of more files than this a picture has no marks but those that all have.
MOST_MARKED = 2
#: What figures say in lists of lines.
LISTS = ("notes", "verdict", "warnings")


def letters(count: int) -> list[str]:
    """Short names of runs: A, B, ... or numbers where the letters do not suffice."""
    enough = count <= len(ascii_uppercase)
    return list(ascii_uppercase[:count]) if enough else [str(at + 1) for at in range(count)]


def form_of(figure: Figure) -> tuple:
    """What figures on one scale have in common: their sort, and the units of their axes."""
    axes = (figure.x.unit, figure.y.unit) if isinstance(figure, Curves) else (getattr(figure, "unit", ""),)
    return type(figure), *axes


def can_overlay(figures: list[Figure]) -> bool:
    """Whether these have a common picture."""
    return isinstance(figures[0], Curves | Bars) and len({form_of(one) for one in figures}) == 1


def overlaid(figures: list[Figure], names: list[str]) -> Figure:
    """One figure of those of the same key, each of the file with the name beside it."""
    texts = {name: [text for one in figures for text in getattr(one, name)] for name in LISTS}
    told = {name: list(dict.fromkeys(every)) for name, every in texts.items()}
    pairs = list(zip(figures, names, strict=True))
    told["data"] = pd.concat([one.data.assign(run=name) for one, name in pairs], ignore_index=True)
    told["placement"] = "; ".join(dict.fromkeys(filter(None, (one.placement for one in figures))))
    first = figures[0]
    if isinstance(first, Curves):
        series = [
            replace(line, name=f"{name} {line.name}".strip()) for one, name in pairs for line in one.series
        ]
        return replace(first, series=series, marks=_marks(figures, names), **told)
    rows = [
        replace(row, name=_name(row), group=name, cells=[name, *row.cells])
        for one, name in pairs
        for row in one.rows
    ]
    places = {name: at for at, name in enumerate(dict.fromkeys(row.name for row in rows))}
    rows.sort(key=lambda row: places[row.name])
    return replace(first, rows=rows, heads=["run", *first.heads], column=first.column + 1, **told)


def _marks(figures: list[Curves], names: list[str]) -> list[Mark]:
    """Those that all have; of one or two files the others too, with the file's name."""
    common = [mark for mark in figures[0].marks if all(mark in one.marks for one in figures[1:])]
    if len(figures) > MOST_MARKED:
        return common
    common = common if len(figures) > 1 else []
    pairs = zip(figures, names, strict=True)
    own = [(name, mark) for one, name in pairs for mark in one.marks if mark not in common]
    return common + [replace(mark, text=f"{name}: {mark.text}") for name, mark in own]


def _name(row: Bar) -> str:
    return ", ".join(filter(None, [row.name, row.group]))
