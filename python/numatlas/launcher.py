"""The programs of a wheel: `numatlas` and those of the earlier tools become the program that the package
brings along; `numatlas report` and `numatlas plot` need the libraries of an extra.

For Python 3.9 and newer, as measuring is.
"""

import os
import sys
from pathlib import Path
from typing import NoReturn

#: Exit code for what is not available (docs/exit-codes.md).
UNAVAILABLE = 3
#: The first version for `numatlas report` and `numatlas plot`.
OLDEST_PYTHON = (3, 11)
_PROGRAMS = Path(__file__).parent / "program" / "bin"


def main() -> NoReturn:
    """Becomes the program of the name by which this was started."""
    me = Path(sys.argv[0])
    program = _PROGRAMS / "numatlas"  # of the earlier tools too, by the name it is started by
    # `numatlas report` looks for numatlas-report beside the program and here.
    folders = [os.environ.get("NUMATLAS_EXEC_PATH", ""), str(me.absolute().parent)]
    os.environ["NUMATLAS_EXEC_PATH"] = ":".join(filter(None, folders))
    try:
        os.execv(program, [me.name, *sys.argv[1:]])
    except OSError as error:
        _fail(f"{program}: {error.strerror}", "is this the wheel for this machine's architecture?")


def report() -> None:
    """`numatlas report`."""
    _python_part("report")


def plot() -> None:
    """`numatlas plot`."""
    _python_part("plot")


def _python_part(name: str) -> None:
    if sys.version_info < OLDEST_PYTHON:
        here, needed = (".".join(map(str, one[:2])) for one in (sys.version_info, OLDEST_PYTHON))
        _fail(f"Python {here}: `numatlas {name}` needs {needed}", "install numatlas with a newer Python")
    try:
        from numatlas import cli
    except ModuleNotFoundError as error:
        _fail(f"{error.name} is not installed", "pip install 'numatlas[report]' adds what it needs")
    getattr(cli, name)()


def _fail(message: str, hint: str) -> NoReturn:
    print(f"numatlas: error: {message}\nnumatlas: hint: {hint}", file=sys.stderr)
    raise SystemExit(UNAVAILABLE)
