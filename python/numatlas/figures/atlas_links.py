"""What lies between the sockets of an atlas, and between the nodes of one."""

from typing import Any

import pandas as pd

from numatlas.figures.atlas_model import Link
from numatlas.figures.scales import UNSTEADY
from numatlas.units import half_width, quantity_text, size_text, spread_text

Json = dict[str, Any]
Cells = dict[tuple[int, int], Any]  #: what was measured, by the nodes of the CPUs and of the memory

UNITS = {"latency": "s", "bandwidth": "B/s"}


def detail(cell: Any) -> str:
    """All that is known of a pair: where, value, interval, buffer size, warnings."""
    unit = UNITS[cell.what]
    factor, name = (1e9, "ns") if unit == "s" else (1e-9, "GB/s")
    ends = spread_text(*(None if known(end) is None else end * factor for end in (cell.low, cell.high)))
    text = f"{cell.what} from CPUs of node {cell.cpu_node} to memory of node {cell.memory_node}: "
    text += quantity_text(cell.value, unit, 4) + (f" ({ends} {name})" if ends else "")
    text += f", {size_text(cell.size)}" if known(cell.size) else ""
    return text + (f"; {cell.warned}" if cell.warned else "")


def known(value: Any) -> float | None:
    return None if value is None or pd.isna(value) else float(value)


def links(
    machine: Json, sockets: dict[str, list[int]], home: dict[int, str], by_what: dict[str, Cells]
) -> list[Link]:
    """One for each pair of sockets, of all pairs of their nodes in both directions."""
    names = list(sockets)
    local = {cell[0]: one.value for cell, one in by_what["latency"].items() if cell[0] == cell[1]}
    distances = {
        (node["id"], int(other)): far
        for node in machine["nodes"]
        for other, far in (node.get("distance") or {}).items()
    }
    found = []
    for at, first in enumerate(names):
        for second in names[at + 1 :]:
            mine = {
                what: [
                    cell
                    for pair, cell in cells.items()
                    if {home.get(node) for node in pair} == {first, second}
                ]
                for what, cells in by_what.items()
            }
            link = Link(first, second, detail=f"{first} and {second}")
            for what, every in mine.items():
                if every:
                    _measured_link(link, what, every, local)
            far = {
                length
                for (one, other), length in distances.items()
                if {home.get(one), home.get(other)} == {first, second}
            }
            link.claims = f"distance {_range([str(length) for length in sorted(far)])}" if far else ""
            found.append(link)
    return found


def _range(texts: list[str]) -> str:
    return texts[0] if texts[0] == texts[-1] else f"{texts[0]} to {texts[-1]}"


def _measured_link(link: Link, what: str, cells: list[Any], local: dict[int, float]) -> None:
    cells = sorted(cells, key=lambda cell: cell.value)
    middle, unit = cells[len(cells) // 2], UNITS[what]
    apart = cells[-1].value > (1 + UNSTEADY) * cells[0].value
    shown = [cells[0], cells[-1]] if apart else [middle]
    link.values[what] = middle.value
    numbers = [quantity_text(cell.value, unit) for cell in shown]
    link.texts[what] = f"{numbers[0].split()[0]} to {numbers[1]}" if apart else numbers[0]
    if what == "latency" and middle.cpu_node in local and not apart:
        link.times = f"{middle.value / local[middle.cpu_node]:.1f}x"
    widths = [half_width(cell.value, known(cell.low), known(cell.high)) for cell in cells]
    if any(width is not None and width > UNSTEADY for width in widths):
        link.unsteady.add(what)
    most = 4
    link.detail += "".join(f"\n{detail(cell)}" for cell in cells[:most])
    link.detail += f"\nand {len(cells) - most} more" if len(cells) > most else ""


def title(name: str, nodes: list[int], by_what: dict[str, Cells], others: bool) -> dict[str, str]:
    """Of a socket, with what lies between its own nodes, and between these and those of other sockets."""
    found = {}
    for what, cells in by_what.items():
        inside = [
            cell.value for pair, cell in cells.items() if pair[0] != pair[1] and set(pair) <= set(nodes)
        ]
        outside = [cell.value for pair, cell in cells.items() if len(set(pair) & set(nodes)) == 1]
        words = [name, f"node to node {_middle(inside, what)}" if inside else ""]
        words.append(f"to others {_middle(outside, what)}" if outside and others else "")
        found[what] = ", ".join(filter(None, words))
    return found | {"claims": name}


def _middle(values: list[float], what: str) -> str:
    return quantity_text(sorted(values)[len(values) // 2], UNITS[what])
