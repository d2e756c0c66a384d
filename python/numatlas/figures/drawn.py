"""Views as figures. What stands in which row, by which names, in which unit and words, the program has
decided (src/record/drawn.h); here it only gets its place in a picture."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pandas as pd

from numatlas.figures.loaded import mess_tables
from numatlas.figures.model import Axis, Bar, Bars, Curves, Figure, Listing, Mark, Matrix, Series, Special
from numatlas.figures.overlay import united
from numatlas.figures.placement import placement_of
from numatlas.figures.told import column, key_of, skips_of, warnings_of
from numatlas.file_error import FileError
from numatlas.result import Result, View
from numatlas.units import is_unknown, numbers_of

Drawn = dict[str, Any]  #: as the program writes it
DrawnCell = dict[str, Any]

ENDS = ("value", "low", "high")
SLOWDOWN = "neighbour_slowdown"


def figures(result: Result) -> list[Figure]:
    """One for each table of the views, and for each part of it that needs its own."""
    found: list[Figure] = []
    for views in _alike(result):
        found += _figures(result, views)
    keys: Counter[str] = Counter()
    for one in found:
        keys[one.key] += 1
        one.key += f"-{keys[one.key]}" if keys[one.key] > 1 else ""
    for one in found[1:]:  # lists of one judgement: the first has its warnings
        if isinstance(one, Listing):
            one.warnings = []
    if "answer" in result.meta and found:
        found[0].verdict.append(str(result.meta["answer"]))
    return found


def _alike(result: Result) -> Iterable[list[tuple[View, Drawn]]]:
    """Curves of one form share a picture."""
    found: dict[str, list[tuple[View, Drawn]]] = {}
    for at, view in enumerate(result.views):
        # Before there were headlines, tables had less.
        if "drawn" not in view or (result.meta.get("facts") and "headlines" not in result.meta):
            words = f"its tables are of numatlas {result.meta.get('version', '')}, which did not draw them"
            hint = "measure again; numatlas.load(FILE) in Python has its figures"
            raise FileError(result.path, words, hint=hint)
        for number, drawn in enumerate(view["drawn"]):
            together = repr([drawn["together"], drawn.get("of")]) if drawn.get("together") else ""
            found.setdefault(together or f"{at}-{number}", []).append((view, drawn))
    return found.values()


def _figures(result: Result, views: list[tuple[View, Drawn]]) -> list[Figure]:
    view, drawn = views[0]
    listed = "answer" in result.meta and view["kind"] != "curve" and drawn.get("figure") != SLOWDOWN
    if listed or "main" not in drawn:
        return [Listing(**{**_told(result, views), "spread": ""})] if drawn["rows"] else []
    if "axis" in drawn and (view["kind"] == "curve" or view["columns"]):
        return [_curves(result, views)]
    if view["columns"]:
        return [_matrix(result, view, drawn)]
    bars = _bars(result, view, drawn)
    return [bars, _curves(result, views, "by")] if "axis" in drawn else [bars]


def _told(result: Result, views: list[tuple[View, Drawn]], *more: str) -> dict[str, Any]:
    """What any figure of these says."""
    view, drawn = views[0]
    cases = {number for _, one in views for number in numbers_of(one["cases"])}
    flows = result.flows[column(result.flows, "point").isin(cases)]
    of = drawn.get("of", {})
    if of.get("host") in set(column(flows, "host")):
        flows = flows[flows["host"] == of["host"]]
    where = dict(set.intersection(*(set(one["where"].items()) for one, _ in views)))
    where = {name: text for name, text in view["where"].items() if name in where} | of
    family = [result.command, drawn.get("figure", view["title"]), *more]
    titles = [drawn["together"] if len(views) > 1 else view["title"], drawn.get("of_words")]
    titles += [f"by {drawn['over']['words']}"] if more else []
    verdict = [
        (f"{one.get('among')}: " if len(views) > 1 else "") + line
        for it, one in views
        for line in it["verdict"]
    ]
    heads, cells = _table(views)
    return {
        "key": key_of([*family, *where.values()]),
        "family": key_of(family),
        "where": where,
        "title": ", ".join(filter(None, titles)),
        "spread": drawn.get("spread", ""),
        "placement": placement_of(flows) if "main" in drawn else "",
        "notes": [*dict.fromkeys(note for one, _ in views for note in one["notes"]), *skips_of(result)],
        "verdict": verdict,
        "warnings": warnings_of(result, flows),
        "data": pd.concat([_data(*one) for one in views], ignore_index=True),
        "heads": heads,
        "cells": cells,
    }


def _table(views: list[tuple[View, Drawn]]) -> tuple[list[str], list[list[str]]]:
    """As the program prints it, without columns that say nothing."""
    several = len(views) > 1
    tables = [
        (
            drawn.get("among", ""),
            [head["text"] or "" for head in drawn["heads"]],
            [[_words(cell) for cell in row["cells"]] for row in drawn["rows"]],
        )
        for _, drawn in views
    ]
    heads, rows = united("curve", tables) if several else tables[0][1:]
    names = len(heads) if not views[0][0]["columns"] else views[0][1]["left"] + several
    told = [at for at in range(len(heads)) if at >= names or any(row[at] not in ("-", "") for row in rows)]
    return [heads[at] for at in told], [[row[at] for at in told] for row in rows]


def _words(cell: DrawnCell) -> str:
    return f"{cell['text']} {cell['note']}" if "note" in cell else cell["text"]


def _data(view: View, drawn: Drawn) -> pd.DataFrame:
    """A row for each row, or, where a label has its values as columns, for each cell, in the units shown."""
    left, heads = drawn["left"], drawn["heads"]
    of = drawn.get("of", {}) | ({"line": drawn["among"]} if drawn.get("among") else {})
    unit = (drawn.get("shown") or {}).get("unit") or ""
    rows = []
    for row in drawn["rows"]:
        told = dict(of)
        most = left if view["columns"] else len(row["cells"])
        for at, (cell, asked) in enumerate(zip(row["cells"][:most], view["cells"], strict=False)):
            if asked["label"] and (not view["columns"] or view["kind"] != "matrix"):
                told[asked["label"]] = _number(cell)
            elif not view["columns"] and asked["part"] != "half_width":
                told |= _of_figure(asked, cell, heads[at].get("unit"), told)
        if view["columns"]:
            told |= {view["rows"]: _number(row["cells"][0])} if view["kind"] == "matrix" else {}
            rows += [
                {**told, view["columns"]: _number(head), **{end: cell.get(end) for end in ENDS}, "unit": unit}
                | ({"beside": cell["note"]} if "note" in cell else {})
                for head, cell in zip(heads[left:], row["cells"][left:], strict=True)
                if "value" in cell
            ]
        else:
            rows.append(told)
    return pd.DataFrame(rows)


def _of_figure(
    asked: dict[str, Any], cell: DrawnCell, unit: str | None, told: dict[str, Any]
) -> dict[str, Any]:
    """Value and interval in the unit of the column; in words where each row has a unit of its own."""
    name = asked["head"] or asked["figure"]
    name += f" ({asked['figure']})" if name in told else ""
    if not asked["scale"]:
        return {name: cell["text"]}
    name += f" ({unit})" if unit and unit not in name else ""
    return {f"{name} {end}".removesuffix(" value"): cell[end] for end in ENDS if end in cell}


def _number(cell: DrawnCell) -> Any:
    """Of a label."""
    number = cell.get("value")
    return cell["text"] if number is None else int(number) if float(number).is_integer() else number


def _ends(cell: DrawnCell) -> list[float | None]:
    """Value, low and high as they are drawn: where only the interval is known there is no value."""
    value, low, high = (cell.get(end) for end in ENDS)
    return [None if is_unknown(value, low, high) else value, low, high]


def _bars(result: Result, view: View, drawn: Drawn) -> Bars:
    main = drawn["main"]
    rows = [(row, row["cells"][main]) for row in drawn["rows"]]
    return Bars(
        **_told(result, [(view, drawn)]),
        unit=drawn["shown"]["unit"] or "",
        less_is_better=drawn.get("less_is_better", False),
        rows=[
            Bar(row.get("name", ""), row.get("group", ""), *_ends(cell), text=cell["text"])
            for row, cell in rows
            if "value" in cell
        ],
    )


def _matrix(result: Result, view: View, drawn: Drawn) -> Matrix:
    left, order = drawn["left"], drawn.get("order")
    rows = [drawn["rows"][at] for at in order] if order else drawn["rows"]
    columns = [left + at for at in order or range(len(drawn["heads"]) - left)]
    cells = [[row["cells"][at] for at in columns] for row in rows]
    ends = [[_ends(cell) for cell in row] for row in cells]
    told = _told(result, [(view, drawn)])
    told["notes"] += [drawn["left_out"]] if drawn.get("left_out") else []
    told["heads"][:1] = [told["heads"][0] or drawn["row_words"]] if told["heads"] else []
    return Matrix(
        **told,
        row_label=drawn["row_words"],
        column_label=drawn["column_words"],
        rows=[", ".join(cell["text"] for cell in row["cells"][:left] if cell["text"] != "-") for row in rows],
        columns=[drawn["heads"][at]["text"] for at in columns],
        unit=drawn["shown"]["unit"] or "",
        less_is_better=drawn.get("less_is_better", False),
        values=[[one[0] for one in row] for row in ends],
        low=[[one[1] for one in row] for row in ends],
        high=[[one[2] for one in row] for row in ends],
        texts=[[cell.get("why") or cell.get("note", "") for cell in row] for row in cells],
        words=[[cell.get("why") or _words(cell) for cell in row] for row in cells],
        breaks={int(at): weight for at, weight in drawn.get("borders", {}).items()},
    )


# ---- Curves


def _lines(view: View, drawn: Drawn) -> dict[str, list[tuple[Drawn, DrawnCell, DrawnCell]]]:
    """By name, the points of each line: row, place on the axis, figure."""
    left, axis = drawn["left"], drawn["axis"]
    found: dict[str, list[tuple[Drawn, DrawnCell, DrawnCell]]] = {}
    for row in drawn["rows"]:
        cells = row["cells"]
        if not view["columns"]:
            found.setdefault(row.get("line", ""), []).append((row, cells[axis], cells[drawn["main"]]))
        for at, head in enumerate(drawn["heads"][left:], left) if view["columns"] else ():
            place, name = (head, row) if axis == left else (cells[axis], head)
            found.setdefault(name.get("line", ""), []).append((row, place, cells[at]))
    return found


def _curves(result: Result, views: list[tuple[View, Drawn]], *more: str) -> Curves:
    view, drawn = views[0]
    over, shown = drawn["over"], drawn["shown"]
    x_unit, y_unit = over["unit"] or "", shown["unit"] or ""
    series, tables = [], []
    marks: dict[str, Mark] = {}
    for one_view, one in views:
        marks |= {
            mark["text"]: Mark(mark["at"], mark["text"], mark.get("level", False), mark.get("wanted", False))
            for mark in one.get("marks", [])
        }
        for name, points in _lines(one_view, one).items():
            words = ", ".join(filter(None, [one.get("among") if len(views) > 1 else "", name]))
            line = _series(words, points, one_view, x_unit, y_unit)
            line.special = [
                Special(special["x"], special["y"], special["text"], special["what"])
                for special in one.get("special", [])
                if special.get("line", "") == name
            ]
            tables += points
            series += [line] if line.points() or line.unknown() else []
    told = _told(result, views, *more)
    if any(line.special for line in series):
        told["verdict"] = [line for line in told["verdict"] if "no knee" in line]  # others are marked
    if result.command == "loaded" and x_unit == "GB/s":
        told["tables"] = mess_tables(result, tables)
    return Curves(
        **told,
        x=Axis(over["words"], x_unit, log2=over.get("by_powers", False)),
        y=Axis(shown["words"], y_unit),
        series=series,
        marks=list(marks.values()),
    )


def _series(
    name: str, points: list[tuple[Drawn, DrawnCell, DrawnCell]], view: View, x_unit: str, y_unit: str
) -> Series:
    """In the order of the axis; without points of which nothing is known."""
    known = [point for point in points if "value" in point[2]]
    known.sort(key=lambda point: point[1].get("value", 0.0))
    xs, ys = ([_ends(point[at]) for point in known] for at in (1, 2))
    idle = [[0.0, None, None] if "value" not in point[1] else x for point, x in zip(known, xs, strict=True)]
    return Series(
        name,
        *([x[0] for x in idle], [y[0] for y in ys], [y[1] for y in ys], [y[2] for y in ys]),
        texts=[_of_point(name, *point, view, x_unit, y_unit) for point in known],
        x_low=[x[1] for x in idle],
        x_high=[x[2] for x in idle],
        flagged=[bool(row.get("warnings")) or figure.get("flagged", False) for row, _, figure in known],
    )


def _of_point(
    name: str, row: Drawn, place: DrawnCell, figure: DrawnCell, view: View, x_unit: str, y_unit: str
) -> str:
    """For those who point at it."""
    unit = "" if x_unit == "bytes" else x_unit
    lines = [name, f"{place['text']} {unit}".strip() + f": {_words(figure)} {y_unit}".rstrip()]
    if not view["columns"]:
        told = zip(view["cells"], row["cells"], strict=True)
        lines.append(", ".join(cell["text"] for of, cell in told if of["label"] and cell["text"] != "-"))
    return "\n".join(filter(None, [*lines, *row.get("warnings", [])]))
