"""Matrices: a value for each pair of places."""

from typing import Any

import pandas as pd

from numatlas.figures.locality import by_locality, left_out
from numatlas.figures.model import Bar, Bars, Figure, Matrix
from numatlas.figures.people import without_rows
from numatlas.figures.tables import Table, words_of
from numatlas.figures.told import joined, label_shown

#: Fields of a matrix, and the columns that they are made of.
CELLS = {"values": "value", "low": "low", "high": "high", "texts": "text", "details": "detail"}


def single_cells(figures: list[Figure]) -> list[Figure]:
    """Maps of one cell as bars: those of one unit in one figure, in the place of the first."""
    found: list[Figure] = []
    units: dict[str, Bars] = {}
    for one in figures:
        at = _only_cell(one) if isinstance(one, Matrix) else None
        if at is None:
            found.append(one)
            continue
        row, column = at
        value, low, high = (grid[row][column] for grid in (one.values, one.low, one.high))
        where = f"{one.row_label} {one.rows[row]}, {one.column_label} {one.columns[column]}"
        name, _, how = one.title.partition(" (")
        how = [*filter(None, how.rstrip(")").split(", "))]
        bar = Bar(name, "", value, low, high, [name, *how])
        if one.unit not in units:
            units[one.unit] = _bars_of(one)
            found.append(units[one.unit])
        bars = units[one.unit]
        if bars.rows:
            bars.title = name.split(" of ")[0]
            bars.data = pd.concat([bars.data, one.data], ignore_index=True)
            bars.warnings = list(dict.fromkeys([*bars.warnings, *one.warnings]))
            told = {*bars.convergence.lines(), *one.convergence.lines()}
            bars.convergence += one.convergence
            notes = [note for note in (*bars.notes, *one.notes) if note not in told]
            bars.notes = list(dict.fromkeys([*notes, *bars.convergence.lines()]))
        bars.rows.append(bar)
        bars.title += f", {where}"
    for one in units.values():
        one.notes = [*_told_of_all(one), *without_rows(one.notes)]
    return found


def _told_of_all(figure: Bars) -> list[str]:
    """How the cells were measured, as far as it is alike for all; what is not stands in a column."""
    every = [row.cells[1:] for row in figure.rows]
    common = [word for word in every[0] if all(word in words for words in every)]
    own = [", ".join(word for word in words if word not in common) for words in every]
    heads = ["how"] if any(own) else []
    figure.heads, figure.column = ["", *heads, figure.unit], 1 + len(heads)
    for row, words in zip(figure.rows, own, strict=True):
        row.cells = [row.name, *([words] if heads else []), ""]
    return [", ".join(common)] if common else []


def _only_cell(one: Matrix) -> tuple[int, int] | None:
    """Where it is; of two places whose one cell stands for both orders, the upper."""
    shape = (len(one.rows), len(one.columns))
    if shape == (1, 1):
        return 0, 0
    cells = [list(zip(*lines, strict=True)) for lines in zip(one.values, one.low, strict=True)]
    pair = shape == (2, 2) and one.rows == one.columns and cells[0][0] == cells[1][1] == (None, None)
    return (0, 1) if pair and cells[0][1] == cells[1][0] else None


def _bars_of(one: Matrix) -> Bars:
    """What a map tells, as bars, without any yet."""
    told = ("spread", "placement", "notes", "verdict", "warnings", "data", "unit", "less_is_better", "family")
    told += ("convergence",)
    return Bars(one.key, one.title.partition(" (")[0], **{name: getattr(one, name) for name in told})


def matrices(table: Table) -> list[Figure]:
    """Maps of two labels: one for each combination of others that a cell has several values of."""
    view = table.view
    rows = [view["rows"]] if view["rows"] else _leading(table)
    columns = view["columns"]
    split = table.telling([*rows, columns], [])
    found = []
    for labels, mine in table.groups(split):
        frame = pd.DataFrame(mine.spreads())
        texts = {name: [label_shown(one, name) for one in mine.frame[name]] for name in (*rows, columns)}
        frame["row"] = [", ".join(words) for words in zip(*(texts[name] for name in rows), strict=True)]
        frame["column"] = texts[columns]
        beside = [
            mine.texts(cell) for cell in view["cells"] if cell is not mine.main and cell["label"] not in rows
        ]
        frame["text"] = joined(beside, len(frame))
        frame["detail"] = _details(mine, [*rows, columns])
        if view["symmetric"]:
            frame = _both_sides(frame)
        names = [_ordered(frame[name]) for name in ("row", "column")]
        breaks: dict[int, int] = {}
        if view["symmetric"] and names[0] == names[1]:
            names[0], breaks = by_locality(names[0], table.result)
            names[1] = names[0]
        cells = frame.set_index(["row", "column"])
        grids = {
            field: cells[name].unstack("column").reindex(index=names[0], columns=names[1]).to_numpy(object)
            for field, name in CELLS.items()
        }
        found.append(
            Matrix(
                **_told(mine, labels, left_out(names[0], table.result) if view["symmetric"] else ""),
                row_label=", ".join(words_of(name) for name in rows),
                column_label=words_of(columns),
                rows=names[0],
                columns=names[1],
                unit=mine.unit,
                less_is_better=mine.less_is_better,
                breaks=breaks,
                **{field: grid.tolist() for field, grid in grids.items()},
            )
        )
    return found


def _told(table: Table, labels: dict[str, Any], note: str) -> dict[str, Any]:
    """With one more note."""
    told = table.told(labels)
    return {**told, "notes": [*told["notes"], note] if note else told["notes"]}


def _details(table: Table, shown: list[str]) -> list[str]:
    """Of each cell what the map does not show: the buffer's size, and other labels that differ."""
    names = [name for name in ("size", "pages", "stores") if name in table.frame and name not in shown]
    texts = {name: [label_shown(value, name) for value in table.frame[name]] for name in names}
    rows = zip(*texts.values(), strict=True)
    told = [
        ", ".join(f"{name} {text}" for name, text in zip(names, row, strict=True) if text != "-")
        for row in rows
    ]
    return told or [""] * len(table.frame)


def _leading(table: Table) -> list[str]:
    """The labels that come first, which name the rows."""
    count = next(at for at, cell in enumerate(table.view["cells"]) if not cell["label"])
    return [name for name in table.labels[:count] if name in table.frame and name != table.view["rows"]]


def _both_sides(frame: pd.DataFrame) -> pd.DataFrame:
    """A cell stands for both orders of its labels."""
    both = pd.concat([frame, frame.rename(columns={"row": "column", "column": "row"})])
    names = list(dict.fromkeys(frame[["row", "column"]].to_numpy().ravel()))
    itself = pd.DataFrame([{"row": name, "column": name, "text": "a place with itself"} for name in names])
    both = pd.concat([both, itself]).drop_duplicates(["row", "column"])
    places = {name: at for at, name in enumerate(names)}
    return both.sort_values(["row", "column"], key=lambda column: column.map(places))


def _ordered(names: pd.Series) -> list[str]:
    """By their numbers, or as they come."""
    found = list(dict.fromkeys(names))
    return sorted(found, key=int) if all(name.isdigit() for name in found) else found
