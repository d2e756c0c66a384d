"""One host, several ranks: both mpiruns."""

from __future__ import annotations

import os
import re

from harness import MPICH, OPENMPI, RECORDED, WRAPPER, Skipped, Trial, case, quick, workers_of


@case(OPENMPI, MPICH)
def ranks(t: Trial) -> None:
    """Four ranks are one run on one host: in the table and the JSON in the order of ranks, in the CSV by nodes."""
    run = t.launch("-n", "4", *quick(t.numatlas, "--csv", "report.csv")).ends_with(0)
    report = t.report()
    run.equal(report["complete"], True, "complete")
    run.equal((report["ranks"], report["hosts"]), (4, [os.uname().nodename]), "ranks and hosts")
    run.equal(report["comm"].startswith(f"{t.launcher.library} "), True, f"MPI is {report['comm']}")
    run.equal(workers_of(report, "rank", "thread"), [(rank, 0) for rank in range(4)], "workers")
    run.equal(re.findall(r"^\d +(\d{3}) ", run.out, re.MULTILINE), ["000", "001", "002", "003"], "rows")
    lines = (t.folder / "report.csv").read_text().splitlines()
    run.equal(lines[0].split(",")[:2], ["size", "fits"], "head of the CSV")
    run.equal(bool(re.fullmatch(r"1MiB,[^,]*(,\d+(\.\d+)?)+", lines[1])), True, f"CSV row {lines[1]}")


@case(OPENMPI, MPICH)
def one_task(t: Trial) -> None:
    """A task alone needs no MPI."""
    run = t.launch("-n", "1", *quick(t.numatlas)).ends_with(0)
    report = t.report()
    run.equal((report["ranks"], report["comm"]), (1, "none"), "ranks and MPI")


@case(OPENMPI, MPICH)
def exec_plan(t: Trial) -> None:
    """exec deals CPUs and memory out by local rank, in turn when there are more ranks than entries."""
    run = t.launch("-n", "4", t.numatlas, "exec", "--dry-run", "--machine", RECORDED, "--cpus", "0-1/16-17/32,96",
                   "--memory", "each:3,2", "--", "program", "two words").ends_with(0)
    wanted = [f"numatlas exec: rank {rank} local rank {rank} cpus {cpus} memory bind:{node}: program 'two words'"
              for rank, cpus, node in ((0, "0-1", 3), (1, "16-17", 2), (2, "32,96", 3), (3, "0-1", 2))]
    run.equal(sorted(run.lines()), wanted, "the plan")


@case(OPENMPI, MPICH)
def exec_real(t: Trial) -> None:
    """What exec asks for is in force in the program: its CPUs and its memory policy."""
    a, b = t.needs_two_cpus()
    node = first_node(t)
    program = """numatlas_rank=${OMPI_COMM_WORLD_RANK-$PMI_RANK}
    echo $numatlas_rank $(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status) \
      $(cut -d ' ' -f 2 /proc/self/numa_maps | sort -u)"""
    run = t.launch("-n", "3", t.numatlas, "exec", "--cpus", f"{a}/{b}", "--memory", f"each:{node},{node}", "--",
                   "bash", "-c", program).ends_with(0)
    wanted = [f"{rank} {cpu} bind:{node}" for rank, cpu in ((0, a), (1, b), (2, a))]
    run.equal(sorted(run.lines()), wanted, "rank, CPUs and policy of the programs")


@case(OPENMPI, MPICH)
def wrapper(t: Trial) -> None:
    """The wrapper binds by rank, and numa_mem_bench shows where the memory is."""
    os.symlink(t.bin / "numa_mem_bench", t.folder / "numa_mem_bench")
    recorded = {"NUMATLAS_ENGINE": "null", "NUMATLAS_TEST_MACHINE": str(RECORDED)}
    run = t.launch("-n", "3", WRAPPER, "--numa=2,0,3", "--", "--size=64", env=recorded).ends_with(0)
    mapping = (t.folder / "mapping_check.log").read_text().splitlines()
    run.equal([(line.split(",")[0], line.split(",")[3]) for line in mapping[1:]], [("0", "2"), ("1", "0"), ("2", "3")],
              "rank and memory node in mapping_check.log")
    run.err_says(r"^numatlas exec: rank 1 local rank 1 cpus as they are memory bind:0: \./numa_mem_bench", 1)
    node = first_node(t)
    run = t.launch("-n", "2", WRAPPER, f"--numa={node},{node}", "--", "--size=1", "--csv=results.csv").ends_with(0)
    mapping = (t.folder / "mapping_check.log").read_text().splitlines()
    run.equal([line.split(",")[3] for line in mapping[1:]], [str(node)] * 2, "memory nodes of the real run")
    run.equal((t.folder / "results.csv").read_text().splitlines()[0], "size (MB),0,1", "head of the CSV")
    t.launch("-n", "3", WRAPPER, "--numa=0,0", "--", "--size=1").ends_with(2).err_says(
        r"^numatlas: error: --memory: the list names 2 nodes, but 3 tasks are on this host")


@case(OPENMPI, MPICH)
def exit_codes(t: Trial) -> None:
    """The program's own code comes through exec and the wrapper; numatlas' own mistakes are said once."""
    t.launch("-n", "2", t.numatlas, "exec", "--", "bash", "-c", "exit 7").ends_with(7)
    t.launch("-n", "2", WRAPPER, "--quiet", "--executable", "bash", "--", "-c", "exit 7").ends_with(7)
    t.launch("-n", "2", t.numatlas, "exec", "--", "./nowhere").ends_with(127).err_says(
        r"^numatlas: error: exec: \./nowhere: No such file", 1)
    t.launch("-n", "2", t.numatlas, "latency", "--sice", "1").ends_with(2).err_says("^numatlas: error: .*--sice", 1)
    t.launch("-n", "2", t.numatlas, "latency", "--size", "1", "--memory", "bind:1021").ends_with(3).err_says(
        "^numatlas: error: .*--memory: .*1021", 1)


@case(OPENMPI, MPICH)
def other_mpi(t: Trial) -> None:
    """An MPI that does not know this launcher is found out, and the remedy that is named works."""
    other = "mpich" if t.launcher is OPENMPI else "openmpi"
    if not (t.bin.parent / f"lib/numatlas/mpi/numatlas_mpi_{other}.so").exists():
        raise Skipped(f"this build has no MPI plug-in {other}")
    run = t.launch("-n", "2", *quick(t.numatlas, "--mpi", other)).ends_with(3)
    run.err_says(f"^numatlas: error: 2 tasks were launched by {t.launcher.library}, but each runs as a single MPI process$", 1)
    run.err_says(r"^numatlas: hint: .*plug-ins: mpich, openmpi \(--mpi NAME chooses\)", 1)
    t.launch("-n", "2", *quick(t.numatlas, "--mpi", t.launcher.plugin)).ends_with(0)
    run.equal(t.report()["ranks"], 2, "ranks with the remedy")


def first_node(t: Trial) -> int:
    """A node on which this process may have memory; Skipped where no policy is allowed."""
    with open("/proc/self/status", encoding="utf-8") as status:
        node = int(re.search(r"^Mems_allowed_list:\s*(\d+)", status.read(), re.MULTILINE)[1])  # type: ignore[index]
    probe = t.run(t.numatlas, "exec", "--memory", f"bind:{node}", "--", "true")
    if probe.code == 4:
        raise Skipped("memory policies are forbidden here (no CAP_SYS_NICE)")
    probe.ends_with(0)
    return node
