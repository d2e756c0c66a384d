"""CSV files: of numa_mem_bench (`--csv`), its mapping, of `--format csv`, and of the GPU sweeps."""

import csv
import io
from pathlib import Path

import pandas as pd

from numatlas.file_error import FileError
from numatlas.readers.tidy_csv import read_tidy
from numatlas.result import Result

MIB = 2**20

SWEEP_COLUMNS = {
    "access_size(bytes)": "access_size_bytes",
    "read_latency(ms)": "read_latency",
    "read_bw(gib/s)": "read_bw",
    "write_latency(ms)": "write_latency",
    "write_bw(gib/s)": "write_bw",
}


def read(path: Path, text: str) -> Result:
    """Which one it is, its first line tells."""
    head = next(csv.reader(io.StringIO(text.lstrip())), [])
    readers = {
        "size (MB)": _ranks,
        "rank": _mapping,
        "ngpus": _sweep,
        "host": read_tidy,
        "numa_nodes": _sweep,
    }
    reader = readers.get(head[0].strip()) if head else None
    if reader is None:
        raise FileError(
            path, "neither a result of numatlas nor a CSV file that it or an earlier program writes"
        )
    _check_whole(path, text)
    try:
        if reader is read_tidy and "node_bytes_per_second" in head:
            reader = _tidy_stream
        # Words of the command stay words: a node "0", and a kind of memory that is called "none".
        words = {"dtype": str, "keep_default_na": False, "na_values": [""]} if reader is read_tidy else {}
        frame = pd.read_csv(io.StringIO(text.lstrip()), skipinitialspace=True, **words)
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
    long = frame.melt(id_vars="size (MB)", var_name="rank", value_name="value").dropna()
    long["rank"] = long["rank"].astype(int)
    long["value"] = long["value"].astype(float) * 1e-9
    long["size"] = long["size (MB)"].astype(float) * MIB
    rows = long[["size", "rank", "value"]].sort_values(["rank", "size"], ignore_index=True)
    return Result(path, "numa_mem_bench", rows=rows)


def _mapping(path: Path, frame: pd.DataFrame) -> Result:
    """`rows`: rank, cpu_id, cpu_numa, memory_numa."""
    rows = frame[["rank", "cpu_id", "cpu_numa", "memory_numa"]]
    return Result(path, "mapping", rows=rows.astype({"rank": int, "cpu_numa": int, "memory_numa": int}))


def _sweep(path: Path, frame: pd.DataFrame) -> Result:
    """`rows`: as the file, with latencies in s, bandwidths in B/s and what is no number as `error`."""
    rows = frame.rename(columns=SWEEP_COLUMNS)
    measured = list(SWEEP_COLUMNS.values())[1:]
    words = (
        rows[measured]
        .astype(str)
        .apply(lambda row: next((w for w in row if not _is_number(w)), None), axis=1)
    )
    rows["error"] = words
    for name in measured:
        factor = 1e-3 if name.endswith("latency") else 2**30
        rows[name] = pd.to_numeric(rows[name], errors="coerce") * factor
    rows["numa_nodes"] = rows["numa_nodes"].astype(str)
    return Result(path, "gpu sweep", rows=rows)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return word != "nan"


def _tidy_stream(path: Path, frame: pd.DataFrame) -> Result:
    rounds = frame.rename(
        columns={
            "node_seconds": "seconds",
            "slowest_seconds": "slowest",
            "node_bytes_per_second": "bandwidth",
        }
    )
    rounds["counted"] = rounds["counted"] == "yes"
    counted = rounds[rounds["counted"]].groupby(["host", "kernel", "mode"], sort=False)["bandwidth"]
    hosts = counted.agg(value="median", min="min", max="max", n="count").reset_index()
    hosts = hosts.assign(low=None, high=None, unit="B/s", slow=False)
    return Result(path, "stream csv", hosts=hosts, rounds=rounds)
