"""Raw samples, as --samples writes them (src/report/samples_file.h of the program)."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd

from numatlas.file_error import FileError
from numatlas.result import Result

MAGIC = b"NUMATLAS-SAMPLES "
VERSION = b"1"

#: Column of the frame, and its name in the file's index.
COLUMNS = (("point", "case"), ("name", "name"), ("worker", "worker"), ("metric", "figure"), ("unit", "unit"))


def read(path: Path, data: bytes) -> Result:
    """`samples`: a row for each sample, with its case, worker and figure; values in SI units.

    Raises FileError for a file of a newer version, and for one that was cut."""
    file = io.BytesIO(data)
    version = file.readline()[len(MAGIC) :].strip()
    if version != VERSION:
        raise FileError(path, f"samples of version {version.decode(errors='replace')}: of a newer numatlas")
    try:
        index = json.loads(file.read(int(file.readline())))
        file.readline()
        values = np.frombuffer(data, dtype="<f8", offset=file.tell())
    except ValueError:
        raise FileError(path, "ends in the middle: a copy that was cut?") from None
    flows = index["flows"]
    counts = [flow["count"] for flow in flows]
    if sum(counts) > len(values):
        raise FileError(path, "ends in the middle: a copy that was cut?")
    if sum(counts) < len(values):
        raise FileError(path, "damaged, or changed by hand: it has more samples than its index names")
    columns = {name: np.repeat([flow[key] for flow in flows], counts) for name, key in COLUMNS}
    meta = {key: index[key] for key in ("command", "started")}
    return Result(path, "samples", meta, samples=pd.DataFrame({**columns, "value": values}))
