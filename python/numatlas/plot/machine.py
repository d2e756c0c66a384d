"""A machine: packages, in them nodes with their caches, CPUs and devices."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.patches import Rectangle

from numatlas.figures.machine import Box, barred_cpus, boxes_of
from numatlas.figures.model import MachinePicture
from numatlas.plot.style import MARGIN, QUIET, SMALL, WIDTH, page, wrap
from numatlas.units import ranges_of

#: Inches: of the picture, around boxes, of a line of words, and of a node at least.
ACROSS, PAD, LINE, NARROWEST = WIDTH - 2 * MARGIN, 0.06, 0.125, 1.55
PACKAGE, NODE, SPECIAL = "#F2F2F2", "#DCE9F5", "#F7F1D5"


def build(figure: MachinePicture) -> Picture:
    """Everything the snapshot has, to scale with nothing: sizes are in words."""
    facts = wrap("; ".join(f"{name}: {value}" for name, value in figure.facts), ACROSS, SMALL)
    rows = [row for package in boxes_of(figure.machine) for row in _rows(package)]
    barred = sorted(barred_cpus(figure.machine))
    body = LINE * len(facts) + sum(height + 2 * PAD for *_, height in rows) + 0.08
    made = page(figure, body, extra=[f"not for this process: CPUs {ranges_of(barred)}"] if barred else [])
    axes = made.axes(MARGIN, made.bottom, ACROSS, made.top - made.bottom)
    axes.set(xlim=(0, ACROSS), ylim=(body, 0))
    axes.axis("off")
    _words(axes, facts, 0, 0, "fact", QUIET)
    y = LINE * len(facts) + 0.06
    for name, nodes, wide, height in rows:
        _box(axes, 0, y, ACROSS, height + PAD, PACKAGE)
        _words(axes, [name], PAD, y + PAD, "words")
        for index, (lines, colour) in enumerate(nodes):
            x, top = PAD + index * (wide + PAD), y + PAD + LINE
            _box(axes, x, top, wide, height - PAD - LINE, colour)
            _words(axes, lines, x + PAD, top + PAD, "words")
        y += height + 2 * PAD
    return made.picture


def _rows(package: Box) -> list[tuple[str, list[tuple[list[str], str]], float, float]]:
    """Nodes of a package that stand beside each other: its name, the lines and colour of each, their width,
    and the height of all."""
    nodes = package.parts if package.parts[0].kind == "node" else [Box("node", [], parts=package.parts)]
    most = min(len(nodes), int(ACROSS / NARROWEST))
    beside = -(-len(nodes) // -(-len(nodes) // most))
    wide = (ACROSS - PAD) / beside - PAD
    rows = []
    for start in range(0, len(nodes), beside):
        lines = [_lines(node, wide - 2 * PAD) for node in nodes[start : start + beside]]
        colours = [SPECIAL if node.special else NODE for node in nodes[start : start + beside]]
        height = LINE * (1 + max(map(len, lines))) + 3 * PAD
        rows.append((package.words[0], list(zip(lines, colours, strict=True)), wide, height))
    return rows


def _lines(box: Box, width: float) -> list[str]:
    """Words of a box and its parts; those of a cache with its CPUs."""
    words = box.words if box.kind == "node" else [", ".join(box.words)]
    if box.cores:
        words = [*words, f"CPUs {ranges_of([cpu for core in box.cores for cpu in core])}"]
    lines = [line for text in words for line in wrap(text, width, SMALL)]
    return lines + [line for part in box.parts for line in _lines(part, width)]


def _box(axes: Axes, x: float, y: float, width: float, height: float, colour: str) -> None:
    look = {"facecolor": colour, "edgecolor": "#777777", "lw": 0.5, "clip_on": False}
    axes.add_patch(Rectangle((x, y), width, height, **look))


def _words(axes: Axes, lines: list[str], x: float, y: float, gid: str, colour: str = "black") -> None:
    for index, line in enumerate(lines):
        axes.text(x, y + LINE * index, line, size=SMALL, va="top", color=colour, gid=gid)
