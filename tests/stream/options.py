"""What is asked for: refused where it makes no sense, the same however it is spread."""

from __future__ import annotations

import os
import re

from harness import Failed, Trial, equal, has_library, true

SMALL = ("--elements", 8000, "--repeats", 3)

#: Words after `numatlas stream -q`, exit code and error.
REFUSED: tuple[tuple[tuple[object, ...], int, str], ...] = (
    (("--repeats", 0), 2, "--repeats: 0 rounds leave nothing to report"),
    (("--repeats", 1), 2, "--repeats: 1 round leaves nothing to report"),
    (("--repeats", -3), 2, "--repeats: '-3' is not a whole number from 0"),
    (("--repeats", "abc"), 2, "--repeats: 'abc' is not a whole number"),
    (("--elements", 0), 2, "--elements: '0' is not a whole number from 1"),
    (("--elements", 1, "--threads", 2), 2, "--elements: arrays of 1 leave some of the 2 threads of a process without a cache line"),
    (("--elements", 10**15), 5, r"--elements: \d+ workers? requests? [\d.]+ PiB"),
    (("--elements", 10**30), 2, "--elements: '10{30}' is not a whole number"),
    (("--elements", 1000, "--size", 1), 2, "--size: --elements says the same"),
    (("--size", "8B"), 2, "--size: 8 B are too small for three arrays"),
    (("--threads", "1,2"), 2, "--threads: stream accepts one number per run"),
    (("--pages", "base,thp"), 2, "--pages: stream accepts one kind of pages"),
    (("--stores", "regular,non-temporal"), 2, "--stores: 'regular,non-temporal' is not one of regular, non-temporal, nt"),
    (("--kernels", "fill"), 2, "--kernels: 'fill' is not one of copy, scale, add, triad, read, write"),
    (("--isa", "abacus"), 2, "--isa: unknown instruction set 'abacus'"),
    (("--slow", "-1"), 2, "--slow: '-1' is not a fraction between 0 and 1"),
    (("--mads", "x"), 2, "--mads: 'x' is not a number above 0"),
    (("--persist", "individual"), 2, "--persist: this memory is not persistent"),
    (("--memory", "pmem:/tmp", "--persist", "mostly"), 2, "--persist: 'mostly' is not one of "),
    (("--memory", "pmem:"), 2, "--memory: 'pmem:' names no folder"),
    (("--memory", "pmem:/nowhere/at/all"), 6, "--memory pmem:/nowhere/at/all: No such file or directory"),
    (("--memory", "pmem:/etc/passwd"), 2, "--memory pmem:/etc/passwd: this is not a folder"),
    (("--memory", f"pmem:/{'a' * 5000}"), 6, "--memory pmem:/a{100,}.*: File name too long"),
    (("--memory", "memkind:/nowhere/at/all"), *((6, "--memory memkind:/nowhere/at/all: ")
                                                if has_library("libmemkind.so.0") else
                                                (3, "--memory memkind: needs libmemkind: "))),
    (("--json", "-"), 2, "--json: takes a file, not standard output"),
    (("--json", "/nowhere/report.json"), 6, "--json: /nowhere/report.json: open: No such file or directory"),
    (("--dat", "/nowhere"), 6, "--dat: /nowhere/memory_results: open: "),
    (("--dat", "/etc/passwd"), 6, "--dat: /etc/passwd/memory_results: open: Not a directory"),
    (("--openmetrics", "x.prom"), 2, "stream: unknown option '--openmetrics'"),
    (("--time", "5s"), 2, "stream: unknown option '--time'"),
    (("--nonsense",), 2, "stream: unknown option '--nonsense'"),
)


def case_refused(t: Trial) -> None:
    """Said once, with the code of its kind, before anything is measured or written."""
    for words, code, error in REFUSED:
        run = t.stream(1, *words).ends_with(code).out_is_empty()
        run.says_once("^numatlas: error: ").says_once(f"^numatlas: error: {error}")
    equal(sorted(os.listdir(t.folder)), ["err", "out"], "files in the folder")


def case_refused_ranks(t: Trial) -> None:
    """The same from several ranks and hosts: said once."""
    for words in (("--repeats", 1), ("--elements", 10**15), ("--json", "/nowhere/report.json"), ("--nonsense",)):
        error, = (error for refused, _, error in REFUSED if refused == words)
        t.stream(3, *words, NUMATLAS_TEST_HOSTS=2).fails().says_once("^numatlas: error: ").says_once(error)


#: Hosts, and what rank 1 of three alone is told.
DIFFERENT = ((1, ("--kernels", "copy")), (1, ("--dry-run",)), (3, ("--repeats", 4)), (3, ("--elements", 9000)),
             (3, ("--kernels", "copy")), (3, ("--stores", "non-temporal")), (3, ("--samples",)), (3, ("--engine", "null")),
             (3, ("--memory", "pmem:.")))


def case_different(t: Trial) -> None:
    """Ranks that were told unlike things: refused at once, within a host and over hosts; nobody waits."""
    script = 'if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ]; then shift $0; else set -- "${@:1:$0}"; fi; exec $NUMATLAS "$@"'
    for hosts, words in DIFFERENT:
        common = ["stream", "-q", *SMALL]
        other = [word for i, word in enumerate(common) if word != words[0] and (i == 0 or common[i - 1] != words[0])]
        try:
            run = t.run(3, "bash", "-c", script, len(common), *common, *other, *words, limit=60,
                        NUMATLAS_TEST_HOSTS=hosts, NUMATLAS=t.numatlas)
            run.fails().says_once("^numatlas: error: ").says_once("rank 1 (has different options|runs a different command) from rank 0")
            run.out_lacks("^STREAM on")
        except Failed as failed:
            raise Failed(f"{words} on {hosts} hosts: {failed}") from failed


def case_same(t: Trial) -> None:
    """Two processes of a thread, or one of two threads: the same host, kernels, and bytes."""
    seen = []
    for ranks, threads, elements in ((2, 1, 16000), (1, 2, 32000)):
        t.stream(ranks, "--threads", threads, "--elements", elements, "--repeats", 3, "--json", "report.json").ends_with(0)
        report = t.report()
        host, = report["hosts"]
        kind = report["kinds"][host["kind"]]
        seen.append((host["name"], kind["workers"], report["elements"] * ranks, report["repeats"], report["memory"],
                     [(one["name"], one["mode"], one["stores"], one["bytes"] * ranks, one["moved"] * ranks)
                      for one in report["kernels"]], [len(rounds["node"]) for rounds in host["rounds"]]))
    equal(seen[0], seen[1], "two processes against two threads")
    # What it takes by itself: four times the caches of a host, among its processes.
    totals = []
    for ranks, threads in ((2, 1), (1, 2)):
        run = t.stream(ranks, "--threads", threads, "--repeats", 2, "--engine", "null", "--machine",
                       "numa:1(memory=34359738368) l3:1(size=16777216) core:4 pu:1", "--json", "report.json").ends_with(0)
        true("elements: 4 x the last-level caches (16 MiB)" in t.report()["notes"], "source of the elements")
        totals.append(t.report()["elements"] * ranks)
        run.out_says(f"^STREAM on 1 host, {ranks} process")
    equal(totals, [4 * 16777216 // 8] * 2, "elements of all processes")


def case_threads(t: Trial) -> None:
    """Without a launcher all CPUs of the process, a thread each; the plan says the same."""
    t.stream(1, *SMALL, "--json", "report.json").ends_with(0)
    report = t.report()
    kind, = report["kinds"]
    equal((kind["processes"], kind["workers"]), (1, len(os.sched_getaffinity(0))), "processes and workers")
    plan = t.stream(1, *SMALL, "--dry-run").ends_with(0).out
    equal(len(re.findall(r"^ *\d+ ", plan, re.MULTILINE)) > 0, True, f"a plan:\n{plan}")
