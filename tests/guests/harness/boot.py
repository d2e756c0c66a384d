"""Starts one guest on one kernel and follows its steps."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import time
from ctypes.util import find_library
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from . import initramfs
from .guest import Guest, Machine, Step, problems
from .packages import Kernel, Qemu

# Under emulation each of these costs seconds of boot and shows us nothing.
KERNEL_OPTIONS = {"x86_64": ("console=ttyS0 panic=-1 quiet lpj=4000000 mitigations=off nokaslr cryptomgr.notests tsc=reliable "
                             "no_timer_check initcall_blacklist=jent_mod_init"),
                  "aarch64": "console=ttyAMA0 panic=-1 quiet mitigations=off nokaslr"}
# A PC ends the emulator by a port; the other machine has firmware (PSCI) that does.
LAST_DEVICES = {"x86_64": ["-device", "isa-debug-exit,iobase=0xf4,iosize=1"], "aarch64": []}
# How often the share is looked at for a finished step, in seconds.
POLL = 0.1

# Runs in the guest's chroot. A step's status is written last and renamed: it is there when the step is over.
STEPS_SCRIPT = """#!/bin/bash
. /mnt/environment
cd "$HOME"
touch /mnt/started
for step in /mnt/steps/*.sh; do
  name=$(basename "$step" .sh)
  timeout -k 5 "$(cat "/mnt/steps/$name.timeout")" bash "$step" >"/mnt/$name.out" 2>"/mnt/$name.err" </dev/null
  echo $? >"/mnt/$name.status.new"
  mv "/mnt/$name.status.new" "/mnt/$name.status"
done
touch /mnt/finished
"""


_running: set[subprocess.Popen] = set()


def end_all() -> None:
    """Ends all emulators that run now."""
    for process in list(_running):
        process.kill()


@dataclass(frozen=True)
class Outcome:
    """How a boot went."""

    reached: bool  # the first step began
    passed: int
    failed: list[str]  # one text a failed step
    seconds: float


class Boot:
    """One guest on one kernel, in a folder of its own that stays to be looked at."""

    def __init__(self, guest: Guest, kernel: Kernel, qemu: Qemu, folder: Path, environment: dict[str, str],
                 say: Callable[[str], None]) -> None:
        self._guest, self._kernel, self._qemu, self._say = guest, kernel, qemu, say
        self._folder, self._share = folder, folder / "share"
        self._environment = dict(environment, GUEST_KERNEL=kernel.series)
        steps = [step for step in guest.steps if step.kernels is None or kernel.series in step.kernels]
        lacks = {step.name: [name for name in step.libraries if not find_library(name)] for step in steps}
        for step, missing in lacks.items():
            if missing:
                say(f"skipped {step}: not installed here: lib{', lib'.join(missing)}")
        self._steps = [step for step in steps if not lacks[step.name]]

    def _prepare(self) -> None:
        """Everything that the guest reads, in a fresh folder."""
        shutil.rmtree(self._folder, ignore_errors=True)
        (self._share / "steps").mkdir(parents=True)
        lines = [f"export {name}={shlex.quote(value)}\n" for name, value in self._environment.items()]
        (self._share / "environment").write_text("".join(lines) + 'cd "$HOME"\n')
        (self._share / "steps.sh").write_text(STEPS_SCRIPT)
        for number, step in enumerate(self._steps):
            (self._share / f"steps/{number:02}.sh").write_text(step.run)
            (self._share / f"steps/{number:02}.timeout").write_text(str(step.timeout))
        for name, size in self._guest.machine.files.items():
            with open(self._share / name, "wb") as file:
                file.truncate(bytes_of(size))
        archive = initramfs.build(self._kernel, (Path(__file__).parent / "init.sh").read_text())
        machine = self._guest.machine
        if machine.first_threads_first:
            # The firmware's tables come first and stay unpacked.
            ids = sorted(range(cpu_count(machine.cpus)), key=lambda apic: (apic & 1, apic))
            archive = initramfs.madt(ids) + archive
        (self._folder / "initramfs").write_bytes(archive)

    def _command(self, shell: bool) -> list[str]:
        machine = self._guest.machine
        root, tree = self._kernel.root, []
        options = f"{KERNEL_OPTIONS[machine.arch]} modules={','.join(self._guest.modules)}{' numatlas_shell' if shell else ''}"
        plain_share = "security_model=none,multidevs=remap"
        if root:
            # Beside the file system of its own, the repository at the place that it has here.
            repository = self._environment["ROOT"]
            (root / repository.lstrip("/")).mkdir(parents=True, exist_ok=True)
            options += f" tree={repository}"
            tree = ["-fsdev", f"local,id=tree,path={repository},readonly=on,{plain_share}",
                    "-device", "virtio-9p-pci,fsdev=tree,mount_tag=tree"]
        return [*self._qemu.command, "-accel", "tcg,thread=single", "-machine", machine.machine,
                "-cpu", machine.cpu, "-smp", machine.cpus, *node_arguments(machine),
                "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
                "-serial", "mon:stdio" if shell else f"file:{self._folder}/console.log",
                *LAST_DEVICES[machine.arch],
                "-fsdev", f"local,id=host,path={root or '/'},readonly=on,{plain_share}",
                "-device", "virtio-9p-pci,fsdev=host,mount_tag=host", *tree,
                "-fsdev", f"local,id=share,path={self._share},{plain_share}",
                "-device", "virtio-9p-pci,fsdev=share,mount_tag=share",
                *shlex.split(machine.arguments.replace("{share}", str(self._share))),
                "-kernel", str(self._kernel.vmlinux), "-initrd", f"{self._folder}/initramfs", "-append", options]

    def shell(self) -> int:
        """A shell in the guest instead of its steps."""
        self._prepare()
        self._say("the steps are in /mnt/steps; leave with exit, or end the emulator with Ctrl-A X")
        return subprocess.run(self._command(True), env=self._qemu.environment, check=False).returncode

    def run(self) -> Outcome:
        """Boots, follows the steps and judges them. Ends the emulator in any case."""
        self._prepare()
        start = time.monotonic()
        failed: list[str] = []
        passed = 0
        command = self._command(False)
        (self._folder / "command").write_text(shlex.join(command) + "\n")
        with open(self._folder / "emulator.log", "w") as log:
            process = subprocess.Popen(command, env=self._qemu.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        _running.add(process)
        try:
            for number, step in enumerate(self._steps):
                begun = time.monotonic()
                if not self._wait_for(process, self._share / f"{number:02}.status", start + self._guest.limit):
                    reached = (self._share / "started").exists()
                    failed.append(self._lost(step, reached, process.poll() is not None))
                    return Outcome(reached, passed, failed, time.monotonic() - start)
                wrong = self._judge(number, step)
                seconds = time.monotonic() - begun
                self._say(f"{'FAILED' if wrong else 'ok'} {step.name} ({seconds:.1f} s)")
                if wrong:
                    failed.append(wrong)
                else:
                    passed += 1
            return Outcome(True, passed, failed, time.monotonic() - start)
        finally:
            process.kill()
            process.wait()
            _running.discard(process)

    def _wait_for(self, process: subprocess.Popen, file: Path, deadline: float) -> bool:
        while not file.exists():
            if process.poll() is not None:
                return file.exists()
            if time.monotonic() > deadline:
                return False
            time.sleep(POLL)
        return True

    def _judge(self, number: int, step: Step) -> str:
        """The text about a failed step, empty if it passed."""
        status = int((self._share / f"{number:02}.status").read_text())
        output, errors = (read(self._share / f"{number:02}.{kind}") for kind in ("out", "err"))
        wrong = problems(step, status, output, errors)
        if status in (124, 137):
            wrong.append(f"took longer than {step.timeout} s")
        if not wrong:
            return ""
        shown = "\n".join(f"| {line[:240]}" for line in (output + errors).splitlines()[-40:])
        return "\n".join([f"step '{step.name}'", *(f"  {line}" for line in wrong), f"{step.run.strip()}", shown])

    def _lost(self, step: Step, reached: bool, ended: bool) -> str:
        what = "the guest ended" if ended else f"not done within the guest's {self._guest.limit} s"
        where = f"in step '{step.name}'" if reached else "before its first step"
        last = [*read(self._folder / "console.log").splitlines(), *read(self._folder / "emulator.log").splitlines()][-30:]
        return "\n".join([f"{what} {where}; the last of its console:", *(f"| {line}" for line in last)])

    def save(self, root: Path) -> list[str]:
        """Writes what the steps are to leave in the repository; the names of these files."""
        saved = []
        for number, step in enumerate(self._steps):
            if step.save:
                shutil.copy(self._share / f"{number:02}.out", root / step.save)
                saved.append(step.save)
        return saved


def read(path: Path) -> str:
    """A file's text, empty if there is none."""
    return path.read_text(errors="replace") if path.exists() else ""


def bytes_of(size: str) -> int:
    """Bytes of a size as QEMU writes it: 256M, 2G."""
    match = re.fullmatch(r"(\d+)([KMG]?)", size)
    if not match:
        raise ValueError(f"{size} is not a size such as 256M")
    return int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[match[2]]


def cpu_count(smp: str) -> int:
    """Number of CPUs of QEMU's -smp."""
    return int(smp.split(",")[0])


def node_arguments(machine: Machine) -> list[str]:
    """QEMU's arguments for memory, nodes and distances."""
    total = sum(bytes_of(node.memory) for node in machine.nodes if node.memory)
    arguments = ["-m", f"{total >> 20}M" + (f",{machine.memory}" if machine.memory else "")]
    for number, node in enumerate(machine.nodes):
        text = f"node,nodeid={number}"
        if node.memory:
            arguments += ["-object", f"memory-backend-ram,id=node{number},size={node.memory}"]
            text += f",memdev=node{number}"
        for cpus in filter(None, node.cpus.split(",")):
            text += f",cpus={cpus}"
        if node.initiator is not None:
            text += f",initiator={node.initiator}"
        arguments += ["-numa", text]
    for source, row in enumerate(machine.distances):
        for target, value in enumerate(row):
            if source != target:
                arguments += ["-numa", f"dist,src={source},dst={target},val={value}"]
    return arguments
