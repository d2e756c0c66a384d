"""Slurm with several nodes: which rank is where, and what belongs to the local rank.

What is right is not computed here: Slurm itself is asked, by the same srun with another program.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness import RECORDED, SLURM, SLURM_PMI2, SLURM_PMIX, WRAPPER, Failed, Trial, case, quick, version_of, workers_of


@dataclass(frozen=True, order=True)
class Task:
    rank: int
    local_rank: int
    host: str


def tasks_of(t: Trial, options: list[str], env: dict[str, str] | None = None) -> list[Task]:
    """The tasks of such a step as Slurm numbers and places them."""
    run = t.run("srun", *options, "bash", "-c", "echo $SLURM_PROCID $SLURM_LOCALID $(uname -n)", env=env).ends_with(0)
    words = [line.split() for line in run.lines()]
    return sorted(Task(int(rank), int(local), host) for rank, local, host in words)


#: Where rank and local rank differ, so that one taken for the other shows. Nodes are named, since a
#: node that has just ended a step may not be free yet.
LAYOUTS: dict[str, list[str]] = {
    "cyclic": ["-N2", "-n4", "--nodelist=n1,n2", "--distribution=cyclic"],
    "plane": ["-N2", "-n5", "--nodelist=n0,n3", "--overcommit", "--distribution=plane=3"],
    "three tasks, two nodes": ["-N2", "-n3", "--nodelist=n2,n3", "--distribution=cyclic"],
    "by host file": ["-n4", "--distribution=arbitrary"],
}
HOST_FILE = "n2\nn0\nn0\nn1\n"


def layouts(t: Trial) -> list[tuple[list[str], dict[str, str], list[Task]]]:
    """Options, environment and tasks of each."""
    t.needs_own_host_names()
    (t.folder / "hosts").write_text(HOST_FILE)
    found = []
    for name, options in LAYOUTS.items():
        by_file = "arbitrary" in options[-1]
        if by_file and t.launcher is SLURM_PMI2:
            continue  # see host_file_without_map
        if name == "plane" and version_of("slurmctld", "-V") >= (24, 0):
            continue  # it overcommits only within an allocation, and waits for ever
        env = {"SLURM_HOSTFILE": str(t.folder / "hosts")} if by_file else {}
        tasks = tasks_of(t, options, env)
        if all(task.rank % 2 == task.local_rank % 2 for task in tasks):
            raise Failed(f"{name}: ranks and local ranks do not differ, so this shows nothing: {tasks}")
        found.append((options, env, tasks))
    return found


@case(SLURM_PMIX, SLURM_PMI2)
def four_nodes(t: Trial) -> None:
    """One rank a node: four hosts with their names, rows in the order of ranks."""
    nodes = t.needs_own_host_names()
    run = t.launch("-N4", *quick(t.numatlas)).ends_with(0)
    report = t.report()
    run.equal((report["complete"], report["ranks"], report["hosts"]), (True, 4, nodes), "complete, ranks, hosts")
    run.equal(report["comm"].startswith(f"{t.launcher.library} "), True, f"MPI is {report['comm']}")
    run.equal(workers_of(report, "rank", "host"), list(enumerate(nodes)), "ranks and their hosts")
    rows = [line.split()[1:3] for line in run.lines() if re.match(r"\d +n\d ", line)]
    run.equal(rows, [[node, f"{rank:03}"] for rank, node in enumerate(nodes)], "hosts and ranks of the table")


@case(SLURM_PMIX, SLURM_PMI2)
def maps_of_a_node(t: Trial) -> None:
    """A map of CPUs is each node's own, and each rank measures on the CPU that it was given."""
    a, b = t.needs_two_cpus()
    nodes = t.needs_own_host_names()
    run = t.launch("-N4", "--ntasks-per-node=2", f"--cpu-bind=map_cpu:{b},{a}", *quick(t.numatlas)).ends_with(0)
    report = t.report()
    wanted = [(2 * i + k, node, str(cpu)) for i, node in enumerate(nodes) for k, cpu in enumerate((b, a))]
    run.equal(workers_of(report, "rank", "host", "cpus"), wanted, "rank, host and CPU")
    seen = [flow["cpu_before"] for flow in report["cases"][0]["flows"]]
    run.equal(seen, [b, a] * 4, "CPUs that the workers were seen on")


@case(SLURM_PMIX, SLURM_PMI2)
def local_rank(t: Trial) -> None:
    """latency deals lists of CPUs out by local rank in every layout, on the machine itself."""
    cpus = t.needs_two_cpus()
    for options, env, tasks in layouts(t):
        run = t.launch(*options, "--cpu-bind=none", *quick(t.numatlas, "--cpus", f"{cpus[0]}/{cpus[1]}"),
                       env=env).ends_with(0)
        report = t.report()
        wanted = [(task.rank, task.host, str(cpus[task.local_rank % 2])) for task in tasks]
        run.equal(workers_of(report, "rank", "host", "cpus"), wanted, "rank, host and CPU")
        run.equal(report["hosts"], list(dict.fromkeys(task.host for task in tasks)), "hosts, in the order of ranks")


@case(SLURM_PMIX, SLURM_PMI2)
def memory_by_local_rank(t: Trial) -> None:
    """each: and auto deal nodes out by local rank; on a recorded machine, which has four nodes."""
    for options, env, tasks in layouts(t):
        for memory, nodes in (("each:3,1", (3, 1)), ("auto", (0, 1, 2, 3))):
            words = quick(t.numatlas, "--machine", RECORDED, "--cpus", "0", "--memory", memory)
            run = t.launch(*options, *words, env=env | {"NUMATLAS_ENGINE": "null"}).ends_with(0)
            wanted = [(task.rank, f"bind:{nodes[task.local_rank % len(nodes)]}") for task in tasks]
            run.equal(workers_of(t.report(), "rank", "memory"), wanted, f"memory with {memory}")


@case(SLURM_PMI2)
def host_file_without_map(t: Trial) -> None:
    """Slurm before 24 gives MPICH no map of such tasks, so MPICH takes each for a node: what shares no
    memory stays apart, and the second part of a host is shown as one."""
    t.needs_own_host_names()
    (t.folder / "hosts").write_text(HOST_FILE)
    run = t.launch(*LAYOUTS["by host file"], *quick(t.numatlas), env={"SLURM_HOSTFILE": str(t.folder / "hosts")})
    wanted = ["n2", "n0", "n1"] if version_of("slurmctld", "-V") >= (24, 0) else ["n2", "n0", "n0#2", "n1"]
    run.ends_with(0).equal(t.report()["hosts"], wanted, "hosts")


@case(SLURM)
def exec_and_wrapper(t: Trial) -> None:
    """exec and the wrapper deal CPUs and memory out by local rank; they need no MPI."""
    cpus = t.needs_two_cpus()
    recorded = {"NUMATLAS_ENGINE": "null", "NUMATLAS_TEST_MACHINE": str(RECORDED)}
    program = 'echo $SLURM_PROCID $(sed -n "s/^Cpus_allowed_list:[[:space:]]*//p" /proc/self/status)'
    for options, env, tasks in layouts(t):
        run = t.launch(*options, t.numatlas, "exec", "--dry-run", "--cpus", "16-17/0", "--memory", "each:2,0", "--",
                       "program", env=env | recorded).ends_with(0)
        wanted = [f"numatlas exec: rank {task.rank} local rank {task.local_rank} "
                  f"cpus {('16-17', '0')[task.local_rank % 2]} memory bind:{(2, 0)[task.local_rank % 2]}: program"
                  for task in tasks]
        run.equal(sorted(run.lines()), wanted, "the plan of exec")
        run = t.launch(*options, "--cpu-bind=none", t.numatlas, "exec", "--cpus", f"{cpus[0]}/{cpus[1]}", "--", "bash",
                       "-c", program, env=env).ends_with(0)
        run.equal(sorted(run.lines()), [f"{task.rank} {cpus[task.local_rank % 2]}" for task in tasks],
                  "CPUs of the programs")
        run = t.launch(*options, WRAPPER, "--numa=auto", "--executable", "bash", "--", "-c",
                       "echo $SLURM_PROCID $NUMATLAS_TEST_MEMORY", env=env | recorded).ends_with(0)
        run.equal(sorted(run.lines()), [f"{task.rank} bind:{task.local_rank}" for task in tasks],
                  "memory by the wrapper's auto")
