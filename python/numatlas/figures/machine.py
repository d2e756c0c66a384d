"""The machine: nodes, CPUs, caches, tiers, GPUs."""

from typing import Any

import pandas as pd

from numatlas.figures.model import Figure, MachinePicture
from numatlas.result import Result
from numatlas.units import size_text


def figures(result: Result) -> list[Figure]:
    kinds = result.meta.get("kinds") if result.kind == "stream" else None
    found: list[Figure] = []
    for index, machine in enumerate(result.machines[:8]):
        name = machine.get("host") or "machine"
        title = f"{name}, and hosts like it" if kinds and len(result.machines) > 1 else str(name)
        found.append(
            MachinePicture(
                f"machine-{index}" if index else "machine",
                title,
                placement="",
                data=_nodes(machine),
                machine=machine,
                facts=_facts(machine),
                notes=[f"{len(result.machines) - 8} more machines are in the file"]
                if index == 7 and len(result.machines) > 8
                else [],
                warnings=[
                    f"{setting['name']} = {setting['value']}: {setting['warning']}"
                    for setting in machine.get("settings", [])
                    if setting.get("warning")
                ],
            )
        )
    return found


def _nodes(machine: dict[str, Any]) -> pd.DataFrame:
    """A row a node; memory in bytes, distances by the firmware."""
    told = ("kind", "memory_tier", "cpus", "memory_total", "memory_free")
    return pd.DataFrame(
        [
            {
                "node": node["id"],
                **{name: node.get(name) for name in told},
                **{f"distance_to_{other}": far for other, far in (node.get("distance") or {}).items()},
            }
            for node in machine.get("nodes", [])
        ]
    )


def _facts(machine: dict[str, Any]) -> list[tuple[str, str]]:
    nodes = machine.get("nodes", [])
    memory = sum(node.get("memory_total") or 0 for node in nodes)
    cpus = machine.get("cpus", [])
    cores = {(cpu.get("package"), cpu.get("core")) for cpu in cpus}
    packages = len({cpu.get("package") for cpu in cpus})
    allowance = machine.get("allowance") or {}
    facts = [
        ("CPU", machine.get("cpu_model")),
        ("architecture", machine.get("arch")),
        ("system", machine.get("os")),
        ("virtual machine", machine.get("hypervisor")),
        (
            "CPUs",
            f"{len(cpus)} on {len(cores)} cores in {packages} package{'s' * (packages != 1)}"
            if cpus
            else None,
        ),
        ("memory", size_text(memory) if memory else None),
        (
            "this process may use",
            f"CPUs {allowance.get('cpuset')}, nodes {allowance.get('memory_nodes')}" if allowance else None,
        ),
    ]
    return [(name, str(value)) for name, value in facts if value]
