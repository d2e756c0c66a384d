"""What numatlas measured, as data frames, pictures and pages.

import numatlas
result = numatlas.load("report")          # a survey, or any result file
result.summary                            # the headline figures
result["matrix"].flows                    # a survey's benchmark: a row a worker, point and metric
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numatlas.file_error import FileError
    from numatlas.files import load
    from numatlas.result import Result
    from numatlas.version import __version__

__all__ = ["FileError", "Result", "__version__", "load"]
_PLACES = {"FileError": "file_error", "Result": "result", "__version__": "version", "load": "files"}


def __getattr__(name: str) -> Any:
    """Imported when first used: the program of a wheel starts without pandas."""
    if name not in _PLACES:
        raise AttributeError(f"module 'numatlas' has no attribute {name!r}")
    globals()[name] = getattr(import_module(f"numatlas.{_PLACES[name]}"), name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
