"""CSV files of numa_mem_bench: its latencies (`--csv`), and its mapping."""

import csv
import io
from pathlib import Path

import pandas as pd

from numatlas.file_error import FileError
from numatlas.result import Result, View
from numatlas.units import number_text, size_text

MIB = 2**20


def read(path: Path, text: str) -> Result:
    """Which one it is, its first line tells."""
    head = next(csv.reader(io.StringIO(text.lstrip())), [])
    readers = {
        "size (MB)": _ranks,
        "rank": _mapping,
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
    return of_ranks(path, rows)


def of_ranks(path: Path, rows: pd.DataFrame) -> Result:
    """Of such rows."""
    return Result(path, "numa_mem_bench", {"command": "latency"}, views=[_view(rows)]).with_frame(
        "rows", rows
    )


def _view(rows: pd.DataFrame) -> View:
    """The latencies by rank, drawn as the program would (src/record/drawn.h)."""
    heads = ("size of the memory", "rank", "ns")
    kinds = [("size", None), ("rank", None), (None, "latency")]
    cells = [
        {"head": head, "label": label, "figure": figure, "part": "value", "scale": 1e9}
        for head, (label, figure) in zip(heads, kinds, strict=True)
    ]
    points = [
        {
            "line": f"rank {row.rank}",
            "cells": [
                {"text": size_text(row.size), "value": row.size},
                {"text": str(row.rank)},
                {"text": number_text(row.value * 1e9), "value": row.value * 1e9},
            ],
        }
        for row in rows.itertuples(index=False)
    ]
    shown = {"shown": {"words": "latency per load", "unit": "ns"}, "less_is_better": True, "cases": ""}
    over = {
        "axis": 0,
        "main": 2,
        "spread": "the file has no interval of these figures",
        "figure": "latency",
        "left": 2,
        "over": {"words": "size of the memory", "unit": "bytes", "by_powers": True},
    }
    drawn = {"heads": [{"text": head} for head in heads], "rows": points, **shown, **over}
    fields = {"kind": "curve", "level": "flows", "where": {}, "rows": "size", "columns": None}
    told = {"title": "Latency of each rank", "cells": cells, "notes": [], "verdict": [], "drawn": [drawn]}
    return {**fields, **told}


def _mapping(path: Path, frame: pd.DataFrame) -> Result:
    """`rows`: rank, cpu_id, cpu_numa, memory_numa."""
    rows = frame[["rank", "cpu_id", "cpu_numa", "memory_numa"]]
    rows = rows.astype({"rank": int, "cpu_numa": int, "memory_numa": int})
    return Result(path, "mapping").with_frame("rows", rows)
