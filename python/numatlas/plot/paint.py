"""Shapes, painted by matplotlib: png, svg, pdf."""

import warnings
from typing import Any

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure as Picture
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline

from numatlas.drawing.shapes import COLOURS, LOOKS, POINTS, Drawing, Group, Image, Path, Shape, Words

#: Our settings and not those of whoever calls, as a matplotlibrc.
STYLE = {
    "font.family": "DejaVu Sans",  # matplotlib brings it along
    "text.parse_math": False,  # names of hosts and folders may have a $
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "numatlas",  # the same names in the same picture
    "pdf.fonttype": 42,  # whole outlines: journals refuse type 3
}
SIDES = {"start": "left", "middle": "center", "end": "right"}


def painted(drawing: Drawing) -> Picture:
    """To be saved."""
    picture = Picture(figsize=(drawing.wide * POINTS / 72, drawing.tall * POINTS / 72))
    FigureCanvasAgg(picture)
    axes = picture.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, drawing.wide), ylim=(drawing.tall, 0))
    axes.axis("off")
    _paint(axes, drawing.parts, "ink", 0.0, 0.0)
    return picture


def save(drawing: Drawing, target: Any, form: str, dpi: int, metadata: dict[str, None]) -> None:
    """Writes it in one of matplotlib's forms. Raises OSError where the file cannot be written."""
    with matplotlib.style.context(["default", STYLE]), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # letters that the font has not are boxes
        painted(drawing).savefig(target, format=form, dpi=dpi, metadata=metadata)


def _paint(axes: Axes, parts: list[Shape], colour: str, x: float, y: float) -> None:
    """In this colour, moved by x and y; what comes later lies above."""
    for shape in parts:
        match shape:
            case Group():
                _paint(axes, shape.parts, shape.colour or colour, x + shape.x, y + shape.y)
            case Image():
                box = shape.box
                ends = (x + box.x, x + box.x + box.wide, y + box.y + box.tall, y + box.y)
                pixels = [[to_rgba(one or "#ffffff00") for one in line] for line in shape.pixels]
                limits = axes.get_xlim(), axes.get_ylim()
                axes.imshow(pixels, extent=ends, aspect="auto", interpolation="none", zorder=2)
                axes.set(xlim=limits[0], ylim=limits[1])
            case Words():
                _words(axes, shape, x, y)
            case Path():
                _path(axes, shape, colour, x, y)


def _look(kind: str, own: dict[str, Any], colour: str) -> dict[str, Any]:
    """What SVG would show, on white paper."""
    every: dict[str, Any] = {}
    for word in kind.split():
        every |= LOOKS.get(word, {})
    names = {"currentcolor": colour} | {name: pair[0] for name, pair in COLOURS.items()}

    def resolved(value: Any) -> Any:
        while isinstance(value, str) and value in names:
            value = names[value]
        return value

    return {name: resolved(value) for name, value in (every | own).items()}


def _words(axes: Axes, shape: Words, x: float, y: float) -> None:
    look = _look(shape.kind, {"fill": shape.fill} if shape.fill else {}, "ink")
    base = 0.36 * shape.size
    place = (x + shape.x + base, y + shape.y) if shape.upright else (x + shape.x, y + shape.y + base)
    axes.text(
        *place,
        shape.text,
        size=shape.size * POINTS,
        color=look.get("fill", COLOURS["ink"][0]),
        weight=look.get("font-weight", 400),
        ha=SIDES[shape.side],
        va="baseline",
        rotation=90 if shape.upright else 0,
        rotation_mode="anchor",
        zorder=2,
    )


def _path(axes: Axes, shape: Path, colour: str, x: float, y: float) -> None:
    look = _look(shape.kind, shape.look, colour)
    points, codes = [], []
    for run in shape.runs:
        points += [(x + one, y + other) for one, other in run]
        codes += [Outline.MOVETO, *[Outline.LINETO] * (len(run) - 1)]
        points += [points[-1]] if shape.closed else []
        codes += [Outline.CLOSEPOLY] if shape.closed else []
    if not points:
        return
    width = look.get("stroke-width", 1.0)
    # Dashes of matplotlib are in widths of the line.
    dash = look.get("stroke-dasharray")
    patch = PathPatch(
        Outline(points, codes),
        facecolor=look.get("fill", "none"),
        edgecolor=look.get("stroke", "none"),
        linewidth=width * POINTS if "stroke" in look else 0.0,
        linestyle=(0, tuple(one / width for one in dash)) if dash else "-",
        alpha=look.get("opacity"),
        capstyle="butt",
        clip_on=False,
        zorder=2,
    )
    axes.add_patch(patch)
