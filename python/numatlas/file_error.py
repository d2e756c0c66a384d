"""Why a file cannot be used, in one line."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from numatlas import exit_codes


class FileError(Exception):
    """Why a file, or an option, cannot be used, in one line that names it."""

    def __init__(self, path: Path | str, why: str, code: int = exit_codes.USAGE, hint: str = "") -> None:
        super().__init__(f"{path}: {why}")
        self.code = code  #: exit code of a command that was given it
        self.hint = hint  #: what to try


#: What Python raises where a file holds something else than its writer wrote.
DAMAGE = (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, csv.Error, RecursionError)


@contextmanager
def intact(*paths: Path | str) -> Iterator[None]:
    """Around whatever uses what these files hold: raises FileError where it cannot be used."""
    path = ", ".join(map(str, paths))
    try:
        yield
    except KeyError as error:
        raise FileError(path, f"damaged, or changed by hand: it has no {error}") from error
    except DAMAGE as error:
        words = str(error).strip() or type(error).__name__
        raise FileError(path, f"damaged, or changed by hand: {words.splitlines()[0]}") from error
    except MemoryError as error:
        raise FileError(path, "takes more memory than there is") from error
