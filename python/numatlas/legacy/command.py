"""What the scripts share: errors in one line, exit codes of the program (docs/exit-codes.md)."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from matplotlib.figure import Figure as Picture

from numatlas import exit_codes
from numatlas.exit_codes import USAGE
from numatlas.files import FileError, intact, load
from numatlas.output import write_whole
from numatlas.plot import FORMATS, save
from numatlas.result import Result


def fail(code: int, message: str) -> NoReturn:
    """Ends the script with one line on standard error."""
    print(f"{Path(sys.argv[0]).name}: error: {message}", file=sys.stderr)
    raise SystemExit(code)


def read(path: Path, kind: str, what: str) -> Result:
    """A file of this kind, `what` in words, or the end of the script."""
    try:
        result = load(path)
    except FileError as error:
        fail(error.code, str(error))
    if result.kind != kind:
        fail(USAGE, f"{path}: not {what}, but of {result.kind}")
    return result


@contextmanager
def using(path: Path) -> Iterator[None]:
    """Around what uses the file's content: the end of the script where that is damaged."""
    try:
        with intact(path):
            yield
    except FileError as error:
        fail(USAGE, str(error))


def check_form(path: Path) -> None:
    """Ends the script where a picture cannot have this name."""
    if path.suffix.lstrip(".").lower() not in FORMATS:
        fail(USAGE, f"--output: {path}: ends in none of {', '.join(FORMATS)}")


def write(picture: Picture, path: Path) -> None:
    """Whole or not at all."""
    try:
        write_whole(path, lambda part: save(picture, part))
    except OSError as error:
        fail(exit_codes.of_file(error), f"{path}: {error.strerror or error}")
