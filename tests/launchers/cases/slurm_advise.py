"""`numatlas advise` for the ranks of a Slurm step."""

from __future__ import annotations

import os
import re
from pathlib import Path

from harness import SLURM, Skipped, Trial, case

# Fast only where glibc's heap asks for transparent huge pages.
LIKES_THP = "case ${GLIBC_TUNABLES:-} in *hugetlb=1*) ;; *) sleep 0.3 ;; esac; echo heap $GLIBC_TUNABLES"


@case(SLURM)
def advised_line(t: Trial) -> None:
    """What is advised is one line of srun, and that line gives each rank what was advised."""
    setting = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not setting.exists() or "[madvise]" not in setting.read_text():
        raise Skipped("transparent huge pages are not set to madvise")
    words = ["--runs", "5", "-q", "--try", "pages", "--launcher", "srun -N1", "--ranks", "2"]
    advice = t.run(t.numatlas, "advise", *words, "--", "sh", "-c", LIKES_THP).ends_with(0)
    advice.out_says(r"^Answer +thp: ")
    line = re.search(r"^ +(srun .*numatlas exec --pages thp .*)$", advice.out, re.MULTILINE)
    if line is None:
        advice.fail("standard output has no line of srun")
        return
    path = f"{Path(t.numatlas).parent}{os.pathsep}{os.environ['PATH']}"
    again = t.run("sh", "-c", line[1], env={"PATH": path}).ends_with(0)
    again.equal(again.lines(), ["heap glibc.malloc.hugetlb=1"] * 2, "what the ranks print")
