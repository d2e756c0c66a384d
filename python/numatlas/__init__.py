"""What numatlas measured, as data frames, pictures and pages.

import numatlas
result = numatlas.load("report")          # a survey, or any result file
result.summary                            # the headline figures
result["matrix"].flows                    # a survey's benchmark: a row a worker, point and metric
"""

from importlib.metadata import PackageNotFoundError, version

from numatlas.file_error import FileError
from numatlas.files import load
from numatlas.result import Result

try:
    __version__ = version("numatlas")
except PackageNotFoundError:  # a folder in PYTHONPATH
    __version__ = "unknown"

__all__ = ["FileError", "Result", "__version__", "load"]
