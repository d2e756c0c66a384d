"""Matrices: a value for each pair of places."""

from typing import Any

import pandas as pd

from numatlas.figures.locality import by_locality, left_out
from numatlas.figures.model import Figure, Matrix
from numatlas.figures.tables import Table, words_of
from numatlas.figures.told import joined, label_shown

#: Fields of a matrix, and the columns that they are made of.
CELLS = {"values": "value", "low": "low", "high": "high", "texts": "text"}


def matrices(table: Table) -> list[Figure]:
    """Maps of two labels: one for each combination of others that a cell has several values of."""
    view = table.view
    rows, columns = row_labels(table), view["columns"]
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


def row_labels(table: Table) -> list[str]:
    """Those that name the rows: the view's, or the labels that come first."""
    if table.view["rows"]:
        return [table.view["rows"]]
    count = next(at for at, cell in enumerate(table.view["cells"]) if not cell["label"])
    return [name for name in table.labels[:count] if name in table.frame]


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
