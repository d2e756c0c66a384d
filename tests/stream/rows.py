"""The rows of STREAM computed plainly from each process's starts and seconds (--samples)."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import mean, median

from harness import equal, near, true


@dataclass
class Pass:
    """One kernel in one round on one host."""

    node: float
    seconds: dict[int, float]  # by rank

    def __init__(self, processes: list[dict], kernel: int, round_: int) -> None:
        spans = {one["rank"]: (one["starts"][kernel][round_], one["seconds"][kernel][round_]) for one in processes}
        self.seconds = {rank: seconds for rank, (_, seconds) in spans.items()}
        self.first = min(start for start, _ in spans.values())
        self.node = max(start + seconds for start, seconds in spans.values()) - self.first
        # All processes at work, of one thread each.
        last_start = max(start for start, _ in spans.values())
        first_end = min(start + seconds for start, seconds in spans.values())
        self.overlap = max(0.0, first_end - last_start) / self.node


@dataclass
class Row:
    bytes: list[float] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    places: list[tuple[str, int]] = field(default_factory=list)
    rates: dict[str, list[float]] = field(default_factory=dict)  # of the rounds of each host

    def figures(self) -> dict[str, float]:
        each = [bytes_ / time for bytes_, time in zip(self.bytes, self.times)]
        return {
            "average_seconds": mean(self.times), "minimum_seconds": min(self.times), "maximum_seconds": max(self.times),
            "average_bytes_per_second": sum(self.bytes) / sum(self.times), "minimum_bytes_per_second": min(each),
            "maximum_bytes_per_second": max(each), "median_bytes_per_second": self.median()}

    def median(self) -> float:
        """Over hosts, of the median of their rounds."""
        return median(median(rounds) for rounds in self.rates.values())

    def slowest(self) -> set[tuple[str, int]]:
        """Where the longest time was seen; clocks tell whole nanoseconds, so there may be several."""
        longest = max(self.times)
        return {place for place, time in zip(self.places, self.times) if longest - time < 1e-9}


def rows_of(report: dict) -> list[dict[str, Row]]:
    """By kernel: `process` and `node`, without the first round."""
    rows = []
    for index, kernel in enumerate(report["kernels"]):
        both = {"process": Row(), "node": Row()}
        for host in report["hosts"]:
            processes = host["processes"]
            for round_ in range(1, report["repeats"]):
                one = Pass(processes, index, round_)
                all_bytes = kernel["bytes"] * len(processes)
                both["process"].rates.setdefault(host["name"], []).append(all_bytes / sum(one.seconds.values()))
                both["node"].rates.setdefault(host["name"], []).append(all_bytes / one.node)
                both["node"].bytes.append(all_bytes)
                both["node"].times.append(one.node)
                both["node"].places.append((host["name"], -1))
                for rank, seconds in one.seconds.items():
                    both["process"].bytes.append(kernel["bytes"])
                    both["process"].times.append(seconds)
                    both["process"].places.append((host["name"], rank))
        rows.append(both)
    return rows


def check_rounds(report: dict, threads: int = 1) -> None:
    """What each host says of its passes is what its processes say."""
    ranks = []
    for host in report["hosts"]:
        processes = host["processes"]
        equal([one["rank"] for one in processes], list(range(host["first_rank"], host["first_rank"] + len(processes))),
              f"ranks of {host['name']}")
        ranks += [one["rank"] for one in processes]
        equal(len(processes), report["kinds"][host["kind"]]["processes"], f"processes of {host['name']}")
        equal(len(host["rounds"]), len(report["kernels"]), f"kernels of {host['name']}")
        for kernel, rounds in enumerate(host["rounds"]):
            for values in [*rounds.values(), *(one[key][kernel] for one in processes for key in ("starts", "seconds"))]:
                equal(len(values), report["repeats"], f"rounds of {host['name']}")
            for round_ in range(report["repeats"]):
                one, what = Pass(processes, kernel, round_), f"{host['name']}, kernel {kernel}, round {round_}:"
                equal(one.first, 0, f"{what} start of the first process")
                true(min(one.seconds.values()) > 0, f"{what} a pass took no time")
                near(rounds["node"][round_], one.node, f"{what} node")
                near(rounds["slowest"][round_], max(one.seconds.values()), f"{what} slowest")
                near(rounds["fastest"][round_], min(one.seconds.values()), f"{what} fastest")
                near(rounds["process_sum"][round_], sum(one.seconds.values()), f"{what} sum")
                near(one.seconds[rounds["slowest_rank"][round_]], max(one.seconds.values()), f"{what} slowest rank")
                if threads == 1:
                    near(rounds["overlap"][round_], one.overlap, f"{what} overlap", 1e-6)
    equal(ranks, list(range(report["ranks"])), "ranks of all hosts")
