"""Views as figures: what a result says is to be shown, whatever measured it."""

from collections.abc import Iterable
from dataclasses import replace

import pandas as pd

from numatlas.figures.loaded import (
    MOVED,
    MOVED_WORDS,
    load_marks,
    mess_tables,
    over_traffic,
    peak_marks,
    special_points,
)
from numatlas.figures.matrices import matrices
from numatlas.figures.model import Axis, Bar, Bars, Curves, Figure, Mark, Series
from numatlas.figures.scales import DECADE
from numatlas.figures.tables import QUANTITIES, Table, Tables, words_for, words_of
from numatlas.figures.told import column, joined
from numatlas.result import Cell, Result, View
from numatlas.units import scaled_unit, size_text

#: More groups than this nobody tells apart by their colour.
MOST_GROUPS = 8
#: Words of axes for people.
AXES = {
    "size": "buffer size",
    "latency": "latency per load",
    "value": "latency per load",
    "tlb_cost": "TLB misses, per load",
    "page_count": "pages",
    "chains": "independent chains",
    "bandwidth_sum": "bandwidth",
}
LOAD = "memory traffic of the loading CPUs"
#: A table over so many values of a number has a picture over that number too.
LEAST_STEPS = 3


def figures(result: Result) -> list[Figure]:
    """One for each view, and for each part of it that needs its own."""
    if result.flows.empty and not result.rows.empty:
        result = result.with_frame("flows", _tidy(result), labels=list(result.rows))
    views = result.views if len(result.flows) else []
    tables = Tables(result, views)
    found: list[Figure] = []
    for table in (_united(tables, same) for same in _alike(views)):
        found += _drawer(table)(table) if table.main else []
    for index, one in enumerate(found):
        again = sum(other.key == one.key for other in found[:index])
        one.key += f"-{again + 1}" if again else ""
    return found


def _alike(views: list[View]) -> Iterable[list[View]]:
    """Curves of the same shape share a picture."""
    found: dict[str, list[View]] = {}
    for at, view in enumerate(views):
        shape = [view[name] for name in ("level", "rows", "columns", "cells")]
        found.setdefault(repr(shape) if view["kind"] == "curve" else str(at), []).append(view)
    return found.values()


def _united(tables: Tables, views: list[View]) -> Table:
    """The rows of all; what their views differ in names their lines."""
    first = tables.of(views[0])
    if len(views) == 1:
        return first
    same = set.intersection(*(set(view["where"].items()) for view in views))
    # In the order of the first: that of a set differs from run to run, and with it the figure's key.
    common = {name: value for name, value in views[0]["where"].items() if (name, value) in same}
    parts, verdict = [], []
    for view in views:
        where = {name: value for name, value in view["where"].items() if name not in common}
        own = {name: _with_kind(name, value, tables.result) for name, value in where.items()}
        words = words_for(view, own)
        parts.append(tables.of(view).frame.assign(line=words))
        verdict += [f"{words}: {line}" for line in view["verdict"]]
    notes = list(dict.fromkeys(note for view in views for note in view["notes"]))
    told = {"where": common, "title": "", "notes": notes, "verdict": verdict}  # its title is that of its axes
    view = {**views[0], "cells": first.view["cells"], **told}  # the main figure is one of these cells
    return replace(first, frame=pd.concat(parts, ignore_index=True), view=view)


def _with_kind(name: str, value: str, result: Result) -> str:
    """Of the node of a memory: "2 (CXL)"."""
    nodes = result.machine.get("nodes", []) if name == "memory_node" else []
    kind = next((node.get("kind") or "" for node in nodes if str(node["id"]) == value), "")
    return f"{value} ({kind.upper()})" if kind not in ("", "dram") else value


def _drawer(table: Table):  # noqa: ANN202
    """A curve without a quantity on its axis, and a table with columns, are drawn as what they are."""
    view = table.view
    axis = view["rows"] if view["kind"] == "curve" else view["columns"]
    numeric = axis in table.units or (axis in table.frame and axis in QUANTITIES)
    if table.result.command == "run" and view["kind"] == "curve" and axis in table.frame:  # of a user's file
        numeric = numeric or bool(pd.to_numeric(table.frame[axis], errors="coerce").notna().all())
    if view["kind"] == "curve" or not axis:
        return _curves if numeric else _bars
    return _curves if numeric and view["kind"] != "matrix" else matrices


def _tidy(result: Result) -> pd.DataFrame:
    """The rows of an earlier program's file as flows: one for each row and figure."""
    units = {view["cells"][-1]["figure"]: view["cells"][-1]["in"] for view in result.views}
    rows = result.rows.assign(point=range(len(result.rows)), flow=0)
    long = rows.melt([name for name in rows if name not in units], list(units), "metric", "number")
    numbers = pd.to_numeric(long.pop("number"))
    return long.assign(value=numbers, low=None, high=None, unit=long["metric"].map(units))[numbers.notna()]


# ---- Curves


def _follows(frame: pd.DataFrame, name: str, quantity: str) -> bool:
    """Whether a buffer size is chosen by a number of workers: the more there are, the less each has."""
    if name != "size" or quantity != "workers":
        return False
    by_number = frame.groupby(quantity)[name].nunique()
    return len(by_number) > 1 and bool((by_number <= 1).all())


def _curves(table: Table) -> list[Figure]:
    if table.view["kind"] == "curve":
        table = replace(table, view=over_traffic(table.view, table.units))
    view, frame, figure = table.view, table.frame, table.main["figure"]
    name = view["rows"] if view["kind"] == "curve" else view["columns"]
    head = next((cell["head"] for cell in view["cells"] if name in (cell["label"], cell["figure"])), "")
    if name in table.units:
        axis = next(cell for cell in view["cells"] if cell["figure"] == name)
        xs, unit = table.part(axis), scaled_unit(table.units[name], axis["scale"])
        frame = frame.assign(x_low=table.part(axis, "low"), x_high=table.part(axis, "high"))
        unknown = table.unknown(axis)
    else:
        xs, unit = pd.to_numeric(frame[name]), "bytes" if name == "size" else ""
        unknown = xs.isna() & False
    warnings = table.warnings()
    frame = frame.assign(x=xs.fillna(0), flagged=[bool(text) for text in warnings], **table.spreads())
    lines = [line for line in _lines(replace(table, frame=frame), name) if not _follows(frame, line, name)]
    beside = [cell for cell in view["cells"] if cell["label"] and cell["label"] not in (*lines, name)]
    frame["text"] = joined([*(table.texts(cell) for cell in beside), warnings], len(frame))
    over_load = table.units.get(name) == "B/s"
    words = LOAD if over_load else AXES.get(name, head or words_of(name))
    frame = frame[frame["value"].notna() | frame["low"].notna()].sort_values("x", kind="stable")
    frame = frame.assign(x=frame["x"].mask(unknown))
    groups = list(replace(table, frame=frame).groups(lines))
    series = [
        Series(
            words_for(view, labels),
            *(list(mine.frame[part]) for part in ("x", "value", "low", "high", "text")),
            *(
                list(mine.frame[part]) if part in mine.frame else []
                for part in ("x_low", "x_high", "flagged")
            ),
        )
        for labels, mine in groups
    ]
    told = table.told(None, *([] if view["kind"] == "curve" else ["by", name]))
    marks = cache_marks(table.result) if name == "size" and view["columns"] != "gpus" else []
    if view["kind"] == "curve" and over_load:
        marks = load_marks(table.result, table.main, table.unit, axis["scale"]) if len(series) == 1 else []
        nodes = set(pd.to_numeric(column(frame, "memory_node")).dropna().astype(int))
        marks += peak_marks(table.result, axis["scale"], nodes) if len(nodes) == 1 else []
        for line, (_, mine) in zip(series, groups, strict=True):
            line.special = special_points(mine.frame, unit, table.main, table.unit)
        if any(line.special for line in series):
            told["verdict"] = []  # it stands at the lines
        told["notes"] = [MOVED_WORDS, *told["notes"]] if name == MOVED else told["notes"]
        told["tables"] = mess_tables(frame) if table.result.command == "loaded" else {}
    elif table.result.command == "bandwidth" and table.units[figure] == "B/s":
        marks += peak_marks(table.result, table.main["scale"], level=True)
    found = Curves(
        **told,
        x=Axis(words, unit, log2=_by_powers(name, unit, frame["x"])),
        y=Axis(figure_words(table.main), table.unit),
        series=series,
        marks=marks,
    )
    if not view["title"]:
        found.title = ", ".join(filter(None, [found.words(), words_for(view, view["where"])]))
    return [found]


def figure_words(cell: Cell) -> str:
    """Of a figure, for people."""
    return AXES.get(cell["figure"], cell["head"] or words_of(cell["figure"]))


def _by_powers(name: str, unit: str, values: pd.Series) -> bool:
    """Sizes, and numbers of workers and times that go from few to many, are shown by powers."""
    by_ratio = name in QUANTITIES or unit == "ns"
    return unit == "bytes" or (by_ratio and 0 < DECADE * values.min() <= values.max())


def _lines(table: Table, axis: str) -> list[str]:
    """Labels that each line has its own values of."""
    found = ["line"] if "line" in table.frame else []
    if table.view["columns"] not in (None, "", axis):
        return [*found, table.view["columns"]]
    if axis in table.units:
        return found + [name for name in table.by if name == "host"]
    return found + table.telling(["x", *found], table.labels)


def cache_marks(result: Result) -> list[Mark]:
    """The caches of a CPU, by their sizes."""
    sizes: dict[int, int] = {}
    for cache in result.machine.get("caches", []):
        if cache.get("type") != "instruction" and cache.get("size"):
            sizes[cache["level"]] = max(sizes.get(cache["level"], 0), cache["size"])
    return [Mark(size, f"L{level} {size_text(size)}") for level, size in sorted(sizes.items())]


# ---- Tables


def _bars(table: Table) -> list[Figure]:
    view, main = table.view, table.main
    table = replace(table, frame=table.frame[table.part(main).notna()])
    telling = table.telling([], table.labels)
    follows = "size" in telling and "workers" in table.frame and _follows(table.frame, "size", "workers")
    if follows:
        telling = list(dict.fromkeys("workers" if name == "size" else name for name in telling))
    cells = [(cell, table.texts(cell)) for cell in view["cells"] if cell is main or not _told_by(cell, main)]
    cells = [(cell, texts) for cell, texts in cells if cell is main or set(texts) != {"-"}]
    names, spreads = _names(table, telling), zip(*table.spreads().values(), strict=True)
    texts = [list(words) for words in zip(*(texts for _, texts in cells), strict=True)]
    words = [words_of(cell["label"]) if cell["label"] else figure_words(cell) for cell, _ in cells]
    heads = [cell["head"] or word for (cell, _), word in zip(cells, words, strict=True)]
    column = [cell for cell, _ in cells].index(main)
    bars = Bars(
        **table.told(),
        unit=table.unit,
        less_is_better=table.less_is_better,
        rows=[Bar(*name, *spread, row) for name, spread, row in zip(names, spreads, texts, strict=True)],
        heads=heads,
        column=column,
    )
    found: list[Figure] = [bars]
    told = [name for name in QUANTITIES if name in telling] if view["level"] == "cases" else []
    for name in told:
        if table.frame[name].nunique() >= LEAST_STEPS:
            by = {**view, "rows": None, "columns": name, "title": f"{view['title']}, by {words_of(name)}"}
            found += _curves(replace(table, view=by))
    return found


def _told_by(cell: Cell, main: Cell) -> bool:
    """Whether the bar of the main figure tells it."""
    return cell["figure"] == main["figure"] and cell["part"] in ("half_width", "with_interval", "value")


def _names(table: Table, telling: list[str]) -> list[tuple[str, str]]:
    """Of each row its name and its group: labels that tell the rows apart."""
    first, rest = telling[:1], telling[1:]
    if first:  # what is alike for all of a name is part of it
        alike = [name for name in rest if table.frame.groupby(first)[name].nunique(dropna=False).max() == 1]
        first, rest = [*first, *alike], [name for name in rest if name not in alike]
    if len(table.frame[rest].drop_duplicates()) > MOST_GROUPS:
        first, rest = telling, []
    rows = table.frame.to_dict("records")
    if not telling:
        return [(str(row.get("name") or words_of(table.main["figure"])), "") for row in rows]
    return [
        tuple(words_for(table.view, {name: row[name] for name in names}) for names in (first, rest))
        for row in rows
    ]
