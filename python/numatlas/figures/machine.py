"""The machine: packages, in them nodes, in them caches and CPUs; at the nodes GPUs and persistent memory."""

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from numatlas.figures.model import Figure, MachinePicture
from numatlas.readers.report_json import settings_that_disturb
from numatlas.result import Result
from numatlas.units import number_text, numbers_of, size_text

#: Machines drawn; of more the file has the rest.
MOST_MACHINES = 8

Json = dict[str, Any]


def figures(result: Result) -> list[Figure]:
    """One for each machine."""
    alike = ", and hosts like it" if result.kind == "stream" and len(result.machines) > 1 else ""
    more = len(result.machines) - MOST_MACHINES
    found: list[Figure] = [
        MachinePicture(
            f"machine-{index}" if index else "machine",
            f"{machine.get('host') or 'machine'}{alike}",
            kind="machine",
            data=_nodes(machine),
            machine=machine,
            facts=_facts(machine),
            warnings=[str(warning) for warning in settings_that_disturb(machine)],
        )
        for index, machine in enumerate(result.machines[:MOST_MACHINES])
    ]
    if more > 0:
        found[-1].notes = [f"{more} more machines are in the file"]
    return found


def _nodes(machine: Json) -> pd.DataFrame:
    """A row a node; memory in bytes, distances by the firmware."""
    told = ("kind", "memory_tier", "cpus", "memory_total", "memory_free")
    rows = [
        {
            "node": node["id"],
            **{name: node.get(name) for name in told},
            **{f"distance_to_{other}": far for other, far in (node.get("distance") or {}).items()},
        }
        for node in machine.get("nodes", [])
    ]
    return pd.DataFrame(rows)


def _facts(machine: Json) -> list[tuple[str, str]]:
    memory = sum(node.get("memory_total") or 0 for node in machine.get("nodes", []))
    cpus, allowance = machine.get("cpus", []), machine.get("allowance") or {}
    cores = len({(cpu.get("package"), cpu.get("core")) for cpu in cpus})
    packages = _count(len({cpu.get("package") for cpu in cpus}), "package")
    allowed = f"CPUs {allowance.get('cpuset')}, nodes {allowance.get('memory_nodes')}"
    names = {"CPU": "cpu_model", "architecture": "arch", "system": "os", "virtual machine": "hypervisor"}
    facts = {name: machine.get(field) for name, field in names.items()}
    facts |= {
        "CPUs": cpus and f"{len(cpus)} on {cores} cores in {packages}",
        "memory": memory and size_text(memory),
    }
    facts |= {"this process may use": allowance and allowed}
    return [(name, str(value)) for name, value in facts.items() if value]


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


# ---- Boxes within boxes


@dataclass
class Box:
    """A part of a machine with what is in it."""

    kind: str  #: "package", "node", "cache" or "device"
    words: list[str]  #: its name first
    cores: list[list[int]] = field(default_factory=list)  #: CPUs of each core
    parts: list["Box"] = field(default_factory=list)
    special: bool = False  #: a node without CPUs, or without memory


def barred_cpus(machine: Json) -> set[int]:
    """Those that this process may not use."""
    allowance = machine.get("allowance") or {}
    allowed = numbers_of(allowance.get("affinity") or allowance.get("cpuset"))
    return {cpu["id"] for cpu in machine.get("cpus", [])} - set(allowed) if allowed else set()


def boxes_of(machine: Json) -> list[Box]:
    """Packages, and after them what belongs to none: nodes without CPUs, devices without a node."""
    nodes = {node["id"]: node for node in machine.get("nodes", [])}
    packages: dict[str, list[Box]] = {}
    lost = [cpu for cpu in machine.get("cpus", []) if cpu.get("node") not in nodes]
    bare = []
    for node in nodes.values():
        cpus = [cpu for cpu in machine.get("cpus", []) if cpu.get("node") == node["id"]]
        if not cpus:
            bare.append(_node(machine, node, []))
            continue
        numbers = sorted({cpu["package"] for cpu in cpus if cpu.get("package") is not None})
        name = f"{'packages' if len(numbers) > 1 else 'package'} {', '.join(map(str, numbers))}"
        packages.setdefault(name if numbers else "CPUs", []).append(_node(machine, node, cpus))
    packages["CPUs of no node"] = _caches(machine, lost)
    packages["memory without CPUs"] = bare
    packages["at no node"] = _devices(machine, lambda number: number not in nodes)
    return [Box("package", [name], parts=parts) for name, parts in packages.items() if parts]


def _node(machine: Json, node: Json, cpus: list[Json]) -> Box:
    total, firmware, pages = node.get("memory_total"), node.get("hmat") or {}, node.get("huge_pages", [])
    kind = (node.get("kind") or "").upper() or "memory"
    memory = [f"{size_text(total)} {kind}" if total else "no memory"]
    if total and node.get("memory_free") is not None:
        memory.append(f"{size_text(node['memory_free'])} free")
    if node.get("memory_tier") is not None:
        memory.append(f"tier {node['memory_tier']}")
    claims = (("read_latency", 1e9, "ns"), ("read_bandwidth", 1e-9, "GB/s"))
    claimed = [
        f"{number_text(firmware[name] * by, 3)} {unit}" for name, by, unit in claims if firmware.get(name)
    ]
    huge = [(one["free"], one["total"], size_text(one["page_size"])) for one in pages if one.get("total")]
    words = [
        f"node {node['id']}",
        ", ".join(memory),
        *([f"the firmware claims {', '.join(claimed)}"] if claimed else []),
        *(f"{free} of {every} huge pages of {size} free" for free, every, size in huge),
        *([] if cpus else [f"no CPUs{_nearest(machine, node)}"]),
    ]
    parts = _caches(machine, cpus) + _devices(machine, lambda number: number == node["id"])
    return Box("node", words, parts=parts, special=not cpus or not total)


def _nearest(machine: Json, node: Json) -> str:
    with_cpus = {str(other["id"]) for other in machine.get("nodes", []) if other.get("cpus")}
    distance = {name: far for name, far in (node.get("distance") or {}).items() if name in with_cpus}
    near = [name for name, far in distance.items() if far == min(distance.values())]
    return f"; nearest: node {', '.join(near)}" if near else ""


def _caches(machine: Json, cpus: list[Json]) -> list[Box]:
    """A box for each cache of the last level that several cores share, with its cores; one for all others.
    Smaller caches in words."""
    if not cpus:
        return []
    mine = {cpu["id"] for cpu in cpus}
    found = [
        (cache["level"], cache.get("size"), covered)
        for cache in machine.get("caches", [])
        if cache.get("type") != "instruction" and (covered := mine & set(numbers_of(cache.get("cpus"))))
    ]
    last = max((level for level, *_ in found), default=0)
    shared = [(size, covered) for level, size, covered in found if level == last]
    if len(_cores(cpus)) > 1 and all(len(_cores(cpus, covered)) == 1 for _, covered in shared):
        shared, last = [], last + 1  # every core has its own
    smaller = {level: (size, len(covered)) for level, size, covered in found if level < last}
    words = [
        f"L{level} {size_text(size) if size else '?'} of {_count(count, 'CPU')}"
        for level, (size, count) in sorted(smaller.items(), reverse=True)
    ]
    boxes = []
    for size, covered in shared:
        name = f"L{last} {size_text(size)}" if size else f"L{last}"
        boxes.append(Box("cache", [name, ", ".join(words)][: 1 + bool(words)], _cores(cpus, covered)))
        mine -= covered
    return boxes + ([Box("cache", [", ".join(words)] if words else [], _cores(cpus, mine))] if mine else [])


def _cores(cpus: list[Json], chosen: set[int] | None = None) -> list[list[int]]:
    cores: dict[tuple, list[int]] = {}
    for cpu in sorted(cpus, key=lambda one: one["id"]):
        if chosen is None or cpu["id"] in chosen:
            alone = ("CPU", cpu["id"]) if cpu.get("core") is None else (cpu.get("package"), cpu["core"])
            cores.setdefault(alone, []).append(cpu["id"])
    return list(cores.values())


def _devices(machine: Json, here: Any) -> list[Box]:
    boxes = []
    for gpu in filter(lambda one: here(one.get("node")), machine.get("gpus", [])):
        words = [f"GPU {gpu.get('index', '?')}: {gpu.get('name') or gpu.get('vendor') or 'no name'}"]
        words += [size_text(gpu["memory"])] if gpu.get("memory") else []
        words.append(_link(gpu))
        memory_node = gpu.get("memory_node")
        words += [f"its memory is node {memory_node}"] if memory_node is not None else []
        boxes.append(Box("device", list(filter(None, words))))
    for memory in filter(lambda one: here(one.get("node")), machine.get("persistent_memory") or []):
        target = memory.get("target_node")
        words = [f"{memory.get('name')} ({memory.get('mode')})"]
        words += [size_text(memory["size"])] if memory.get("size") else []
        words += [f"is node {target}"] if target is not None and target != memory.get("node") else []
        boxes.append(Box("device", words))
    return boxes


def _link(gpu: Json) -> str:
    """The narrowest on the way, or where the GPU is."""
    links = [hop for hop in gpu.get("path") or [] if hop.get("speed") and hop.get("width")]
    if not links:
        return gpu.get("pci_address") or ""
    narrow = min(links, key=lambda hop: hop["speed"] * hop["width"])
    text = f"link {narrow['speed'] / 1e9:.3g} GT/s x{narrow['width']}"
    most = (narrow.get("max_speed") or 0) * (narrow.get("max_width") or 0)
    if most > narrow["speed"] * narrow["width"]:
        text += f" (could be {narrow['max_speed'] / 1e9:.3g} GT/s x{narrow['max_width']})"
    return text
