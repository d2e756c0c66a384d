"""What the scripts share: errors in one line, exit codes of the program (docs/exit-codes.md)."""

import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import NoReturn

from matplotlib.figure import Figure as Picture

from numatlas import exit_codes
from numatlas.exit_codes import USAGE
from numatlas.file_error import FileError
from numatlas.files import load
from numatlas.output import standard_output, write_whole
from numatlas.plot import FORMATS, save
from numatlas.result import Result
from numatlas.text import printable


def fail(code: int, message: str) -> NoReturn:
    """Ends the script with one line on standard error."""
    print(f"{Path(sys.argv[0]).name}: error: {printable(message)}", file=sys.stderr)
    raise SystemExit(code)


def script(main: Callable[[list[str] | None], None]) -> Callable[[list[str] | None], None]:
    """Of the main() of a script: FileError ends it with one line."""

    @wraps(main)
    def run(arguments: list[str] | None = None) -> None:
        try:
            with standard_output():
                main(arguments)
        except FileError as error:
            fail(error.code, str(error))

    return run


def read(path: Path, kind: str, what: str) -> Result:
    """A file of this kind, `what` in words, or the end of the script."""
    result = load(path)
    if result.kind != kind:
        fail(USAGE, f"{path}: not {what}, but of {result.kind}")
    return result


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
