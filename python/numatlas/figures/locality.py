"""CPUs in the order of what they share: sockets, nodes, caches, cores."""

from typing import Any

from numatlas.result import Result
from numatlas.units import numbers_of

Json = dict[str, Any]


def by_locality(names: list[str], result: Result) -> tuple[list[str], dict[int, int]]:
    """Names of CPUs in that order, and before which of them a line is drawn, with its weight: 1 between
    last-level caches, 2 between nodes, 3 between sockets. Names that are no CPUs of the machine stay."""
    places = _places(result.machine)
    if not all(name.isdigit() and int(name) in places for name in names):
        return names, {}
    ordered = sorted(names, key=lambda name: places[int(name)])
    breaks = {}
    for at in range(1, len(ordered)):
        before, here = (places[int(name)] for name in ordered[at - 1 : at + 1])
        weight = next((3 - level for level in range(3) if before[level] != here[level]), 0)
        if weight:
            breaks[at] = weight
    return ordered, breaks


def left_out(names: list[str], result: Result) -> str:
    """Which CPUs of the machine a map does not have, in words; "" where it has all."""
    cpus = len(result.machine.get("cpus", []))
    if not cpus or len(names) >= cpus or not all(name.isdigit() for name in names):
        return ""
    return f"{len(names)} of {cpus} CPUs: the others were left out"


def _places(machine: Json) -> dict[int, tuple[int, int, int, int, int]]:
    """Of each CPU: package, node, last-level cache, core and thread."""
    caches = [cache for cache in machine.get("caches", []) if cache.get("type") != "instruction"]
    last = max((cache["level"] for cache in caches), default=0)
    shared = [numbers_of(cache.get("cpus")) for cache in caches if cache["level"] == last]
    cache_of = {cpu: min(cpus) for cpus in shared for cpu in cpus}
    return {
        cpu["id"]: (
            *(-1 if cpu.get(name) is None else cpu[name] for name in ("package", "node")),
            cache_of.get(cpu["id"], -1),
            -1 if cpu.get("core") is None else cpu["core"],
            cpu["id"],
        )
        for cpu in machine.get("cpus", [])
    }
