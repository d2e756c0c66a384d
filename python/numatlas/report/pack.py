"""Numbers that travel in the page: in script elements, deflated."""

import base64
import csv
import json
import math
import zlib
from typing import Any

import pandas as pd
from markupsafe import Markup


def embed(identity: str, value: Any) -> Markup:
    """A script element of JSON."""
    return packed(identity, json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False))


def packed(identity: str, text: str) -> Markup:
    """A script element that `unpacked` of page.js reads: zlib, base64."""
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
