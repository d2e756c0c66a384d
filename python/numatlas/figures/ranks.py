"""numa_mem_bench's CSV: a line a rank."""

from numatlas.figures.model import Axis, Curves, Figure, Series
from numatlas.result import Result


def rank_figures(result: Result) -> list[Figure]:
    series = [
        Series(f"rank {rank}", list(rows["size"]), list(rows["value"] * 1e9))
        for rank, rows in result.rows.groupby("rank")
    ]
    return [
        Curves(
            "latency-ranks",
            "Latency of each rank",
            spread="one number a rank and size: the file has no spread",
            placement="the file does not tell where the memory lay",
            data=result.rows,
            x=Axis("memory that is walked through", "bytes", log2=True),
            y=Axis("a dependent load", "ns"),
            series=series,
        )
    ]
