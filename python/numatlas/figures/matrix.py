"""Every node's CPUs to every node's memory: latency, and bandwidth of each kernel."""

import pandas as pd

from numatlas.figures.common import (
    INTERVAL,
    convergence_of,
    grid,
    hosts_of,
    in_shown_unit,
    key_of,
    natural,
    placement_of,
    shown_flows,
    skips_of,
    sum_spread,
    sums_by_host,
    warnings_of,
    worker_of_cell,
)
from numatlas.figures.model import Figure, Matrix
from numatlas.result import Result
from numatlas.units import size_text


def figures(result: Result) -> list[Figure]:
    if result.kind != "matrix" or result.flows.empty:
        return []
    found: list[Figure] = []
    latency = result.flows[result.flows["metric"] == "latency"]
    found += _split(result, latency, "latency", "Idle latency", True, INTERVAL)
    sums = sums_by_host(result)
    if not sums.empty:
        for kernel, mine in sums.groupby("kernel", sort=False):
            key = key_of(kernel)
            title = f"Bandwidth of {kernel}"
            found += _split(result, mine, f"bandwidth-{key}", title, False, sum_spread(mine))
    return found


def _split(
    result: Result, frame: pd.DataFrame, key: str, title: str, less: bool, spread: str
) -> list[Figure]:
    """A figure for each size, page kind, kind of stores and host."""
    found: list[Figure] = []
    if frame.empty:
        return found
    telling = ["size", "pages", "stores"] + (["host"] if len(hosts_of(result)) > 1 else [])
    for values, mine in frame.groupby(telling, sort=False, dropna=False):
        size, pages, stores = values[:3]
        words = [size_text(size) + ("" if less else " a worker"), f"{pages} pages"]
        words += [f"{stores} stores"] if isinstance(stores, str) else []
        words += [values[3]] if len(values) > 3 else []
        scaled, unit = in_shown_unit(mine)
        rows, columns = natural(mine["cell_cpu_node"]), natural(mine["cell_memory_node"])
        shown = shown_flows(result, mine)
        cells = worker_of_cell(scaled, "cell_cpu_node", "cell_memory_node") if less else scaled
        found.append(
            Matrix(
                "-".join(
                    [
                        "matrix",
                        key,
                        *[str(value) for value in values if isinstance(value, str) or value == value],
                    ]
                ),
                f"{title} ({', '.join(words)})",
                spread=spread,
                placement=placement_of(shown),
                notes=_how(less, mine) + convergence_of(shown) + skips_of(result),
                warnings=warnings_of(result, shown),
                data=scaled,
                row_label="CPUs of node",
                column_label="memory of node",
                rows=rows,
                columns=columns,
                unit=unit,
                less_is_better=less,
                **grid(cells, "cell_cpu_node", "cell_memory_node", rows, columns),
            )
        )
    return found


def _how(latency: bool, frame: pd.DataFrame) -> list[str]:
    if latency:
        return ["one CPU of the node, pointer chase in random order"]
    workers = sorted({int(count) for count in frame["workers"]})
    number = f"{workers[0]}" if len(workers) == 1 else f"{workers[0]} to {workers[-1]}"
    return [f"{number} workers on the node's CPUs; bytes as STREAM counts them"]
