"""Between host memory and GPUs: matrices, and sweeps over sizes, the earlier program's too."""

import pandas as pd

from numatlas.figures.common import (
    INTERVAL,
    convergence_of,
    grid,
    hosts_of,
    in_shown_unit,
    median_over_workers,
    natural,
    placement_of,
    shown_flows,
    skips_of,
    sum_spread,
    sums_by_host,
    warnings_of,
    worker_of_cell,
)
from numatlas.figures.model import Axis, Curves, Figure, Matrix, Series
from numatlas.result import Result
from numatlas.units import size_text

DIRECTIONS = {"h2d": "host to GPU", "d2h": "GPU to host", "both": "both directions at once"}

LINE = ("size", "value", "low", "high")


def figures(result: Result) -> list[Figure]:
    if result.kind == "gpu sweep":
        return _sweep(result)
    if result.kind != "transfer" or result.flows.empty:
        return []
    return _copies(result) + _small(result) + _chase(result) + _peer(result)


def _telling(result: Result, frame: pd.DataFrame, names: list[str]) -> list[str]:
    """What figures are split by: these, and the kind of pages, and the host where there are several."""
    return [*names, "pages"] + ["host"] * (len(hosts_of(result)) > 1 and "host" in frame)


def _more(frame: pd.DataFrame, telling: list[str], values: tuple) -> tuple[str, str]:
    """What key and title of a figure add to name its pages and its host, where the file has several."""
    named = dict(zip(telling, values, strict=True))
    pages = [str(named["pages"])] if frame["pages"].nunique() > 1 else []
    host = [str(named["host"])] if "host" in named else []
    return "".join(f"-{word}" for word in pages + host), "".join(
        f", {word}" for word in [f"{kind} pages" for kind in pages] + host
    )


def _sums(result: Result, measure: str) -> pd.DataFrame:
    sums = sums_by_host(result)
    return sums if sums.empty else sums[sums["measure"] == measure]


def _flows(result: Result, measure: str, metric: str) -> pd.DataFrame:
    return result.flows[(result.flows["metric"] == metric) & (result.flows["measure"] == measure)]


def _copies(result: Result) -> list[Figure]:
    sums = _sums(result, "copies")
    found: list[Figure] = []
    if sums.empty:
        return found
    telling = _telling(result, sums, ["direction", "pinning"])
    for values, mine in sums.groupby(telling, sort=False):
        direction, pinning = values[:2]
        key, more = _more(sums, telling, values)
        words = f"Copies, {DIRECTIONS.get(direction, direction)}, {pinning} memory"
        key = f"{direction}-{pinning}{key}"
        largest = mine[mine["size"] == mine["size"].max()]
        title = f"{words} ({size_text(mine['size'].max())}{more})"
        found.append(_matrix(result, largest, largest, f"transfer-{key}", title, False))
        if mine["size"].nunique() > 1:
            found.append(_sizes(result, mine, f"transfer-sizes-{key}", f"{words}, by size{more}"))
    return found


def _small(result: Result) -> list[Figure]:
    times = _flows(result, "latency", "copy_time")
    found: list[Figure] = []
    if times.empty:
        return found
    telling = _telling(result, times, ["direction", "pinning", "size"])
    for values, mine in times.groupby(telling, sort=False):
        direction, pinning, size = values[:3]
        key, more = _more(times, telling, values)
        words = f"Time of a copy of {size_text(size)}, {DIRECTIONS.get(direction, direction)}"
        key = f"transfer-latency-{direction}-{pinning}-{int(size)}{key}"
        cells = worker_of_cell(mine, "memory", "gpus")
        found.append(_matrix(result, mine, cells, key, f"{words}, {pinning} memory{more}", True))
    return found


def _chase(result: Result) -> list[Figure]:
    loads = _flows(result, "chase", "latency")
    found: list[Figure] = []
    if loads.empty:
        return found
    telling = _telling(result, loads, ["caches"])
    for values, mine in loads.groupby(telling, sort=False):
        key, more = _more(loads, telling, values)
        words = f"A GPU's load from host memory{{}}, CPU caches {values[0]}"
        largest = mine[mine["size"] == mine["size"].max()]
        title = f"{words.format('')} ({size_text(mine['size'].max())}{more})"
        cells = worker_of_cell(largest, "memory", "gpus")
        found.append(_matrix(result, largest, cells, f"transfer-chase-{values[0]}{key}", title, True))
        if mine["size"].nunique() > 1:
            key = f"transfer-chase-sizes-{values[0]}{key}"
            found.append(_sizes(result, mine, key, f"{words.format(' by size')}{more}"))
    return found


def _peer(result: Result) -> list[Figure]:
    sums = _sums(result, "peer")
    found: list[Figure] = []
    if sums.empty:
        return found
    telling = _telling(result, sums, [])
    for values, mine in sums.groupby(telling, sort=False):
        key, more = _more(sums, telling, values)
        largest = mine[mine["size"] == mine["size"].max()]
        ends = largest["gpus"].str.split(",", n=1, expand=True)
        largest = largest.assign(memory="GPU " + ends[0], gpus=ends[1])
        title = f"Copies between GPUs ({size_text(mine['size'].max())}{more})"
        found.append(_matrix(result, largest, largest, f"transfer-peer{key}", title, False, "from"))
    return found


def _matrix(
    result: Result,
    frame: pd.DataFrame,
    cells: pd.DataFrame,
    key: str,
    title: str,
    less: bool,
    row_label: str = "memory",
) -> Matrix:
    """Of `cells`, one number each; `frame` has the rows behind them."""
    cells, unit = in_shown_unit(cells.assign(unit=frame["unit"].iloc[0]))
    rows, columns = natural(cells["memory"]), natural(cells["gpus"])
    flows = shown_flows(result, frame)
    return Matrix(
        key,
        title,
        spread=INTERVAL if less else sum_spread(cells),
        placement=placement_of(flows),
        notes=convergence_of(flows) + skips_of(result),
        warnings=warnings_of(result, flows),
        data=in_shown_unit(frame)[0],
        row_label=row_label,
        column_label="GPU" if row_label != "from" else "to GPU",
        rows=rows,
        columns=columns,
        unit=unit,
        less_is_better=less,
        **grid(cells, "memory", "gpus", rows, columns),
    )


def _sizes(result: Result, frame: pd.DataFrame, key: str, title: str) -> Curves:
    scaled, unit = in_shown_unit(frame)
    series = []
    for (memory, gpus), mine in scaled.groupby(["memory", "gpus"], sort=False):
        line = median_over_workers(mine, ["size"]).sort_values("size")
        series.append(Series(f"{memory}, GPU {gpus}", *(list(line[what]) for what in LINE)))
    flows = shown_flows(result, frame)
    return Curves(
        key,
        title,
        spread=sum_spread(scaled) if unit == "GB/s" else INTERVAL,
        placement=placement_of(flows),
        notes=skips_of(result),
        warnings=warnings_of(result, flows),
        data=scaled,
        x=Axis("size", "bytes", log2=True),
        y=Axis("", unit),
        series=series,
    )


def _sweep(result: Result) -> list[Figure]:
    found: list[Figure] = []
    failed = [
        f"{len(result.rows[result.rows['error'] == error])} rows failed: {error}"
        for error in result.rows["error"].dropna().unique()
    ]
    for name, title, unit, factor in (
        ("read_bw", "Host to GPU", "GiB/s", 2**-30),
        ("write_bw", "GPU to host", "GiB/s", 2**-30),
        ("read_latency", "Host to GPU, time of a copy", "ms", 1e3),
        ("write_latency", "GPU to host, time of a copy", "ms", 1e3),
    ):
        rows = result.rows[pd.to_numeric(result.rows[name]).notna()]
        by = ["ngpus", "numa_nodes"] + (
            ["numa_weight"] if "numa_weight" in rows and rows["numa_weight"].notna().any() else []
        )
        series = [
            Series(
                ", ".join(
                    [
                        f"{key[0]} GPUs" if key[0] != 1 else "1 GPU",
                        f"nodes {key[1]}",
                        *[f"weights {value}" for value in key[2:]],
                    ]
                ),
                list(line["access_size_bytes"]),
                list(line[name] * factor),
            )
            for key, line in rows.sort_values("access_size_bytes").groupby(by, sort=False)
        ]
        if series:
            found.append(
                Curves(
                    f"sweep-{name.replace('_', '-')}",
                    title,
                    spread="one number a row: the file has no spread",
                    placement="as asked of numactl; the file does not tell what was observed",
                    notes=failed,
                    data=result.rows,
                    x=Axis("size of a copy", "bytes", log2=True),
                    y=Axis("average", unit),
                    series=series,
                )
            )
    return found
