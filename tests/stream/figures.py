"""What the table and the files say is what the processes took."""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as xml
from pathlib import Path
from statistics import mean

from harness import Skipped, Trial, equal, near, true
from rows import Row, check_rounds, rows_of

os.environ["NUMATLAS_TEST_QUIET"] = "1"  # other tests run beside this one
EVERYTHING = ("--samples", "--json", "report.json", "--dat", ".")
#: To which a table rounds.
FOUR_DIGITS = 0.00050001
#: Of the table's columns, as it writes them.
COLUMNS = (("average_bytes_per_second", "average_seconds"), ("maximum_bytes_per_second", "minimum_seconds"),
           ("minimum_bytes_per_second", "maximum_seconds"))


def check_table(out: str, report: dict, rows: list[dict[str, Row]]) -> None:
    lines, of = {}, ""
    for line in out.splitlines():
        of = {"STREAM": "node", "Processes,": "process"}.get(line.split(" ")[0], of)
        if match := re.match(r"(\w+(?: \(persist [\w-]+\))?)  +(\d.*)", line):
            lines[of, match[1]] = match[2].split(), line.split("  ")[-1].strip()
    equal(len(lines), 2 * len(rows), "rows of the tables")
    for kernel, both in zip(report["kernels"], rows):
        name = kernel["name"] + ("" if kernel["mode"] == "memory" else f" (persist {kernel['mode']})")
        for what, row in both.items():
            (words, where), figures = lines[what, name], row.figures()
            for column, (rate, time) in enumerate(COLUMNS):
                near(float(words[2 * column]), figures[rate] / 1e9, f"{what} {name} {rate}", FOUR_DIGITS, 0.0050001)
                near(float(words[2 * column + 1]), figures[time], f"{what} {name} {time}", FOUR_DIGITS, 0.00000050001)
            if words[6] != "unknown:":  # what its interval leaves open is as much as the median
                near(float(words[6]), figures["median_bytes_per_second"] / 1e9, f"{what} {name} median", FOUR_DIGITS, 0.0050001)
            places = {place if rank < 0 else f"rank {rank} on {place}" for place, rank in row.slowest()}
            true(where in places, f"{what} {name} worst at {where}, not {places}")


#: Of the JSON's figures, as rows compute them.
FIGURES = {"bandwidth": "median_bytes_per_second", "average_bandwidth": "average_bytes_per_second",
           "best_bandwidth": "maximum_bytes_per_second", "worst_bandwidth": "minimum_bytes_per_second",
           "average_time": "average_seconds", "best_time": "minimum_seconds", "worst_time": "maximum_seconds"}


def check_json(report: dict, rows: list[dict[str, Row]]) -> None:
    cases = [case for case in report["cases"] if "finding" not in case["labels"]]
    for case, both in zip(cases, rows, strict=True):
        figures = {one["key"]: one["estimate"] for one in case["figures"]}
        for what, row in both.items():
            prefix, wanted = "process_" if what == "process" else "", row.figures()
            for key, name in FIGURES.items():
                near(figures[prefix + key]["value"], wanted[name], f"{prefix}{key} of {case['name']}", 1e-8, 1)
            estimate = figures[prefix + "bandwidth"]
            if estimate["low"] is None:
                true(1 < len(row.rates) < 6, f"no interval over {len(row.rates)} hosts")
                continue
            true(estimate["low"] <= row.median() + 1 and row.median() <= estimate["high"] + 1,
                 "the interval leaves out the median")


def check_dat(text: str, report: dict) -> None:
    run = xml.fromstring(text)
    equal(int(run.findtext("configuration/number_of_nodes")), len(report["hosts"]), "nodes of the .dat")
    nodes = {node.findtext("name"): node for node in run.findall("results/node")}
    equal(list(nodes), [host["name"] for host in report["hosts"]], "names of the .dat")
    for kernel, what in enumerate(report["kernels"]):
        name = what["name"] + ("" if what["mode"] == "memory" else f"_{what['mode']}")
        equal(float(run.findtext(f"configuration/{name}_size")), what["bytes"], f"{name}_size")
        for host in report["hosts"]:
            times = nodes[host["name"]].find(name.capitalize())
            node = host["rounds"][kernel]["node"][1:]
            seconds = [time for one in host["processes"] for time in one["seconds"][kernel][1:]]
            for figure, wanted in (("Average", mean(seconds)), ("Minimum", min(node)), ("Maximum", max(node))):
                near(float(times.findtext(figure)), wanted, f".dat: {name} {figure} of {host['name']}")


def check_all(t: Trial, out: str, threads: int = 1) -> dict:
    report = t.report()
    equal((report["complete"], report["incomplete_reason"]), (True, None), "complete and why not")
    check_rounds(report, threads)
    rows = rows_of(report)
    check_table(out, report, rows)
    check_json(report, rows)
    files = list(t.folder.glob("memory_results-*.dat"))
    equal(len(files), 1, "number of .dat files")
    check_dat(files[0].read_text(), report)
    equal([file.name for file in t.folder.iterdir() if not file.name.startswith(("memory_results", "report."))
           and file.name not in ("out", "err")], [], "files left over")
    return report


def case_hosts(t: Trial) -> None:
    """48 processes as 6 hosts, on however few CPUs."""
    run = t.stream(48, "--elements", 20000, "--repeats", 4, *EVERYTHING, NUMATLAS_TEST_HOSTS=6).ends_with(0)
    run.out_says(r"^STREAM on 6 hosts, 48 processes, 3 arrays of 20000 elements ").out_says("8 processes x 1 thread")
    report = check_all(t, run.out)
    equal((report["ranks"], len(report["hosts"]), len(report["kinds"])), (48, 6, 1), "ranks, hosts, kinds")
    equal([kernel["name"] for kernel in report["kernels"]], ["copy", "scale", "add", "triad"], "kernels")
    equal([kernel["bytes"] for kernel in report["kernels"]], [320000, 320000, 480000, 480000], "bytes")


def case_uneven(t: Trial) -> None:
    """7 processes of two threads as 3 hosts: one kind for 3 processes, another for 2."""
    run = t.stream(7, "--elements", 20001, "--repeats", 4, "--threads", 2, "--kernels", "triad,read,write,copy", *EVERYTHING,
                   NUMATLAS_TEST_HOSTS=3).ends_with(0)
    report = check_all(t, run.out, threads=2)
    equal(sorted(len(host["processes"]) for host in report["hosts"]), [2, 2, 3], "processes of the hosts")
    equal(sorted((kind["processes"], kind["workers"]) for kind in report["kinds"]), [(2, 4), (3, 6)], "kinds")
    equal([kernel["name"] for kernel in report["kernels"]], ["copy", "triad", "write", "read"], "kernels")
    # Whole cache lines.
    equal([kernel["bytes"] for kernel in report["kernels"]], [16 * 20008, 24 * 20008, 8 * 20008, 8 * 20008], "bytes")
    run.out_says("^warning: not judged: .*only 1 of this kind").out_says("^warning: not judged: .*only 2 of this kind")


def case_legacy(t: Trial) -> None:
    """distributed_streams: its table is what its .dat says; CACHE_ELEMENTS is divided among a host's processes."""
    run = t.run(6, t.bin / "distributed_streams", 10000, 4, NUMATLAS_TEST_HOSTS=3).ends_with(0)
    run.out_says(r"^Array size = 20000 \(elements\), Offset = 0 \(elements\)$")
    run.out_says(r"^Running with 6 MPI processes, each with 1 OpenMP threads\. 2 processes per node$")
    file, = t.folder.glob("memory_results-2x1-*.dat")
    nodes = xml.fromstring(file.read_text()).findall("results/node")
    equal(len(nodes), 3, "nodes of the .dat")
    for name, bytes_ in (("Copy", 320000), ("Scale", 320000), ("Add", 480000), ("Triad", 480000)):
        average, least, most = (mean(float(node.findtext(f"{name}/Average")) for node in nodes),
                                min(float(node.findtext(f"{name}/Minimum")) for node in nodes),
                                max(float(node.findtext(f"{name}/Maximum")) for node in nodes))
        line, = re.findall(rf"^Node {name}: +(.*)$", run.out, re.MULTILINE)
        seen = [float(word) for word in line.split(":")]
        for value, wanted, digits in zip(seen, (2 * bytes_ / average / 1e6, average, 2 * bytes_ / least / 1e6, least,
                                                2 * bytes_ / most / 1e6, most), (1, 6, 1, 6, 1, 6), strict=True):
            near(value, wanted, f"Node {name}", 0, 0.50001 * 10 ** -digits)
        line, = re.findall(rf"^{name}: +(.*?)  \S+$", run.out, re.MULTILINE)
        near(float(line.split(":")[1]), average, name, 0, 0.50001e-6)


def case_widths(t: Trial) -> None:
    """Vectors on memory: tried once a kernel, one choice of all ranks. None in caches, nor with --isa."""
    if "avx2" not in Path("/proc/cpuinfo").read_text():
        raise Skipped("vectors of one width")
    ranks = 2 if t.launcher else 1

    def widths(benchmark: str, *words: object) -> list[tuple[str, int]]:
        t.run(ranks, t.numatlas, benchmark, "-q", "--threads", 1, "--json", "report.json", *words,
              limit=150).ends_with(0)  # memory past the caches, which a virtual machine may have to fetch
        found = t.report().get("vector_widths", [])
        for one in found:
            true(one["width"] in one["tried"] and {16, 32} <= set(one["tried"]), f"vectors: {one}")
        return [(one["kernel"], one["workers"]) for one in found]

    bandwidth = ("bandwidth", "--kernels", "read,triad", "--time", "0.2s", "--visits", 2)
    equal(sorted(widths(*bandwidth)), [("read", ranks), ("triad", ranks)], "kernels tried")
    isa, = re.findall(r"kernels: (\w+)", (t.folder / "out").read_text())
    if not t.launcher:  # the same of ranks
        equal(widths(*bandwidth, "--isa", isa), [], f"tried with --isa {isa}")
        equal(widths(*bandwidth, "--size", "16KiB"), [], "tried in a cache")
    equal(widths("stream", "--repeats", 2), [(name, 0) for name in ("add", "copy", "scale", "triad")], "passes tried")
    true("-byte vectors: fastest of 16, 32" in (t.folder / "out").read_text(), "the table names no vectors")
