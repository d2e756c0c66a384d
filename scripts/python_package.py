"""Lets a script of this folder use the package numatlas: of this Python, or of the repository's own
virtual environment."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / "build" / "venv"

#: As docs/exit-codes.md.
UNAVAILABLE = 3


def run(module: str) -> None:
    """Calls main() of numatlas.legacy.MODULE, by the virtual environment's Python where this one cannot."""
    try:
        main = __import__(f"numatlas.legacy.{module}", fromlist=["main"]).main
    except ImportError as error:
        python = VENV / "bin" / "python"
        if python.exists() and Path(sys.prefix).resolve() != VENV.resolve():
            os.execv(python, [str(python), *sys.argv])
        sys.exit(_missing(error))
    main()


def _missing(error: ImportError) -> int:
    print(
        f"{Path(sys.argv[0]).name}: error: {error.name or 'numatlas'} is not installed for this Python:"
        f" scripts/run or `pip install {ROOT / 'python'}` does it",
        file=sys.stderr,
    )
    return UNAVAILABLE
