"""Numbers that travel in the page: JSON in script elements, the large ones deflated."""

import base64
import csv
import json
import math
import zlib
from typing import Any

import pandas as pd
from markupsafe import Markup

#: Characters of JSON from which on it is deflated: below, the page stays readable as text.
PACKED_FROM = 20_000


def embed(identity: str, value: Any) -> Markup:
    """A script element of JSON. `data-packed`: zlib, base64."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    if len(text) >= PACKED_FROM:
        return packed(identity, text)
    # "</script>" and "<!--" within a string would end the element.
    text = Markup(text.replace("<", "\\u003c"))
    return Markup('<script type="application/json" id="{}">{}</script>').format(identity, text)


def packed(identity: str, text: str) -> Markup:
    """A script element that `unpacked` of page.js reads."""
    body = base64.b64encode(zlib.compress(text.encode(), 6)).decode()
    return Markup('<script type="text/plain" id="{}" data-packed>{}</script>').format(identity, body)


def rounded(values: list[float | None], digits: int = 6) -> list[float | None]:
    """To so many significant digits, for pictures."""
    return [None if value is None or math.isnan(value) else float(f"{value:.{digits}g}") for value in values]


def table(frame: pd.DataFrame) -> str:
    """A frame in full precision, with tabs between its columns; those without any value
    are left out."""
    there = frame.replace("", None).dropna(axis=1, how="all").convert_dtypes()
    for name in there.select_dtypes("string"):
        there[name] = there[name].str.replace(r"\s+", " ", regex=True)
    return there.to_csv(sep="\t", index=False, quoting=csv.QUOTE_NONE)
