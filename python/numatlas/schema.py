"""Whether a report is as the program writes it: one pass of the schema, which is made from the program's list
of fields (docs/result.schema.json)."""

import json
from collections.abc import Callable
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import fastjsonschema

from numatlas.file_error import FileError

#: Characters of what is wrong that are told.
MOST_TOLD = 200


def check(path: Path, report: dict[str, Any], place: str) -> None:
    """Raises FileError for a report of this file that is not; `place`: where in the file it stands, such as
    "results[0]"."""
    try:
        _compiled()(report)
    except fastjsonschema.JsonSchemaValueException as error:
        field = f"{place}{error.name.removeprefix('data')}".removeprefix(".")
        words = error.message.removeprefix(error.name).strip()[:MOST_TOLD]
        told = f"field '{field}' {words}" if field else f"it {words}"
        raise FileError(path, f"damaged, or changed by hand: {told}") from None


@cache
def _compiled() -> Callable[[Any], Any]:
    text = resources.files("numatlas").joinpath("result.schema.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    del schema["$schema"]  # of 2020; it says nothing that the library's newest, of 2018, reads otherwise
    return fastjsonschema.compile(schema, use_default=False)
