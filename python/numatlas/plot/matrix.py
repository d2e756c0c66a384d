"""Heat maps: a number in each cell where there is room for it."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure as Picture
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from numatlas.figures.matrix_words import Words, fitting
from numatlas.figures.model import Matrix
from numatlas.figures.scales import INKS, common_ends
from numatlas.plot.style import MARGIN, PAPER, Frame, numbers, page, room, text_width
from numatlas.units import ink_on

#: Even steps of lightness for all kinds of sight; its light end is the better one in all our pictures.
COLOURS = "cividis"
#: Inches for the cells, less than the width by names and the colour bar, and of one.
BESIDE, TALL, LARGEST, FLATTEST = 2.0, 5.6, 0.95, 0.42
#: Points that a row has at least.
LOWEST = 4.5
#: Inches: in smaller cells white lines would be most of what is seen.
LEAST_SEPARATE = 0.15
MOST_TICKS = 24
#: Points of lines between caches, nodes and sockets.
BREAKS = {1: 0.5, 2: 1.2, 3: 2.4}
#: Inches of an axis' words, of a column's name that lies, of space, and of the colour bar at least.
LABEL, NAME, SPACE, LEAST_BAR = 0.2, 0.17, 0.05, 1.1
#: Points that the colour bar's numbers take.
BAR_NUMBERS = 34


def build(figure: Matrix, frame: Frame = PAPER, ends: tuple[float, float] | None = None) -> Picture:
    """Cells, the colour bar that says which end is better, and the small print. `ends`: of the colours, where
    several pictures have one scale."""
    shape = (len(figure.rows), len(figure.columns))
    values = np.array([numbers(row) for row in figure.values], dtype=float).reshape(shape)
    wide = min((frame.width - BESIDE) / max(shape[1], 1), LARGEST)
    tall = min(max(wide, LOWEST / 72) if wide < FLATTEST else FLATTEST, TALL / max(shape[0], 1))
    # Names of columns stand upright where they would touch each other.
    widest = max((text_width(str(name), 7) for name in figure.columns), default=0)
    turned = widest > _step(shape[1]) * wide - SPACE
    below = LABEL + (room(figure.columns, 7) if turned else NAME)
    texts = fitting(figure, 72 * wide, 72 * tall, lambda text: 72 * text_width(text, 1))
    cells, high = (wide * shape[1], tall * shape[0]), max(tall * shape[0], LEAST_BAR)
    made = page(figure, high + below + 0.08, extra=_extra(figure, values, texts), frame=frame)
    lying = text_width(figure.row_label, 8) > cells[1]
    left = MARGIN + (room([figure.row_label], 8) if lying else LABEL) + room(figure.rows, 7)
    axes = made.axes(left, made.top - SPACE - cells[1], *cells)
    colours = f"{COLOURS}_r" if figure.less_is_better else COLOURS
    norm = Normalize(*(ends or common_ends([figure])))
    image = axes.imshow(values, cmap=colours, norm=norm, aspect="auto", interpolation="none")
    if wide >= LEAST_SEPARATE:  # neighbours of one colour stay two
        axes.hlines(np.arange(1, shape[0]) - 0.5, -0.5, shape[1] - 0.5, color="white", linewidth=0.8)
        axes.vlines(np.arange(1, shape[1]) - 0.5, -0.5, shape[0] - 0.5, color="white", linewidth=0.8)
    for at, weight in figure.breaks.items():
        look = {"color": "white", "linewidth": BREAKS[weight], "gid": "break"}
        axes.axhline(at - 0.5, **look)
        axes.axvline(at - 0.5, **look)
    _ticks(axes, figure, turned)
    if lying:
        axes.yaxis.label.set(rotation=0, ha="right", va="center")
    _cells(axes, image, texts)
    bar = made.axes(left + cells[0] + 0.15, made.top - SPACE - high, 0.13, high)
    made.picture.colorbar(image, cax=bar).outline.set_visible(False)
    # Beside the numbers and lying: a short bar has no room for upright words. The better end is above.
    words = f"{figure.unit}\n\nlight is\nbetter\n({'less' if figure.less_is_better else 'more'})"
    bar.annotate(
        words, (1, 1), (BAR_NUMBERS, 0), "axes fraction", "offset points", size=7, va="top", gid="sense"
    )
    if figure.less_is_better:
        bar.invert_yaxis()
    return made.picture


def _step(count: int) -> int:
    """Every how many rows have a name: a power of two, as CPUs are counted."""
    step = 1
    while count > MOST_TICKS * step:
        step *= 2
    return step


def _ticks(axes: Axes, figure: Matrix, turned: bool) -> None:
    for axis, names, label in (
        (axes.xaxis, figure.columns, figure.column_label),
        (axes.yaxis, figure.rows, figure.row_label),
    ):
        step = _step(len(names))
        axis.set_ticks(range(0, len(names), step), [str(name) for name in names[::step]])
        axis.set_label_text(label)
    axes.tick_params(length=0)
    axes.tick_params(axis="x", rotation=90 if turned else 0)
    axes.spines[["left", "bottom"]].set_visible(False)


def _cells(axes: Axes, image: AxesImage, texts: Words) -> None:
    words, size, _ = texts
    for (row, column), value in np.ndenumerate(image.get_array().filled(np.nan)):
        if np.isnan(value):
            corner = (column - 0.5, row - 0.5)
            if (row, column) not in words:
                axes.add_patch(Rectangle(corner, 1, 1, fill=False, hatch="////", edgecolor="#BBBBBB", lw=0))
        if (row, column) in words:
            ink = "black" if np.isnan(value) else INKS[ink_on(*image.cmap(image.norm(value))[:3])]
            look = {"ha": "center", "va": "center", "size": size, "gid": "cell", "color": ink}
            axes.text(column, row, words[row, column], **look)


def _extra(figure: Matrix, values: np.ndarray, texts: Words) -> list[str]:
    """What the cells cannot tell themselves."""
    empty = [cell for cell in zip(*np.nonzero(np.isnan(values)), strict=True) if not figure.spread_of(*cell)]
    whys = list(dict.fromkeys(figure.texts[row][column] or "no value" for row, column in empty))
    lines = [f"hatched: {'; '.join(whys)}"] if whys else []
    if figure.widest() and not texts[2]:
        lines.append(f"the widest spread of a cell is {figure.widest()}")
    return lines
