"""An atlas, drawn by matplotlib."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.patches import FancyBboxPatch

from numatlas.figures.atlas_layout import WIDE
from numatlas.figures.atlas_paint import key_of, mode_of, paint
from numatlas.figures.model import Atlas, Box
from numatlas.plot.style import MARGIN, PAPER, QUIET, SMALL, Frame, page, text_width, wrap

COLOURS = {"ink": "black", "quiet": QUIET, "edge": "#777777", "soft": "#F2F2F2", "card": "#FFFFFF"}
#: Inches of a line of words below.
KEY = 0.125


def build(figure: Atlas, frame: Frame = PAPER, mode: str = "") -> Picture:
    """`mode`: one of the figure's; its first by default."""
    mode, scale = mode_of(figure, mode), frame.free / WIDE
    key = wrap(key_of(figure, mode), frame.free, SMALL)
    height = figure.height + (KEY * len(key) + 0.06) / scale
    made = page(figure, height * scale, frame=frame)
    axes = made.axes(MARGIN, made.bottom, frame.free, made.top - made.bottom)
    axes.set(xlim=(0, WIDE), ylim=(height, 0))
    axes.axis("off")
    paint(figure, mode, _Pen(axes, scale))
    for index, line in enumerate(key):
        y = figure.height + (0.06 + KEY * (index + 0.5)) / scale
        axes.text(0, y, line, size=SMALL, color=QUIET, va="center", gid="words")
    return made.picture


class _Pen:
    """In inches of the figure, whatever the frame's width."""

    def __init__(self, axes: Axes, scale: float) -> None:
        self.axes, self.scale = axes, scale

    def box(self, box: Box, fill: str, told: str = "", dashed: bool = False) -> None:
        look = {"linewidth": 1.6 if dashed else 0.7, "linestyle": (0, (3, 1.5)) if dashed else "-"}
        look |= {"edgecolor": COLOURS["edge"], "boxstyle": "round,pad=0,rounding_size=0.05"}
        place = (box.x, box.y), box.wide, box.tall
        shape = FancyBboxPatch(*place, facecolor=COLOURS.get(fill, fill), clip_on=False, **look)
        self.axes.add_patch(shape)

    def words(self, text: str, x: float, y: float, size: float, colour: str, side: str, bold: bool) -> None:
        look = {"fontweight": "bold" if bold else "normal", "color": COLOURS.get(colour, colour)}
        self.axes.text(x, y, text, size=size, ha=side, va="center", gid="words", **look)

    def line(self, line: tuple, width: float, colour: str, told: str = "", dashed: bool = False) -> None:
        # matplotlib's dashes are in widths of the line: those of an edge and of its line are as long.
        dash = (0, (7 / width, 4 / width)) if dashed else "-"
        look = {"linewidth": width, "color": COLOURS.get(colour, colour), "linestyle": dash}
        self.axes.plot(line[0::2], line[1::2], solid_capstyle="butt", zorder=0.8, **look)

    def width(self, text: str, size: float, bold: bool = False) -> float:
        return text_width(text, size, bold) / self.scale
