"""The rows of a view: their labels, and the parts of their figures."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from numatlas.figures.loaded import load_words
from numatlas.figures.placement import placement_of
from numatlas.figures.told import column, half_widths, key_of, label_shown, label_text, skips_of, warnings_of
from numatlas.result import IN_UNIT, Cell, Result, View
from numatlas.units import (
    LESS_IS_BETTER,
    VERY_LARGE,
    WIDE,
    number_text,
    percent_text,
    scaled_unit,
)

#: Labels that cases, and flows, have besides their own.
CASE_LABELS = ("host", "kernel", "stores", "size", "pages", "order", "stride", "workers")
#: Those that are quantities, and may be an axis.
QUANTITIES = ("size", "stride", "workers", "threads")
FLOW_LABELS = ("cpu_node", "memory_node", "rank", "thread")

INTERVAL = "95 % interval"
WORKERS = "from the lowest to the highest worker; of one worker its 95 % interval"
NO_SPREAD = "the file has no interval of these figures"

#: Labels that say nothing without their name: "4", "bind:0".
NUMBERED = re.compile(r"\W*(\w+:)?\d")

#: Labels that are numbers of something.
COUNTED = {"workers": "worker", "threads": "thread", "page_count": "page"}

#: Texts of a case's flows that stand in one cell.
MOST_OF_A_CASE = 3

#: Parts of a figure that tell its interval.
WITH_INTERVAL = ("half_width", "with_interval", "spread")

PARTS = ("value", "low", "high", "p95", "p99", "min", "max", "best", "of_workers")


def words_of(name: str) -> str:
    """A label or figure for people."""
    return name.replace("_", " ").replace("cpu", "CPU").replace("gpu", "GPU")


def words_for(view: View, labels: dict[str, Any]) -> str:
    """ "read, regular, 4 workers"."""
    heads = {cell["label"]: cell["head"] for cell in view["cells"] if cell["label"] and cell["head"]}
    texts = {name: label_shown(value, name) for name, value in labels.items()}
    if texts.get("cpu_node") == texts.get("memory_node"):  # one name for both
        texts = {"node" if name == "cpu_node" else name: text for name, text in texts.items()}
        texts.pop("memory_node", None)
    words = [label_words(name, text, heads.get(name, "")) for name, text in texts.items() if text != "-"]
    return ", ".join(words)


def label_words(name: str, text: str, head: str = "") -> str:
    """A label for people: "read", "4 workers", "node 0", "size 32 KiB"."""
    if name == "line":  # it has its words
        return text
    if name == "load_kernel":
        return load_words(text)
    if name in COUNTED and text.isdigit():
        return f"{text} {COUNTED[name]}{'s' * (text != '1')}"
    cpus, arrow, memory = text.partition(" -> ")
    if name == "nodes" and arrow:
        return f"node {cpus}" if cpus == memory else f"node {cpus} → {memory}"
    return f"{head or words_of(name)} {text}" if NUMBERED.match(text) else text


@dataclass
class Table:
    """`frame`: a row for each case, group of flows or flow of a view; its labels are columns, and its figures
    as "latency.value"."""

    result: Result
    view: View
    frame: pd.DataFrame
    long: pd.DataFrame  #: the same with a row for each figure, in SI units
    by: list[str]  #: columns that number the rows
    main: Cell  #: the figure that is drawn; {}: none was measured

    def __post_init__(self) -> None:
        self.units = dict(zip(self.long["metric"], self.long["unit"], strict=True))
        self.labels = [cell["label"] for cell in self.view["cells"] if cell["label"]]
        if self.main:
            self.unit = scaled_unit(self.units[self.main["figure"]], self.main["scale"])
            self.less_is_better = self.units[self.main["figure"]] in LESS_IS_BETTER

    def figures(self) -> list[Cell]:
        """Those that were measured."""
        parts = ("value", "with_interval", "spread")
        return [cell for cell in self.view["cells"] if cell["figure"] in self.units and cell["part"] in parts]

    def part(self, cell: Cell, part: str = "value") -> pd.Series:
        """Numbers in the unit that the cell shows."""
        return pd.to_numeric(column(self.frame, f"{cell['figure']}.{part}")) * cell["scale"]

    def of_workers(self, cell: Cell) -> pd.Series:
        """Whether a row's figure is the median of several workers."""
        return column(self.frame, f"{cell['figure']}.of_workers").astype(object).fillna(False).astype(bool)

    def spreads(self) -> dict[str, pd.Series]:
        """Value, low and high as they are drawn."""
        parts = {name: self.part(self.main, name) for name in ("value", "low", "high")}
        if self.main["part"] == "spread":
            several = self.of_workers(self.main)
            parts["low"] = parts["low"].mask(several, self.part(self.main, "min"))
            parts["high"] = parts["high"].mask(several, self.part(self.main, "max"))
        unknown = self.unknown(self.main)
        for name in parts if unknown.any() else ():
            parts[name] = parts[name].mask(unknown, None if name == "value" else self.part(self.main, name))
        return parts

    def widths(self, cell: Cell) -> pd.Series:
        """The larger side of each interval over its value."""
        return half_widths(*(self.part(cell, part) for part in ("value", "low", "high")))

    def unknown(self, cell: Cell) -> pd.Series:
        """Of which values only the intervals are known: they may be nothing."""
        return (self.widths(cell) > WIDE) & (self.part(cell, "low") <= 0) & (self.part(cell, "high") >= 0)

    def texts(self, cell: Cell) -> list[str]:
        """Of each row, as the program prints it."""
        if cell["label"]:
            return [label_shown(value, cell["label"]) for value in column(self.frame, cell["label"])]
        kind = {"least": "min", "most": "max", "p95": "p95", "p99": "p99", "best": "best"}.get(
            cell["part"], "value"
        )
        numbers, several = self.part(cell, kind), self.of_workers(cell)
        if kind not in ("value", "best"):
            numbers = numbers.where(several if kind in ("min", "max") else ~several)
        unit = cell.get("unit") or ""
        texts = [printed(one, cell["digits"]) + unit if pd.notna(one) else "-" for one in numbers]
        widths = self.widths(cell)
        words = ["-" if pd.isna(width) else percent_text(width) for width in widths]
        if cell["part"] == "half_width":
            return words
        if kind == "value":
            ends = zip(self.part(cell, "low"), self.part(cell, "high"), strict=True)
            for at, (width, (low, high)) in enumerate(zip(widths, ends, strict=True)):
                if width > WIDE:
                    span = f"{printed(low, cell['digits'])} to {printed(high, cell['digits'])}"
                    unknown, words[at] = low <= 0 <= high, "-"
                    texts[at] = span + unit if unknown else f"{texts[at]} ({span})"
        if cell["part"] not in WITH_INTERVAL:
            return texts
        return [
            text if width == "-" else f"{text} ±{width}" for text, width in zip(texts, words, strict=True)
        ]

    def warnings(self) -> list[str]:
        """Of each row, those of its flows."""
        flows = self.result.flows
        if "flow_warnings" not in flows:
            return [""] * len(self.frame)
        told = flows[flows["flow_warnings"].fillna("") != ""]
        keys = [name for name in self.by if name in told and name != "group"]
        by_row = told.groupby(keys)["flow_warnings"].agg(lambda texts: "; ".join(dict.fromkeys(texts)))
        rows = self.frame[keys].itertuples(index=False)
        return [by_row.get(tuple(row) if len(keys) > 1 else row[0], "") for row in rows]

    def telling(self, known: list[str], first: list[str]) -> list[str]:
        """Labels that tell apart rows which are alike in `known`: these first, as few as do."""
        own = [*self.result.labels, *CASE_LABELS, *(FLOW_LABELS if "flow" in self.by else [])]
        names = [name for name in dict.fromkeys([*first, *own]) if name in self.frame and name not in known]
        groups = self.frame.groupby(known, dropna=False) if known else self.frame
        found = [name for name in names if pd.Series(groups[name].nunique(dropna=False)).max() > 1]

        def unique(names: list[str]) -> bool:
            return bool(names + known) and not self.frame.duplicated([*known, *names]).any()

        while found and unique(found[:-1]):
            found.pop()
        for name in [name for name in found if name in self.result.labels]:
            others = [other for other in found if other != name]
            found = others if unique(others) else found
        return found

    def groups(self, names: list[str]) -> Iterator[tuple[dict[str, Any], "Table"]]:
        """A table for each combination of these labels, with the labels' values."""
        groups = self.frame.groupby(names, sort=False, dropna=False) if names else [((), self.frame)]
        for values, frame in groups:
            yield dict(zip(names, values, strict=True)), replace(self, frame=frame)

    def told(self, labels: dict[str, Any] | None = None, *more: str) -> dict[str, Any]:
        """What any figure of these rows says; `labels`: those that it is of, besides the view's."""
        view, result, labels = self.view, self.result, labels or {}
        flows = self._mine(result.flows)
        spread = WORKERS if self.main["part"] == "spread" and self.of_workers(self.main).any() else INTERVAL
        of_totals = len(result.totals) > 0 and self.main["figure"] in set(result.totals["metric"])
        hosts = column(flows, "host").nunique() if of_totals and self.by == ["point"] else 1
        titles = [view["title"], words_for(view, labels), f"sum over {hosts} hosts" if hosts > 1 else ""]
        family = [result.command, self.main["figure"], *more]
        texts = {**view["where"], **{name: label_text(value, name) for name, value in labels.items()}}
        return {
            "key": key_of([*family, *texts.values()]),
            "family": key_of(family),
            "where": texts,
            "title": ", ".join(filter(None, titles)),
            "spread": spread if self.part(self.main, "low").notna().any() else NO_SPREAD,
            "placement": placement_of(flows),
            "notes": [
                *view["notes"],
                *skips_of(result),
            ],
            "verdict": list(view["verdict"]),
            "warnings": warnings_of(result, flows),
            "data": self._data(),
        }

    def _mine(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows that are of this table."""
        keys = [name for name in self.by if name in frame]
        wanted = pd.MultiIndex.from_frame(self.frame[keys])
        return frame[pd.MultiIndex.from_frame(frame[keys]).isin(wanted)]

    def _data(self) -> pd.DataFrame:
        """A row for each figure shown, in the unit shown, with all that is known of it."""
        cells = {cell["figure"]: cell for cell in reversed(self.view["cells"]) if cell["figure"]}
        long = self._mine(self.long)
        long = long[long["metric"].isin(list(cells))]
        scale = long["metric"].map({name: cell["scale"] for name, cell in cells.items()})
        unit = [scaled_unit(self.units[name], cells[name]["scale"]) for name in long["metric"]]
        numbers = {name: pd.to_numeric(long[name]) * scale for name in IN_UNIT if name in long}
        scaled = long.assign(unit=unit, **numbers).drop(columns="of_workers", errors="ignore")
        labels = [name for name in self.frame if "." not in name and name not in scaled]
        return self.frame[[*self.by, *labels]].merge(scaled, on=self.by)


def printed(number: float, digits: int) -> str:
    """As the program prints it."""
    return f"{number:.{digits}f}" if abs(number) < VERY_LARGE else number_text(number)


class Tables:
    """Those of a result's views: what they have in common is made once."""

    def __init__(self, result: Result, views: list[View]) -> None:
        self.result = result
        shown = {cell["label"] for view in views for cell in view["cells"]}
        # In the order of the file: that of a set differs from run to run, and with it the page.
        self.of_flows = [name for name in result.flows if name in shown and name not in result.labels]
        self.several_hosts = column(result.flows, "host").nunique() > 1
        self.made: dict[Any, tuple[list[str], pd.DataFrame, pd.DataFrame]] = {}

    def of(self, view: View) -> Table:
        """What the view shows, in the order of the cases."""
        by_host = self.several_hosts and view["kind"] != "table"  # places are those of a host
        key = (view["level"], by_host)
        self.made[key] = self.made.get(key) or self._make(*key)
        by, rows, long = self.made[key]
        for name, value in view["where"].items():
            # What has no such label belongs to all: the others are compared with it.
            absent = rows[name].isna() if name in self.result.labels else False
            texts = [label_text(one, name) for one in column(rows, name)]
            rows = rows[absent | (pd.Series(texts, rows.index, dtype=object) == value)]
        table = Table(self.result, view, rows.reset_index(drop=True), long, by, {})
        measured = [cell for cell in table.figures() if table.part(cell).notna().any()]
        x_unit = table.units.get(view["rows"])
        if x_unit:  # over a figure: what is of another kind
            measured.sort(key=lambda cell: table.units[cell["figure"]] == x_unit)
        return replace(table, main=measured[0] if measured else {})

    def _make(self, level: str, by_host: bool) -> tuple[list[str], pd.DataFrame, pd.DataFrame]:
        """What numbers the rows; the rows; the same with one for each figure."""
        by, frames = self._frames(level, by_host)
        frames = [frame for frame in frames if len(frame)] or [self.result.flows[:0]]
        long = pd.concat(frames).drop_duplicates([*by, "metric"])
        rows = pd.concat([frame.drop_duplicates(by) for frame in frames]).groupby(by).first()
        for name in self.of_flows if by == ["point"] else []:  # what flows tell of their case
            values = self.result.flows.groupby(by)[name]
            texts = values.agg(lambda every: _few(list(dict.fromkeys(map(label_text, every)))))
            rows[name] = column(rows, name).fillna(values.first()) if values.nunique().max() < 2 else texts
        rows = rows.drop(columns=[*IN_UNIT, "n", "metric", "unit", "of_workers"], errors="ignore")
        wide = long.pivot(index=by, columns="metric", values=[name for name in PARTS if name in long])
        wide.columns = [f"{metric}.{part}" for part, metric in wide.columns]
        return by, rows.join(wide).reset_index(), long

    def _frames(self, level: str, by_host: bool) -> tuple[list[str], list[pd.DataFrame]]:
        """What numbers the rows, and the frames that have them, the first of which counts."""
        flows, groups = self.result.flows, self.result.groups
        if level == "flows":
            return ["point", "flow"], [flows]
        measured = flows[column(flows, "role") != "load"]
        if len(groups):
            several = groups.groupby("point")["group"].transform("max") > 0
            groups = groups.assign(of_workers=groups["workers"] > 1)
            # The first is that of all flows, where there are several.
            groups = groups[(groups["group"] > 0) | ~several if level == "groups" else groups["group"] == 0]
        if level == "groups":
            alone = measured[~measured["point"].isin(groups["point"])] if len(groups) else measured
            return ["point", "group"], [groups, alone.assign(group=alone["flow"])]
        by, totals = ["point"], self.result.totals.drop(columns="host", errors="ignore")
        if by_host:
            by, totals, groups = ["point", "host"], self.result.host_totals, groups[:0]
        alone = measured.groupby(by)["flow"].transform("nunique") == 1
        return by, [totals, groups, measured[alone]]


def _few(texts: list[str]) -> str:
    """Those of a case's flows: all, or the first and the last of many."""
    return "/".join(texts) if len(texts) <= MOST_OF_A_CASE else f"{texts[0]} ... {texts[-1]}"
