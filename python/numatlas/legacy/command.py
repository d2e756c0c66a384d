"""What the scripts share."""

import argparse
import sys
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path

from numatlas.cli import run
from numatlas.file_error import FileError
from numatlas.files import load, named
from numatlas.result import Result


def script(main: Callable[[list[str]], None]) -> Callable[..., None]:
    """Of the main() of a script: FileError ends it with one line."""

    @wraps(main)
    def program(arguments: list[str] | None = None) -> None:
        run(partial(main, sys.argv[1:] if arguments is None else arguments), Path(sys.argv[0]).name)

    return program


def path_argument(parser: argparse.ArgumentParser, *names: str, called: str, **more: object) -> None:
    """An argument that names a file or folder."""
    parser.add_argument(*names, type=partial(named, called), **more)


def read(path: Path, kind: str, what: str) -> Result:
    """A file of this kind, `what` in words."""
    result = load(path)
    if result.kind != kind:
        raise FileError(path, f"not {what}, but of {result.kind}")
    return result
