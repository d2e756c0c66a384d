"""Which field of a damaged result holds something else than its writer wrote."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

NUMBERS = {"memory_total", "memory_free", "seconds", "size", "scale", "digits"}
LISTS = {
    *("cases", "flows", "figures", "host_figures", "groups", "views", "cells", "machines", "facts"),
    *("warnings", "skipped", "results", "runs", "settings", "caches"),
}
TEXTS = {"key", "unit", "name", "title", "text", "code", "command", "status", "started", "words", "host_name"}
#: Whose fields are numbers, whatever they are called, but for these.
ESTIMATES, WORDS = {"estimate", "summary"}, {"method"}
#: Whose fields may have any name.
FREE = {"labels", "where", "settings", "meta"}
#: Characters of a value that are told.
MOST_TOLD = 40


def wrong_field(paths: Iterable[Path | str]) -> str:
    """ "field 'cases[0].flows[0].figures[0].estimate.value': "x" is no number"; "" where these files have
    none such, or are no JSON."""
    for path in map(Path, paths):
        file = path / "survey.json" if path.is_dir() else path
        try:
            data = json.loads(file.read_text(encoding="utf-8-sig")) if file.is_file() else {}
        except (OSError, ValueError, RecursionError):
            continue
        found = next(_wrong(data, "", ""), "")
        if found:
            return found
    return ""


def _wrong(value: Any, place: str, parent: str) -> Iterator[str]:
    """Of what stands at this place, all such fields, in their order."""
    if isinstance(value, list):
        for index, one in enumerate(value):
            yield from _wrong(one, f"{place}[{index}]", parent)
    if not isinstance(value, dict):
        return
    for key, one in value.items():
        where = f"{place}.{key}" if place else key
        expected = _expected(key, parent)
        if expected and one is not None and not isinstance(one, expected[1]):
            yield f"field '{where}': {json.dumps(one)[:MOST_TOLD]} is no {expected[0]}"
        elif key not in FREE:
            yield from _wrong(one, where, key)


def _expected(key: str, parent: str) -> tuple[str, tuple[type, ...]] | None:
    if key in NUMBERS or (parent in ESTIMATES and key not in WORDS):
        return "number", (int, float, list) if parent == "summary" else (int, float)
    if key in LISTS and (key, parent) != ("caches", "gpu"):  # a word, of a GPU's copies
        return "list", (list,)
    return ("text", (str,)) if key in TEXTS else None
