"""The latency ladder: ns by size, with the caches that hold it."""

from numbers import Real

import pandas as pd

from numatlas.figures.common import (
    INTERVAL,
    convergence_of,
    in_shown_unit,
    median_over_workers,
    placement_of,
    skips_of,
    warnings_of,
)
from numatlas.figures.model import Axis, Curves, Figure, Mark, Series
from numatlas.figures.ranks import rank_figures
from numatlas.result import Result
from numatlas.units import size_text

#: What else tells two lines apart, where the file has several of it.
KINDS = ("pages", "order", "stride")


def figures(result: Result) -> list[Figure]:
    if result.kind == "numa_mem_bench":
        return rank_figures(result)
    if result.kind != "latency" or result.flows.empty:
        return []
    flows = result.flows[result.flows["metric"] == "latency"]
    if flows.empty:
        return []
    flows, unit = in_shown_unit(
        flows.assign(memory_node=flows["memory_node"].astype(object).where(flows["memory_node"].notna(), "?"))
    )
    found: list[Figure] = [_ladder(result, flows, unit)]
    workers = flows.drop_duplicates(["rank", "thread"])
    if len(workers) > 1:
        found.append(_by_worker(result, flows, unit))
    return found


def _ladder(result: Result, flows: pd.DataFrame, unit: str) -> Curves:
    by = [name for name in ("cpu_node", "memory_node", "host", *KINDS) if name in flows]
    telling = [name for name in by if name in ("cpu_node", "memory_node") or flows[name].nunique() > 1]
    workers = flows.drop_duplicates(["rank", "thread"])
    series = []
    several = workers.groupby(["host", "cpu_node"], dropna=False).size().max() > 1
    for key, group in flows.groupby(telling, sort=False, dropna=False):
        named = dict(zip(telling, key, strict=True))
        line = median_over_workers(group, ["size"]).sort_values("size")
        levels = group.drop_duplicates("size").set_index("size")["level"] if "level" in group else {}
        extra = [str(named[name]) for name in telling if name in KINDS]
        name = f"{named['host']}: " if "host" in named else ""
        name += (
            f"CPUs of node {_node(named.get('cpu_node'))} -> memory of node {_node(named.get('memory_node'))}"
        )
        series.append(
            Series(
                ", ".join([name, *extra]),
                list(line["size"]),
                list(line["value"]),
                list(line["low"]),
                list(line["high"]),
                [_level(levels, size) for size in line["size"]],
            )
        )
    spread = "from the lowest to the highest worker's median" if several else INTERVAL
    return Curves(
        "latency-ladder",
        "Latency by size of the memory",
        spread=spread,
        placement=placement_of(flows),
        notes=_how(flows) + convergence_of(flows) + skips_of(result),
        warnings=warnings_of(result, flows),
        data=flows,
        x=Axis("memory that is walked through", "bytes", log2=True),
        y=Axis("a dependent load", unit),
        series=series,
        marks=cache_marks(result),
    )


def _by_worker(result: Result, flows: pd.DataFrame, unit: str) -> Curves:
    series = []
    telling = ["rank", "thread", "host"] + [name for name in KINDS if flows[name].nunique() > 1]
    hosts = flows["host"].nunique()
    for key, group in flows.groupby(telling, sort=False):
        line = group.sort_values("size")
        words = f"rank {key[0]} thread {key[1]}" if flows["thread"].nunique() > 1 else f"rank {key[0]}"
        words += f" on {key[2]}" if hosts > 1 else ""
        series.append(
            Series(
                ", ".join([words, *map(str, key[3:])]),
                list(line["size"]),
                list(line["value"]),
                list(line["low"]),
                list(line["high"]),
            )
        )
    return Curves(
        "latency-workers",
        "Latency of each worker",
        spread=INTERVAL,
        placement=placement_of(flows),
        notes=_how(flows),
        warnings=warnings_of(result, flows),
        data=flows,
        x=Axis("memory that is walked through", "bytes", log2=True),
        y=Axis("a dependent load", unit),
        series=series,
        marks=cache_marks(result),
    )


def _node(value: object) -> str:
    """A number as a whole one; a CSV file names several nodes where the pages lie on several."""
    if value is None or pd.isna(value):
        return "?"
    return str(int(value)) if isinstance(value, Real) else str(value)


def _level(levels: object, size: float) -> str:
    level = levels.get(size) if hasattr(levels, "get") else None
    return f"fits {level}" if isinstance(level, str) and level else ""


def _how(flows: pd.DataFrame) -> list[str]:
    orders = ", ".join(sorted({str(order) for order in flows["order"].dropna()})) or "?"
    strides = ", ".join(f"{int(stride)} B" for stride in sorted(flows["stride"].dropna().unique())) or "?"
    return [f"pointer chase, order {orders}, stride {strides}"]


def cache_marks(result: Result) -> list[Mark]:
    """The caches of a CPU, by their sizes."""
    if not result.machines:
        return []
    sizes: dict[int, int] = {}
    for cache in result.machines[0].get("caches", []):
        if cache.get("type") != "instruction" and cache.get("size"):
            sizes[cache["level"]] = max(sizes.get(cache["level"], 0), cache["size"])
    return [Mark(size, f"L{level} {size_text(size)}") for level, size in sorted(sizes.items())]
