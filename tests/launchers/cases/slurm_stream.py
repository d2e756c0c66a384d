"""STREAM over Slurm's nodes: hosts, ranks, rows, and the exit code of a slow one."""

from __future__ import annotations

import re

from harness import SLURM_PMI2, SLURM_PMIX, Failed, Trial, case


def stream(t: Trial, *more: object) -> list[str]:
    return [t.numatlas, "stream", "-q", "--threads", "1", "--elements", "20000", "--json", "report.json",
            *map(str, more)]


def judged(report: dict) -> int:
    """Hosts that were judged."""
    findings = next(case for case in report["cases"] if case["labels"].get("finding") == "none")
    return sum(figure["estimate"]["value"] for host in findings["host_figures"] for figure in host["figures"]
               if figure["key"] == "host_judged")


@case(SLURM_PMIX, SLURM_PMI2)
def stream_hosts(t: Trial) -> None:
    """Two tasks on each of four nodes: a row of figures for each node, and every rank on its own."""
    nodes = t.needs_own_host_names()
    run = t.launch("-N4", "--ntasks-per-node=2", "--cpu-bind=none",
                   *stream(t, "--repeats", 4, "--samples")).ends_with(0)
    report = t.report()
    run.equal((report["complete"], report["ranks"], report["hosts"]), (True, 8, nodes), "complete, ranks, hosts")
    totals = report["cases"][0]["host_figures"]
    run.equal([[one["rank"] for one in host["processes"]] for host in totals],
              [[0, 1], [2, 3], [4, 5], [6, 7]], "ranks of the hosts")
    run.equal({(host["kind"], host["processes"], host["workers"]) for host in report["host_rows"]}, {(0, 2, 2)}, "kinds")
    run.equal({len(host["passes"]["node"]) for host in totals}, {4}, "rounds")
    run.out_says("^STREAM on 4 hosts, 8 processes, ").out_says(r"^triad +.* n\d$")
    run.out_says(r"^copy +.* rank [0-7] on n\d$")
    run.equal(judged(report), 4, "hosts that were judged")


@case(SLURM_PMIX, SLURM_PMI2)
def stream_slow_host(t: Trial) -> None:
    """One node takes twice as long, by the scripted clock: named, with the exit code through srun."""
    t.needs_own_host_names()
    run = t.launch("-N4", "--ntasks-per-node=2", "--cpu-bind=none", *stream(t, "--engine", "null", "--check"),
                   env={"NUMATLAS_TEST_SLOW_HOST": "n2:2"}).ends_with(1)
    run.out_says("^SLOW 1 of 4: n2 ").out_says(r"^n2 +slow +stream .* -(50\.0|49\.9) % .* 4 hosts ")
    found = [case["labels"]["host"] for case in t.report()["cases"] if case["labels"].get("finding") == "slow"]
    run.equal(set(found), {"n2"}, "slow hosts")
    run = t.launch("-N4", "--ntasks-per-node=1", "--cpu-bind=none", *stream(t, "--engine", "null", "--check"))
    run.ends_with(0).out_says("^OK: none of 4 hosts is slow")
    if not re.search("4 hosts, 4 processes", run.out):
        raise Failed(f"not four processes:\n{run.out}")
