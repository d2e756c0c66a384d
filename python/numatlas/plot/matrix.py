"""Heat maps: a number in each cell where there is room for it."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure as Picture
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from numatlas.figures.model import Matrix
from numatlas.plot.style import MARGIN, numbers, page, room, text_width
from numatlas.units import number_text

#: Even steps of lightness for all kinds of sight; its light end is the better one in all our pictures.
COLOURS = "cividis"
#: Inches for the cells, and of one.
WIDE, TALL, LARGEST, FLATTEST = 5.0, 5.6, 0.95, 0.42
#: Points: smaller ones nobody reads.
SMALLEST = 4.5
#: Inches: in smaller cells white lines would be most of what is seen.
LEAST_SEPARATE = 0.15
#: The colours reach over at least this part of the largest value, so that noise is not made a pattern.
LEAST_RANGE = 0.1
MOST_TICKS = 24
#: Inches of an axis' words, and of the colour bar at least.
LABEL, LEAST_BAR = 0.2, 1.1
#: Points that the colour bar's numbers take.
BAR_NUMBERS = 34


def build(figure: Matrix) -> Picture:
    """Cells, the colour bar that says which end is better, and the small print."""
    values = np.array([numbers(row) for row in figure.values], dtype=float).reshape(
        len(figure.rows), len(figure.columns)
    )
    wide, tall = _cell(values.shape)
    cells = (wide * values.shape[1], tall * values.shape[0])
    turned = _turned(figure, wide)
    below = LABEL + (room(map(str, figure.columns), 7) if turned else 0.17)
    body = max(cells[1], LEAST_BAR) + below + 0.08
    made = page(figure, body, extra=_extra(figure, values, wide, tall))
    lying = text_width(figure.row_label, 8) > cells[1]
    left = MARGIN + (room([figure.row_label], 8) if lying else LABEL) + room(map(str, figure.rows), 7)
    axes = made.axes(left, made.top - 0.05 - cells[1], *cells)
    image = axes.imshow(values, cmap=_colours(figure), norm=colour_range(values), aspect="auto")
    separate(axes, wide, *values.shape)
    _ticks(axes, figure, turned)
    if lying:
        axes.yaxis.label.set(rotation=0, ha="right", va="center")
    for row, column in zip(*np.nonzero(np.isnan(values)), strict=True):
        axes.add_patch(
            Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, hatch="////", edgecolor="#BBBBBB", lw=0)
        )
    _cell_texts(axes, figure, values, image, wide, tall)
    high = max(cells[1], LEAST_BAR)
    bar_axes = made.axes(left + cells[0] + 0.15, made.top - 0.05 - high, 0.13, high)
    bar(made.picture, bar_axes, figure.unit, figure.less_is_better, image)
    return made.picture


def separate(axes: Axes, wide: float, rows: int, columns: int) -> None:
    """White lines between cells that are `wide` enough: neighbours of one colour stay two."""
    if wide >= LEAST_SEPARATE:
        for row in range(1, rows):
            axes.axhline(row - 0.5, color="white", linewidth=0.8)
        for column in range(1, columns):
            axes.axvline(column - 0.5, color="white", linewidth=0.8)


def bar(picture: Picture, axes: Axes, unit: str, less_is_better: bool, image: AxesImage) -> None:
    """What the colours are; the better end is above."""
    made = picture.colorbar(image, cax=axes)
    # Beside the numbers and lying: a short bar has no room for upright words.
    words = f"{unit}\n\nlight is\nbetter\n({'less' if less_is_better else 'more'})"
    axes.annotate(
        words, (1, 1), (BAR_NUMBERS, 0), "axes fraction", "offset points", size=7, va="top", gid="sense"
    )
    if less_is_better:
        axes.invert_yaxis()
    made.outline.set_visible(False)


def _turned(figure: Matrix, wide: float) -> bool:
    """Whether names of columns stand upright, as they would touch each other."""
    widest = max((text_width(str(name), 7) for name in figure.columns), default=0)
    return widest > _step(len(figure.columns)) * wide - 0.05


def _step(count: int) -> int:
    """Every how many rows have a name: a power of two, as CPUs are counted."""
    step = 1
    while count > MOST_TICKS * step:
        step *= 2
    return step


def _cell(shape: tuple[int, int]) -> tuple[float, float]:
    """Width and height of a cell in inches."""
    rows, columns = max(shape[0], 1), max(shape[1], 1)
    wide = min(WIDE / columns, LARGEST)
    return wide, min(FLATTEST, wide, TALL / rows) if wide < FLATTEST else min(FLATTEST, TALL / rows)


def _colours(figure: Matrix) -> str:
    return f"{COLOURS}_r" if figure.less_is_better else COLOURS


def colour_range(values: np.ndarray) -> Normalize:
    """From the least to the largest value, and never so narrow that noise becomes a pattern."""
    there = values[~np.isnan(values)]
    if not there.size:
        return Normalize(0, 1)
    low, high = float(there.min()), float(there.max())
    least = LEAST_RANGE * abs(high) or 1.0
    if high - low < least:
        middle = (low + high) / 2
        low, high = middle - least / 2, middle + least / 2
    return Normalize(low, high)


def _ticks(axes: Axes, figure: Matrix, turned: bool) -> None:
    for axis, names, label in (
        (axes.xaxis, figure.columns, figure.column_label),
        (axes.yaxis, figure.rows, figure.row_label),
    ):
        step = _step(len(names))
        axis.set_ticks(range(0, len(names), step), [str(name) for name in names[::step]])
        axis.set_label_text(label)
    axes.tick_params(length=0)
    if turned:
        axes.tick_params(axis="x", rotation=90)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)


def _size(figure: Matrix, values: np.ndarray, wide: float, tall: float) -> float:
    """Points of the numbers; 0 where they do not fit."""
    if 0.6 * tall * 72 < SMALLEST:
        return 0
    texts = {number_text(value, 3) for value in values[~np.isnan(values)]}
    if not texts:
        return 0
    widest = max(text_width(text, 10) for text in texts) / 10  # of a point
    size = min(8.0, 0.8 * wide / widest, 0.6 * tall * 72)
    return size if size >= SMALLEST else 0


def _interval(figure: Matrix, row: int, column: int) -> str:
    low, high = figure.low[row][column], figure.high[row][column]
    return "" if low is None or high is None else f"{number_text(low, 3)} - {number_text(high, 3)}"


def _intervals_fit(figure: Matrix, wide: float, tall: float) -> bool:
    if tall < 0.3:
        return False
    texts = [
        _interval(figure, row, column)
        for row in range(len(figure.low))
        for column in range(len(figure.low[row]))
    ]
    return any(texts) and max(text_width(text, 5.5) for text in texts) <= 0.94 * wide


def _cell_texts(
    axes: Axes, figure: Matrix, values: np.ndarray, image: AxesImage, wide: float, tall: float
) -> None:
    size = _size(figure, values, wide, tall)
    if not size:
        return
    small = _intervals_fit(figure, wide, tall)
    for (row, column), value in np.ndenumerate(values):
        if np.isnan(value):
            continue
        colour = readable(image.cmap(image.norm(value)))
        interval = _interval(figure, row, column) if small else ""
        up = 0.16 if interval else 0
        axes.text(
            column,
            row - up,
            number_text(value, 3),
            ha="center",
            va="center",
            size=size,
            color=colour,
            gid="cell",
        )
        if interval:
            axes.text(
                column, row + 0.25, interval, ha="center", va="center", size=5.5, color=colour, gid="interval"
            )


def readable(colour: tuple[float, ...]) -> str:
    """Black or white, whichever has more contrast (WCAG 2's relative luminance)."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour[:3]]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "black" if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "white"


def _extra(figure: Matrix, values: np.ndarray, wide: float, tall: float) -> list[str]:
    """What the cells cannot tell themselves."""
    lines = []
    if np.isnan(values).any():
        lines.append("hatched: " + "; ".join(_whys(figure, values)))
    widest = figure.widest()
    if widest is not None and not (_size(figure, values, wide, tall) and _intervals_fit(figure, wide, tall)):
        lines.append(f"the widest spread of a cell is {widest}")
    return lines


def _whys(figure: Matrix, values: np.ndarray) -> list[str]:
    """Why cells are empty, each reason once."""
    found = {}
    for row, column in zip(*np.nonzero(np.isnan(values)), strict=True):
        told = figure.whys[row] if row < len(figure.whys) else []
        found[(told[column] if column < len(told) else "") or "no value"] = None
    return list(found)
