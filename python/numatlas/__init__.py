"""What numatlas measured, as data frames, pictures and pages.

import numatlas
result = numatlas.load("report")          # a survey, or any result file
result.flows                              # a row a worker, point and metric
"""

from numatlas.file_error import FileError
from numatlas.files import load
from numatlas.result import Result

__all__ = ["FileError", "Result", "load"]
