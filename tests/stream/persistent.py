"""Memory that lasts, on an ordinary folder: what is said of it, and that nothing stays there."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

from harness import Skipped, Trial, equal, has_library, loses_codes, true

MODES = ("none", "individual", "collective", "per-block")
KERNELS = ("copy", "scale", "add", "triad")
ALL = ("--persist", ",".join(MODES), "--kernels", "copy,scale,add,triad,read,write")


def library(name: str) -> None:
    if not has_library(name):
        raise Skipped(f"no {name}")


def folder_of(t: Trial) -> Path:
    folder = t.folder / "pmem"
    folder.mkdir()
    return folder


def ranks_of(t: Trial) -> int:
    return 3 if t.launcher else 1


def case_pmem(t: Trial) -> None:
    library("libpmem.so.1")
    folder = folder_of(t)
    run = t.stream(ranks_of(t), "--elements", 20000, "--repeats", 3, "--threads", 2, "--memory", f"pmem:{folder}", *ALL,
                   "--json", "report.json").ends_with(0)
    run.says_once(f"^warning: {folder} is not real persistent memory: a file on ")
    report = t.report()
    equal([(one["name"], one["mode"]) for one in report["kernels"]],
          [(kernel, mode) for mode in MODES for kernel in KERNELS] + [("write", mode) for mode in MODES] + [("read", "none")],
          "kernels and modes")
    host, = report["hosts"]
    equal([len(rounds["node"]) for rounds in host["rounds"]], [3] * 21, "rounds")
    equal(report["memory"], f"pmem:{folder}", "memory")
    texts = [warning["text"] for warning in report["warnings"]]
    equal(len(texts), len(set(texts)), f"warnings, each once: {texts}")
    for mode in MODES:
        run.out_says(rf"^triad \(persist {mode}\) ").out_says(rf"^write \(persist {mode}\) ")
    equal(os.listdir(folder), [], "files left")


def case_pmem_killed(t: Trial) -> None:
    """kill -9 of every rank: no file has a name, so none stays."""
    library("libpmem.so.1")
    folder = folder_of(t)
    run = t.start(ranks_of(t), t.numatlas, "stream", "-q", "--elements", 20000, "--repeats", 1000000, "--memory",
                  f"pmem:{folder}", "--persist", "individual", "--json", "report.json")
    run.until("the first round is on disk", (t.folder / "report.json").exists)
    ranks = run.ranks()
    equal(sorted(ranks), list(range(ranks_of(t))), "ranks")
    maps = Path(f"/proc/{ranks[0]}/maps").read_text()
    true(str(folder) in maps, f"nothing of {folder} is mapped")
    for process in ranks.values():
        os.kill(process, signal.SIGKILL)
    said = run.end()
    if not loses_codes(t.launcher):
        said.fails()
    run.none_left()
    equal(os.listdir(folder), [], "files left")


def case_memkind(t: Trial) -> None:
    library("libmemkind.so.0")
    folder = folder_of(t)
    t.stream(ranks_of(t), "--elements", 20000, "--repeats", 3, "--memory", f"memkind:{folder}", "--json",
             "report.json").ends_with(0).out_says("memory: memkind:")
    equal([one["mode"] for one in t.report()["kernels"]], ["memory"] * 4, "modes")
    t.stream(ranks_of(t), "--elements", 20000, "--repeats", 3, "--memory", f"memkind:{folder}", "--persist",
             "none").fails().says_once("^numatlas: error: .*--persist: this memory is not persistent")
    equal(os.listdir(folder), [], "files left")


def case_disk_full(t: Trial) -> None:
    """A file system of 2 MiB: files of the results and arrays that do not fit are told, the run is shown."""
    folder = folder_of(t)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2M", "tmpfs", folder], capture_output=True, text=True)
    if mounted.returncode != 0:
        raise Skipped(f"no file system to be had: {mounted.stderr.strip()}")
    try:
        # Room for the probe of the names, none for a whole file.
        with open(folder / "filler", "wb", buffering=0) as filler:
            for size in (1 << 16, 1 << 12):
                try:
                    while filler.write(b"\0" * size) == size:
                        pass
                except OSError:
                    pass
        run = t.stream(ranks_of(t), "--elements", 8000, "--repeats", 3, "--json", folder / "report.json")
        run.ends_with(6).says_once("^numatlas: error: (rank 0 on [^:]*: )?--json: .*No space left on device")
        (folder / "filler").unlink()
        equal([name for name in os.listdir(folder) if name != "report.json"], [], "files left")
        library("libpmem.so.1")
        t.stream(ranks_of(t), "--elements", 400000, "--repeats", 3, "--memory", f"pmem:{folder}").ends_with(5).says_once(
            f"^numatlas: error: .*--memory pmem:{folder}: .* needed by .*, .* free on tmpfs")
        equal([name for name in os.listdir(folder) if name != "report.json"], [], "files left by pmem:")
    finally:
        subprocess.run(["umount", folder], check=True)
