"""What a Fleet says in sum: a row for each kernel and kind of host. For the page and for the plots."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from numatlas.figures.model import Fleet
from numatlas.statistics import median_interval

#: Bins of a histogram of hosts; fewer where there are few hosts.
MOST_BINS = 48

#: The program compares hosts of one kind from this many on.
LEAST_HOSTS = 3
NONE_JUDGED = f"no host could be judged: {LEAST_HOSTS} and more of one kind, with rounds, can be compared"


@dataclass
class KernelSummary:
    """Hosts of one kind at one kernel, in the figure's unit."""

    kernel: str
    kind: int
    count: int  #: hosts with a value
    median: float
    low: float | None  #: 95 % interval of the median over the hosts
    high: float | None
    least: float  #: the slowest host
    most: float
    suspects: int
    counts: list[int]  #: histogram of the hosts between `least` and `most`


def judged_hosts(figure: Fleet) -> int:
    """Hosts that could be compared with others of their kind; the file tells the others in words only."""
    kinds = figure.kinds or [0] * len(figure.hosts)
    measured = [kind for at, kind in enumerate(kinds) if any(line[at] is not None for line in figure.values)]
    return sum(count for count in Counter(measured).values() if count >= LEAST_HOSTS)


def summaries(fleet: Fleet) -> list[KernelSummary]:
    """By kernel, then by kind; kinds without any value are left out."""
    found = []
    kinds = np.array(fleet.kinds or [0] * len(fleet.hosts))
    slow = {(suspect.host, suspect.kernel) for suspect in fleet.suspects}
    for kernel, line in zip(fleet.kernels, fleet.values, strict=True):
        values = np.array([np.nan if value is None else value for value in line], dtype=float)
        for kind in np.unique(kinds):
            mine = (kinds == kind) & ~np.isnan(values)
            if not mine.any():
                continue
            ordered = np.sort(values[mine])
            median, low, high = median_interval([float(value) for value in ordered])
            bins = int(min(MOST_BINS, max(5, round(2 * len(ordered) ** 0.5))))
            counts = np.histogram(ordered, bins=bins)[0]
            suspects = sum((fleet.hosts[at], kernel) in slow for at in np.flatnonzero(mine))
            found.append(
                KernelSummary(
                    kernel,
                    int(kind),
                    len(ordered),
                    median,
                    low,
                    high,
                    float(ordered[0]),
                    float(ordered[-1]),
                    suspects,
                    [int(count) for count in counts],
                )
            )
    return found
