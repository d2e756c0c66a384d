"""The atlas: the machine as a map, with what was measured between its places."""

from typing import Any

import pandas as pd

from numatlas.facts import cache_levels, facts, gpu_rates, pairs
from numatlas.figures.atlas_layout import MOST_LINKED, UNITS, arrange
from numatlas.figures.model import Atlas, Figure, Spot
from numatlas.figures.scales import UNSTEADY
from numatlas.figures.told import GRAVE, is_of_the_null_engine, model_words, warnings_of
from numatlas.result import Result
from numatlas.units import (
    half_width,
    is_unknown,
    numbers_of,
    quantity_text,
    range_text,
    ranges_of,
    short_size,
    spread_text,
)

Json = dict[str, Any]
Cells = dict[tuple[int, int], Any]  #: what was measured, by the nodes of the CPUs and of the memory

#: Base pages that are so many times as slow as huge ones are told of.
MUCH_SLOWER = 2
#: Pairs of nodes told one by one of a link.
MOST_PAIRS = 4


def figures(result: Result) -> list[Figure]:
    """One, where pairs of nodes, or of nodes and GPUs, were measured on a known machine."""
    machine = result.machine
    sockets = sockets_of(machine)
    found, rates = pairs(result), gpu_rates(result)
    if not sockets or (found.empty and rates.empty):
        return []
    cells: dict[str, Cells] = {what: {} for what in UNITS}
    for row in found.itertuples():
        cells[row.what][row.cpu_node, row.memory_node] = row
    home = {node: name for name, nodes in sockets.items() for node in nodes}
    attached = {name: [] for name in sockets}
    for node in machine["nodes"]:
        if node["id"] not in home and node.get("memory_total"):
            near = _nearest(node, cells["latency"], home)
            attached[home.get(near, next(iter(sockets)))].append(
                _far(node, _best_seen(node, near, cells), cells)
            )
    every = facts(result)
    own = every[every["key"] == "gpu_read"].drop_duplicates("gpu")
    for gpu in machine.get("gpus", []):
        place = home.get(gpu.get("node"), next(iter(sockets)))
        attached[place].append(_gpu(gpu, rates, own, home))
    nodes = {node["id"]: _node(machine, node, cells) for node in machine["nodes"] if node["id"] in home}
    names = list(sockets)
    links = [
        _link((first, second), home, cells) for at, first in enumerate(names) for second in names[at + 1 :]
    ]
    atlas = Atlas(
        "atlas",
        model_words(machine, gpus=True) + (", simulated" if is_of_the_null_engine(result) else ""),
        kind="atlas",
        spread="95 % interval",
        warnings=[one for one in warnings_of(result, pd.DataFrame()) if one.code in GRAVE],
        data=found.drop(columns=["where", "heading", "line", "claim"], errors="ignore").dropna(
            axis=1, how="all"
        ),
        places=[*nodes.values(), *(spot for spots in attached.values() for spot in spots)],
        links=links,
        sockets=[_socket(name, sockets, cells) for name in sockets],
        chain=[_hop(machine, row) for row in cache_levels(result).itertuples()],
        said=_pages(every),
    )
    atlas.modes = [mode for mode in UNITS if cells[mode]] or ["bandwidth"]
    arrange(atlas, [[nodes[node] for node in sockets[name]] for name in sockets], list(attached.values()))
    return [atlas]


# ---- Places


def cpus_of(machine: Json, node: int) -> list[Json]:
    """Those of a node."""
    return [cpu for cpu in machine.get("cpus", []) if cpu.get("node") == node]


def sockets_of(machine: Json) -> dict[str, list[int]]:
    """Nodes with CPUs by their packages: "socket 0", "sockets 0, 1", or "CPUs" where none is told."""
    found: dict[str, list[int]] = {}
    for node in (node["id"] for node in machine.get("nodes", [])):
        cpus = cpus_of(machine, node)
        packages = sorted({cpu["package"] for cpu in cpus if cpu.get("package") is not None})
        name = f"socket{'s' * (len(packages) > 1)} {', '.join(map(str, packages))}" if packages else "CPUs"
        if cpus:
            found.setdefault(name, []).append(node)
    return found


def _node(machine: Json, node: Json, cells: dict[str, Cells]) -> Spot:
    number = node["id"]
    cpus = [cpu["id"] for cpu in cpus_of(machine, number)]
    size = short_size(node["memory_total"]) if node.get("memory_total") else ""
    words = [f"{len(cpus)} CPU{'s' * (len(cpus) != 1)}", size]
    spot = Spot(f"N{number}", ", ".join(filter(None, words)), f"node {number}: CPUs {ranges_of(cpus)}")
    for what, mine in cells.items():
        reached = {cpu: cell for (cpu, memory), cell in mine.items() if memory == number}
        # Of memory that its own CPUs did not reach, the best that others have.
        best = sorted(reached, key=lambda cpu: reached[cpu].value, reverse=what == "bandwidth")
        near = number if number in reached else next(iter(best), None)
        if near == number:
            _fill(spot, what, reached[near])
        elif near is not None:  # in words only: it is no figure of the node's own
            spot.spreads[what] = f"{reached[near].text} from N{near}"
            spot.detail += f"\n{_detail(reached[near])}"
    return spot


def _far(node: Json, near: int, cells: dict[str, Cells]) -> Spot:
    """Memory without CPUs, as those of node `near` see it."""
    kind = (node.get("kind") or "").upper()
    name = f"N{node['id']} {kind if kind != 'DRAM' else ''}".strip()
    note = f"from N{near}, {short_size(node['memory_total'])}"
    spot = Spot(name, note, f"node {node['id']}, no CPUs", far=True)
    for what, mine in cells.items():
        if (near, node["id"]) in mine:
            _fill(spot, what, mine[near, node["id"]])
    return spot


def _gpu(gpu: Json, rates: pd.DataFrame, own: pd.DataFrame, home: dict[int, str]) -> Spot:
    """Its memory as it reads it itself, and beside its connection the copies to it and back."""
    index = str(gpu.get("index"))
    mine = list(rates[rates["gpu"] == index].itertuples())
    texts = [f"{row.text} {row.spread}".rstrip() for row in mine]
    name = gpu.get("name") or gpu.get("vendor") or "GPU"
    at = f"at N{gpu.get('node')}" if gpu.get("node") in home else ""
    words = [name, at, short_size(gpu["memory"]) if gpu.get("memory") else ""]
    told = [f"{text} {row.direction}" for text, row in zip(texts, mine, strict=True)]
    number = "" if gpu.get("index") is None else gpu["index"]
    spot = Spot(f"GPU{number}", ", ".join(filter(None, words)), "\n".join([name, *told]), far=True)
    ways = {"h2d": "to it", "d2h": "back"}
    forms = [texts, [row.text for row in mine]]
    spot.beside = [
        ", ".join(f"{text} {ways[row.direction]}" for text, row in zip(told, mine, strict=True))
        for told in forms
    ]
    spot.unsteady = {"bandwidth"} if any(map(_is_unsteady, mine)) else set()
    for row in own[own["gpu"] == index].itertuples():
        spot.texts["bandwidth"] = f"{row.text} of its memory"
        spot.spreads["bandwidth"] = row.spread
        spot.detail += f"\n{_detail(row)}"
    return spot


def _pages(every: pd.DataFrame) -> list[str]:
    """Where base pages are much slower than huge ones, that they are."""
    memory = every[(every["key"] == "memory_latency") & every["pages"].notna()]
    by_pages = memory.drop_duplicates("pages").set_index("pages")["value"]
    huge = by_pages.drop("base", errors="ignore").min()
    if "base" not in by_pages or not by_pages["base"] > MUCH_SLOWER * huge:
        return []
    text = quantity_text(by_pages["base"], "s")
    return [f"with base pages {text}, {by_pages['base'] / huge:.1f} times as long as with huge pages"]


def _fill(spot: Spot, what: str, cell: Any) -> None:
    if _is_known(cell):
        spot.values[what] = cell.value
    spot.texts[what] = cell.text
    spot.spreads[what] = cell.spread
    if _is_unsteady(cell):
        spot.unsteady.add(what)
    spot.detail += f"\n{_detail(cell)}"


def _is_known(cell: Any) -> bool:
    return not is_unknown(cell.value, cell.low, cell.high)


def _is_unsteady(cell: Any) -> bool:
    width = half_width(cell.value, cell.low, cell.high)
    return width is not None and width > UNSTEADY


def _detail(cell: Any) -> str:
    """All that is known of a pair of nodes."""
    factor, name = (1e9, "ns") if cell.unit == "s" else (1e-9, "GB/s")
    ends = spread_text(cell.low * factor, cell.high * factor)
    ends = f" ({ends} {name})" if ends and _is_known(cell) else ""
    return f"{cell.words}: {cell.text}{ends}"


def _nearest(node: Json, latency: Cells, home: dict[int, str]) -> int:
    """Node with CPUs from which this memory is nearest: as all sockets measured it, else by the firmware."""
    measured = {cpu: cell.value for (cpu, memory), cell in latency.items() if memory == node["id"]}
    if {home.get(cpu) for cpu in measured} >= set(home.values()):
        return min(measured, key=measured.__getitem__)
    initiators = [one for one in numbers_of((node.get("hmat") or {}).get("initiators")) if one in home]
    if initiators:
        return initiators[0]
    far = {int(one): length for one, length in (node.get("distance") or {}).items() if int(one) in home}
    return min(far or measured or home, key=lambda one: (far or measured or home)[one])


def _best_seen(node: Json, near: int, cells: dict[str, Cells]) -> int:
    """The node from which this memory was measured: the nearest one, else that of the best figure."""
    for what, mine in cells.items():
        seen = {cpu: cell.value for (cpu, memory), cell in mine.items() if memory == node["id"]}
        if seen:
            best = min if what == "latency" else max
            return near if near in seen else best(seen, key=seen.__getitem__)
    return near


def _hop(machine: Json, row: Any) -> Spot:
    """A cache of the kind of cores that were measured: as large as the largest of it."""
    sizes: dict[str, int] = {}
    for cache in machine.get("caches", []):
        if cache.get("type") != "instruction" and cache.get("size"):
            level = f"L{cache['level']}"
            sizes[level] = max(sizes.get(level, 0), cache["size"])
    size = sizes.get(row.level) if pd.isna(row.kind) else None
    name = f"{row.level} {short_size(size)}" if size else f"{row.level}, {row.pages} pages"
    kind = "" if pd.isna(row.kind) else f"{row.kind}: "
    text = row.text if pd.isna(row.lowest) else range_text(row.lowest, row.value, row.unit)
    return Spot(
        f"{kind}{name}",
        detail=_detail(row),
        texts={"latency": text},
        spreads={"latency": row.spread if pd.isna(row.lowest) else "no plateau"},
        row=kind,
    )


# ---- Between sockets


def _link(names: tuple[str, str], home: dict[int, str], cells: dict[str, Cells]) -> Spot:
    """All pairs of nodes of two sockets, in both directions."""
    spot = Spot(" and ".join(names), detail=" and ".join(names), ends=names)

    def joins(nodes: tuple[int, int]) -> bool:
        return {home.get(node) for node in nodes} == set(names)

    for what, every in cells.items():
        mine = sorted((cell for pair, cell in every.items() if joins(pair)), key=lambda cell: cell.value)
        if mine:
            _fill_link(spot, what, mine, every)
    return spot


def _ends(values: list[Any]) -> list[Any]:
    """The first and the last, or the only one."""
    return values if len(values) < 2 else [values[0], values[-1]]


def _fill_link(spot: Spot, what: str, mine: list[Any], every: Cells) -> None:
    known = [cell for cell in mine if _is_known(cell)]
    shown = known or mine
    middle = shown[len(shown) // 2]
    apart = bool(known) and known[-1].value > (1 + UNSTEADY) * known[0].value
    ends = [cell.value for cell in _ends(known)]
    spot.values |= {what: middle.value} if known else {}
    spot.texts[what] = range_text(*ends, middle.unit) if apart else middle.text
    own = every.get((middle.cpu_node, middle.cpu_node))
    if what == "latency" and own and not apart and _is_known(middle) and _is_known(own):
        spot.note = f"{middle.value / own.value:.1f}x"
    if any(_is_unsteady(cell) for cell in mine):
        spot.unsteady.add(what)
    lines = [_detail(cell) for cell in mine[:MOST_PAIRS]]
    lines += [f"and {len(mine) - MOST_PAIRS} more"] if len(mine) > MOST_PAIRS else []
    spot.detail += "".join(f"\n{line}" for line in lines)


def _socket(name: str, sockets: dict[str, list[int]], cells: dict[str, Cells]) -> Spot:
    """With what lies between its own nodes, and between these and others where no lines are drawn to them."""
    spot, nodes = Spot(name), set(sockets[name])
    for what, every in cells.items():
        known = {pair: cell.value for pair, cell in every.items() if _is_known(cell)}
        inside = [value for pair, value in known.items() if pair[0] != pair[1] and set(pair) <= nodes]
        outside = [value for pair, value in known.items() if len(set(pair) & nodes) == 1]
        words = [("node to node", inside), ("to others", outside if len(sockets) > MOST_LINKED else [])]
        middles = [
            f"{word} {quantity_text(pd.Series(one).median(), UNITS[what])}" for word, one in words if one
        ]
        spot.texts[what] = ", ".join([name, *middles])
    return spot
