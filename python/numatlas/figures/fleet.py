"""STREAM over hosts: how even they are, and which are slow."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd

from numatlas.figures.model import Figure, Fleet, Suspect, absent_as_none
from numatlas.figures.told import column, warnings_of
from numatlas.result import Result
from numatlas.units import percent_text

#: Reasons why a host or kind has no verdict, told one by one.
MOST_NOT_JUDGED = 4
#: Bins of a histogram of hosts; fewer where there are few hosts.
MOST_BINS = 48
#: The program compares hosts of one kind from this many on.
LEAST_HOSTS = 3
NONE_JUDGED = f"no host could be judged: {LEAST_HOSTS} and more of one kind, with rounds, can be compared"

GRIDS = {"values": "value", "low": "low", "high": "high", "least": "min", "most": "max"}


def figures(result: Result) -> list[Figure]:
    """One, of all hosts."""
    hosts = result.hosts.assign(kernel=kernels_of(result.hosts))
    for name in GRIDS.values():
        hosts[name] = pd.to_numeric(hosts[name]) * 1e-9
    names, kernels = (list(dict.fromkeys(hosts[name])) for name in ("host", "kernel"))
    by = hosts.drop_duplicates(["kernel", "host"]).set_index(["kernel", "host"])
    first = hosts.drop_duplicates("host")
    counted = pd.to_numeric(hosts["n"]).max()
    spread = "average of the processes; best and worst round of the node; the file has no rounds"
    if counted > 0:
        spread = f"median of {counted:.0f} rounds; 95 % interval of the median; best and worst round"
    facts = zip(column(first, "placement").fillna(""), column(first, "warnings").fillna(""), strict=True)
    grids = {
        name: [absent_as_none(by.loc[kernel].reindex(names)[source]) for kernel in kernels]
        for name, source in GRIDS.items()
    }
    return [
        Fleet(
            "stream",
            f"STREAM on {len(names)} {'host' if len(names) == 1 else 'hosts'}",
            spread=spread,
            placement=_placement(column(first, "placement").dropna()),
            notes=_notes(result),
            warnings=warnings_of(result, result.flows),
            data=result.hosts,
            kernels=kernels,
            hosts=names,
            rounds=_rounds(result, kernels, names),
            kinds=[int(kind) for kind in column(first, "kind").fillna(0)],
            kind_names=[kind["cpu_model"] for kind in result.meta.get("kinds", [])] or [""],
            facts=["; ".join(filter(None, pair)) for pair in facts],
            suspects=_suspects(hosts),
            judged=result.meta.get("slow") is not None,
            **grids,
        )
    ]


def kernels_of(frame: pd.DataFrame, form: str = "{} ({})") -> pd.Series:
    """With the mode of persistent memory."""
    named = [form.format(kernel, mode) for kernel, mode in zip(frame["kernel"], frame["mode"], strict=True)]
    return frame["kernel"].where(frame["mode"] == "memory", pd.Series(named, frame.index, dtype=object))


def _rounds(result: Result, kernels: list[str], names: list[str]) -> list[list[list[float]]]:
    if result.rounds.empty:
        return []
    rounds = result.rounds[result.rounds["counted"]]
    lists = (rounds["bandwidth"] * 1e-9).groupby([kernels_of(rounds), rounds["host"]], sort=False).agg(list)
    found = lists.to_dict()
    return [[found.get((kernel, host), []) for host in names] for kernel in kernels]


def _placement(texts: pd.Series) -> str:
    if texts.empty:
        return "the file does not tell where the memory lay"
    nodes = texts.str.replace(r"\d+ pages", "pages", regex=True).value_counts()
    return "observed: " + "; ".join(f"{text} ({count} hosts)" for text, count in nodes.head(3).items())


def _notes(result: Result) -> list[str]:
    meta = result.meta
    reasons = meta.get("not_judged") or []
    more = len(reasons) - MOST_NOT_JUDGED
    not_judged = [*reasons[:MOST_NOT_JUDGED], *([f"{more} more"] if more > 0 else [])]
    notes = [f"not judged: {reason}" for reason in not_judged]
    if "elements" in meta:
        words = f"{meta['ranks']} processes, arrays of {meta['elements']:,} elements"
        return [f"{words}, {meta['repeats']} rounds, memory {meta['memory']}", *notes]
    if "processes_per_node" in meta:
        return [f"{meta['processes_per_node']} processes a node, {meta['threads_per_process']} threads each"]
    return notes


def _suspects(hosts: pd.DataFrame) -> list[Suspect]:
    """The worst first."""
    found = []
    slow = hosts[hosts["slow"]]
    for row in slow.sort_values("drop", ascending=False).itertuples() if len(slow) else []:
        mads = None if pd.isna(row.mads) else float(row.mads)
        words = f"{row.host}: {row.kernel} {percent_text(row.drop)} below the median of its kind"
        words += f", {mads:.1f} MADs" if mads is not None else ""
        found.append(Suspect(row.host, row.kernel, row.value, float(row.drop), mads, words))
    return found


# ---- In sum: for the page and for the plots


@dataclass
class KernelSummary:
    """Hosts of one kind at one kernel, in the figure's unit."""

    kernel: str
    kind: int
    values: pd.Series  #: of the hosts, by `describe()`: count, min, 25%, 50%, 75%, max
    suspects: int
    counts: list[int]  #: histogram of the hosts from the slowest to the fastest


def judged_hosts(figure: Fleet) -> int:
    """Hosts that could be compared with others of their kind; the file tells the others in words only."""
    measured = [
        kind for at, kind in enumerate(figure.kinds) if any(line[at] is not None for line in figure.values)
    ]
    return sum(count for count in Counter(measured).values() if count >= LEAST_HOSTS)


def summaries(fleet: Fleet) -> list[KernelSummary]:
    """By kernel, then by kind; kinds without any value are left out."""
    found = []
    slow = {(suspect.host, suspect.kernel) for suspect in fleet.suspects}
    for kernel, line in zip(fleet.kernels, fleet.values, strict=True):
        values = pd.Series(line, index=fleet.hosts, dtype=float)
        for kind, mine in values.groupby(fleet.kinds):
            there = mine.dropna()
            if there.empty:
                continue
            bins = int(min(MOST_BINS, max(5, round(2 * len(there) ** 0.5))))
            counts = np.histogram(there, bins=bins)[0].tolist()
            suspects = sum((host, kernel) in slow for host in there.index)
            found.append(KernelSummary(kernel, int(kind), there.describe(), suspects, counts))
    return found
