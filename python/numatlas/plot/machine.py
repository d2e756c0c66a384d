"""A machine: packages, in them nodes, in them caches and CPUs; at the nodes GPUs and persistent memory."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.patches import Rectangle

from numatlas.figures.model import MachinePicture
from numatlas.plot.style import MARGIN, QUIET, SMALL, WIDTH, page, shorten, wrap
from numatlas.units import size_text

#: Inches.
ACROSS = WIDTH - 2 * MARGIN
PAD, LINE, CELL, THIN = 0.06, 0.125, 0.2, 0.13
NARROWEST = 1.55
#: More nodes beside each other are not readable.
MOST_COLUMNS = 4
PACKAGE, NODE, CACHE, CPU, DEVICE, BARRED = "#F2F2F2", "#DCE9F5", "#F7F1D5", "#FFFFFF", "#E3F2DF", "#CFCFCF"


@dataclass
class Box:
    """A part of the picture with what is in it; laid out from its width."""

    words: list[str]
    colour: str
    cores: list[list[int]] = field(default_factory=list)  #: CPUs of each core
    parts: list["Box"] = field(default_factory=list)
    narrowest: float = NARROWEST

    def columns(self, width: float) -> int:
        """How many parts stand beside each other."""
        if not self.parts:
            return 1
        least = max(part.narrowest for part in self.parts)
        most = max(1, min(len(self.parts), MOST_COLUMNS, int((width - PAD) / (least + PAD))))
        rows = -(-len(self.parts) // most)
        return -(-len(self.parts) // rows)

    def part_width(self, width: float) -> float:
        """Inches."""
        columns = self.columns(width)
        return (width - PAD * (columns + 1)) / columns

    def lines(self, width: float) -> list[str]:
        """The words, wrapped."""
        return [line for words in self.words for line in wrap(words, width - 2 * PAD, SMALL)]

    def cells(self, width: float) -> tuple[int, int, float, float]:
        """Columns and rows of cores, width and height of one."""
        if not self.cores:
            return 0, 0, 0, 0
        columns = max(1, min(len(self.cores), int((width - 2 * PAD) / CELL)))
        rows = -(-len(self.cores) // columns)
        columns = -(-len(self.cores) // rows)
        return columns, rows, CELL, THIN * max(len(core) for core in self.cores) + 0.03

    def height(self, width: float) -> float:
        """Inches."""
        _, rows, _, tall = self.cells(width)
        inner = self.part_width(width)
        columns = self.columns(width)
        parts = sum(
            max(part.height(inner) for part in self.parts[start : start + columns]) + PAD
            for start in range(0, len(self.parts), columns)
        )
        return PAD + LINE * len(self.lines(width)) + rows * tall + parts + (PAD if rows or not parts else 0)


def build(figure: MachinePicture) -> Picture:
    """Everything the snapshot has, to scale with nothing: sizes are in words."""
    machine = figure.machine
    whole = Box([], "none", parts=_boxes(machine))
    facts = wrap("; ".join(f"{name}: {value}" for name, value in figure.facts), ACROSS, SMALL)
    barred = _barred(machine)
    # Its boxes reach to the edges: without the room that a box has around its parts.
    height = whole.height(ACROSS + 2 * PAD)
    body = LINE * len(facts) + height + 0.08
    extra = [f"grey: CPUs that this process may not use ({len(barred)})"] if barred else []
    if any(len(core) > 1 for core in _cores(machine["cpus"])):
        extra.append("a cell is a core, with its CPUs (hardware threads) below each other")
    made = page(figure, body, extra=extra)
    axes = made.axes(MARGIN, made.bottom, ACROSS, made.top - made.bottom)
    axes.set(xlim=(0, ACROSS), ylim=(body, 0))
    axes.axis("off")
    for index, line in enumerate(facts):
        axes.text(0, LINE * index, line, size=SMALL, va="top", color=QUIET, gid="fact")
    _parts(axes, whole, -PAD, LINE * len(facts) + 0.06, ACROSS + 2 * PAD, barred)
    return made.picture


def _draw(axes: Axes, box: Box, x: float, y: float, width: float, height: float, barred: set[int]) -> None:
    axes.add_patch(
        Rectangle((x, y), width, height, facecolor=box.colour, edgecolor="#777777", lw=0.5, clip_on=False)
    )
    lines = box.lines(width)
    for index, line in enumerate(lines):
        axes.text(
            x + PAD,
            y + PAD + LINE * index,
            shorten(line, width - 2 * PAD, SMALL),
            size=SMALL,
            va="top",
            gid="words",
        )
    y += PAD + LINE * len(lines)
    columns, rows, wide, tall = box.cells(width)
    for index, core in enumerate(box.cores):
        left, top = x + PAD + wide * (index % columns), y + tall * (index // columns)
        _core(axes, core, left, top, wide - 0.02, tall - 0.02, barred)
    y += rows * tall
    _parts(axes, box, x, y, width, barred)


def _parts(axes: Axes, box: Box, x: float, y: float, width: float, barred: set[int]) -> None:
    inner, beside = box.part_width(width), box.columns(width)
    for start in range(0, len(box.parts), beside):
        row = box.parts[start : start + beside]
        tallest = max(part.height(inner) for part in row)
        for index, part in enumerate(row):
            _draw(axes, part, x + PAD + (inner + PAD) * index, y, inner, tallest, barred)
        y += tallest + PAD


def _core(
    axes: Axes, core: list[int], x: float, y: float, wide: float, tall: float, barred: set[int]
) -> None:
    each = tall / len(core)
    for index, cpu in enumerate(core):
        colour = BARRED if cpu in barred else CPU
        axes.add_patch(
            Rectangle((x, y + each * index), wide, each, facecolor=colour, edgecolor="#999999", lw=0.3)
        )
        size = 5 if cpu < 1000 else 4
        axes.text(
            x + wide / 2,
            y + each * (index + 0.5),
            str(cpu),
            size=size,
            ha="center",
            va="center_baseline",
            gid="cpu",
        )


def _boxes(machine: dict[str, Any]) -> list[Box]:
    """Packages, and below them what belongs to none: nodes without CPUs, devices without a node."""
    nodes = {node["id"]: node for node in machine.get("nodes", [])}
    packages: dict[tuple, list[Any]] = {}
    for node in nodes.values():
        cpus = [cpu for cpu in machine["cpus"] if cpu.get("node") == node["id"]]
        key = tuple(sorted({cpu.get("package") for cpu in cpus if cpu.get("package") is not None}))
        if cpus:
            packages.setdefault(key, []).append((node, cpus))
    boxes = []
    for key, members in sorted(packages.items()):
        name = ("package " if len(key) == 1 else "packages ") + ", ".join(map(str, key)) if key else "CPUs"
        boxes.append(_package(name, [_node(machine, *member) for member in members]))
    lost = [cpu for cpu in machine["cpus"] if cpu.get("node") not in nodes]
    if lost:
        boxes.append(_package("CPUs of no node", _caches(machine, lost)))
    bare = [_node(machine, node, []) for node in nodes.values() if not node.get("cpus")]
    if bare:
        boxes.append(_package("nodes without CPUs", bare))
    devices = _devices(machine, lambda number: number not in nodes)
    if devices:
        boxes.append(_package("at no node", devices))
    return boxes


def _package(name: str, parts: list[Box]) -> Box:
    """As wide as its nodes want to be beside each other."""
    beside = min(len(parts), MOST_COLUMNS)
    return Box([name], PACKAGE, parts=parts, narrowest=min(ACROSS, beside * (NARROWEST + PAD) + PAD))


def _node(machine: dict[str, Any], node: dict[str, Any], cpus: list[dict[str, Any]]) -> Box:
    memory = node.get("memory_total")
    words = [f"node {node['id']}: {size_text(memory) if memory else 'no memory'}"]
    more = [str(node["kind"]).upper()] if node.get("kind") else []
    more += [f"memory tier {node['memory_tier']}"] if node.get("memory_tier") is not None else []
    words += [", ".join(more)] if more else []
    if node.get("memory_cache"):
        words.append("behind a memory-side cache")
    firmware = node.get("hmat") or {}
    if firmware.get("read_latency") and firmware.get("read_bandwidth"):
        words.append(
            f"claimed: {firmware['read_latency'] * 1e9:.3g} ns, {firmware['read_bandwidth'] * 1e-9:.3g} GB/s"
        )
    parts = _caches(machine, cpus) + _devices(machine, lambda number: number == node["id"])
    return Box(words, NODE, parts=parts)


def _caches(machine: dict[str, Any], cpus: list[dict[str, Any]]) -> list[Box]:
    """A box for each cache of the last level, with its cores; smaller caches in words."""
    if not cpus:
        return []
    mine = {cpu["id"] for cpu in cpus}
    caches = [
        (cache, covered)
        for cache in machine.get("caches", [])
        if cache.get("type") != "instruction" and (covered := cpus_of(cache.get("cpus")) & mine)
    ]
    last = max((cache["level"] for cache, _ in caches), default=0)
    shared = [(cache, covered) for cache, covered in caches if cache["level"] == last and last > 0]
    several = len(_cores(cpus)) > 1
    if not shared or (several and all(len(_cores_of(cpus, covered)) == 1 for _, covered in shared)):
        shared, last = [], last + 1  # every core has its own: one box for all
    words = _smaller(caches, last)
    boxes = []
    for cache, covered in shared:
        name = f"L{cache['level']} {size_text(cache['size'])}" if cache.get("size") else f"L{cache['level']}"
        boxes.append(Box([name, *words], CACHE, _cores_of(cpus, covered), narrowest=0.8))
        mine -= covered
    if mine:
        boxes.append(Box(words, CACHE, _cores_of(cpus, mine), narrowest=0.8))
    return boxes


def _smaller(caches: list[tuple[dict[str, Any], set[int]]], below: int) -> list[str]:
    """ "L2 512KiB and L1 32KiB of 2 CPUs"."""
    found = Counter(
        (cache["level"], cache.get("size") or 0, len(covered))
        for cache, covered in caches
        if cache["level"] < below
    )
    by_level = {level: (size, count) for (level, size, count), _ in sorted(found.items())}
    return [
        f"L{level} {size_text(size) if size else '?'}" + (f" of {count} CPUs" if count > 1 else " each")
        for level, (size, count) in sorted(by_level.items(), reverse=True)
    ]


def _cores_of(cpus: list[dict[str, Any]], chosen: set[int]) -> list[list[int]]:
    return _cores([cpu for cpu in cpus if cpu["id"] in chosen])


def _cores(cpus: list[dict[str, Any]]) -> list[list[int]]:
    cores: dict[tuple, list[int]] = {}
    for cpu in sorted(cpus, key=lambda one: one["id"]):
        core = cpu.get("core")
        cores.setdefault((cpu.get("package"), cpu["id"] if core is None else ("core", core)), []).append(
            cpu["id"]
        )
    return list(cores.values())


def _devices(machine: dict[str, Any], here: Any) -> list[Box]:
    boxes = []
    for gpu in machine.get("gpus", []):
        if here(gpu.get("node")):
            words = [f"GPU {gpu.get('index')}: {gpu.get('name') or 'no name'}"]
            words += [size_text(gpu["memory"])] if gpu.get("memory") else []
            boxes.append(Box(words, DEVICE, narrowest=0.8))
    for memory in machine.get("persistent_memory", []):
        if here(memory.get("node")):
            size = size_text(memory["size"]) if memory.get("size") else ""
            words = f"{memory.get('name')} ({memory.get('mode')}) {size}"
            target = memory.get("target_node")
            words += f", is node {target}" if target is not None and target != memory.get("node") else ""
            boxes.append(Box([words], DEVICE, narrowest=0.8))
    return boxes


def _barred(machine: dict[str, Any]) -> set[int]:
    allowance = machine.get("allowance") or {}
    allowed = cpus_of(allowance.get("affinity") or allowance.get("cpuset"))
    return {cpu["id"] for cpu in machine["cpus"]} - allowed if allowed else set()


def cpus_of(text: str | None) -> set[int]:
    """ "0-3,8" -> {0, 1, 2, 3, 8}."""
    found: set[int] = set()
    for part in filter(None, (text or "").split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found
