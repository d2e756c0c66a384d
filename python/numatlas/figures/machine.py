"""The machine: packages, in them nodes, in them caches and CPUs; at the nodes GPUs and persistent memory."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from numatlas.figures.model import Figure, MachineText
from numatlas.readers.report_json import settings_that_disturb
from numatlas.result import Result
from numatlas.units import number_text, numbers_of, ranges_of, size_text

#: Machines drawn; of more the file has the rest.
MOST_MACHINES = 8
#: Caches of a node told one by one, with their CPUs.
MOST_CACHES = 16

Json = dict[str, Any]


def figures(result: Result) -> list[Figure]:
    """One for each machine."""
    alike = ", and hosts like it" if result.kind == "stream" and len(result.machines) > 1 else ""
    more = len(result.machines) - MOST_MACHINES
    found: list[Figure] = [
        MachineText(
            f"machine-{index}" if index else "machine",
            f"{machine.get('host') or 'machine'}{alike}",
            kind="machine",
            data=_nodes(machine),
            machine=machine,
            facts=_facts(machine),
            warnings=settings_that_disturb(machine),
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
    packages = _count(len({cpu.get("package") for cpu in cpus}), "socket")
    barred = barred_cpus(machine)
    allowed = f"CPUs {allowance.get('cpuset')}, nodes {allowance.get('memory_nodes')}"
    names = {"CPU": "cpu_model", "architecture": "arch", "system": "os", "virtual machine": "hypervisor"}
    facts = {name: machine.get(field) for name, field in names.items()}
    facts |= {
        "CPUs": cpus and f"{len(cpus)} on {cores} cores in {packages}",
        "memory": memory and size_text(memory),
    }
    facts |= {"this process may use": allowance and allowed}
    facts |= {"not for this process": barred and f"CPUs {barred}"}
    return [(name, str(value)) for name, value in facts.items() if value]


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


# ---- Nodes by their packages


def barred_cpus(machine: Json) -> str:
    """Those that this process may not use."""
    allowance = machine.get("allowance") or {}
    allowed = numbers_of(allowance.get("affinity") or allowance.get("cpuset"))
    return ranges_of(sorted({cpu["id"] for cpu in machine.get("cpus", [])} - set(allowed))) if allowed else ""


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


def lines_of_nodes(machine: Json) -> dict[str, list[list[str]]]:
    """The lines of each node, its name first; by package, and after these what belongs to none: nodes without
    CPUs, devices without a node."""
    nodes, sockets = {node["id"]: node for node in machine.get("nodes", [])}, sockets_of(machine)
    rest = set(nodes).difference(*sockets.values())
    numbers = {**sockets, "memory without CPUs": [number for number in nodes if number in rest]}
    found = {name: [_node(machine, nodes[number]) for number in mine] for name, mine in numbers.items()}
    homeless = [cpu for cpu in machine.get("cpus", []) if cpu.get("node") not in nodes]
    lost = _caches(machine, homeless) + _devices(machine, lambda number: number not in nodes)
    found["at no node"] = [lost] if lost else []
    return {name: lines for name, lines in found.items() if lines}


def _node(machine: Json, node: Json) -> list[str]:
    cpus = cpus_of(machine, node["id"])
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
    return [
        f"node {node['id']}",
        ", ".join(memory),
        *([f"the firmware claims {', '.join(claimed)}"] if claimed else []),
        *(
            f"behind a memory-side cache of {size_text(cache['size'])}"
            for cache in node.get("memory_side_caches", [])
        ),
        *(f"{free} of {every} huge pages of {size} free" for free, every, size in huge),
        *(_caches(machine, cpus) if cpus else [f"no CPUs{_nearest(machine, node)}"]),
        *_devices(machine, lambda number: number == node["id"]),
    ]


def _nearest(machine: Json, node: Json) -> str:
    with_cpus = {str(other["id"]) for other in machine.get("nodes", []) if other.get("cpus")}
    distance = {name: far for name, far in (node.get("distance") or {}).items() if name in with_cpus}
    near = [name for name, far in distance.items() if far == min(distance.values())]
    return f"; nearest: node {', '.join(near)}" if near else ""


def _caches(machine: Json, cpus: list[Json]) -> list[str]:
    """Smaller caches in words; each of the last level with its CPUs."""
    mine = {cpu["id"] for cpu in cpus}
    found: dict[int, list[tuple[str, list[int]]]] = {}
    for cache in machine.get("caches", []):
        covered = sorted(mine & set(numbers_of(cache.get("cpus"))))
        if cache.get("type") != "instruction" and covered:
            size = size_text(cache["size"]) if cache.get("size") else "?"
            found.setdefault(cache["level"], []).append((f"L{cache['level']} {size}", covered))
    last = max(found, default=0)
    if len(found.get(last, [])) > MOST_CACHES:  # every core has its own
        last += 1
    smaller = [
        f"{found[level][-1][0]} of {_count(len(found[level][-1][1]), 'CPU')}"
        for level in sorted(found, reverse=True)
        if level < last
    ]
    rest = sorted(mine - {cpu for _, covered in found.get(last, []) for cpu in covered})
    caches = [*found.get(last, []), *([("", rest)] if rest else [])]
    lines = [f"{name}: CPUs {ranges_of(covered)}".removeprefix(": ") for name, covered in caches]
    return [*lines, ", ".join(smaller)] if smaller else lines


def _devices(machine: Json, here: Callable[[Any], bool]) -> list[str]:
    lines = []
    for gpu in filter(lambda one: here(one.get("node")), machine.get("gpus", [])):
        number = "?" if gpu.get("index") is None else gpu["index"]
        words = [f"GPU {number}: {gpu.get('name') or gpu.get('vendor') or 'no name'}"]
        words += [size_text(gpu["memory"])] if gpu.get("memory") else []
        target = gpu.get("memory_node")
        words += [_link(gpu), f"its memory is node {target}" if target is not None else ""]
        lines.append(", ".join(filter(None, words)))
    for memory in filter(lambda one: here(one.get("node")), machine.get("persistent_memory") or []):
        target = memory.get("target_node")
        words = [f"{memory.get('name')} ({memory.get('mode')})"]
        words += [size_text(memory["size"])] if memory.get("size") else []
        words += [f"is node {target}"] if target is not None and target != memory.get("node") else []
        lines.append(", ".join(words))
    return lines


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
