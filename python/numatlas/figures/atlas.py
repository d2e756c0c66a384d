"""The atlas: the machine as a map, with what was measured between its places."""

from typing import Any

import pandas as pd

from numatlas.figures.atlas_layout import MOST_LINKED, arrange
from numatlas.figures.atlas_links import UNITS, Cells, detail, known, links, title
from numatlas.figures.atlas_model import Atlas, Hop, Place
from numatlas.figures.model import Figure
from numatlas.figures.pairs import nodes_with_cpus, pairs
from numatlas.figures.scales import UNSTEADY
from numatlas.figures.summary import cache_levels, gpu_rates
from numatlas.figures.told import warnings_of
from numatlas.result import Result
from numatlas.units import (
    half_width,
    plus_minus,
    quantity_text,
    ranges_of,
    short_size,
    size_text,
)

Json = dict[str, Any]


def figures(result: Result) -> list[Figure]:
    """One, where pairs of nodes, or of nodes and GPUs, were measured on a known machine."""
    machine = result.machines[0] if result.machines else {}
    sockets = _sockets(machine) if machine.get("nodes") else {}
    cells, rates = pairs(result), gpu_rates(result)
    if not sockets or (cells.empty and rates.empty):
        return []
    atlas = Atlas(
        "atlas",
        f"{machine.get('host') or 'The machine'} as it was measured",
        kind="atlas",
        spread="95 % interval; dashed: known to ±10 % at best",
        warnings=warnings_of(result, pd.DataFrame()),
        data=cells,
        chain=_chain(result),
    )
    by_what: dict[str, Cells] = {what: {} for what in UNITS}
    for cell in cells.itertuples():
        by_what[cell.what][cell.cpu_node, cell.memory_node] = cell
    home = {node: name for name, nodes in sockets.items() for node in nodes}
    attached = _attached(result, machine, sockets, by_what, rates)
    atlas.places = [_place(machine, node, by_what) for nodes in sockets.values() for node in nodes]
    atlas.places += [place for places in attached.values() for place in places]
    atlas.links = links(machine, sockets, home, by_what)
    others = len(sockets) > MOST_LINKED  # no lines are drawn to them
    titles = {name: title(name, nodes, by_what, others) for name, nodes in sockets.items()}
    arrange(atlas, sockets, titles, attached)
    atlas.modes = [mode for mode in ("latency", "bandwidth") if by_what[mode]]
    if not atlas.modes:
        atlas.modes = ["bandwidth"]
    if any(place.claims for place in atlas.places) or any(link.claims for link in atlas.links):
        atlas.modes.append("claims")
    return [atlas]


def _sockets(machine: Json) -> dict[str, list[int]]:
    """Nodes with CPUs by their package."""
    packages: dict[int, set[Any]] = {}
    for cpu in machine.get("cpus", []):
        if cpu.get("node") is not None:
            packages.setdefault(cpu["node"], set()).add(cpu.get("package"))
    found: dict[str, list[int]] = {}
    for node in machine["nodes"]:
        if node["id"] in packages:
            names = sorted(str(one) for one in packages[node["id"]] if one is not None)
            name = f"socket{'s' * (len(names) > 1)} {', '.join(names)}" if names else "CPUs"
            found.setdefault(name, []).append(node["id"])
    return found


# ---- Places


def _place(machine: Json, number: int, by_what: dict[str, Cells]) -> Place:
    node = next(one for one in machine["nodes"] if one["id"] == number)
    cpus = [cpu["id"] for cpu in machine.get("cpus", []) if cpu.get("node") == number]
    count = f"{len(cpus)} CPU{'s' * (len(cpus) != 1)}"
    words = [count, short_size(node["memory_total"]) if node.get("memory_total") else ""]
    place = Place(f"N{number}", ", ".join(filter(None, words)), f"node {number}: CPUs {ranges_of(cpus)}")
    _fill(place, {what: _of_place(cells, number) for what, cells in by_what.items()}, number)
    place.claims = _claims(node)
    return place


def _of_place(cells: Cells, number: int) -> Any:
    """The cell of a node's own CPUs; else that of the CPUs that are nearest to its memory."""
    reached = [cell for (_, memory), cell in cells.items() if memory == number]
    more_is_better = bool(reached) and reached[0].what == "bandwidth"
    best = sorted(reached, key=lambda cell: cell.value, reverse=more_is_better)
    return cells.get((number, number)) or next(iter(best), None)


def _fill(place: Place, own: dict[str, Any], number: int) -> None:
    """The figures of a place: what its memory gives to these CPUs."""
    for what, cell in own.items():
        if cell is None:
            continue
        place.values[what] = cell.value
        place.texts[what] = quantity_text(cell.value, UNITS[what])
        ends = known(cell.low), known(cell.high)
        width, spread = half_width(cell.value, *ends), plus_minus(cell.value, *ends)
        place.spreads[what] = (
            f"from N{cell.cpu_node}" if cell.cpu_node != number and not place.far else spread
        )
        if width is not None and width > UNSTEADY:
            place.unsteady.add(what)
        place.detail += f"\n{detail(cell)}"


def _claims(node: Json) -> str:
    """By the firmware's HMAT."""
    told = node.get("hmat") or {}
    words = [
        quantity_text(told[name], unit)
        for name, unit in (("read_latency", "s"), ("read_bandwidth", "B/s"))
        if told.get(name)
    ]
    return ", ".join(words)


def _attached(
    result: Result,
    machine: Json,
    sockets: dict[str, list[int]],
    by_what: dict[str, Cells],
    rates: pd.DataFrame,
) -> dict[str, list[Place]]:
    """Memory without CPUs and GPUs, at the socket that is nearest."""
    home = {node: name for name, nodes in sockets.items() for node in nodes}
    found: dict[str, list[Place]] = {name: [] for name in sockets}
    with_cpus = nodes_with_cpus(result)
    for node in machine["nodes"]:
        number = node["id"]
        if number in with_cpus or number in home or not node.get("memory_total"):
            continue
        near = _nearest(node, by_what, home)
        kind = (node.get("kind") or "").upper()
        name = " ".join(filter(None, [f"N{number}", kind if kind != "DRAM" else ""]))
        note = f"from N{near}, {short_size(node['memory_total'])}"
        place = Place(name, note, f"node {number}, no CPUs", far=True)
        _fill(place, {what: cells.get((near, number)) for what, cells in by_what.items()}, number)
        place.claims = _claims(node)
        found[home.get(near, next(iter(sockets)))].append(place)
    for gpu in machine.get("gpus", []):
        node = gpu.get("node")
        words = [
            f"at N{node}" if node in home else "",
            short_size(gpu["memory"]) if gpu.get("memory") else "",
        ]
        detail_words = gpu.get("name") or gpu.get("vendor") or "GPU"
        place = Place(f"GPU{gpu.get('index', '')}", ", ".join(filter(None, words)), detail_words, far=True)
        _fill_gpu(place, gpu, rates)
        found[home.get(node, next(iter(sockets)))].append(place)
    return found


def _fill_gpu(place: Place, gpu: Json, rates: pd.DataFrame) -> None:
    mine = rates[rates["gpu"] == gpu.get("index")] if len(rates) else rates
    mine = mine.sort_values("direction", ascending=False) if len(mine) else mine
    found = {rate.direction: rate.value for rate in mine.itertuples()}
    words = [f"{quantity_text(value, 'B/s')} {direction}" for direction, value in found.items()]
    if not words:
        return
    place.values["bandwidth"] = max(found.values())
    place.texts["bandwidth"] = words[0]  # to the GPU, where that was measured
    place.note = ", ".join(filter(None, [place.note, *words[1:]]))
    place.detail += "\n" + "\n".join(words)


def _nearest(node: Json, by_what: dict[str, Cells], home: dict[int, str]) -> int:
    """Node with CPUs from which this memory is nearest: by what was measured, else by the firmware."""
    number = node["id"]
    measured = {one: cell.value for (one, memory), cell in by_what["latency"].items() if memory == number}
    if measured:
        return min(measured, key=lambda one: measured[one])
    far = {int(one): length for one, length in (node.get("distance") or {}).items() if int(one) in home}
    return min(far, key=lambda one: far[one], default=next(iter(home), 0))


def _chain(result: Result) -> list[Hop]:
    """From the CPU through its caches to memory."""
    sizes = {
        f"L{cache['level']}": cache.get("size")
        for cache in reversed(result.machines[0].get("caches", []))
        if cache.get("type") != "instruction"
    }
    return [
        Hop(
            f"{level} {short_size(sizes[level])}" if sizes.get(level) else f"{level}, {row.pages} pages",
            row.value,
            quantity_text(row.value, "s"),
            f"{level}: {quantity_text(row.value, 's', 4)}, {size_text(row.size)}, {row.pages} pages",
        )
        for level, row in cache_levels(result)
    ]
