"""A view of a result that holds none: a file of numatlas 0.1, or CSV. It is made of the cases' labels."""

from itertools import combinations

import pandas as pd

from numatlas.figures.tables import CASE_LABELS, words_of
from numatlas.figures.told import column, label_text
from numatlas.result import Result, View, cell_of, view_of
from numatlas.units import shown

#: A matrix has at least so many times the cells of its longer side.
LEAST_FILLED = 1.5


def default_views(result: Result) -> list[View]:
    """One for each figure that cases were measured for."""
    measured = result.flows[column(result.flows, "role") != "load"]
    loaded = len(measured) < len(result.flows)
    figures = ["metric", "unit"]
    first = measured.drop_duplicates("point").set_index("point")
    # Other figures of a case compare it with other cases.
    sums = result.totals[column(result.totals, "metric").astype(str).str.endswith("_sum")]
    totals = sums.drop_duplicates("point").set_index("point") if len(sums) else first[:0]
    main = first[figures] if loaded else totals[figures].combine_first(first[figures])
    cases = totals.combine_first(first)
    views = []
    for (metric, unit), mine in main.groupby(figures, sort=False):
        several = measured[measured["metric"] == metric].groupby("point")["flow"].nunique().max() > 1
        load = totals["metric"].iloc[0] if loaded and len(totals) else None
        level = "flows" if several and not len(totals) else "cases"
        for view in _views(result, cases.loc[mine.index], metric, unit, load):
            views.append({**view, "level": level, "points": list(mine.index)})
    return views


def _views(result: Result, cases: pd.DataFrame, metric: str, unit: str, load: str | None) -> list[View]:
    known = [name for name in [*result.labels, *CASE_LABELS] if name in cases]
    varying = [name for name in known if cases[name].nunique(dropna=False) > 1]
    own = [name for name in varying if name in result.labels]
    texts = {name: label_text(cases[name].iloc[0], name) for name in known if name not in varying}
    same = [
        texts.get("kernel"),
        texts.get("size"),
        *(f"{texts[name]} {name}" for name in ("stores", "pages") if name in texts),
    ]
    words = ", ".join(text for text in same if text and text[0] != "-")
    title = f"{words_of(metric).capitalize()} in {shown(unit)[0] or 'parts'}" + (
        f" ({words})" if words else ""
    )
    figure = cell_of(figure=metric, scale=shown(unit)[1], part="with_interval")
    labels = [cell_of(head=words_of(name), label=name) for name in varying]
    if load:  # what was measured while others loaded the memory, over what these achieved
        x = cell_of(head="load", figure=load, scale=1e-9)
        step = max(own, key=lambda name: cases[name].nunique(), default=None)
        told = [cell for cell in labels if cell["label"] == step]
        rest = [name for name in own if name != step]
        rows = cases[rest].dropna().drop_duplicates().to_dict("records") if rest else []
        lines = [{name: label_text(value, name) for name, value in row.items()} for row in rows]
        return [
            view_of(title, "curve", [*told, x, figure], rows=load, where=where) for where in lines or [{}]
        ]
    others = [name for name in varying if name != "size"]
    sizes = cases.groupby(others, dropna=False)["size"] if others else cases["size"]
    if "size" in varying and pd.Series(sizes.nunique()).max() > 1:
        return [view_of(title, "curve", [*labels, figure], rows="size")]
    pair = _pair(cases, own)
    if pair:
        rows, columns = pair
        turned = pd.merge(cases[[rows, columns]], cases[[columns, rows]].set_axis([rows, columns], axis=1))
        alike = set(cases[rows]) & set(cases[columns])
        symmetric = bool(alike) and turned.empty
        return [view_of(title, "matrix", [figure], rows=rows, columns=columns, symmetric=symmetric)]
    return [view_of(title, "table", [*labels, figure])]


def _pair(cases: pd.DataFrame, own: list[str]) -> tuple[str, str] | None:
    """Two labels that name places (with a number) and whose values make a matrix: the one of most cells."""
    places = [name for name in own if cases[name].astype(str).str.contains(r"\d").all()]
    found = {}
    for rows, columns in combinations(places, 2):
        count = len(cases[[rows, columns]].drop_duplicates())
        sides = (cases[rows].nunique(), cases[columns].nunique())
        if min(sides) > 1 and count >= LEAST_FILLED * max(sides):
            found[rows, columns] = count
    return max(found, key=lambda pair: found[pair], default=None)
