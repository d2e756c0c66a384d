"""`--format csv`: the rows of the JSON without its points, flows, pages and machines, which are made anew."""

from pathlib import Path
from typing import Any

import pandas as pd

from numatlas.result import IN_UNIT, Result

#: The interval of a sum comes from this many equal parts of the common time.
PARTS_OF_A_SUM = 20
#: Between numbers of six digits there is no smaller difference.
ROUNDING = 1e-5

#: The first columns that are all there tell the command, in this order.
COMMANDS = (
    (("cell_cpu_node", "load"), "loaded"),
    (("cell_cpu_node",), "matrix"),
    (("first_cpu",), "cores"),
    (("from", "to"), "copy"),
    (("pattern",), "touch"),
    (("weights",), "weights"),
    (("measure", "gpus"), "transfer"),
    (("scenario",), "run"),
)

NAMES = {
    "size_bytes": "size",
    "pages_asked": "pages",
    "pages_observed": "page_size",
    "ci95_low": "low",
    "ci95_high": "high",
}

#: Columns that every command has, by what they are; those after them are labels of the point.
TEXTS = (
    "host",
    "memory",
    "pages",
    "page_size",
    "order",
    "kernel",
    "stores",
    "role",
    "status",
    "stop",
    "metric",
)
WHOLE = ("rank", "thread", "cpu", "cpu_node", "size", "stride", "workers", "n")
#: The file has no standard deviation.
REAL = ("rate", "half_width", "overlap", *(name for name in IN_UNIT if name != "stddev"))
COMMON = {*TEXTS, *WHOLE, *REAL, "unit", "memory_node"}


def read_tidy(path: Path, frame: pd.DataFrame) -> Result:
    """`flows` (rows of a worker), `totals` (of the host "all") and `host_totals`, as of the JSON; of a frame
    of texts. Raises KeyError and ValueError where the file is damaged."""
    frame = frame.rename(columns=NAMES)
    kind = _command(frame)
    labels = [name for name in frame.columns if name not in COMMON]
    for name in (*WHOLE, *REAL):
        frame[name] = pd.to_numeric(frame[name])
    if kind == "run":
        frame["name"] = frame["scenario"]
    frame["point"], frame["flow"] = _numbers(frame, kind, labels)
    if "label_memory" in frame:  # the label `memory` of a transfer: of the host's memory, also at its flows
        frame["memory"] = frame.pop("label_memory").fillna(frame["memory"])
    of_worker = frame["rank"].notna()
    flows = _whole(frame[of_worker]).reset_index(drop=True)
    none = ["rank", "thread", "cpu", "cpu_node", "memory_node", "flow"]
    sums = _whole(frame[~of_worker].drop(columns=none))
    if len(flows):
        flows = flows.assign(memory_node=_nodes(flows["memory_node"]))
        if _is_of_version_1(flows):
            flows, sums = _with_spread(flows), _without_spread(sums)
    every = sums["host"] == "all"
    return Result(
        path,
        kind,
        {"form": "csv"},
        flows=flows,
        totals=sums[every].drop(columns="host").reset_index(drop=True),
        host_totals=sums[~every].reset_index(drop=True),
    )


def _command(frame: pd.DataFrame) -> str:
    for columns, command in COMMANDS:
        if set(columns) <= set(frame.columns):
            return command
    return "latency" if set(frame["metric"]) == {"latency"} else "bandwidth"


def _numbers(frame: pd.DataFrame, kind: str, labels: list[str]) -> tuple[list[int], list[int]]:
    """Of each row its point and the flow in it. The rows of a point stand together: its flows, metric by
    metric, then its sums. A point ends where what tells it changes, after its sums, and where a worker
    comes for a second time."""
    # Flows of these work on sizes of their own.
    size = ["size"] if kind not in ("loaded", "run") else []
    marks = (
        frame[["pages", "status", *size, *labels]]
        .astype(object)
        .fillna("")
        .itertuples(index=False, name=None)
    )
    workers = frame[["host", "rank", "thread"]].itertuples(index=False, name=None)
    points, flows = [], []
    point, mark, seen, metrics, ended = -1, None, [], set(), False
    for now, worker, metric in zip(marks, workers, frame["metric"], strict=True):
        total = pd.isna(worker[1])
        again = not total and worker in seen and (worker != seen[-1] or metric in metrics)
        if now != mark or again or (ended and not total):
            point, mark, seen = point + 1, now, []
        ended = total
        if not total and (not seen or worker != seen[-1]):
            seen.append(worker)
            metrics = set()
        metrics.add(metric)
        points.append(point)
        flows.append(len(seen) - 1)
    return points, flows


def _whole(frame: pd.DataFrame) -> pd.DataFrame:
    """Whole numbers as such, in columns where none is absent."""
    whole = [name for name in WHOLE if name in frame and len(frame) and frame[name].notna().all()]
    return frame.astype(dict.fromkeys(whole, "int64"))


def _nodes(nodes: pd.Series) -> pd.Series:
    """A number; a text where the pages lie on several nodes: the file does not tell on which most."""

    def of(text: Any) -> Any:
        if pd.isna(text) or text == "-":
            return None
        return int(text) if text.isdigit() else text

    found = [of(text) for text in nodes]
    numbers = all(isinstance(node, int) for node in found)
    return pd.Series(found, index=nodes.index, dtype="int64" if numbers else object)


def _firsts(flows: pd.DataFrame) -> pd.Series:
    """Whether a row is of the metric that `half_width` is of, and has one."""
    return ~flows.duplicated(["point", "flow"]) & flows["half_width"].notna() & flows["value"].notna()


def _is_of_version_1(flows: pd.DataFrame) -> bool:
    """Since version 2 `half_width` is the larger side of the interval in the file. numatlas 0.1 wrote there
    that of the stop rule, and as the interval that over all samples."""
    firsts = flows[_firsts(flows)]
    sides = pd.concat([firsts["value"] - firsts["low"], firsts["high"] - firsts["value"]], axis=1)
    widths = sides.max(axis=1, skipna=False) / firsts["value"].abs()
    return not ((widths - firsts["half_width"]).abs() < ROUNDING).all()


def _with_spread(flows: pd.DataFrame) -> pd.DataFrame:
    """The wider interval, as later versions write it."""
    first = _firsts(flows)
    half = flows["half_width"] * flows["value"].abs()
    low = pd.concat([flows["low"], flows["value"] - half], axis=1).min(axis=1)
    high = pd.concat([flows["high"], flows["value"] + half], axis=1).max(axis=1)
    return flows.assign(low=flows["low"].mask(first, low), high=flows["high"].mask(first, high))


def _without_spread(sums: pd.DataFrame) -> pd.DataFrame:
    """The interval of a sum comes from the deviation of its parts, which a file of version 1 does not have;
    the one that it has is of their median."""
    parts = sums["n"] == PARTS_OF_A_SUM
    return sums.assign(low=sums["low"].mask(parts), high=sums["high"].mask(parts))
