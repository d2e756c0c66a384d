"""`numatlas advise` for the ranks of a Slurm step."""

from __future__ import annotations

import os
import re
from pathlib import Path

from harness import SLURM, Failed, Run, Skipped, Trial, case

# Fast only where glibc's heap asks for transparent huge pages.
LIKES_THP = "case ${GLIBC_TUNABLES:-} in *hugetlb=1*) ;; *) sleep 0.3 ;; esac; echo heap $GLIBC_TUNABLES"

# Fast only where a rank has not all CPUs.
LIKES_OWN_CPUS = "[ $(nproc) -lt ALL ] || sleep 0.5; sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status"


def as_advised(t: Trial, advice: Run, line: str) -> Run:
    """Runs the line of srun that begins so."""
    found = re.search(rf"^(?:Run)? +({line}.*)$", advice.out, re.MULTILINE)
    if found is None:
        raise Failed(f"no such line of srun is advised: {line}\n{advice.out}")
    path = f"{Path(t.numatlas).parent}{os.pathsep}{os.environ['PATH']}"
    return t.run("sh", "-c", found[1], env={"PATH": path}).ends_with(0)


@case(SLURM)
def advised_line(t: Trial) -> None:
    """What is advised is one line of srun, and that line gives each rank what was advised."""
    setting = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not setting.exists() or "[madvise]" not in setting.read_text():
        raise Skipped("transparent huge pages are not set to madvise")
    words = ["--runs", "5", "-q", "--try", "pages", "--launcher", "srun -N1", "--ranks", "2"]
    advice = t.run(t.numatlas, "advise", *words, "--", "sh", "-c", LIKES_THP).ends_with(0)
    advice.out_says(r"^\(?thp: ")
    # Slurm's own binding stays: it is also that of the program as it is.
    again = as_advised(t, advice, r"srun -N1 -n 2 numatlas exec --pages thp -- ")
    again.equal(again.lines(), ["heap glibc.malloc.hugetlb=1"] * 2, "what the ranks print")


@case(SLURM)
def advised_layout(t: Trial) -> None:
    """A layout of the ranks is one line of srun, and that line gives each rank CPUs of its own."""
    t.needs_two_cpus()
    words = ["--runs", "5", "-q", "--try", "cpus", "--launcher", "srun -N1 --cpu-bind=none", "--ranks", "2"]
    likes_own_cpus = LIKES_OWN_CPUS.replace("ALL", str(len(os.sched_getaffinity(0))))
    advice = t.run(t.numatlas, "advise", *words, "--", "sh", "-c", likes_own_cpus).ends_with(0)
    advice.out_says(r"^\(?ranks ")
    # The first option is ours, the second is of what is advised.
    unbound = "--cpu-bind=none -n 2 --cpu-bind=none --mem-bind=none"
    again = as_advised(t, advice, f"srun -N1 {unbound} numatlas exec --cpus ")
    again.equal(len(set(again.lines())), 2, "different lists of CPUs that the ranks print")
