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
    parts: dict[str, tuple[str, Any]] = {}
    top = _in_parts(schema, parts)
    return fastjsonschema.compile({**top, "definitions": dict(parts.values())}, use_default=False)


def _in_parts(schema: Any, parts: dict[str, tuple[str, Any]]) -> Any:
    """With each object as a definition, once: the library makes a function of each, and one function of all
    takes five times as long. `parts`: by their text, their names and themselves."""
    if isinstance(schema, list):
        return [_in_parts(one, parts) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: _in_parts(one, parts) for name, one in schema.items()}
    if made.get("type") != "object" or "properties" not in made:
        return made
    made.pop("description", None)
    name, _ = parts.setdefault(json.dumps(made, sort_keys=True), (str(len(parts)), made))
    return {"$ref": f"#/definitions/{name}"}
