"""`--format csv`: the rows of the JSON without its points, flows, pages and machines, which are made anew."""

from pathlib import Path
from typing import Any

import pandas as pd

from numatlas.result import IN_UNIT, Result, label_order

#: The first columns that are all there tell the command, in this order.
COMMANDS = (
    (("label_cpu_node", "load"), "loaded"),
    (("label_cpu_node",), "matrix"),
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
TEXTS = ("host", "memory", "pages", "page_size", "order", "kernel", "stores", "role", "status", "stop")
WHOLE = ("rank", "thread", "cpu", "cpu_node", "size", "stride", "workers", "n")
#: The file has no standard deviation.
REAL = ("rate", "half_width", "overlap", *(name for name in IN_UNIT if name != "stddev"))
COMMON = {*TEXTS, *WHOLE, *REAL, "metric", "unit", "memory_node"}


def read_tidy(path: Path, frame: pd.DataFrame) -> Result:
    """`flows` (rows of a worker), `totals` (of the host "all") and `host_totals`, as of the JSON; of a frame
    of texts. Raises KeyError and ValueError where the file is damaged."""
    frame = frame.rename(columns=NAMES)
    there = set(frame.columns)
    if missing := sorted(COMMON - there):
        written = {here: name for name, here in NAMES.items()}
        raise ValueError(f"there is no column {written.get(missing[0], missing[0])}")
    kind = "latency" if "latency" in set(frame["metric"]) else "bandwidth"
    kind = next((command for columns, command in COMMANDS if there.issuperset(columns)), kind)
    labels = [name for name in frame.columns if name not in COMMON]
    frame[[*WHOLE, *REAL]] = frame[[*WHOLE, *REAL]].apply(pd.to_numeric)
    if kind == "run":
        frame["name"] = frame["scenario"]
    # Flows of these work on sizes of their own.
    size = ["size"] if kind not in ("loaded", "run") else []
    frame["point"], frame["flow"] = _numbers(frame, ["pages", "status", *size, *labels])
    if "label_memory" in frame:  # the label `memory` of a transfer: of the host's memory, also at its flows
        frame["memory"] = frame.pop("label_memory").fillna(frame["memory"])
    of_worker = frame["rank"].notna()
    flows = _whole(frame[of_worker]).reset_index(drop=True)
    none = ["rank", "thread", "cpu", "cpu_node", "memory_node", "flow"]
    if len(flows):
        flows = flows.assign(memory_node=_nodes(flows["memory_node"]))
    flows["observed_memory_node"] = flows["memory_node"]
    plain = {name: name.removeprefix("label_") for name in labels if name.startswith("label_")}
    for name in plain.keys() & set(flows):
        flows[plain[name]] = flows.pop(name)
    sums = _whole(frame[~of_worker].drop(columns=none).rename(columns=plain))
    every = sums["host"] == "all"
    return Result(
        path,
        kind,
        {"form": "csv"},
        flows=flows,
        totals=sums[every].drop(columns="host").reset_index(drop=True),
        host_totals=sums[~every].reset_index(drop=True),
        labels=label_order(plain.get(name, name) for name in labels),  # as in JSON
    )


def _numbers(frame: pd.DataFrame, marks: list[str]) -> tuple[pd.Series, pd.Series]:
    """Of each row its point and the flow in it. The rows of a point stand together: its flows, metric by
    metric, then its sums. A point ends where what tells it changes, after its sums, and where a worker
    comes for a second time."""
    total = frame["rank"].isna()
    mark = frame[marks].astype(object).fillna("")
    changed = (mark != mark.shift()).any(axis=1) | (total.shift(fill_value=False) & ~total)
    worker = [frame["host"], frame["rank"], frame["thread"]]
    again = frame.groupby([changed.cumsum(), *worker, frame["metric"]], dropna=False).cumcount()
    ended = again.where(~total).ffill().fillna(0)
    point = (changed | (ended != ended.shift())).cumsum() - 1
    name = frame.groupby(worker, dropna=False).ngroup()
    flow = name.groupby(point).transform(lambda workers: pd.factorize(workers)[0])
    return point, flow


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
