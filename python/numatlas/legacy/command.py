"""What the scripts share: errors in one line, exit codes of the program (docs/exit-codes.md)."""

import argparse
import sys
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import NoReturn

from matplotlib.figure import Figure as Picture

from numatlas import cli, exit_codes
from numatlas.exit_codes import USAGE
from numatlas.file_error import FileError
from numatlas.files import load, named
from numatlas.output import standard_output, write_whole
from numatlas.plot import save
from numatlas.result import Result


def fail(code: int, message: str) -> NoReturn:
    """Ends the script with one line on standard error."""
    cli.fail(code, message, program=Path(sys.argv[0]).name)


def script(main: Callable[[list[str]], None]) -> Callable[..., None]:
    """Of the main() of a script: FileError ends it with one line."""

    @wraps(main)
    def run(arguments: list[str] | None = None) -> None:
        try:
            with standard_output():
                main(sys.argv[1:] if arguments is None else arguments)
        except FileError as error:
            fail(error.code, str(error))

    return run


def path_argument(parser: argparse.ArgumentParser, *names: str, called: str, **more: object) -> None:
    """An argument that names a file or folder."""
    parser.add_argument(*names, type=partial(named, called), **more)


def read(path: Path, kind: str, what: str) -> Result:
    """A file of this kind, `what` in words, or the end of the script."""
    result = load(path)
    if result.kind != kind:
        fail(USAGE, f"{path}: not {what}, but of {result.kind}")
    return result


def write(picture: Picture, path: Path) -> None:
    """Whole or not at all."""
    try:
        write_whole(path, lambda part: save(picture, part))
    except OSError as error:
        fail(exit_codes.of_file(error), f"{path}: {error.strerror or error}")
