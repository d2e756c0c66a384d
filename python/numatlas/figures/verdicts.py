"""What commands that judge results found (`compare`, `check`), as lists: the tables of their views."""

from typing import Any

import pandas as pd

from numatlas.figures.model import Figure, Listing
from numatlas.figures.tables import printed
from numatlas.figures.told import key_of, warnings_of
from numatlas.result import Result
from numatlas.units import quantity_text

MARKS = {"slower": "▼ slower", "faster": "▲ faster", "slow": "▼ slow", "fell": "▼ fell", "below": "▼ below"}


def figures(result: Result) -> list[Figure]:
    """A list for each view."""
    found: list[Figure] = []
    for view in result.views:
        rows = result.rows
        for label, value in view["where"].items():
            rows = rows[rows[label] == value] if label in rows else rows[:0]
        cells = [[_text(cell, row) for cell in view["cells"]] for row in rows.to_dict("records")]
        heads = [str(cell["head"] or "") for cell in view["cells"]]
        told = [at for at in range(len(heads)) if any(row[at] for row in cells)]
        if not cells:
            continue
        found.append(
            Listing(
                key_of([result.kind, view["title"], *view["where"].values()]),
                view["title"],
                kind=result.kind,
                notes=list(view["notes"]),
                verdict=list(view["verdict"]) + ([] if found else [str(result.meta["answer"])]),
                warnings=[] if found else warnings_of(result, pd.DataFrame()),
                data=rows,
                heads=[heads[at] for at in told],
                rows=[[row[at] for at in told] for row in cells],
            )
        )
    return found


def _text(cell: dict[str, Any], row: dict[str, Any]) -> str:
    value = row.get(cell["label"] or cell["figure"])
    if value is None or pd.isna(value):
        return ""
    if cell["label"]:
        return MARKS.get(str(value), str(value))
    if not cell["scale"]:
        return quantity_text(value, row[f"{cell['figure']}_unit"])
    return printed(value * cell["scale"], cell["digits"]) + str(cell["unit"] or "")
