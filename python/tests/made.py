"""Figures made from formulas, for tests of what draws them: with absent values, wide spreads, many of all."""

from dataclasses import replace
from pathlib import Path as File

import numpy as np
import pandas as pd

from numatlas.drawing.shapes import Group, Path, Words, width_of
from numatlas.figures.model import (
    Axis,
    Bar,
    Bars,
    Curves,
    Fleet,
    Mark,
    Matrix,
    Series,
)
from numatlas.figures.told import NOTHING
from numatlas.plot.paint import painted
from numatlas.result import Warning

FLEET = File(__file__).parents[2] / "tests" / "golden" / "fleet"

PRINT = {
    "spread": "95 % interval of the median",
    "placement": "observed: all pages on the node asked for; pages of 4 KiB",
    "notes": ["first note", "second note", "third note", "fourth note"],
    "warnings": [
        Warning("a warning of the machine"),
        NOTHING,
        Warning("another warning"),
        Warning("one more warning"),
    ],
}


def wobble(*numbers):
    """Between -1 and 1, the same each time."""
    value = 0
    for number in numbers:
        value = (value * 31 + number * 7919 + 17) % 1009
    return value / 504.5 - 1


def curves(count=3, absent=True):
    """A ladder of `count` lines; the first has neither a value at 64 KiB nor a spread at 1 MiB."""
    sizes = [2**power for power in range(12, 31)]
    lines = []
    for line in range(count):
        y = [(2 + 3 * line) * 1.3**step + wobble(line, step) for step in range(len(sizes))]
        low = [value * 0.9 for value in y]
        high = [value * 1.2 for value in y]
        if absent and line == 0:
            y[4] = low[4] = high[4] = None
            low[8] = high[8] = None
        lines.append(Series(f"CPUs of node {line} -> memory of node 0", sizes, y, low, high))
    return Curves(
        "latency-ladder",
        "Latency by size of the memory",
        **PRINT,
        x=Axis("memory that is walked through", "bytes", log2=True),
        y=Axis("a dependent load", "ns"),
        series=lines,
        marks=[
            Mark(2**15, "L1 32KiB"),
            Mark(2**19, "L2 512KiB"),
            Mark(2**25, "L3 32MiB"),
            Mark(2**40, "far"),
        ],
    )


def matrix(rows=2, columns=3, less=True):
    """Values 100 + 10 x row + column with an interval of 1 below and 2 above; the last cell is empty."""
    values = [[100.0 + 10 * row + column for column in range(columns)] for row in range(rows)]
    values[-1][-1] = None
    whys = [[""] * columns for _ in range(rows)]
    whys[-1][-1] = "node 2 has too little memory"
    return Matrix(
        "matrix-latency",
        "Idle latency (64MiB, base pages)",
        **PRINT,
        row_label="CPUs of node",
        column_label="memory of node",
        rows=list(range(rows)),
        columns=list(range(columns)),
        unit="ns" if less else "GB/s",
        less_is_better=less,
        values=values,
        low=[[None if value is None else value - 1 for value in row] for row in values],
        high=[[None if value is None else value + 2 for value in row] for row in values],
        texts=whys,
        words=[
            [f"{value} {why}" for value, why in zip(*row, strict=True)]
            for row in zip(values, whys, strict=True)
        ],
    )


def bars(names=("own", "other", "crossed"), groups=("alone", "together"), less=True):
    """Values 10 + 10 x name + group; the last name has no value in the last group."""
    rows = []
    for index, group in enumerate(groups):
        for place, name in enumerate(names):
            value = 10.0 + 10 * place + index
            ends, text = (value, value - 2, value + 3), f"{value:.1f}"
            if group == groups[-1] and name == names[-1]:
                ends, text = (None, None, None), "no value"
            rows.append(Bar(name, group, *ends, text))
    return Bars(
        "touch",
        "Time of a line by who touched the memory first",
        **PRINT,
        unit="ns" if less else "GB/s",
        less_is_better=less,
        rows=rows,
        heads=["pattern", "run", "access"],
        cells=[[row.name, row.group, row.text] for row in rows],
    )


def fleet(hosts, kernels=("copy", "triad"), slow=2, rounds=True):
    """200 GB/s +- 2 %; the first `slow` hosts are 10 % slower, the third last has no value of copy."""
    rows = []
    for number, kernel in enumerate(kernels):
        for host in range(hosts):
            value = 200 * (1 + 0.02 * wobble(number, host)) * (0.9 if host < slow else 1)
            if hosts > 3 and number == 0 and host == hosts - 3:
                value = np.nan
            low, high = (0.995 * value, 1.004 * value) if rounds else (np.nan, np.nan)
            rows.append(
                {
                    "host": f"cn{host:05}",
                    "kernel": kernel,
                    **{"value": value, "low": low, "high": high, "min": 0.97 * value, "max": 1.01 * value},
                    "kind": host % 2,
                    "slow": host < slow,
                    "drop": 0.1,
                    "words": f"cn{host:05}: {kernel} 10.0 % below the median",
                    "rounds": [],
                    "facts": "",
                }
            )
    return Fleet(
        "stream",
        f"STREAM on {hosts} hosts",
        **PRINT,
        hosts=pd.DataFrame(rows),
        kind_names=["AMD EPYC 7742", "AMD EPYC 7402"],
    )


#: What a snapshot does not tell.
UNKNOWN = dict.fromkeys(("os", "arch", "page_size", "hypervisor"))
UNKNOWN_NODE = dict.fromkeys(("memory_free", "memory_cache", "hmat")) | {"distance": {}, "huge_pages": []}
UNKNOWN_GPU = dict.fromkeys(("pci_address", "vendor", "device_id", "driver", "memory_node", "runtime")) | {
    "path": []
}
UNKNOWN_ALLOWANCE = {"cpuset": "", "memory_nodes": ""} | dict.fromkeys(
    ("memory_limit", "memory_used", "memory_cache", "memory_limit_source")
)


def machine(packages=2, nodes=2, cores=4, threads=2, gpus=2):
    """`nodes` of each package with `cores` each; one node without CPUs; CPU 1 is not for this process."""
    count = packages * nodes * cores
    cpus = [
        {
            "id": core + thread * count,
            "core": core,
            "node": core // cores,
            "package": core // (cores * nodes),
            "smt_index": thread,
        }
        for thread in range(threads)
        for core in range(count)
    ]

    def of(node):
        return ",".join(str(cpu["id"]) for cpu in cpus if cpu["node"] == node)

    with_cpus = packages * nodes
    return {
        **UNKNOWN,
        "host": "cn1",
        "cpus": cpus,
        "nodes": [
            {
                "id": node,
                "cpus": of(node),
                "memory_total": 64 << 30,
                "kind": "dram",
                "memory_tier": 4,
                **UNKNOWN_NODE,
            }
            for node in range(with_cpus)
        ]
        + [
            {
                "id": with_cpus,
                "cpus": "",
                "memory_total": 128 << 30,
                "kind": "cxl",
                "memory_tier": 22,
                **UNKNOWN_NODE,
            }
        ],
        "caches": [
            {"level": 3, "type": "unified", "size": 32 << 20, "line_size": 64, "cpus": of(node)}
            for node in range(with_cpus)
        ]
        + [
            {
                "level": 2,
                "type": "unified",
                "size": 512 << 10,
                "line_size": 64,
                "cpus": ",".join(str(core + thread * count) for thread in range(threads)),
            }
            for core in range(count)
        ],
        "gpus": [
            {
                "index": gpu,
                "name": "GPU of a test",
                "node": gpu % with_cpus,
                "memory": 80 << 30,
                **UNKNOWN_GPU,
            }
            for gpu in range(gpus)
        ],
        "persistent_memory": [
            {
                "name": "dax0.0",
                "mode": "system-ram",
                "node": 0,
                "size": 128 << 30,
                "target_node": with_cpus,
            }
        ],
        "allowance": {"affinity": f"0,2-{count * threads - 1}", **UNKNOWN_ALLOWANCE},
    }


def shapes(drawing, kind=""):
    """All of a drawing, or those with this word in their kind, where they stand in it."""
    return [
        one for one in _moved(drawing.parts, 0.0, 0.0) if not kind or kind in getattr(one, "kind", "").split()
    ]


def _moved(parts, x, y):
    for one in parts:
        if isinstance(one, Group):
            yield from _moved(one.parts, x + one.x, y + one.y)
        elif isinstance(one, Path):
            yield replace(one, runs=[[(x + left, y + top) for left, top in run] for run in one.runs])
        elif isinstance(one, Words):
            yield replace(one, x=x + one.x, y=y + one.y)
        else:
            yield one


def texts(drawing, kind=""):
    """Of words: all, or those of a kind ("number", "small")."""
    return [one.text for one in shapes(drawing, kind) if isinstance(one, Words)]


def told(drawing, kind=""):
    """To those who point at paths of a kind."""
    return [one.told for one in shapes(drawing, kind) if isinstance(one, Path) and one.told]


def upright_axis(drawing):
    """The names of values at the left, and what turns places into values: of a single frame."""
    ends = [one for one in shapes(drawing, "grid") if isinstance(one, Path)]
    left = ends[0].runs[0][0][0]
    named = [
        one
        for one in shapes(drawing)
        if isinstance(one, Words) and one.side == "end" and abs(one.x - left + 5) < 0.01
    ]
    (first, low), (last, high) = [(float(one.text), one.y) for one in (named[0], named[-1])]
    apart = [(float(one.text), (one.y - low) / (high - low)) for one in named]
    linear = all(abs(value - first - part * (last - first)) < 1e-6 * last for value, part in apart)

    def value(y):
        part = (y - low) / (high - low)
        return first + part * (last - first) if linear else first * (last / first) ** part

    return [one.text for one in named], value, linear


def middle(path):
    """Of a mark."""
    points = path.runs[0]
    return sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points)


def box_of(words):
    """Left, top, right and bottom, about."""
    wide = width_of(words.text, words.size, "bold" in words.kind)
    before = {"start": 0, "middle": wide / 2, "end": wide}[words.side]
    if words.upright:
        low = words.y + before
        return words.x - words.size / 2, low - wide, words.x + words.size / 2, low
    left = words.x - before
    return left, words.y - words.size / 2, left + wide, words.y + words.size / 2


def assert_words_lie_within(drawing):
    """As matplotlib's font has them."""
    picture = painted(drawing)
    picture.draw(renderer := picture.canvas.get_renderer())
    drawn, (wide, tall) = picture.get_tightbbox(renderer), picture.get_size_inches()
    assert drawn.x0 >= -0.01 and drawn.y0 >= -0.01 and drawn.x1 <= wide + 0.01 and drawn.y1 <= tall + 0.01
