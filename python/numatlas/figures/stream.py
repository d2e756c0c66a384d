"""STREAM over hosts: how even they are, and which are slow."""

import pandas as pd

from numatlas.figures.common import absent_as_none, warnings_of
from numatlas.figures.model import Figure, Fleet, Suspect
from numatlas.result import Result
from numatlas.units import percent_text

#: Reasons why a host or kind has no verdict, told one by one.
MOST_NOT_JUDGED = 4


def figures(result: Result) -> list[Figure]:
    if result.hosts.empty:
        return []
    hosts = result.hosts.assign(
        kernel=[
            kernel if mode == "memory" else f"{kernel} ({mode})"
            for kernel, mode in zip(result.hosts["kernel"], result.hosts["mode"], strict=True)
        ]
    )
    names = list(dict.fromkeys(hosts["host"]))
    kernels = list(dict.fromkeys(hosts["kernel"]))
    by = hosts.drop_duplicates(["kernel", "host"]).set_index(["kernel", "host"])
    grids = {
        what: [
            absent_as_none(pd.to_numeric(by.loc[kernel].reindex(names)[source]) * 1e-9) for kernel in kernels
        ]
        for what, source in (
            ("values", "value"),
            ("low", "low"),
            ("high", "high"),
            ("least", "min"),
            ("most", "max"),
        )
    }
    first = hosts.drop_duplicates("host").set_index("host").reindex(names)
    rounds = _rounds(result, kernels, names)
    counted = int(pd.to_numeric(hosts["n"]).max()) if hosts["n"].notna().any() else None
    spread = (
        f"median of {counted} rounds; 95 % interval of the median; best and worst round"
        if counted
        else "average of the processes; best and worst round of the node; the file has no rounds"
    )
    return [
        Fleet(
            "stream",
            f"STREAM on {len(names)} {'host' if len(names) == 1 else 'hosts'}",
            spread=spread,
            placement=_placement(first),
            notes=_notes(result),
            warnings=warnings_of(result),
            data=result.hosts,
            kernels=kernels,
            hosts=names,
            rounds=rounds,
            kinds=[int(kind) for kind in first["kind"]] if "kind" in first else [0] * len(names),
            kind_names=[kind["cpu_model"] for kind in result.meta.get("kinds", [])] or [""],
            facts=_facts(first),
            suspects=_suspects(hosts),
            judged=result.meta.get("slow") is not None,
            **grids,
        )
    ]


def _rounds(result: Result, kernels: list[str], names: list[str]) -> list[list[list[float]]]:
    if result.rounds.empty:
        return []
    rounds = result.rounds[result.rounds["counted"]]
    named = rounds["kernel"].where(rounds["mode"] == "memory", rounds["kernel"] + " (" + rounds["mode"] + ")")
    lists = (rounds["bandwidth"] * 1e-9).groupby([named, rounds["host"]], sort=False).agg(list)
    return [[lists.get((kernel, host), []) for host in names] for kernel in kernels]


def _placement(first: pd.DataFrame) -> str:
    texts = first["placement"].dropna() if "placement" in first else pd.Series(dtype=object)
    if texts.empty:
        return "the file does not tell where the memory lay"
    nodes = texts.str.replace(r"\d+ pages", "pages", regex=True).value_counts()
    return "observed: " + "; ".join(f"{text} ({count} hosts)" for text, count in nodes.head(3).items())


def _notes(result: Result) -> list[str]:
    meta = result.meta
    not_judged = [f"not judged: {reason}" for reason in (meta.get("not_judged") or [])[:MOST_NOT_JUDGED]]
    more = len(meta.get("not_judged") or []) - MOST_NOT_JUDGED
    not_judged += [f"not judged: {more} more"] if more > 0 else []
    if "elements" in meta:
        words = f"{meta['ranks']} processes, arrays of {meta['elements']:,} elements"
        return [f"{words}, {meta['repeats']} rounds, memory {meta['memory']}", *not_judged]
    if "processes_per_node" in meta:
        return [f"{meta['processes_per_node']} processes a node, {meta['threads_per_process']} threads each"]
    return not_judged


def _facts(first: pd.DataFrame) -> list[str]:
    placement = first["placement"].fillna("") if "placement" in first else pd.Series([""] * len(first))
    warnings = first["warnings"].fillna("") if "warnings" in first else pd.Series([""] * len(first))
    return ["; ".join(text for text in pair if text) for pair in zip(placement, warnings, strict=True)]


def _suspects(hosts: pd.DataFrame) -> list[Suspect]:
    slow = hosts[hosts["slow"]]
    if slow.empty:
        return []
    found = []
    for row in slow.sort_values("drop", ascending=False).itertuples():
        mads = None if pd.isna(row.mads) else float(row.mads)
        words = f"{row.host}: {row.kernel} {percent_text(row.drop)} below the median of its kind"
        found.append(
            Suspect(
                row.host,
                row.kernel,
                row.value * 1e-9,
                float(row.drop),
                mads,
                words + (f", {mads:.1f} MADs" if mads is not None else ""),
            )
        )
    return found
