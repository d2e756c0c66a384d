"""numatlas.load: which file is this, and who reads it."""

import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from numatlas import exit_codes
from numatlas.file_error import FileError, intact
from numatlas.readers import report_json
from numatlas.result import Result

#: The newest schema that this package reads (docs/results.md of the program).
SCHEMA_VERSION = 2


def load(path: str | Path) -> Result:
    """Reads a result of numatlas (JSON), the folder of a survey, or a file of the earlier programs (CSV of
    numa_mem_bench, .dat of distributed_streams).

    Raises FileError, with one line that names the file, for what is none of these.
    """
    path = named("FILE", path)
    try:
        with intact(path):
            return _load(file_of(path))
    except OSError as error:
        raise FileError(path, error.strerror or str(error), exit_codes.of_file(error)) from None


def named(name: str, value: str | Path) -> Path:
    """The path that an option or argument gives. Raises FileError for none, which Path would take for the
    current folder."""
    if value == "":
        raise FileError(name, "the value is empty")
    return Path(value)


def file_of(path: Path) -> Path:
    """The file that is read where this is asked for: of a survey's folder its survey.json."""
    if not path.is_dir():
        return path
    if not (path / "survey.json").exists():
        raise FileError(path, "a folder without survey.json, which `numatlas survey` writes")
    return path / "survey.json"


def check_output(output: Path, files: Iterable[str | Path]) -> None:
    """Raises FileError where writing the output would replace one of the files to read."""
    if any(_is_file_of(output, file) for file in files):
        raise FileError("--output", f"{output} is one of the files to read")


def _is_file_of(output: Path, file: str | Path) -> bool:
    try:
        # A device, such as a terminal, may be both: nothing on it is lost.
        return output.is_file() and output.samefile(file_of(named("FILE", file)))
    except (OSError, FileError):
        return False  # reading or writing it tells why


def _load(path: Path) -> Result:
    data = path.read_bytes()  # once: what a pipe gives is gone
    text = _text(path, data)
    start = text.lstrip()[:1]
    if start == "<":
        from numatlas.readers import dat_file

        return dat_file.read(path, text)
    if start != "{":
        from numatlas.readers import csv_files

        return csv_files.read(path, text)
    return report_json.read(path, _json(path, text))


def _text(path: Path, data: bytes) -> str:
    try:
        # Some editors put a byte order mark before it.
        text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig").read()
    except UnicodeDecodeError:
        raise FileError(path, "not text: no result of numatlas or of an earlier program") from None
    if not text.strip():
        raise FileError(path, "empty: a run that was ended at once, or a full disk")
    return text


def _json(path: Path, text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        if _is_cut(text, error):
            raise FileError(path, f"is not valid JSON (truncated?): {where}") from None
        raise FileError(path, f"is not valid JSON: {where}: {error.msg}") from None
    except RecursionError:
        raise FileError(path, "no result of numatlas: nested too deeply") from None
    version = data.get("schema_version")
    results = {"cases", "nodes", "rows"}
    if not results & set(data) and data.get("program") != "numatlas":
        raise FileError(path, "JSON, but no result of numatlas")
    if version is None:
        raise FileError(path, "has no schema_version: of a numatlas older than results can be read of")
    if version is not None and (not isinstance(version, int) or version > SCHEMA_VERSION):
        raise FileError(
            path, f"schema_version {version}: of a newer numatlas; this reads up to {SCHEMA_VERSION}"
        )
    if version == 1 and "command" in data:
        raise FileError(path, "schema_version 1: of an older numatlas; measure again")
    return data


def _is_cut(text: str, error: json.JSONDecodeError) -> bool:
    """Whether the text makes sense as far as it goes: it stops at its end, or in a string without one."""
    return error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
