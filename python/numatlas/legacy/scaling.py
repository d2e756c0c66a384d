"""plot_scaling.py: latencies of numa_mem_bench's ranks, their mean and deviation by NUMA node."""

import argparse
from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd

from numatlas.figures import figures_of
from numatlas.figures.model import Beside, Curves, Series
from numatlas.file_error import FileError, intact
from numatlas.files import check_output
from numatlas.legacy.command import path_argument, read, script
from numatlas.output import write_whole
from numatlas.plot import check_form, draw
from numatlas.readers.csv_files import of_ranks
from numatlas.units import number_text, numbers_of

#: Fewer values have no quartiles to speak of.
LEAST_FOR_OUTLIERS = 4
ONE_GROUP = "all ranks"
COLUMNS = ("size (MB)", "ranks", "mean", "std", "min", "rank", "max", "rank", "outliers (rank)")


@script
def main(arguments: list[str]) -> None:
    """The script."""
    options = _options(arguments)
    check_form(options.output)
    check_output(options.output, filter(None, [options.csv, options.mapping]))
    rows = read(options.csv, "numa_mem_bench", "a CSV of numa_mem_bench").rows
    with intact(options.csv):
        if options.ranks:
            rows = rows[rows["rank"].isin(_chosen(options.ranks, set(rows["rank"]), options.csv))]
        rows = rows.assign(ns=rows["value"] * 1e9, group=_groups(rows, options.mapping))
        table = statistics(rows)
        print(f"{options.csv}: latency in ns of {rows['rank'].nunique()} ranks; std: of a sample (n - 1)")
        if options.mapping is None:
            print("no --mapping: all ranks are one group, wherever they ran")
        print(text(table))
        picture = figure(rows, table, options.csv.name, options.mapping is not None)
        write_whole(options.output, partial(draw, picture))
        print(options.output)


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="plot_scaling.py",
        description="Draws the latencies of numa_mem_bench's ranks by size (above), and their mean and "
        "standard deviation by NUMA node of the memory (below); prints them with extremes and outliers.",
    )
    path_argument(parser, "csv", called="CSV", metavar="CSV", help="of numa_mem_bench --csv")
    mapping = "mapping_check.log of the same run"
    path_argument(parser, "--mapping", called="--mapping", metavar="FILE", help=mapping)
    output = "png, svg or pdf [default: the CSV's name, .png, here]"
    path_argument(parser, "--output", "-o", called="--output", metavar="FILE", help=output)
    parser.add_argument("--ranks", metavar="LIST", help='only these, such as "1,3-5"')
    options = parser.parse_args(arguments)
    options.output = options.output or Path(f"{options.csv.stem}.png")
    return options


def _chosen(text: str, there: set[int], path: Path) -> list[int]:
    ranks: list[int] = []
    for part in map(str.strip, text.split(",")):
        first, dash, last = part.partition("-")
        if not (first.isdecimal() and (last.isdecimal() if dash else True)):
            raise FileError("--ranks", f"'{part}' is neither a rank nor a range such as 3-5")
        if int(last or first) < int(first):
            raise FileError("--ranks", f"'{part}' ends before it begins")
        absent = [rank for rank in (int(first), int(last or first)) if rank not in there]
        if absent:
            raise FileError("--ranks", f"{path} has no rank {absent[0]}, but {min(there)} to {max(there)}")
        ranks += numbers_of(part)
    return ranks


def _groups(rows: pd.DataFrame, mapping: Path | None) -> pd.Series:
    """By the node of a rank's memory, and of its CPU where that is another."""
    if mapping is None:
        return pd.Series(ONE_GROUP, index=rows.index)
    nodes = read(mapping, "mapping", "a mapping_check.log of numa_mem_bench").rows.drop_duplicates("rank")
    absent = sorted(set(rows["rank"]) - set(nodes["rank"]))
    if absent:
        words = f"rank {absent[0]}" + (f" and {len(absent) - 1} more" if len(absent) > 1 else "")
        raise FileError(mapping, f"does not have {words} of the CSV: of another run?")
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
    keys = ["group", "size"]
    ns = rows.reset_index(drop=True).groupby(keys)["ns"]
    table = ns.agg(ranks="count", mean="mean", std="std", min="min", max="max")
    ranks = rows["rank"].to_numpy()
    table = table.assign(min_rank=ranks[ns.idxmin()], max_rank=ranks[ns.idxmax()])
    first, third = (ns.transform("quantile", part).to_numpy() for part in (0.25, 0.75))
    middle, reach = (first + third) / 2, (third - first) * 2  # from the fences, 1.5 beyond the quartiles
    beyond = rows[
        ((rows["ns"] - middle).abs() > reach) & (ns.transform("count").to_numpy() >= LEAST_FOR_OUTLIERS)
    ]
    pairs = pd.Series(list(zip(beyond["ns"], beyond["rank"], strict=True)), index=beyond.index, dtype=object)
    outliers = pairs.groupby([beyond[key] for key in keys]).agg(list).to_dict()
    return table.assign(outliers=[outliers.get(place, []) for place in table.index]).reset_index()


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


def figure(rows: pd.DataFrame, table: pd.DataFrame, name: str, mapped: bool) -> Beside:
    """Above a line a rank, below a line a group with its standard deviation."""
    ranks = rows[["size", "rank", "value"]].reset_index(drop=True)
    (above,) = figures_of(of_ranks(Path(name), ranks))
    assert isinstance(above, Curves)
    told = {
        "title": f"Latency by size of the memory: {name}",
        "spread": "one number a rank and size",
        "placement": "by NUMA node of the memory, as the mapping tells"
        if mapped
        else "no mapping: all ranks are one group",
    }
    below = Curves(
        "groups",
        "Mean and standard deviation of the ranks",
        spread="from mean - to mean + standard deviation of the ranks",
        x=above.x,
        y=above.y,
        series=_means(table),
    )
    return Beside("scaling", "", figures=[replace(above, **told), below])


def _means(table: pd.DataFrame) -> list[Series]:
    return [
        Series(
            f"{group} ({number_text(mine['ranks'].max(), 1)} ranks)",
            list(mine["size"]),
            list(mine["mean"]),
            list(mine["mean"] - mine["std"]),
            list(mine["mean"] + mine["std"]),
        )
        for group, mine in table.groupby("group")
    ]
