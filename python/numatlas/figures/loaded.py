"""Latency of a chase while others load the memory."""

import pandas as pd

from numatlas.figures.common import (
    INTERVAL,
    hosts_of,
    in_shown_unit,
    key_of,
    placement_of,
    skips_of,
    sums_by_host,
    warnings_of,
)
from numatlas.figures.model import Axis, Curves, Figure, Series
from numatlas.result import Result

#: More lines than this in one picture nobody can tell apart.
MOST_LINES = 8


def figures(result: Result) -> list[Figure]:
    if result.kind != "loaded" or result.flows.empty:
        return []
    flows = result.flows[(result.flows["role"] == "measured") & (result.flows["metric"] == "latency")]
    if flows.empty:
        return []
    flows, unit = in_shown_unit(flows)
    rates = sums_by_host(result)
    where = ["point", "host"] if "host" in rates else ["point"]
    rate = {} if rates.empty else rates.set_index(where)["value"].mul(1e-9).to_dict()
    keys = flows[where].itertuples(index=False, name=None) if len(where) > 1 else flows["point"]
    achieved = pd.Series([rate.get(key) for key in keys], index=flows.index, dtype=float)
    flows = flows.assign(achieved=achieved.where(flows["load"] != "idle", 0.0))
    several = ["host"] if len(hosts_of(result)) > 1 else []
    kernels = [kernel for kernel in flows.get("load_kernel", pd.Series(dtype=object)).dropna().unique()]
    found: list[Figure] = []
    for kernel in kernels or [None]:
        mine = flows[(flows["load"] == "idle") | (flows["load_kernel"] == kernel)] if kernel else flows
        pairs = list(mine.groupby(["cell_cpu_node", "cell_memory_node", "pages", *several], sort=False))
        split = len(pairs) > MOST_LINES
        for node in mine["cell_cpu_node"].unique() if split else [None]:
            chosen = [pair for pair in pairs if node is None or pair[0][0] == node]
            found.append(_figure(result, mine, chosen, kernel, node, unit))
    return found


def _figure(
    result: Result, flows: pd.DataFrame, pairs: list, kernel: str | None, node: str | None, unit: str
) -> Curves:
    series, shown = [], []
    for (cpu, memory, pages, *host), group in pairs:
        line = group[group["achieved"].notna()].sort_values("achieved")
        shown.append(line)
        words = "".join(f"{name}: " for name in host) + f"CPUs of node {cpu} -> memory of node {memory}"
        series.append(
            Series(
                words if flows["pages"].nunique() == 1 else f"{words}, {pages}",
                list(line["achieved"]),
                list(line["value"]),
                list(line["low"]),
                list(line["high"]),
                [load if load in ("idle", "peak") else f"asked {load} of the peak" for load in line["load"]],
            )
        )
    data = pd.concat(shown) if shown else flows
    where = f", CPUs of node {node}" if node is not None else ""
    key = key_of(f"loaded-{kernel}" + (f"-{node}" if node is not None else ""))
    return Curves(
        key,
        f"Latency under load of {kernel}{where}",
        spread=INTERVAL,
        placement=placement_of(data),
        notes=["x: what the loaders achieved while the latency was measured; idle at 0"] + skips_of(result),
        warnings=warnings_of(result, data),
        data=data,
        x=Axis("load, bytes as STREAM counts them", "GB/s"),
        y=Axis("a dependent load", unit),
        series=series,
    )
