"""A guest file (TOML): the machine, the steps run in it, and what each step must show.

See README.md beside the guests for the words a file may use; an unknown word is an error.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .packages import KERNEL_SUITES, QEMU_PACKAGES

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from results import whole  # noqa: E402


SAVING = bool(os.environ.get("NUMATLAS_UPDATE_GOLDEN"))  # write what the steps `save`


class BadGuest(Exception):
    """A guest file that does not say what it should."""


@dataclass(frozen=True)
class Node:
    """A NUMA node: `cpus` in the emulator's order (threads of a core in a row), either may be empty."""

    cpus: str = ""
    memory: str = ""
    initiator: int | None = None


@dataclass(frozen=True)
class Machine:
    """The emulated computer."""

    nodes: list[Node]
    arch: str = "x86_64"  # or "aarch64", whose kernels are those with "-64k"
    cpus: str = "1"  # QEMU's -smp
    machine: str = "pc"  # QEMU's -machine
    cpu: str = "max,la57=off"  # QEMU's -cpu; five-level page tables only cost time
    memory: str = ""  # more for QEMU's -m than the size, such as "slots=4,maxmem=4G"
    distances: list[list[int]] = field(default_factory=list)
    # All first threads get their CPU numbers before the second threads, as on real servers.
    first_threads_first: bool = False
    arguments: str = ""  # more arguments for QEMU; {share} is the folder shared with the guest
    files: dict[str, str] = field(default_factory=dict)  # files to make in {share} before the start: name -> size


@dataclass(frozen=True)
class Step:
    """A shell script run in the guest, and what it must show."""

    name: str
    run: str
    status: int | list[int] = 0
    prints: list[str] = field(default_factory=list)  # regular expressions: each is found in the output
    lacks: list[str] = field(default_factory=list)  # none of these is
    equals: str | None = None  # standard output, exactly
    json: dict[str, Any] = field(default_factory=dict)  # path in standard output's JSON -> value; `a[*].b` is each, "@null" is null, "@keys 0,1" an object with these
    kernels: list[str] | None = None  # on these only
    libraries: list[str] = field(default_factory=list)  # of this machine ("memkind"), without which it is skipped
    save: str | None = None  # file of the repository that gets standard output, with NUMATLAS_UPDATE_GOLDEN=1
    only_saved: bool = False  # for what it saves alone, and run only then: it shows little and takes long
    nightly: bool | list[str] = False  # slow, on these kernels or on all: not in `run all`, which CI runs
    slow: bool = False  # left out with --quick, as in `scripts/test` without an option
    timeout: int = 300

    def by_day(self, series: str) -> bool:
        """Part of `run all` on this kernel."""
        return series not in self.nightly if isinstance(self.nightly, list) else not self.nightly


@dataclass(frozen=True)
class Guest:
    """One guest file."""

    name: str
    title: str
    machine: Machine
    steps: list[Step]
    kernels: list[str]
    modules: list[str]
    needs: list[str]  # programs of this machine that the steps use; without them the guest is skipped
    limit: int  # seconds from the start to the end
    alone: bool  # booted when no other guest runs: its figures are judged
    nightly: list[str]  # kernels of `run nightly` only; `run all`, which CI runs, leaves them out


def build(kind: type, table: dict[str, Any], where: str):
    """An object of a dataclass from a table whose names are its fields."""
    unknown = set(table) - set(kind.__dataclass_fields__)
    if unknown:
        raise BadGuest(f"{where}: unknown {', '.join(sorted(unknown))}")
    try:
        return kind(**table)
    except TypeError as error:
        raise BadGuest(f"{where}: {error}") from None


def load(path: Path) -> Guest:
    """Reads and checks a guest file."""
    try:
        table = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise BadGuest(f"{path.name}: {error}") from None
    machine = dict(table.pop("machine", {}))
    machine["nodes"] = [build(Node, node, f"{path.name}: nodes") for node in machine.get("nodes", [])]
    steps = [build(Step, step, f"{path.name}: step {step.get('name')}") for step in table.pop("step", [])]
    if not SAVING:
        steps = [step for step in steps if not step.only_saved]
    if "limit" in table:
        table["limit"] += sum(step.timeout for step in steps if step.only_saved)
    table.setdefault("alone", False)
    table.setdefault("nightly", [])
    table.setdefault("modules", [])
    table.setdefault("needs", [])
    values = dict(table, name=path.stem, machine=build(Machine, machine, path.name), steps=steps)
    guest = build(Guest, values, path.name)
    if not guest.steps or len({step.name for step in steps}) != len(steps):
        raise BadGuest(f"{path.name}: steps need names, each another")
    if unknown := set(guest.nightly) - set(guest.kernels):
        raise BadGuest(f"{path.name}: nightly names {', '.join(sorted(unknown))}, which is not among its kernels")
    for kernel in guest.kernels + [name for step in steps for name in step.kernels or []]:
        if kernel not in KERNEL_SUITES:
            raise BadGuest(f"{path.name}: no kernel {kernel} (there are {', '.join(KERNEL_SUITES)})")
        if kernel.endswith("-64k") != (guest.machine.arch == "aarch64"):
            raise BadGuest(f"{path.name}: kernel {kernel} is none of {guest.machine.arch}")
    if guest.machine.arch not in QEMU_PACKAGES:
        raise BadGuest(f"{path.name}: no architecture {guest.machine.arch} (there are {', '.join(QEMU_PACKAGES)})")
    return guest


def problems(step: Step, status: int, output: str, errors: str) -> list[str]:
    """What is not as the step says; empty if all is."""
    found = []
    expected = step.status if isinstance(step.status, list) else [step.status]
    if status not in expected:
        found.append(f"exit status {status}, expected {' or '.join(map(str, expected))}")
    # Under emulation beside other work any figure may be known too poorly for a value.
    everything = re.sub(r"unknown: (\S+) to \S+", r"\1", output + errors)
    found += [f"does not print: {text}" for text in step.prints if not re.search(text, everything, re.MULTILINE)]
    found += [f"prints: {text}" for text in step.lacks if re.search(text, everything, re.MULTILINE)]
    if step.equals is not None and output.strip() != step.equals.strip():
        found.append(f"standard output is not exactly:\n{step.equals.strip()}")
    if step.json:
        try:
            document = whole(json.loads(output))
        except ValueError as error:
            return found + [f"standard output is no JSON: {error}"]
        for path, value in step.json.items():
            value = None if value == "@null" else value  # TOML has no null
            values = look_up(document, path)
            if isinstance(value, str) and value.startswith("@keys "):
                values = [f"@keys {','.join(each)}" if isinstance(each, dict) else each for each in values]
            if any(each != value or isinstance(each, bool) != isinstance(value, bool) for each in values):
                shown = ", ".join(json.dumps(each) for each in values)
                found.append(f"JSON {path} is {shown}, expected {json.dumps(value)}")
    return found


def look_up(document: Any, path: str) -> list[Any]:
    """All values at a path such as 'cases[0].flows[*].residency.page_size'; where a branch leads
    nowhere, the text 'nothing at ...' stands for its value."""
    values = [document]
    seen = ""
    for name, index in re.findall(r"([^.\[\]]+)|\[(\*|\d+)\]", path):
        seen += f".{name}" if name else f"[{index}]"
        following: list[Any] = []
        for value in values:
            if name and isinstance(value, dict) and name in value:
                following.append(value[name])
            elif index == "*" and isinstance(value, list) and value:
                following += value
            elif index.isdigit() and isinstance(value, list) and int(index) < len(value):
                following.append(value[int(index)])
            else:
                following.append(f"nothing at {seen}")
        values = following
    return values
