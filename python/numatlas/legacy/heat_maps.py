"""process_results.py: heat maps of the nodes in a .dat file of distributed_streams."""

import argparse
import math
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure as Picture
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from numatlas import exit_codes
from numatlas.figures.model import Figure
from numatlas.file_error import intact
from numatlas.files import named
from numatlas.legacy.command import fail, read, script, write
from numatlas.plot import styled
from numatlas.plot.matrix import COLOURS, bar, colour_range, readable, separate
from numatlas.plot.style import MARGIN, page, text_width
from numatlas.units import number_text

#: End of the file's name, column of the frame, what it is.
KINDS = (
    ("avg", "value", "average"),
    ("min", "min", "worst round"),
    ("max", "max", "best round"),
)
#: Inches of all cells together, and of one at most; points of the smallest words.
ACROSS, LARGEST, SMALLEST = 5.7, 0.95, 4.0
#: The slowest nodes stand below the picture too: among thousands nobody finds them by their colour.
NAMED = 5


@script
def main(arguments: list[str] | None = None) -> None:
    """The script."""
    options = _options(arguments)
    result = read(options.file, "distributed_streams", "a .dat file of distributed_streams")
    if not options.output.is_dir():
        fail(exit_codes.IO, f"--output: {options.output}: no such folder")
    with intact(options.file):
        _draw_all(result.hosts, options.output)


def _draw_all(hosts: pd.DataFrame, folder: Path) -> None:
    hosts = hosts.assign(
        name=hosts["kernel"] + hosts["mode"].map(lambda mode: "" if mode == "memory" else f"_{mode}")
    )
    for name, mine in hosts.groupby("name", sort=False):
        scale = colour_range(mine[["value", "min", "max"]].to_numpy(dtype=float) * 1e-9)
        for end, column, words in KINDS:
            path = folder / f"{name}_{end}.png"
            write(build(mine["host"], mine[column] * 1e-9, f"{name}, {words} of each node", scale), path)
            print(path)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="process_results.py",
        description="Draws a heat map of the nodes' bandwidth for each kernel: KERNEL_avg.png (average), "
        "KERNEL_min.png (worst round) and KERNEL_max.png (best round).",
    )
    parser.add_argument(
        "file",
        type=partial(named, "FILE.dat"),
        metavar="FILE.dat",
        help="of distributed_streams or numatlas stream",
    )
    parser.add_argument(
        "--output",
        "-o",
        type=partial(named, "--output"),
        default=Path(),
        metavar="DIR",
        help="folder [default: here]",
    )
    return parser.parse_args(sys.argv[1:] if arguments is None else arguments)


def grid_shape(count: int) -> tuple[int, int]:
    """Rows and columns of a grid that is nearly square."""
    columns = math.ceil(math.sqrt(count))
    return -(-count // columns), columns


@styled
def build(names: pd.Series, values: pd.Series, title: str, scale: Normalize) -> Picture:
    """A cell a node in the file's order. Values in GB/s of the whole node."""
    rows, columns = grid_shape(len(values))
    cells = np.full(rows * columns, np.nan)
    cells[: len(values)] = values
    wide = min(ACROSS / columns, LARGEST)
    tall = wide * (0.6 if wide >= 0.4 else 1)
    slowest = ", ".join(
        f"{names.iloc[place]} {number_text(values.iloc[place])}" for place in values.argsort()[:NAMED]
    )
    notes = [
        "bytes as STREAM counts them, of the whole node; one scale for average, worst and best round",
        f"slowest: {slowest} GB/s",
    ]
    made = page(Figure("heat-map", title[0].upper() + title[1:], notes=notes), max(tall * rows, 1.1) + 0.15)
    axes = made.axes(MARGIN, made.top - 0.05 - tall * rows, wide * columns, tall * rows)
    image = axes.imshow(cells.reshape(rows, columns), cmap=COLOURS, norm=scale, aspect="auto")
    axes.axis("off")
    separate(axes, wide, rows, columns)
    for index in range(len(values), rows * columns):
        axes.add_patch(Rectangle((index % columns - 0.5, index // columns - 0.5), 1, 1, color="white"))
    _words(axes, image, names, values, wide, tall)
    high = max(tall * rows, 1.0)
    bar(
        made.picture,
        made.axes(MARGIN + wide * columns + 0.15, made.top - 0.05 - high, 0.13, high),
        "GB/s",
        False,
        image,
    )
    return made.picture


def _words(
    axes: Axes, image: AxesImage, names: pd.Series, values: pd.Series, wide: float, tall: float
) -> None:
    """The node's name and its rounded GB/s, where they can be read."""
    columns = image.get_array().shape[1]
    widest = max(text_width(str(name), 10) for name in names) / 10
    size = min(7.0, 0.9 * wide / widest, 0.3 * tall * 72)
    for index, (name, value) in enumerate(zip(names, values, strict=True)):
        words = f"{name}\n{value:.0f}" if size >= SMALLEST else f"{value:.0f}"
        points = size if size >= SMALLEST else min(6.0, 0.8 * wide / text_width(words, 1))
        if points < SMALLEST:
            return
        colour = readable(image.cmap(image.norm(value)))
        axes.text(
            index % columns,
            index // columns,
            words,
            size=points,
            color=colour,
            ha="center",
            va="center",
            gid="cell",
        )
