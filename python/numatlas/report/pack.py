"""Numbers that travel in the page: in script elements, deflated."""

import base64
import json
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


def table(frame: pd.DataFrame) -> str:
    """A frame as CSV in full precision; columns without any value are left out."""
    there = frame.replace("", None).dropna(axis=1, how="all").convert_dtypes()
    return there.to_csv(index=False)
