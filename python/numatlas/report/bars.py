"""Bars, as a table: read, printed and scaled to a phone without any drawing."""

from numatlas.figures.model import Bars, Series
from numatlas.report.markup import Markup, el
from numatlas.units import number_text

#: More names than this stand behind "show all".
MOST_AT_ONCE = 40


def common_top(figures: list[Bars]) -> float:
    """The end of the axis for all that are looked at side by side."""
    return max(
        (
            value
            for figure in figures
            for group in figure.groups
            for value in [*group.y, *group.high]
            if value is not None
        ),
        default=1.0,
    )


def bars(figure: Bars, top: float, shared: bool) -> Markup:
    """The picture of a Bars figure; `top` is the value of a full bar."""
    rows = [_rows(figure, place, name, top) for place, name in enumerate(figure.names)]
    words = "less is better" if figure.less_is_better else "more is better"
    legend = (
        el(
            "div",
            [
                el("span", el("i", class_=f"swatch c{index % 8}"), group.name)
                for index, group in enumerate(figure.groups)
            ],
            class_="legend",
        )
        if len(figure.groups) > 1
        else None
    )
    first, rest = rows[:MOST_AT_ONCE], rows[MOST_AT_ONCE:]
    return el(
        "div",
        el(
            "p",
            f"in {figure.unit}; {words}; the thin line is the spread",
            "; one scale for all files" if shared else "",
            class_="quiet",
        ),
        legend,
        el("table", el("tbody", first), class_="bars"),
        el(
            "details",
            el("summary", f"{len(rest)} more"),
            el("table", el("tbody", rest), class_="bars"),
        )
        if rest
        else None,
    )


def _rows(figure: Bars, place: int, name: str, top: float) -> list[Markup]:
    lines = [
        (index, group, list(group.x).index(place))
        for index, group in enumerate(figure.groups)
        if place in group.x
    ]
    return [
        el(
            "tr",
            el("th", name, scope="row", rowspan=len(lines)) if number == 0 else None,
            _bar(group, at, top, index, figure.unit),
            class_="first" if number == 0 else None,
        )
        for number, (index, group, at) in enumerate(lines)
    ]


def _bar(group: Series, at: int, top: float, index: int, unit: str) -> list[Markup]:
    value = group.y[at]
    low = group.low[at] if group.low else None
    high = group.high[at] if group.high else None
    text = group.texts[at] if group.texts else ""
    if value is None:
        return [el("td", class_="bar"), el("td", "\u2013", class_="number")]
    spread = None
    words = f"{group.name}: {number_text(value)} {unit}"
    if low is not None and high is not None:
        start, end = 100 * max(low, 0) / top, 100 * high / top
        spread = el("i", class_="whisker", style=f"left:{start:.2f}%;width:{max(end - start, 0):.2f}%")
        words += f", {number_text(low)} to {number_text(high)}"
    bar = el("i", class_=f"bar c{index % 8}", style=f"width:{100 * max(value, 0) / top:.2f}%")
    return [
        el("td", el("div", bar, spread), class_="bar", title=words),
        el(
            "td",
            number_text(value),
            el("small", f" {number_text(low)} to {number_text(high)}") if spread else None,
            el("small", f" {text}") if text else None,
            class_="number",
        ),
    ]
