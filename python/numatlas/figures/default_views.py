"""A view of a result that holds none (CSV). It is made of the cases' labels."""

import pandas as pd

from numatlas.figures.tables import CASE_LABELS, label_words, words_of
from numatlas.figures.told import column, label_text
from numatlas.result import Result, View, cell_of, view_of
from numatlas.units import shown

#: Labels that are the rows and columns of a matrix, and whether a cell stands for both orders of them.
PLACES = {
    ("cpu_node", "memory_node"): False,
    ("first_cpu", "second_cpu"): True,
    ("from", "to"): False,
    ("memory", "gpus"): False,
}
#: What a title tells, where all cases have it alike.
CONDITIONS = ("kernel", "size", "stores", "pages")


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
        told = {"level": "flows" if several and not len(totals) else "cases", "points": list(mine.index)}
        views += [{**view, **told} for view in _views(result, cases.loc[mine.index], metric, unit, load)]
    return views


def _views(result: Result, cases: pd.DataFrame, metric: str, unit: str, load: str | None) -> list[View]:
    known = [name for name in [*result.labels, *CASE_LABELS] if name in cases]
    varying = [name for name in known if cases[name].nunique(dropna=False) > 1]
    own = [name for name in varying if name in result.labels]
    texts = {name: label_text(cases[name].iloc[0], name) for name in known if name not in varying}
    told = [(name, texts[name]) for name in CONDITIONS if texts.get(name, "-") != "-"]
    same = ", ".join(label_words(*one) for one in told)
    title = f"{words_of(metric).capitalize()}" + (f" ({same})" if same else "")
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
    for (rows, columns), symmetric in PLACES.items():
        if {rows, columns} <= set(own):
            return [view_of(title, "matrix", [figure], rows=rows, columns=columns, symmetric=symmetric)]
    return [view_of(title, "table", [*labels, figure])]
