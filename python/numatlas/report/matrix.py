"""Heat maps: a table with a colour in every cell, or an image where there are too many for a table."""

from typing import Any

from numatlas.figures.model import Matrix
from numatlas.report.colours import colour, gradient, image, ink_on, scale_of, text_of
from numatlas.report.markup import Markup, el
from numatlas.report.pack import embed, rounded
from numatlas.units import number_text

#: More rows or columns than this nobody reads as a table; it is there on demand.
MOST_IN_TABLE = 32
#: From so many columns on three digits a cell and spreads when asked for, so that it stays on the screen.
WIDE = 10

Scale = tuple[float, float]


def common_scale(figures: list[Matrix]) -> Scale | None:
    """One for all that are looked at side by side."""
    values = [value for figure in figures for row in figure.values for value in row if value is not None]
    return scale_of(values) if values else None


def matrix(figure: Matrix, identity: str, scale: Scale | None, shared: bool) -> Markup:
    """The picture of a Matrix. `shared`: the scale is that of several files."""
    if scale is None:
        return el("p", "No cell has a value.", class_="nothing")
    large = max(len(figure.rows), len(figure.columns)) > MOST_IN_TABLE
    body = _image(figure, identity, scale) if large else _table(figure, identity, scale)
    return el("div", body, _legend(figure, scale, shared), class_="matrix")


def _legend(figure: Matrix, scale: Scale, shared: bool) -> Markup:
    worse, better = (scale[1], scale[0]) if figure.less_is_better else scale
    words = "less is better" if figure.less_is_better else "more is better"
    return el(
        "div",
        el("span", f"{number_text(worse, 3)} {figure.unit}"),
        el("span", class_="scale", style=f"background:{gradient()}"),
        el("span", f"{number_text(better, 3)} {figure.unit} ({words})"),
        el("span", "one scale for all files", class_="quiet") if shared else None,
        class_="scale-line",
    )


def _spread(figure: Matrix, row: int, column: int) -> str:
    low = figure.low[row][column] if figure.low else None
    high = figure.high[row][column] if figure.high else None
    return "" if low is None or high is None else f"{number_text(low)} to {number_text(high)}"


def _table(figure: Matrix, identity: str, scale: Scale) -> Markup:
    head = el(
        "tr",
        el("th", f"{figure.row_label} \u2193 {figure.column_label} \u2192", class_="corner"),
        [el("th", name, scope="col") for name in figure.columns],
    )
    digits = 3 if len(figure.columns) > WIDE else 4
    rows = [
        el(
            "tr",
            el("th", name, scope="row"),
            [_cell(figure, row, column, scale, digits) for column in range(len(figure.columns))],
        )
        for row, name in enumerate(figure.rows)
    ]
    toggle = el(
        "label",
        el(
            "input",
            type="checkbox",
            class_="show-spread",
            checked=len(figure.columns) < WIDE,
            aria_controls=f"cells-{identity}",
        ),
        "show the spread in the cells",
    )
    table = el("table", el("thead", head), el("tbody", rows), class_="cells", id=f"cells-{identity}")
    return el(
        "div", el("p", f"in {figure.unit}; ", toggle, class_="quiet"), el("div", table, class_="scroll")
    )


def _cell(figure: Matrix, row: int, column: int, scale: Scale, digits: int) -> Markup:
    value = figure.values[row][column]
    if value is None:
        why = figure.whys[row][column] if figure.whys else ""
        return el("td", "\u2013", title=why or "not measured", class_="absent")
    background = colour(value, scale, figure.less_is_better)
    spread = _spread(figure, row, column)
    where = f"{figure.row_label} {figure.rows[row]}, {figure.column_label} {figure.columns[column]}"
    return el(
        "td",
        number_text(value, digits),
        [" ", el("span", spread, class_="spread")] if spread else None,
        style=f"background:{text_of(background)};color:{ink_on(background)}",
        tabindex=0,
        title=f"{where}: {number_text(value)} {figure.unit}" + (f", {spread}" if spread else ""),
    )


def _image(figure: Matrix, identity: str, scale: Scale) -> Markup:
    """A pixel a cell, enlarged by the browser; page.js tells the cell under the pointer."""
    picture = el(
        "img",
        src=image(figure.values, scale, figure.less_is_better),
        alt=f"heat map of {len(figure.rows)} x {len(figure.columns)} cells; the numbers are below",
        class_="heat",
        style=f"aspect-ratio:{len(figure.columns)}/{len(figure.rows)}",
    )
    count = len(figure.columns)
    marks = [round(index * (count - 1) / 4) for index in range(5)]
    along = el("div", [el("span", figure.columns[index]) for index in marks], class_="along")
    down_marks = [round(index * (len(figure.rows) - 1) / 4) for index in range(5)]
    down = el("div", [el("span", figure.rows[index]) for index in down_marks], class_="down")
    words = f"down: {figure.row_label}, across: {figure.column_label}"
    words += f"; {len(figure.rows)} x {count} cells, in {figure.unit}"
    widest = figure.widest()
    return el(
        "div",
        el("p", words, class_="quiet"),
        el("div", down, picture, along, class_="heat-box"),
        el("p", f"widest spread: {widest}") if widest else None,
        el("p", "Point at a cell to read it.", class_="under-pointer screen", aria_live="polite"),
        el("button", "show all numbers", type="button", class_="show-cells screen"),
        el("div", class_="scroll table-here"),
        embed(f"picture-{identity}", _payload(figure)),
        class_="large",
        data_matrix=f"picture-{identity}",
    )


def _payload(figure: Matrix) -> dict[str, Any]:
    return {
        "rows": figure.rows,
        "columns": figure.columns,
        "row_label": figure.row_label,
        "column_label": figure.column_label,
        "unit": figure.unit,
        "values": [rounded(row, 5) for row in figure.values],
        "low": [rounded(row, 5) for row in figure.low],
        "high": [rounded(row, 5) for row in figure.high],
    }
