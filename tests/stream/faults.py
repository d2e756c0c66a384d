"""Something goes wrong midway: it is told, nobody hangs, and the rounds before are kept."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable

from harness import Failed, Started, Trial, equal, loses_codes, true


def long_run(t: Trial, *words: object, **environment: object) -> Started:
    """One that nobody waits for, with its first rounds on disk."""
    run = t.start(3 if t.launcher else 1, t.numatlas, "stream", "--elements", 8000, "--repeats", 1000000, "--json",
                  "report.json", *words, **environment)
    run.until("the first round is on disk", (t.folder / "report.json").exists)
    return run


def kept(t: Trial, hosts: int = 1) -> dict:
    report = t.report()
    equal(report["complete"], False, "complete")
    true(report["incomplete_reason"], "no reason for being incomplete")
    equal(len(report["hosts"]), hosts, "hosts")
    for host in report["hosts"]:
        for kernel, rounds in zip(report["kernels"], host["rounds"]):
            true(rounds["node"] and min(rounds["node"]) > 0, f"{host['name']} has no round of {kernel['name']}")
    return report


def killed(rank: int) -> Callable[[Trial], None]:
    """kill -9 of that rank of three, on three hosts."""
    def case(t: Trial) -> None:
        run = long_run(t, NUMATLAS_TEST_HOSTS=3)
        os.kill(run.ranks()[rank], signal.SIGKILL)
        said = run.end()
        if not loses_codes(t.launcher):
            said.fails()
            true(said.out or said.err, "not a word")
        run.none_left()
        kept(t, hosts=3)
    return case


case_killed_0, case_killed_1, case_killed_2 = killed(0), killed(1), killed(2)


def case_sigint(t: Trial) -> None:
    """To the program, or to the launcher, which passes it on."""
    run = long_run(t)
    run.process.send_signal(signal.SIGINT)
    said = run.end()
    run.none_left()
    kept(t)
    if t.launcher:
        # Hydra that is told to stop ends its ranks and, now and then, with 0 whatever they say.
        true(said.code != 0 or t.launcher[0] == "mpirun.mpich", "the exit code is 0")
        return
    said.ends_with(130).says_once("^numatlas: interrupted by signal 2: what was finished before is kept")
    said.out_says("^triad ").out_says(r"^\d+ of 1000000 rounds, ").out_says("^INCOMPLETE: interrupted")
    equal(t.report()["incomplete_reason"], "interrupted", "reason")
    # Not where a launcher kills ranks: one that writes leaves its half of a new file, beside the old one.
    equal(sorted(os.listdir(t.folder)), ["err", "out", "report.json"], "files")


def case_json_whole(t: Trial) -> None:
    """Whoever reads the file while it is written anew sees a whole one, old or new."""
    path = t.folder / "report.json"
    run = t.start(1, t.numatlas, "stream", "-q", "--elements", 8000, "--repeats", 1000000, "--json", path)
    run.until("the file is there", path.exists)
    seen: set[str] = set()
    problems: list[str] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set() and not problems:
            try:
                text = path.read_text()
                if text not in seen:
                    cases = json.loads(text)["cases"]
                    equal(sum("finding" not in case["labels"] for case in cases), 4, "kernels")
                seen.add(text)
            except (OSError, Failed, KeyError, ValueError) as problem:
                problems.append(f"{problem!r}")

    reader = threading.Thread(target=read)
    reader.start()
    try:
        run.until("five files were read", lambda: len(seen) >= 5 or problems)
    finally:
        stop.set()
        reader.join()
    run.process.send_signal(signal.SIGINT)
    run.end().ends_with(130)
    equal(problems, [], "what readers met")
    json.loads(path.read_text())
