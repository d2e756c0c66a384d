"""What the cases of tests/launchers share: launchers, runs and their checks, and a Slurm of their own."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from results import whole  # noqa: E402
from runs import Failed, Run, Skipped  # noqa: E402

SOURCE = HERE.parents[1]
WRAPPER = SOURCE / "scripts/orchestrator/wrapper_numa.sh"
#: 64 cores, 128 CPUs and four NUMA nodes: a machine on which the placements of ranks differ.
RECORDED = SOURCE / "tests/topologies/epyc-7a53.json"
#: In the environment of all that is started here, so that what is left over can be found.
MARK = "NUMATLAS_LAUNCHERS_RUN"
#: Far above what any run takes (a second or two), for a machine that is busy with other things.
LIMIT_SECONDS = 60
#: A rank of Open MPI 4.1.4 under Slurm's PMIx that got a message within MPI_Init, before it was ready
#: for any, and called nothing: about one start of a hundred on busy CPUs (see slurm.sh). No frame of ours.
CRASH_IN_MPI_INIT = re.compile(r"Failing at address: \(nil\)\n\S+ \[ 0\] .*libc.*\n\S+ \*\*\* End of error message")
#: So often a launcher is started for that reason; twice in a row it crashes where ten others want the CPUs.
STARTS = 4
#: The deliberate break of LAUNCHERS_BREAK=local-rank: the programs are told the global rank where they
#: ask for the one on their node. Cases of layouts have to fail then.
BREAK = """export SLURM_LOCALID=$SLURM_PROCID
[ -z "${OMPI_COMM_WORLD_RANK-}" ] || export OMPI_COMM_WORLD_LOCAL_RANK=$OMPI_COMM_WORLD_RANK
exec "$@"
"""


@dataclass(frozen=True)
class Launcher:
    """A way to start ranks: `name` is the first half of a case's name."""

    name: str
    command: tuple[str, ...]
    plugin: str = ""  #: the MPI plug-in that belongs to it, if it has one
    library: str = ""  #: as numatlas names that MPI

    @property
    def is_slurm(self) -> bool:
        return self.name.startswith("slurm")


OPENMPI = Launcher("openmpi", ("mpirun.openmpi", "--oversubscribe", "--bind-to", "none"), "openmpi", "Open MPI")
MPICH = Launcher("mpich", ("mpirun.mpich",), "mpich", "MPICH")
SRUN = ("srun",)
SLURM = Launcher("slurm", SRUN)
SLURM_PMIX = Launcher("slurm-pmix", (*SRUN, "--mpi=pmix"), "openmpi", "Open MPI")
SLURM_PMI2 = Launcher("slurm-pmi2", (*SRUN, "--mpi=pmi2"), "mpich", "MPICH")


@dataclass(frozen=True)
class Case:
    """One function under one launcher."""

    launcher: Launcher
    function: Callable[[Trial], None]

    @property
    def name(self) -> str:
        return f"{self.launcher.name}.{self.function.__name__}"


CASES: list[Case] = []


def case(*launchers: Launcher) -> Callable[[Callable[[Trial], None]], Callable[[Trial], None]]:
    """Registers a function as a case under each of these launchers."""

    def register(function: Callable[[Trial], None]) -> Callable[[Trial], None]:
        CASES.extend(Case(launcher, function) for launcher in launchers)
        return function

    return register


class Slurm:
    """Four virtual nodes, started when the first case wants them (slurm.sh does it)."""

    NODES = 4

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "slurm"
        self._answer: str | None = None
        self._cleaner: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Raises Skipped where there can be no Slurm, Failed where it does not start."""
        if self._answer is None:
            checked = subprocess.run([HERE / "slurm.sh", "check"], capture_output=True, text=True)
            self._answer = checked.stderr.strip() if checked.returncode else ""
            if not self._answer:
                self._start_daemons()
        if self._answer:
            raise Skipped(self._answer)

    def _start_daemons(self) -> None:
        # The cleaner's standard input ends when this process does, in whatever way: even killed, it
        # leaves nothing behind, tasks of a step that nobody ended included.
        clean = f"""read -r; "$0" stop "$1"; rm -rf -- "$1"
            for process in /proc/[0-9]*; do
              grep -qzF "{MARK}=${{1%/*}}/" "$process/environ" 2>/dev/null && kill -KILL "${{process#/proc/}}"
            done"""
        self._cleaner = subprocess.Popen(["bash", "-c", clean, HERE / "slurm.sh", self.folder],
                                         stdin=subprocess.PIPE, start_new_session=True)
        print("starting Slurm with four nodes ...", flush=True)
        started = subprocess.run([HERE / "slurm.sh", "start", self.folder, "--nodes", str(self.NODES)],
                                 env=clean_environment(), stdin=subprocess.DEVNULL)
        if started.returncode:
            raise Failed("Slurm did not start")

    def stop(self) -> None:
        if self._cleaner is not None:
            self._cleaner.communicate()
            self._cleaner = self._answer = None


def clean_environment() -> dict[str, str]:
    """Without what a launcher around these tests, or a user's settings, would say to the programs."""
    foreign = re.compile("SLURM|SBATCH|SALLOC|PMI|OMPI|HYDR?A?_|HYDI|MPI_LOCAL|MPICH|NUMATLAS_|OMP_|MV2_|FLUX|PALS|JSM")
    clean = {name: text for name, text in os.environ.items() if not foreign.match(name)}
    return clean | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "LC_ALL": "C.UTF-8"}


def marked_processes(mark: str) -> list[int]:
    """Those that were started, by whomever, with this mark in their environment."""
    found = []
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            if f"{MARK}={mark}".encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
        except OSError:
            continue
    return found


class Trial:
    """One case while it runs: its launcher, its folder (short, empty, the working folder of all it
    starts) and the programs that are tested."""

    def __init__(self, launcher: Launcher, folder: Path, bin_folder: Path, slurm: Slurm) -> None:
        self.launcher = launcher
        self.folder = folder
        self.bin = bin_folder
        self.numatlas = str(bin_folder / "numatlas")
        self.cpus = sorted(os.sched_getaffinity(0))
        self.environment = clean_environment() | {MARK: str(folder), "NUMATLAS": self.numatlas}
        if launcher.is_slurm:
            self.environment["SLURM_CONF"] = str(slurm.folder / "slurm.conf")

    def needs_two_cpus(self) -> tuple[int, int]:
        if len(self.cpus) < 2:
            raise Skipped("this process may use one CPU only")
        return self.cpus[0], self.cpus[1]

    def needs_own_host_names(self) -> list[str]:
        """The nodes' names; Open MPI mixes up nodes that share a host name."""
        nodes = [f"n{i}" for i in range(Slurm.NODES)]
        names = self.run(*SRUN, "-N", str(Slurm.NODES), "uname", "-n").ends_with(0).lines()
        if sorted(names) != nodes:
            raise Skipped("the kernel does not let virtual nodes have host names of their own (unshare --uts)")
        return nodes

    def launch(self, *words: str | Path, env: dict[str, str] | None = None) -> Run:
        """Words: the launcher's options, then program and arguments."""
        return self.run(*self.launcher.command, *words, env=env)

    def run(self, *words: str | Path, env: dict[str, str] | None = None) -> Run:
        for _ in range(STARTS):
            run = self.finish(self.start(*words, env=env))
            if not self.crashed_in_init(run):
                break
        return run

    def start_until(self, what: str, ready: Callable[[], bool], *words: str | Path) -> subprocess.Popen[str]:
        """A process that has come as far as `ready` says."""
        for _ in range(STARTS):
            process = self.start(*words)
            self.wait_for(what, lambda: ready() or process.poll() is not None)
            if ready():
                return process
            run = self.finish(process)
            if not self.crashed_in_init(run):
                run.fail(f"ended before this: {what}")
        raise Failed(f"Open MPI crashed in MPI_Init {STARTS} times")

    def crashed_in_init(self, run: Run) -> bool:
        crashed = self.launcher is SLURM_PMIX and not run.out and CRASH_IN_MPI_INIT.search(run.err) is not None
        if crashed:
            print("Open MPI crashed in MPI_Init; started again", flush=True)
        return crashed

    def start(self, *words: str | Path, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
        command = [str(word) for word in words]
        if os.environ.get("LAUNCHERS_BREAK") == "local-rank":
            for i, word in enumerate(command):
                if word in (self.numatlas, str(WRAPPER)):
                    command[i:i] = ["bash", "-c", BREAK, "bash"]
                    break
        return subprocess.Popen(command, cwd=self.folder, env=self.environment | (env or {}), text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                start_new_session=True)

    def finish(self, process: subprocess.Popen[str], limit: float = LIMIT_SECONDS) -> Run:
        words = [str(word) for word in process.args]  # type: ignore[union-attr]
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            self.end_all()
            out, err = process.communicate()
            Run(words, process.returncode, out, err).fail(f"not ended after {limit} seconds")
        return Run(words, process.returncode, out, err)

    def report(self, name: str = "report.json") -> dict[str, Any]:
        """The JSON of the last run; gone afterwards, so that no later run can be judged by it."""
        path = self.folder / name
        if not path.exists():
            raise Failed(f"{name} was not written")
        text = path.read_text()
        path.unlink()
        return whole(json.loads(text))

    def wait_for(self, what: str, condition: Callable[[], Any], seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise Failed(f"not within {seconds} seconds: {what}")
            time.sleep(0.05)

    def none_left(self) -> None:
        """No process of this case is left: neither ranks nor what starts them."""
        try:
            self.wait_for("all processes ended", lambda: not marked_processes(str(self.folder)), 10)
        except Failed:
            left = subprocess.run(["ps", "-o", "pid,args", "-p", ",".join(map(str, marked_processes(str(self.folder))))],
                                  capture_output=True, text=True).stdout
            raise Failed(f"still running 10 seconds later:\n{left}") from None

    def end_all(self) -> None:
        for process in marked_processes(str(self.folder)):
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass


def workers_of(report: dict[str, Any], *fields: str) -> list[tuple[Any, ...]]:
    """These fields of each worker, in the order in which they stand there; hosts by name."""
    def value(worker: dict[str, Any], field: str) -> Any:
        return report["hosts"][worker[field]] if field == "host" and isinstance(worker[field], int) else worker[field]
    return [tuple(value(worker, field) for field in fields) for worker in report["workers"]]


def missing_reason(launcher: Launcher, bin_folder: Path) -> str:
    """Why the cases of a launcher cannot run; empty if they can."""
    if not launcher.is_slurm and shutil.which(launcher.command[0]) is None:
        return f"{launcher.command[0]} is not installed"
    plugin = bin_folder.parent / f"lib/numatlas/mpi/numatlas_mpi_{launcher.plugin}.so"
    if launcher.plugin and not plugin.exists():
        return f"this build has no MPI plug-in {launcher.plugin}"
    if launcher is SLURM_PMIX and version_of("mpirun.openmpi") >= (5, 0):
        return "Open MPI 5 takes virtual nodes with one address for each other, and crashes"
    return ""


@functools.cache
def version_of(program: str, option: str = "--version") -> tuple[int, int]:
    """Major and minor number that it prints first; (0, 0) where it is not installed."""
    path = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin")
    if path is None:
        return 0, 0
    said = subprocess.run([path, option], capture_output=True, text=True, env=clean_environment())
    found = re.search(r"(\d+)\.(\d+)", said.stdout)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def quick(numatlas: str, *more: str | Path) -> Sequence[str | Path]:
    """A real measurement that is over soon: what it measures does not matter here."""
    return (numatlas, "latency", "--size", "1", "--time", "30ms", "--quiet", "--json", "report.json", *more)
