"""plot_scaling.py: latencies of numa_mem_bench's ranks, their mean and deviation by NUMA node."""

import argparse
import sys
from functools import partial
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure as Picture

from numatlas.exit_codes import USAGE
from numatlas.figures.common import absent_as_none
from numatlas.figures.model import Axis, Curves, Series
from numatlas.figures.ranks import rank_figures
from numatlas.file_error import intact
from numatlas.files import check_output, named
from numatlas.legacy.command import check_form, fail, read, script, write
from numatlas.plot import styled
from numatlas.plot.curves import panel
from numatlas.plot.style import MARGIN, WIDTH, legend, legend_height, legend_rows, page
from numatlas.result import Result
from numatlas.units import number_text

#: Inches of a panel, of its words below and at its left.
PANEL, BELOW, LEFT = 2.3, 0.45, 0.55
#: Fewer values have no quartiles to speak of.
LEAST_FOR_OUTLIERS = 4
ONE_GROUP = "all ranks"
COLUMNS = ("size (MB)", "ranks", "mean", "std", "min", "rank", "max", "rank", "outliers (rank)")


@script
def main(arguments: list[str] | None = None) -> None:
    """The script."""
    options = _options(arguments)
    check_form(options.output)
    check_output(options.output, filter(None, [options.csv, options.mapping]))
    rows = read(options.csv, "numa_mem_bench", "a CSV of numa_mem_bench").rows
    with intact(options.csv):
        _draw(rows, options)


def _draw(rows: pd.DataFrame, options: argparse.Namespace) -> None:
    """Prints the statistics and writes the picture."""
    if options.ranks:
        rows = rows[rows["rank"].isin(_chosen(options.ranks, set(rows["rank"]), options.csv))]
    rows = rows.assign(ns=rows["value"] * 1e9, group=_groups(rows, options.mapping))
    table = statistics(rows)
    print(f"{options.csv}: latency in ns of {rows['rank'].nunique()} ranks; std: of a sample (n - 1)")
    if options.mapping is None:
        print("no --mapping: all ranks are one group, wherever they ran")
    print(text(table))
    write(build(rows, table, options.csv.name, options.mapping is not None), options.output)
    print(options.output)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="plot_scaling.py",
        description="Draws the latencies of numa_mem_bench's ranks by size (above), and their mean and "
        "standard deviation by NUMA node of the memory (below); prints them with extremes and outliers.",
    )
    parser.add_argument("csv", type=partial(named, "CSV"), metavar="CSV", help="of numa_mem_bench --csv")
    parser.add_argument(
        "--mapping",
        type=partial(named, "--mapping"),
        metavar="FILE",
        help="mapping_check.log of the same run",
    )
    parser.add_argument(
        "--output",
        "-o",
        type=partial(named, "--output"),
        metavar="FILE",
        help="png, svg or pdf [default: the CSV's name, .png, here]",
    )
    parser.add_argument("--ranks", metavar="LIST", help='only these, such as "1,3-5"')
    options = parser.parse_args(sys.argv[1:] if arguments is None else arguments)
    options.output = options.output or Path(f"{options.csv.stem}.png")
    return options


def _chosen(text: str, there: set[int], path: Path) -> list[int]:
    ranks: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not (first.isdecimal() and (last.isdecimal() if dash else True)):
            fail(USAGE, f"--ranks: '{part.strip()}' is neither a rank nor a range such as 3-5")
        if int(last or first) < int(first):
            fail(USAGE, f"--ranks: '{part.strip()}' ends before it begins")
        absent = [rank for rank in (int(first), int(last or first)) if rank not in there]
        if absent:
            fail(USAGE, f"--ranks: {path} has no rank {absent[0]}, but {min(there)} to {max(there)}")
        ranks += range(int(first), int(last or first) + 1)
    return ranks


def _groups(rows: pd.DataFrame, mapping: Path | None) -> pd.Series:
    """By the node of a rank's memory, and of its CPU where that is another."""
    if mapping is None:
        return pd.Series(ONE_GROUP, index=rows.index)
    nodes = read(mapping, "mapping", "a mapping_check.log of numa_mem_bench").rows.drop_duplicates("rank")
    absent = sorted(set(rows["rank"]) - set(nodes["rank"]))
    if absent:
        words = f"rank {absent[0]}" + (f" and {len(absent) - 1} more" if len(absent) > 1 else "")
        fail(USAGE, f"{mapping}: does not have {words} of the CSV: of another run?")
    names = {
        row.rank: f"node {row.memory_numa}"
        if row.cpu_numa == row.memory_numa
        else f"CPU node {row.cpu_numa}, memory node {row.memory_numa}"
        for row in nodes.itertuples()
    }
    return rows["rank"].map(names)


def statistics(rows: pd.DataFrame) -> pd.DataFrame:
    """A row for each group and size, of `rows` with rank, size, ns and group: mean, standard deviation (of a
    sample; absent of one rank), extremes with the ranks that have them, and Tukey's outliers."""
    found = []
    for (group, size), mine in rows.groupby(["group", "size"]):
        values = mine["ns"]
        least, most = mine.loc[values.idxmin()], mine.loc[values.idxmax()]
        first, third = values.quantile(0.25), values.quantile(0.75)
        reach = 1.5 * (third - first)
        beyond = mine[(values < first - reach) | (values > third + reach)]
        found.append(
            {
                "group": group,
                "size": size,
                "ranks": len(mine),
                "mean": values.mean(),
                "std": values.std(),
                "min": least["ns"],
                "min_rank": int(least["rank"]),
                "max": most["ns"],
                "max_rank": int(most["rank"]),
                "outliers": [
                    (float(ns), int(rank)) for ns, rank in zip(beyond["ns"], beyond["rank"], strict=True)
                ]
                if len(mine) >= LEAST_FOR_OUTLIERS
                else [],
            }
        )
    return pd.DataFrame(found)


def text(table: pd.DataFrame) -> str:
    """The statistics for people: a block a group."""
    lines = []
    for group, mine in table.groupby("group"):
        lines += ["", str(group), "{:>10}{:>7}{:>10}{:>10}{:>10}{:>6}{:>10}{:>6}  {}".format(*COLUMNS)]
        for row in mine.itertuples():
            outliers = ", ".join(f"{ns:.2f} ({rank})" for ns, rank in row.outliers) or "-"
            deviation = "-" if pd.isna(row.std) else f"{row.std:.2f}"
            lines.append(
                f"{row.size / 2**20:>10g}{row.ranks:>7}{row.mean:>10.2f}{deviation:>10}"
                f"{row.min:>10.2f}{row.min_rank:>6}{row.max:>10.2f}{row.max_rank:>6}  {outliers}"
            )
    return "\n".join([*lines, ""])


@styled
def build(rows: pd.DataFrame, table: pd.DataFrame, name: str, mapped: bool) -> Picture:
    """Above a line a rank, below a line a group with its standard deviation as a band."""
    above = rank_figures(Result(Path(name), "numa_mem_bench", rows=rows))[0]
    assert isinstance(above, Curves)
    below = Curves("groups", "", x=above.x, y=Axis("mean, standard deviation", "ns"), series=_means(table))
    above.title = f"Latency by size of the memory: {name}"
    above.spread = (
        "above one number a rank and size; below from mean - to mean + standard deviation of the ranks"
    )
    above.placement = (
        "by NUMA node of the memory, as the mapping tells"
        if mapped
        else "no mapping: all ranks are one group"
    )
    shapes = [legend_rows([series.name for series in part.series]) for part in (above, below)]
    each = [legend_height(rows_of) + PANEL + BELOW for rows_of, _ in shapes]
    made = page(above, sum(each))
    top = made.top
    for part, shape, height in zip((above, below), shapes, each, strict=True):
        axes = made.axes(LEFT, top - height + BELOW, WIDTH - LEFT - MARGIN, PANEL - 0.08)
        legend(made, top, panel(axes, part, ratios=False), shape)
        top -= height
    return made.picture


def _means(table: pd.DataFrame) -> list[Series]:
    return [
        Series(
            f"{group} ({number_text(mine['ranks'].max(), 1)} ranks)",
            list(mine["size"]),
            list(mine["mean"]),
            absent_as_none(mine["mean"] - mine["std"]),
            absent_as_none(mine["mean"] + mine["std"]),
        )
        for group, mine in table.groupby("group")
    ]
