"""CSV files of earlier programs: of numa_mem_bench (`--csv`), its mapping, and of the GPU sweeps."""

import csv
import io
from pathlib import Path

import pandas as pd

from numatlas.file_error import FileError
from numatlas.result import Result, View, cell_of, view_of

MIB = 2**20

SWEEP_COLUMNS = {
    "access_size(bytes)": "access_size_bytes",
    "read_latency(ms)": "read_latency",
    "read_bw(gib/s)": "read_bw",
    "write_latency(ms)": "write_latency",
    "write_bw(gib/s)": "write_bw",
}


def _curve(
    title: str, x: tuple[str, str], lines: dict[str, str], figure: str, unit: str, scale: float
) -> View:
    """A view of `rows`; `figure`: a column, in `unit`."""
    labels = [cell_of(head=head, label=name) for name, head in {x[0]: x[1], **lines}.items()]
    value = cell_of(figure=figure, scale=scale, **{"in": unit})
    return view_of(title, "curve", [*labels, value], level="flows", rows=x[0])


RANK_VIEWS = [
    _curve("Latency of each rank", ("size", "size of the memory"), {"rank": "rank"}, "value", "s", 1e9)
]
SWEEP_LINES = {"ngpus": "GPUs", "numa_nodes": "nodes", "numa_weight": "weights"}
SWEEP_VIEWS = [
    _curve(title, ("access_size_bytes", "size of a copy"), SWEEP_LINES, *figure)
    for title, *figure in (
        ("Host to GPU", "read_bw", "B/s", 2**-30),
        ("GPU to host", "write_bw", "B/s", 2**-30),
        ("Host to GPU, time of a copy", "read_latency", "s", 1e3),
        ("GPU to host, time of a copy", "write_latency", "s", 1e3),
    )
]


def read(path: Path, text: str) -> Result:
    """Which one it is, its first line tells."""
    head = next(csv.reader(io.StringIO(text.lstrip())), [])
    readers = {
        "size (MB)": _ranks,
        "rank": _mapping,
        "ngpus": _sweep,
        "numa_nodes": _sweep,
    }
    reader = readers.get(head[0].strip()) if head else None
    if reader is None:
        hint = "of numatlas itself give the JSON (--json FILE): it says how its figures are to be shown"
        raise FileError(path, "neither a result of numatlas nor CSV of an earlier program", hint=hint)
    _check_whole(path, text)
    try:
        frame = pd.read_csv(io.StringIO(text.lstrip()), skipinitialspace=True)
        if frame.empty:
            raise FileError(path, "a header without rows: a run that was ended before its first result")
        return reader(path, frame)
    except (KeyError, TypeError, ValueError) as error:  # pandas' errors are ValueErrors
        raise FileError(path, f"damaged: {str(error).splitlines()[0]}") from None


def _check_whole(path: Path, text: str) -> None:
    """Raises FileError for a file that was cut: pandas would take what is left of its last row. All that
    write such files end each row with a newline."""
    rows = csv.reader(io.StringIO(text), skipinitialspace=True)
    fields = [(rows.line_num, len(row)) for row in rows if any(row)]
    last = fields[-1][0]
    short = [line for line, count in fields if count < fields[0][1]]
    if not text.endswith("\n") or short[:1] == [last]:
        raise FileError(path, f"ends in the middle, in line {last}: a run that was killed, or a full disk?")
    if short:
        raise FileError(path, f"damaged: line {short[0]} has fewer fields than the first one")


def _ranks(path: Path, frame: pd.DataFrame) -> Result:
    """`rows`: a row for each size and rank: size (bytes), rank, value (s)."""
    rows = frame.melt(id_vars="size (MB)", var_name="rank", value_name="value").dropna()
    rows = rows.assign(
        size=rows["size (MB)"].astype(float) * MIB,
        rank=rows["rank"].astype(int),
        value=rows["value"].astype(float) * 1e-9,
    )
    rows = rows[["size", "rank", "value"]].sort_values(["rank", "size"], ignore_index=True)
    return Result(path, "numa_mem_bench", {"command": "latency"}, rows=rows, views=RANK_VIEWS)


def _mapping(path: Path, frame: pd.DataFrame) -> Result:
    """`rows`: rank, cpu_id, cpu_numa, memory_numa."""
    rows = frame[["rank", "cpu_id", "cpu_numa", "memory_numa"]]
    return Result(path, "mapping", rows=rows.astype({"rank": int, "cpu_numa": int, "memory_numa": int}))


def _sweep(path: Path, frame: pd.DataFrame) -> Result:
    """`rows`: as the file, with latencies in s, bandwidths in B/s and what is no number as `error`."""
    rows = frame.rename(columns=SWEEP_COLUMNS)
    measured = list(SWEEP_COLUMNS.values())[1:]
    numbers = rows[measured].apply(pd.to_numeric, errors="coerce")
    rows["error"] = rows[measured].where(numbers.isna()).bfill(axis=1).iloc[:, 0]
    rows[measured] = numbers * [1e-3 if name.endswith("latency") else 2**30 for name in measured]
    rows["numa_nodes"] = rows["numa_nodes"].astype(str)
    return Result(path, "gpu sweep", {"command": "transfer"}, rows=rows, views=SWEEP_VIEWS)
