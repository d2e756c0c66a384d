"""Figures of several files in one: curves on common axes, bars beside each other."""

from collections import Counter
from dataclasses import replace
from string import ascii_uppercase

import pandas as pd

from numatlas.figures.model import Atlas, Bar, Bars, Curves, Figure, Mark, Matrix

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


def can_stand_beside(figures: list[Figure]) -> bool:
    """Whether these have a common picture in which they stand side by side."""
    return all(isinstance(one, Matrix | Atlas) for one in figures)


def group_keys(files: list[list[Figure]]) -> list[list[str]]:
    """Of each figure of each file the key of its group: of figures of several files that belong together.
    Those of a family do where no file has two of it (the one of base pages, the other of huge ones); else
    those of one key. A survey may hold a command twice: its second figures are a group of their own."""
    counts = [Counter((one.kind, one.family) for one in figures if one.family) for figures in files]
    firsts: dict[tuple[str, str], str] = {}
    found = []
    for figures in files:
        mine: Counter[str] = Counter()
        keys = []
        for one in figures:
            name, key = (one.kind, one.family), one.key
            if one.family and all(count[name] < 2 for count in counts):
                key = firsts.setdefault(name, key)
            mine[key] += 1
            keys.append(key + (f"-{mine[key]}" if mine[key] > 1 else ""))
        found.append(keys)
    return found


def _own_words(figures: list[Figure]) -> list[str]:
    """Of each what the others are not of: "thp"."""
    common = set.intersection(*(set(one.where.items()) for one in figures))
    every = [[pair for pair in one.where.items() if pair not in common] for one in figures]
    return [", ".join(_words(*pair) for pair in own) for own in every]


def _words(name: str, text: str) -> str:
    return f"{name.replace('_', ' ')} {text}" if text[:1].isdigit() else text


def overlaid(figures: list[Figure], names: list[str]) -> Figure:
    """One figure of those of the same key, each of the file with the name beside it."""
    texts = {name: [text for one in figures for text in getattr(one, name)] for name in LISTS}
    told = {name: list(dict.fromkeys(every)) for name, every in texts.items()}
    words = _own_words(figures)
    pairs = list(zip(figures, names, strict=True))
    told["data"] = pd.concat([one.data.assign(run=name) for one, name in pairs], ignore_index=True)
    told["placement"] = "; ".join(dict.fromkeys(filter(None, (one.placement for one in figures))))
    first = figures[0]
    tables = [(name, one.heads, one.cells) for one, name in pairs]
    told["heads"], told["cells"] = united("run", tables)
    if isinstance(first, Curves):
        series = [
            replace(line, name=f"{name} {', '.join(filter(None, [own, line.name]))}".strip())
            for (one, name), own in zip(pairs, words, strict=True)
            for line in one.series
        ]
        return replace(first, series=series, marks=_marks(figures, names), **told)
    runs = [f"{name} {own}".strip() for name, own in zip(names, words, strict=True)]
    rows = [
        replace(row, name=_name(row), group=run)
        for one, run in zip(figures, runs, strict=True)
        for row in one.rows
    ]
    places = {name: at for at, name in enumerate(dict.fromkeys(row.name for row in rows))}
    rows.sort(key=lambda row: places[row.name])
    return replace(first, rows=rows, **told)


def united(head: str, tables: list[tuple[str, list[str], list[list[str]]]]) -> tuple[list[str], list]:
    """Rows of all tables, each (name, heads, rows) in the columns of its own; a head may stand several times
    ("±"). `head`: of the names."""
    columns = [[(one, heads[:at].count(one)) for at, one in enumerate(heads)] for _, heads, _ in tables]
    every = list(dict.fromkeys(column for mine in columns for column in mine))
    rows = [
        [name, *(dict(zip(mine, row, strict=True)).get(column, "-") for column in every)]
        for (name, _, cells), mine in zip(tables, columns, strict=True)
        for row in cells
    ]
    return [head, *(one for one, _ in every)], rows


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
