"""process_results.py: heat maps of the nodes in a .dat file of distributed_streams."""

import argparse
import math
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from numatlas import exit_codes, plot
from numatlas.drawing.shapes import Drawing
from numatlas.figures.fleet import kernels_of
from numatlas.figures.model import Matrix
from numatlas.figures.scales import colour_range
from numatlas.file_error import FileError, intact
from numatlas.legacy.command import path_argument, read, script
from numatlas.output import write_whole
from numatlas.units import number_text

#: End of the file's name, column of the frame, what it is.
KINDS = (("avg", "value", "average"), ("min", "min", "worst round"), ("max", "max", "best round"))
#: The slowest nodes stand below the picture too: among thousands nobody finds them by their colour.
NAMED = 5


@script
def main(arguments: list[str]) -> None:
    """The script."""
    parser = argparse.ArgumentParser(
        prog="process_results.py",
        description="Draws a heat map of the nodes' bandwidth for each kernel: KERNEL_avg.png (average), "
        "KERNEL_min.png (worst round) and KERNEL_max.png (best round).",
    )
    what = "of distributed_streams or numatlas stream"
    path_argument(parser, "file", called="FILE.dat", metavar="FILE.dat", help=what)
    output = {"called": "--output", "default": Path(), "metavar": "DIR", "help": "folder [default: here]"}
    path_argument(parser, "--output", "-o", **output)
    options = parser.parse_args(arguments)
    hosts = read(options.file, "distributed_streams", "a .dat file of distributed_streams").hosts
    if not options.output.is_dir():
        raise FileError("--output", f"{options.output}: no such folder", exit_codes.IO)
    with intact(options.file):
        for name, mine in hosts.groupby(kernels_of(hosts, "{}_{}"), sort=False):
            ends = mine[["value", "min", "max"]].to_numpy(dtype=float).ravel() * 1e-9
            scale = colour_range(ends)
            for end, column, words in KINDS:
                path = options.output / f"{name}_{end}.png"
                picture = build(mine["host"], mine[column] * 1e-9, f"{name}, {words} of each node", scale)
                write_whole(path, partial(plot.save, picture))
                print(path)


def grid_shape(count: int) -> tuple[int, int]:
    """Rows and columns of a grid that is nearly square."""
    columns = math.ceil(math.sqrt(count))
    return -(-count // columns), columns


def build(names: pd.Series, values: pd.Series, title: str, scale: tuple[float, float]) -> Drawing:
    """A cell a node in the file's order. Values in GB/s of the whole node."""
    rows, columns = grid_shape(len(values))
    beyond = rows * columns - len(values)
    slowest = [f"{names[place]} {number_text(value)}" for place, value in values.nsmallest(NAMED).items()]
    notes = [
        "bytes as STREAM counts them, of the whole node; one scale for average, worst and best round",
        f"slowest: {', '.join(slowest)} GB/s",
    ]
    figure = Matrix(
        "heat-map",
        title[0].upper() + title[1:],
        notes=notes,
        rows=[""] * rows,
        columns=[""] * columns,
        unit="GB/s",
        less_is_better=False,
        values=np.append(values, [np.nan] * beyond).reshape(rows, columns).tolist(),
        texts=np.append(names, ["no node"] * beyond).reshape(rows, columns).tolist(),
    )
    return plot.build(figure, ends=scale)
