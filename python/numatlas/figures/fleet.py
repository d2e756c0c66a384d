"""STREAM over hosts: how even they are, and which are slow."""

import pandas as pd

from numatlas.figures.model import Figure, Fleet
from numatlas.figures.told import column, warnings_of
from numatlas.result import Result
from numatlas.units import percent_text

#: The program compares hosts of one kind from this many on.
LEAST_HOSTS = 3
NONE_JUDGED = f"no host could be judged: {LEAST_HOSTS} and more of one kind, with rounds, can be compared"

IN_UNIT = ["value", "low", "high", "min", "max"]


def figures(result: Result) -> list[Figure]:
    """One, of all hosts."""
    hosts = result.hosts.assign(kernel=kernels_of(result.hosts)).drop_duplicates(["kernel", "host"])
    hosts[IN_UNIT] = hosts[IN_UNIT].apply(pd.to_numeric) * 1e-9
    hosts = hosts.assign(
        kind=column(hosts, "kind").fillna(0).astype(int),
        facts=column(hosts, "placement").fillna(""),
        rounds=_rounds(result, hosts),
        drop=column(hosts, "drop"),
        words=[_words(row) if row.slow else "" for row in hosts.itertuples()],
    )
    count, counted = hosts["host"].nunique(), pd.to_numeric(hosts["n"]).max()
    spread = "average of the processes; best and worst round of the node; the file has no rounds"
    if counted > 0:
        spread = f"median of {counted:.0f} rounds; 95 % interval of the median; best and worst round"
    return [
        Fleet(
            "stream",
            f"STREAM on {count:,} {'host' if count == 1 else 'hosts'}",
            spread=spread,
            placement=_placement(column(hosts.drop_duplicates("host"), "placement").dropna()),
            notes=_notes(result),
            warnings=warnings_of(result, result.flows),
            data=result.hosts,
            hosts=hosts,
            kind_names=[machine["cpu_model"] or "" for machine in result.machines] or [""],
            judged=bool(result.meta.get("judged")),
        )
    ]


def kernels_of(frame: pd.DataFrame, form: str = "{} ({})") -> pd.Series:
    """With the mode of persistent memory."""
    named = [form.format(kernel, mode) for kernel, mode in zip(frame["kernel"], frame["mode"], strict=True)]
    return frame["kernel"].where(frame["mode"] == "memory", pd.Series(named, frame.index, dtype=object))


def _rounds(result: Result, hosts: pd.DataFrame) -> list[list[float]]:
    """Of each row, in GB/s."""
    if result.rounds.empty:
        return [[]] * len(hosts)
    rounds = result.rounds[result.rounds["counted"]]
    lists = (rounds["bandwidth"] * 1e-9).groupby([rounds["host"], kernels_of(rounds)], sort=False).agg(list)
    found = lists.to_dict()
    return [found.get(place, []) for place in zip(hosts["host"], hosts["kernel"], strict=True)]


def _words(row: object) -> str:
    words = f"{row.host}: {row.kernel} {percent_text(row.drop)} below the median of its kind"
    return words + ("" if pd.isna(row.mads) else f", {row.mads:.1f} MADs")


def _placement(texts: pd.Series) -> str:
    if texts.empty:
        return "the file does not tell where the memory lay"
    counts = texts.value_counts().head(3)
    return "observed: " + "; ".join(f"{text} ({count} hosts)" for text, count in counts.items())


def _notes(result: Result) -> list[str]:
    meta = result.meta
    if "elements" in meta:
        rounds = 0 if result.rounds.empty else result.rounds["round"].max() + 1
        words = f"{meta['ranks']} processes, arrays of {int(meta['elements']):,} elements"
        return [f"{words}, {rounds} rounds, memory {meta['memory']}"]
    if "processes_per_node" in meta:
        return [f"{meta['processes_per_node']} processes a node, {meta['threads_per_process']} threads each"]
    return []


# ---- In sum: for the page and for the plots


def judged_hosts(figure: Fleet) -> int:
    """Hosts that could be compared with others of their kind; the file tells the others in words only."""
    measured = figure.hosts[figure.hosts["value"].notna()].drop_duplicates("host")["kind"].value_counts()
    return int(measured[measured >= LEAST_HOSTS].sum())


def summaries(fleet: Fleet) -> pd.DataFrame:
    """A row for each kernel and kind of hosts that have values: count, min, 25%, 50%, 75% and max of these;
    suspects."""
    groups = fleet.hosts.dropna(subset=["value"]).groupby(["kernel", "kind"], sort=False)
    # By their index: pandas tells sums and groups in different orders.
    return groups["value"].describe().assign(suspects=groups["slow"].sum()).reset_index()
