"""Slurm's steps and jobs: wiring of MPI, ends, exit codes, batch scripts, allocations."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from harness import (MPICH, OPENMPI, SLURM, SLURM_PMI2, SLURM_PMIX, WRAPPER, Run, Skipped, Trial, case,
                     marked_processes, missing_reason, quick, workers_of)


def works_with_remedy(t: Trial, said: Run) -> None:
    """Does what the hint says for this launcher's MPI."""
    said.err_says("^numatlas: hint: use srun --mpi=pmix for Open MPI, srun --mpi=pmi2 for MPICH and its family", 1)
    t.needs_own_host_names()
    t.launch("-N2", "-n2", *quick(t.numatlas, "--mpi", t.launcher.plugin)).ends_with(0)
    said.equal(t.report()["ranks"], 2, "ranks with the remedy")


@case(SLURM_PMIX, SLURM_PMI2)
def singletons(t: Trial) -> None:
    """Tasks that cannot find each other are an error that names the remedy, and the remedy works."""
    for choice in ([], ["--mpi", t.launcher.plugin]):
        run = t.run("srun", "--mpi=none", "-N2", "-n2", *quick(t.numatlas, *choice)).ends_with(3)
        run.err_says("^numatlas: error: 2 tasks were launched by Slurm, but each runs as a single MPI process$", 1)
        run.equal(run.out, "", "standard output")
    works_with_remedy(t, run)


@case(SLURM_PMIX, SLURM_PMI2)
def wrong_wiring(t: Trial) -> None:
    """With the other MPI's wiring, MPICH sees itself alone and Open MPI ends the process: both are
    explained."""
    wrong = SLURM_PMI2 if t.launcher is SLURM_PMIX else SLURM_PMIX
    run = t.run(*wrong.command, "-N2", "-n2", *quick(t.numatlas, "--mpi", t.launcher.plugin))
    if t.launcher is SLURM_PMI2:
        run.ends_with(3).err_says("^numatlas: error: 2 tasks were launched by Slurm, but each runs as a single MPI process$", 1)
        works_with_remedy(t, run)
        return
    run.ends_with(1).err_says("^numatlas: warning: .*should Open MPI end here, use srun --mpi=pmix$", 1)
    t.needs_own_host_names()
    again = t.launch("-N2", "-n2", *quick(t.numatlas)).ends_with(0)
    again.equal(t.report()["ranks"], 2, "ranks with the remedy")


@case(SLURM)
def tasks_alone(t: Trial) -> None:
    """One task needs no wiring: in a step, in an allocation of several nodes, in a batch script itself;
    and --mpi none runs every task for itself."""
    for words in (["srun", "-n1"], ["salloc", "-N3", "srun", "-N1", "-n1"], ["salloc", "-N2", "-n2"]):
        run = t.run(*words, *quick(t.numatlas)).ends_with(0)
        report = t.report()
        run.equal((report["ranks"], len(report["hosts"]), report["comm"]), (1, 1, "none"), "ranks, hosts, MPI")
    run = t.run("srun", "-n2", t.numatlas, "latency", "--size", "1", "--time", "30ms", "--mpi", "none").ends_with(0)
    run.equal(len(re.findall(r"^1 MiB +", run.out, re.MULTILINE)), 2, "tables of one rank each")


@case(SLURM_PMIX, SLURM_PMI2)
def mpirun_in_allocation(t: Trial) -> None:
    """mpirun inside an allocation uses its nodes; its own ranks count, not those of Slurm."""
    mpirun = OPENMPI if t.launcher is SLURM_PMIX else MPICH
    if reason := missing_reason(mpirun, t.bin):
        raise Skipped(reason)
    t.needs_own_host_names()
    cpus = t.needs_two_cpus()
    # The batch step has Slurm's variables of a single task 0.
    words = [*mpirun.command, "-n", "4", *quick(t.numatlas, "--cpus", f"{cpus[0]}/{cpus[1]}")]
    run = t.run("salloc", "-N2", "-n4", "--nodelist=n1,n2", *words).ends_with(0)
    wanted = [(0, "n1", str(cpus[0])), (1, "n1", str(cpus[1])), (2, "n2", str(cpus[0])), (3, "n2", str(cpus[1]))]
    report = t.report()
    run.equal(workers_of(report, "rank", "host", "cpus"), wanted, "rank, host and CPU")
    run.equal(report["comm"].startswith(f"{mpirun.library} "), True, f"MPI is {report['comm']}")
    run = t.run("salloc", "-N2", "-n4", *mpirun.command, "-n", "4", t.numatlas, "exec", "--dry-run", "--", "program")
    plan = [f"numatlas exec: rank {rank} local rank {rank % 2} cpus as they are memory as it is: program"
            for rank in range(4)]
    run.ends_with(0).equal(sorted(run.lines()), plan, "the plan of exec")


def stopped(t: Trial, stop: Callable[[subprocess.Popen[str]], object]) -> Run:
    """Two nodes measure six sizes; after the first, `stop` is done, given the process of srun."""
    t.needs_own_host_names()
    csv = t.folder / "report.csv"
    csv.unlink(missing_ok=True)
    # Left to itself, srun waits for the others when a rank dies.
    # The JSON is there before the CSV; both are replaced in one step.
    process = t.start_until("the first size is on disk", csv.exists, *t.launcher.command, "--kill-on-bad-exit=1", "-N2",
                            "-n4", "--overcommit", t.numatlas, "latency", "--size", "1,2,3,4,5,6", "--time", "2s",
                            "--precision", "0.000001%", "--json", "report.json", "--csv", csv)
    stop(process)
    run = t.finish(process, 25)
    t.none_left()
    report = t.report()
    run.equal(report["complete"], False, "complete")
    first = report["cases"][0]
    run.equal((first["status"], first["size"], len(first["flows"])), ("ok", 2**20, 4), "the first size")
    run.equal(len([one for one in report["cases"] if one["status"] == "ok"]) < 6, True, "sizes are missing")
    lines = csv.read_text().splitlines()
    run.equal(bool(re.fullmatch(r"1MiB,[^,]*(,\d+(\.\d+)?)+", lines[1])), True, f"the CSV's first row, {lines[1]}")
    return run


def scancel(t: Trial, *options: str) -> Callable[[object], object]:
    return lambda _: t.run("scancel", "--state=RUNNING", *options).ends_with(0)


@case(SLURM_PMIX, SLURM_PMI2)
def cancelled(t: Trial) -> None:
    """scancel midway: what was measured is kept, shown and marked incomplete, and no process stays."""
    run = stopped(t, scancel(t))
    run.err_says("^numatlas: interrupted by signal 15: what was finished before is kept")
    run.out_says(r"^0 +n\d +000 ").ends_with(143)


@case(SLURM_PMIX)
def cancelled_by_signal(t: Trial) -> None:
    """scancel --signal=INT and TERM to the ranks: the same, with the exit code of the signal."""
    for number in (signal.SIGINT, signal.SIGTERM):
        run = stopped(t, scancel(t, f"--signal={number.name[3:]}"))
        run.err_says(f"^numatlas: interrupted by signal {int(number)}: what was finished before is kept")
        run.ends_with(128 + number)


@case(SLURM_PMIX)
def srun_ended(t: Trial) -> None:
    """SIGTERM to srun, and SIGINT twice (Ctrl-C): srun kills the ranks, and the first size is kept."""
    stopped(t, lambda srun: srun.send_signal(signal.SIGTERM))

    def interrupt_twice(srun: subprocess.Popen[str]) -> None:
        srun.send_signal(signal.SIGINT)
        time.sleep(0.3)  # srun takes it for a second one within a second
        srun.send_signal(signal.SIGINT)

    stopped(t, interrupt_twice).err_says("^srun: interrupt")


@case(SLURM_PMIX, SLURM_PMI2)
def rank_killed(t: Trial) -> None:
    """A rank of the other node is killed: with srun --kill-on-bad-exit all end, the first size is kept."""
    def kill_last(_: object) -> None:
        for process in marked_processes(str(t.folder)):
            environment = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
            if b"SLURM_PROCID=3" in environment and Path(f"/proc/{process}/comm").read_text() == "numatlas\n":
                os.kill(process, signal.SIGKILL)

    run = stopped(t, kill_last)
    run.equal(run.code != 0, True, "a failure").err_says(
        r"^srun: error: n\d: tasks? (\d-)?3: Killed"
    )


@case(SLURM)
def exit_codes(t: Trial) -> None:
    """The program's own code comes through exec, the wrapper and srun; mistakes are said once."""
    two = ("-N2", "-n2")
    t.launch(*two, t.numatlas, "exec", "--", "bash", "-c", "exit 7").ends_with(7)
    t.launch(*two, WRAPPER, "--quiet", "--executable", "bash", "--", "-c", "exit 7").ends_with(7)
    t.launch(*two, t.numatlas, "exec", "--", "bash", "-c", "kill -KILL $$").ends_with(137)
    t.launch("-n1", t.numatlas, "latency", "--sice", "1").ends_with(2).err_says("^numatlas: error: .*--sice", 1)
    t.launch("-n1", t.numatlas, "exec", "--", "./nowhere").ends_with(127).err_says(
        r"^numatlas: error: exec: \./nowhere: No such file", 1)


@case(SLURM_PMIX, SLURM_PMI2)
def batch(t: Trial) -> None:
    """A batch script as test frameworks write it: several steps, one output, the last step's code."""
    t.needs_own_host_names()
    script = t.folder / "job.sh"
    srun = " ".join(t.launcher.command)
    script.write_text(f"""#!/bin/bash
#SBATCH --job-name=latency --nodelist=n0,n1,n2 --ntasks-per-node=1 --output=job.out --error=job.err
{srun} {t.numatlas} latency --size 1 --time 30ms --quiet --json all.json
{srun} -N2 -n2 {t.numatlas} latency --size 1 --time 30ms --quiet --json two.json --format csv
echo "between: $?"
{t.numatlas} latency --size 1 --time 30ms --quiet --json alone.json --format csv >/dev/null
{srun} -N1 -n1 {t.numatlas} exec -- bash -c 'exit 5'
""")
    job = t.run("sbatch", "--parsable", script).ends_with(0).out.strip()
    # sbatch --wait would look every ten seconds.
    t.wait_for("the job has ended", lambda: t.run("squeue", "--noheader").ends_with(0).out.strip() == "", 60)
    run = t.run("scontrol", "show", "job", job).ends_with(0).out_says("ExitCode=5:0")
    out = (t.folder / "job.out").read_text()
    said = Run(["job.sh"], run.code, out, (t.folder / "job.err").read_text())
    said.out_says("^between: 0$").out_says(r"^0 +n0 +000 ").out_says(r"^n1,1,0,")
    for name, hosts in (("all.json", ["n0", "n1", "n2"]), ("two.json", ["n0", "n1"]), ("alone.json", ["n0"])):
        report = t.report(name)
        said.equal((report["complete"], report["hosts"]), (True, hosts), f"complete and hosts of {name}")
