"""A planted slow host: NUMATLAS_TEST_SLOW_HOST sleeps within its passes."""

from __future__ import annotations

import platform
import re

from harness import Failed, Trial, equal, true

HOSTS = 6
PLANTED = f"{platform.node()}-3"
#: One process a host, so that no host's time has waiting for its own others in it; passes far shorter than
#: the kernel's time slice, so that few of them wait for other hosts' processes on the same CPU; and so
#: many rounds that those few do not move a median.
WORDS = ("--threads", 1, "--elements", 300000, "--repeats", 40)
FACTOR = 5


def run_once(t: Trial, factor: float = FACTOR, words: tuple[object, ...] = WORDS, ranks: int = HOSTS, *more: str):
    """The run and its report."""
    environment = {"NUMATLAS_TEST_HOSTS": HOSTS}
    if factor > 1:
        environment["NUMATLAS_TEST_SLOW_HOST"] = f"{PLANTED}:{factor}"
    run = t.stream(ranks, *words, "--check", "--json", "report.json", *more, **environment)
    run.ends_with(0, 1)
    return run, t.report()


#: On a machine so busy that healthy hosts differ by more than a sixth, six deviations are more than
#: there is below a median; so the test asks for one, and for half of the median, and plants far more.
SURE = ("--slow", "50%", "--mads", 1)
SURE_FACTOR = 20
FEW = ("--threads", 1, "--elements", 300000, "--repeats", 15)


def case_planted(t: Trial) -> None:
    """Found, named first, confirmed by the second run; `numatlas check` says the same of the file."""
    for _ in range(2):
        run, report = run_once(t, SURE_FACTOR, FEW, HOSTS, *SURE, "--retest")
        if not report["slow"]:
            raise Failed(f"not found:\n{run.out}")
        named = [host for host, is_slow in report["slow"].items() if is_slow]
        equal(named[:1], [PLANTED], "the first slow host")
        equal(run.code, 1, "exit code with --check")
        run.out_says(rf"^{PLANTED} +slow +stream .* {HOSTS} hosts .*; confirmed by a second run$")
        names = [host["name"] for host in report["hosts"] if host["again"]]
        true(PLANTED in names and len(names) > len(report["slow"]), f"hosts of the second run: {names}")
        equal(set(re.findall(r"^(\S+) +(?:slow|cleared) +stream ", run.out, re.MULTILINE)), set(report["slow"]),
              "slow hosts that are told")
        from_file = t.run(1, t.numatlas, "check", *SURE, "--openmetrics", "report.prom", "report.json").ends_with(1)
        said = set(re.findall(r"^(\S+) +slow +stream ", from_file.out, re.MULTILINE))
        equal(said, set(named), "hosts that check names")
        metrics = re.findall(r'^numatlas_host_slow\{.*host="([^"]*)".*\} 1$', (t.folder / "report.prom").read_text(), re.MULTILINE)
        equal(set(metrics), set(named), "slow hosts of the metrics")
