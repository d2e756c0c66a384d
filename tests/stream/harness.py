"""What the cases share: runs of the real program, alone or under a launcher, in a folder of their own."""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from results import whole  # noqa: E402
from runs import Failed, Run, Skipped  # noqa: E402


def equal(seen: object, wanted: object, what: str) -> None:
    if seen != wanted:
        raise Failed(f"{what}: {seen!r}, not {wanted!r}")


def near(seen: float, wanted: float, what: str, part: float = 1e-9, least: float = 1e-12) -> None:
    """`part`: how far, relative; `least`: below that no difference counts."""
    if abs(seen - wanted) > max(part * abs(wanted), least):
        raise Failed(f"{what}: {seen!r}, not {wanted!r}")


def has_library(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def loses_codes(launcher: list[str]) -> bool:
    """Hydra 4.2 ends, now and then, without a word and with 0 when ranks are killed."""
    if launcher[:1] != ["mpirun.mpich"]:
        return False
    said = subprocess.run([launcher[0], "--version"], capture_output=True, text=True)
    found = re.search(r"Version: +(\d+)\.(\d+)", said.stdout)
    return found is not None and (int(found[1]), int(found[2])) >= (4, 2)


def true(condition: object, what: str) -> None:
    if not condition:
        raise Failed(what)


@dataclass
class Started:
    trial: Trial
    words: list[str]
    process: subprocess.Popen[bytes]

    def until(self, what: str, happened: Callable[[], object]) -> None:
        for _ in range(600):
            if happened():
                return
            if self.process.poll() is not None:
                self.end().fail(f"ended before {what}")
            time.sleep(0.05)
        raise Failed(f"not within 30 seconds: {what}")

    def ranks(self) -> dict[int, int]:
        """Processes of this very run by rank, told by the mark in their environment."""
        mark = f"NUMATLAS_FAULT_MARK={self.trial.folder}".encode()
        found = {}
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if (process / "comm").read_text() != "numatlas\n":
                    continue
                environment = (process / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if mark not in environment:
                continue
            rank = 0
            for word in environment:
                if match := re.fullmatch(rb"(?:OMPI_COMM_WORLD_RANK|PMI_RANK)=(\d+)", word):
                    rank = int(match[1])
            found[rank] = int(process.name)
        return found

    def end(self, seconds: float = 20) -> Run:
        """What it said, when it has ended; it has to end by itself within that time."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Failed(f"no end within {seconds} seconds: {' '.join(self.words)}") from None
        # As a shell says it.
        code = 128 - code if code < 0 else code
        return Run(self.words, code, (self.trial.folder / "out").read_text(), (self.trial.folder / "err").read_text())

    def none_left(self) -> None:
        for _ in range(50):
            if not self.ranks():
                return
            time.sleep(0.1)
        raise Failed(f"still running: {self.ranks()}")


@dataclass
class Trial:
    numatlas: str
    launcher: list[str]
    folder: Path
    started: list[Started] = field(default_factory=list)

    @property
    def bin(self) -> Path:
        return Path(self.numatlas).parent

    def words(self, ranks: int, *words: object) -> list[str]:
        if not self.launcher and ranks != 1:
            raise Failed("several ranks take a launcher")
        return [*self.launcher, *(["-n", str(ranks)] if self.launcher else []), *map(str, words)]

    def start(self, ranks: int, *words: object, **environment: object) -> Started:
        command = self.words(ranks, *words)
        env = os.environ | {name: str(value) for name, value in environment.items()}
        env["NUMATLAS_FAULT_MARK"] = str(self.folder)
        with open(self.folder / "out", "wb") as out, open(self.folder / "err", "wb") as err:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=self.folder, env=env)
        self.started.append(Started(self, command, process))
        return self.started[-1]

    def run(self, ranks: int, *words: object, limit: float = 90, **environment: object) -> Run:
        return self.start(ranks, *words, **environment).end(limit)

    def stream(self, ranks: int, *words: object, **environment: object) -> Run:
        return self.run(ranks, self.numatlas, "stream", "-q", *words, **environment)

    def report(self, name: str = "report.json") -> dict:
        """The report. Of STREAM, the head of a run and its rounds in one, slow hosts by their names."""
        def refuse(word: str) -> None:
            raise Failed(f"{name}: {word} is not JSON")
        try:
            report = whole(json.loads((self.folder / name).read_text(), parse_constant=refuse))
        except ValueError as error:
            raise Failed(f"{name}: {error}") from error
        return by_hosts(report) if "host_rows" in report else report

    def clean_up(self) -> None:
        for one in self.started:
            for process in one.ranks().values():
                os.kill(process, signal.SIGKILL)
            if one.process.poll() is None:
                one.process.kill()
                one.process.wait()


def by_hosts(report: dict) -> dict:
    """A report of STREAM by kernel, host and round: what was measured, apart from who is slow."""
    def value(case: dict, key: str) -> float | None:
        return next((one["estimate"]["value"] for one in case["figures"] if one["key"] == key and one["estimate"]), None)
    measured = [case for case in report["cases"] if "finding" not in case["labels"]]
    kernels = [{"name": case["kernel"], "mode": case["labels"]["mode"], "stores": case["stores"],
                "bytes": value(case, "pass_size"), "moved": value(case, "pass_traffic")} for case in measured]
    hosts = []
    for index, (name, row) in enumerate(zip(report["hosts"], report["host_rows"], strict=True)):
        totals = [case["host_figures"][index] for case in measured]
        equal([one["host"] for one in totals], [index] * len(totals), "hosts of the cases")
        processes = [{"rank": first["rank"], "starts": [one["processes"][i]["starts"] for one in totals],
                      "seconds": [one["processes"][i]["seconds"] for one in totals]}
                     for i, first in enumerate(totals[0].get("processes", []))]
        hosts.append(row | {"name": name, "rounds": [one.get("passes", {"node": []}) for one in totals],
                            "again": "again" in totals[0], "processes": processes})
    slow: dict[str, bool] = {}
    for case in report["cases"]:
        if case["labels"].get("finding") in ("slow", "cleared"):
            slow[case["labels"]["host"]] = case["labels"]["finding"] == "slow"
    kinds = {row["kind"]: {"processes": row["processes"], "workers": row["workers"]} for row in report["host_rows"]}
    return report | {
        "kernels": kernels, "hosts": hosts, "kinds": [kinds[kind] for kind in sorted(kinds)],
        "repeats": max(len(rounds["node"]) for host in hosts for rounds in host["rounds"]),
        "elements": int(measured[0]["labels"]["elements"]), "memory": measured[0]["labels"]["memory"],
        "notes": [note for view in report["views"] for note in view["notes"]], "slow": slow}


def carry_out(case: Callable[[Trial], None], numatlas: str, launcher: list[str]) -> None:
    """One case in a folder of its own. Ends the program: 1 with what failed, 77 where it was skipped."""
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(numatlas, launcher, Path(folder))
        try:
            case(trial)
        except Failed as failed:
            sys.exit(f"FAILED: {failed}")
        except Skipped as skipped:
            print(f"skipped: {skipped}")
            sys.exit(77)
        finally:
            trial.clean_up()
