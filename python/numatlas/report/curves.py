"""Curves: drawn by curves.js with plotly; the numbers stand below as a table, also without scripts."""

from typing import Any

from numatlas.figures.model import Axis, Curves
from numatlas.report.markup import Markup, el
from numatlas.report.pack import embed, rounded
from numatlas.units import number_text, size_text

#: Rows of the table below the picture; all are in the raw numbers.
MOST_ROWS = 500

Limits = tuple[list[float] | None, list[float] | None]


def common_limits(figures: list[Curves]) -> Limits:
    """Of both axes, for all that are looked at side by side; None where there is nothing."""
    xs = [x for figure in figures for line in figure.series for x in line.x]
    ys = [
        value
        for figure in figures
        for line in figure.series
        for value in [*line.y, *line.low, *line.high]
        if value is not None
    ]
    return ([min(xs), max(xs)] if xs else None), ([min(ys), max(ys)] if ys else None)


def curves(figure: Curves, identity: str, limits: Limits, shared: bool) -> Markup:
    """The place of the picture, its numbers, and what curves.js needs to draw it."""
    payload = {
        "x": _axis(figure.x, limits[0]),
        "y": _axis(figure.y, limits[1]),
        "series": [
            {
                "name": line.name,
                "x": rounded(line.x),
                "y": rounded(line.y),
                "low": rounded(line.low),
                "high": rounded(line.high),
                "texts": line.texts if any(line.texts) else [],
            }
            for line in figure.series
        ],
        "marks": [{"x": mark.x, "text": mark.text} for mark in figure.marks],
    }
    return el(
        "div",
        el("p", "one scale for all files", class_="quiet") if shared else None,
        el("div", class_="plot", data_curves=f"picture-{identity}", role="img", aria_label=figure.title),
        el("div", class_="legend"),
        _numbers(figure),
        embed(f"picture-{identity}", payload),
    )


def _axis(axis: Axis, limits: list[float] | None) -> dict[str, Any]:
    return {"label": axis.label, "unit": axis.unit, "log2": axis.log2, "limits": limits}


def _numbers(figure: Curves) -> Markup:
    rows = [
        el(
            "tr",
            el("td", line.name),
            el("td", size_text(x) if figure.x.unit == "bytes" else number_text(x)),
            el("td", number_text(line.y[at])),
            el("td", _spread(line.low, line.high, at)),
            el("td", line.texts[at] if line.texts else ""),
        )
        for line in figure.series
        for at, x in enumerate(line.x)
    ]
    x_unit = "" if figure.x.unit in ("", "bytes") else f", {figure.x.unit}"
    names = ("line", f"{figure.x.label}{x_unit}", f"{figure.y.label}, {figure.y.unit}", "from, to", "")
    more = len(rows) - MOST_ROWS
    return el(
        "details",
        el("summary", "Numbers"),
        el(
            "div",
            el(
                "table",
                el("thead", el("tr", [el("th", name) for name in names])),
                el("tbody", rows[:MOST_ROWS]),
            ),
            class_="scroll",
        ),
        el("p", f"{more} more rows are in the raw numbers") if more > 0 else None,
        class_="numbers",
    )


def _spread(low: list[float | None], high: list[float | None], at: int) -> str:
    if not low or not high or low[at] is None or high[at] is None:
        return ""
    return f"{number_text(low[at])} to {number_text(high[at])}"
