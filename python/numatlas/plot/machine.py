"""A machine: packages, in them nodes with their caches, CPUs and devices."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.patches import Rectangle

from numatlas.figures.machine import Box, boxes_of
from numatlas.figures.model import MachinePicture
from numatlas.plot.style import MARGIN, PAPER, QUIET, SMALL, Frame, page, wrap

#: Inches: around boxes, of a line of words, and of a node at least.
PAD, LINE, NARROWEST = 0.06, 0.125, 1.55
PACKAGE, NODE, SPECIAL = "#F2F2F2", "#DCE9F5", "#F7F1D5"


def build(figure: MachinePicture, frame: Frame = PAPER) -> Picture:
    """Everything the snapshot has, to scale with nothing: sizes are in words."""
    across = frame.free
    facts = wrap("; ".join(f"{name}: {value}" for name, value in figure.facts), across, SMALL)
    rows = [row for name, nodes in boxes_of(figure.machine).items() for row in _rows(name, nodes, across)]
    body = LINE * len(facts) + sum(height + 2 * PAD for *_, height in rows) + 0.08
    made = page(figure, body, frame=frame)
    axes = made.axes(MARGIN, made.bottom, across, made.top - made.bottom)
    axes.set(xlim=(0, across), ylim=(body, 0))
    axes.axis("off")
    _words(axes, facts, 0, 0, "fact", QUIET)
    y = LINE * len(facts) + 0.06
    for name, nodes, wide, height in rows:
        _box(axes, 0, y, across, height + PAD, PACKAGE)
        _words(axes, [name], PAD, y + PAD, "words")
        for index, (lines, colour) in enumerate(nodes):
            x, top = PAD + index * (wide + PAD), y + PAD + LINE
            _box(axes, x, top, wide, height - PAD - LINE, colour)
            _words(axes, lines, x + PAD, top + PAD, "words")
        y += height + 2 * PAD
    return made.picture


Row = tuple[str, list[tuple[list[str], str]], float, float]


def _rows(name: str, nodes: list[Box], across: float) -> list[Row]:
    """Nodes of a package that stand beside each other: its name, the lines and colour of each, their width,
    and the height of all."""
    most = max(1, min(len(nodes), int(across / NARROWEST)))
    beside = -(-len(nodes) // -(-len(nodes) // most))
    wide = (across - PAD) / beside - PAD
    rows = []
    for start in range(0, len(nodes), beside):
        mine = nodes[start : start + beside]
        lines = [[line for text in node.words for line in wrap(text, wide - 2 * PAD, SMALL)] for node in mine]
        colours = [SPECIAL if node.special else NODE for node in mine]
        height = LINE * (1 + max(map(len, lines))) + 3 * PAD
        rows.append((name, list(zip(lines, colours, strict=True)), wide, height))
    return rows


def _box(axes: Axes, x: float, y: float, width: float, height: float, colour: str) -> None:
    look = {"facecolor": colour, "edgecolor": "#777777", "lw": 0.5, "clip_on": False}
    axes.add_patch(Rectangle((x, y), width, height, **look))


def _words(axes: Axes, lines: list[str], x: float, y: float, gid: str, colour: str = "black") -> None:
    for index, line in enumerate(lines):
        axes.text(x, y + LINE * index, line, size=SMALL, va="top", color=colour, gid=gid)
