"""Numbers that travel in the page: JSON in script elements, the large ones deflated."""

import base64
import json
import math
import zlib
from typing import Any

import numpy as np
import pandas as pd

from numatlas.report.markup import Markup, el

#: Characters of JSON from which on it is deflated: below, the page stays readable as text.
PACKED_FROM = 20_000


def embed(identity: str, value: Any) -> Markup:
    """A script element of JSON. `data-packed`: zlib, base64."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    if len(text) >= PACKED_FROM:
        return el("script", Markup(deflated(text)), type="text/plain", id=identity, data_packed=True)
    # "</script>" and "<!--" within a string would end the element.
    return el("script", Markup(text.replace("<", "\\u003c")), type="application/json", id=identity)


def deflated(text: str) -> str:
    """What `unpacked` of page.js reads: zlib, base64."""
    return base64.b64encode(zlib.compress(text.encode(), 6)).decode()


def rounded(values: list[float | None], digits: int = 6) -> list[float | None]:
    """To so many significant digits, for pictures."""
    return [None if value is None or math.isnan(value) else float(f"{value:.{digits}g}") for value in values]


def singles(lists: list[list[float]]) -> dict[str, Any]:
    """Lists of numbers as one text of 32-bit floats, and how long each list is."""
    lengths = [len(numbers) for numbers in lists]
    flat = np.array([number for numbers in lists for number in numbers], dtype="<f4")
    same = lengths[0] if len(set(lengths)) == 1 else lengths
    return {"lengths": same, "floats": base64.b64encode(flat.tobytes()).decode()}


def table(frame: pd.DataFrame) -> dict[str, Any]:
    """A frame by columns, in full precision; columns without any value are left out. A column of one
    value is told once (`same`), words are told once each (`words`, and `codes` into them)."""
    columns = []
    for name in frame:
        column = frame[name]
        if column.isna().all() or (column.astype(object) == "").all():
            continue
        columns.append({"name": str(name), **_column(column)})
    return {"rows": len(frame), "columns": columns}


def _column(column: pd.Series) -> dict[str, Any]:
    if pd.api.types.is_bool_dtype(column):
        column = column.map({True: "yes", False: "no"})
    values = [_plain(value) for value in column.astype(object)]
    known = list(dict.fromkeys(values))
    if len(known) == 1:
        return {"same": known[0]}
    if any(isinstance(value, str) for value in known):
        code = {value: index for index, value in enumerate(known)}
        return {"words": known, "codes": [code[value] for value in values]}
    return {"values": values}


def _plain(value: Any) -> str | int | float | None:
    """As JSON has it; what is a whole number without ".0"."""
    if value is None or (isinstance(value, float) and math.isnan(value)) or value is pd.NA:
        return None
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        number = float(value)
        return int(number) if number.is_integer() and abs(number) < 2**53 else number
    return str(value)
