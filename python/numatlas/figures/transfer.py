"""Between host memory and GPUs: matrices, and sweeps over sizes, the earlier program's too."""

import pandas as pd

from numatlas.figures.common import (
    INTERVAL,
    SUM_INTERVAL,
    convergence_of,
    grid,
    in_shown_unit,
    median_over_workers,
    natural,
    placement_of,
    skips_of,
    warnings_of,
)
from numatlas.figures.model import Axis, Curves, Figure, Matrix, Series
from numatlas.result import Result
from numatlas.units import size_text

DIRECTIONS = {"h2d": "host to GPU", "d2h": "GPU to host", "both": "both directions at once"}


def figures(result: Result) -> list[Figure]:
    if result.kind == "gpu sweep":
        return _sweep(result)
    if result.kind != "transfer" or result.flows.empty:
        return []
    return _copies(result) + _small(result) + _chase(result) + _peer(result)


def _copies(result: Result) -> list[Figure]:
    if result.totals.empty:
        return []
    sums = result.totals[
        (result.totals["metric"] == "bandwidth_sum")
        & (result.totals["measure"] == "copies")
        & result.totals["value"].notna()
    ]
    found: list[Figure] = []
    if sums.empty:
        return found
    for (direction, pinning), mine in sums.groupby(["direction", "pinning"], sort=False):
        words = f"Copies, {DIRECTIONS.get(direction, direction)}, {pinning} memory"
        largest = mine[mine["size"] == mine["size"].max()]
        found.append(
            _matrix(
                result,
                largest,
                f"transfer-{direction}-{pinning}",
                f"{words} ({size_text(mine['size'].max())})",
                False,
                SUM_INTERVAL,
            )
        )
        if mine["size"].nunique() > 1:
            found.append(_sizes(result, mine, f"transfer-sizes-{direction}-{pinning}", f"{words}, by size"))
    return found


def _small(result: Result) -> list[Figure]:
    times = result.flows[(result.flows["metric"] == "copy_time") & (result.flows["measure"] == "latency")]
    found: list[Figure] = []
    for (direction, pinning, size), mine in times.groupby(["direction", "pinning", "size"], sort=False):
        title = (
            f"Time of a copy of {size_text(size)}, {DIRECTIONS.get(direction, direction)}, {pinning} memory"
        )
        found.append(
            _matrix(
                result, mine, f"transfer-latency-{direction}-{pinning}-{int(size)}", title, True, INTERVAL
            )
        )
    return found


def _chase(result: Result) -> list[Figure]:
    loads = result.flows[(result.flows["metric"] == "latency") & (result.flows["measure"] == "chase")]
    found: list[Figure] = []
    if loads.empty:
        return found
    for caches, mine in loads.groupby("caches", sort=False):
        largest = mine[mine["size"] == mine["size"].max()]
        title = f"A GPU's load from host memory, CPU caches {caches} ({size_text(mine['size'].max())})"
        found.append(_matrix(result, largest, f"transfer-chase-{caches}", title, True, INTERVAL))
        if mine["size"].nunique() > 1:
            found.append(
                _sizes(
                    result,
                    mine,
                    f"transfer-chase-sizes-{caches}",
                    f"A GPU's load from host memory by size, CPU caches {caches}",
                )
            )
    return found


def _peer(result: Result) -> list[Figure]:
    if result.totals.empty:
        return []
    sums = result.totals[
        (result.totals["metric"] == "bandwidth_sum")
        & (result.totals["measure"] == "peer")
        & result.totals["value"].notna()
    ]
    if sums.empty:
        return []
    largest = sums[sums["size"] == sums["size"].max()].copy()
    ends = largest["gpus"].str.split(",", n=1, expand=True)
    largest["memory"], largest["gpus"] = "GPU " + ends[0], ends[1]
    return [
        _matrix(
            result,
            largest,
            "transfer-peer",
            f"Copies between GPUs ({size_text(sums['size'].max())})",
            False,
            SUM_INTERVAL,
            "from",
        )
    ]


def _matrix(
    result: Result,
    frame: pd.DataFrame,
    key: str,
    title: str,
    less: bool,
    spread: str,
    row_label: str = "memory",
) -> Matrix:
    scaled, unit = in_shown_unit(frame)
    rows, columns = natural(scaled["memory"]), natural(scaled["gpus"])
    flows = result.flows[result.flows["point"].isin(frame["point"])]
    return Matrix(
        key,
        title,
        spread=spread,
        placement=placement_of(
            flows[flows["gpu_direction"] != "p2p"] if row_label != "from" else flows.head(0)
        ),
        notes=convergence_of(flows) + skips_of(result),
        warnings=warnings_of(result, flows),
        data=scaled,
        row_label=row_label,
        column_label="GPU" if row_label != "from" else "to GPU",
        rows=rows,
        columns=columns,
        unit=unit,
        less_is_better=less,
        **grid(scaled, "memory", "gpus", rows, columns),
    )


def _sizes(result: Result, frame: pd.DataFrame, key: str, title: str) -> Curves:
    scaled, unit = in_shown_unit(frame)
    series = []
    for (memory, gpus), mine in scaled.groupby(["memory", "gpus"], sort=False):
        line = median_over_workers(mine, ["size"]).sort_values("size")
        series.append(
            Series(
                f"{memory}, GPU {gpus}",
                list(line["size"]),
                list(line["value"]),
                list(line["low"]),
                list(line["high"]),
            )
        )
    flows = result.flows[result.flows["point"].isin(frame["point"])]
    return Curves(
        key,
        title,
        spread=SUM_INTERVAL if unit == "GB/s" else INTERVAL,
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
