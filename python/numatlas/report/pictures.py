"""What figures look like on the page: scales that several files share, and what plotly is given to draw."""

import math
from dataclasses import dataclass
from html import escape
from typing import Any

from plotly.colors import get_colorscale, sample_colorscale

from numatlas.figures.fleet import judged_hosts, summaries
from numatlas.figures.model import Axis, Bars, Curves, Figure, Fleet, Matrix, Series, by_ratio
from numatlas.report.pack import rounded
from numatlas.units import ink_on, number_text, percent_text, size_text, spread_text

#: From dark blue (worse) to yellow (better): lightness rises all along it, so that readers with any kind of
#: colour vision, and printers without colours, can tell it apart.
COLOURS = "Cividis"
#: Values closer together than this part of their middle do not get the whole scale: noise would look like
#: a difference.
LEAST_RANGE = 0.2
#: The scale as CSS writes it.
GRADIENT = f"linear-gradient(to right, {', '.join(colour for _, colour in get_colorscale(COLOURS))})"
#: More rows or columns than this nobody reads as a table.
MOST_IN_TABLE = 32

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon")
DASHES = ("solid", "dash", "dot", "dashdot")
#: Up to so many lines every point shows its spread.
FEW_LINES = 8
MOST_TICKS = 12

Spec = dict[str, Any]


@dataclass
class Scale:
    """What figures that are looked at side by side have in common."""

    low: float
    high: float
    x: tuple[float, float] = (0, 0)
    several: bool = False  #: files
    less_is_better: bool = True

    def colour(self, value: float) -> str:
        """As CSS writes it, with an ink that can be read on it."""
        part = min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)
        place = 1 - part if self.less_is_better else part
        (colour,) = sample_colorscale(COLOURS, [place], colortype="tuple")
        return f"background:#{''.join(f'{round(255 * one):02x}' for one in colour)};color:{ink_on(*colour)}"

    def percent(self, value: float) -> str:
        """Of a bar, from 0 to the highest value."""
        return f"{100 * max(value, 0) / self.high:.2f}%"


def common_scale(figures: list[Figure]) -> Scale:
    """Of figures of one key, one a file."""
    first, several = figures[0], len(figures) > 1
    if not isinstance(first, Matrix | Bars | Curves):
        return Scale(0, 1, several=several)
    ends = [end for one in figures for end in one.ends()] or [0.0, 1.0]
    low, high = min(ends), max(ends)
    if isinstance(first, Matrix):
        least = LEAST_RANGE * abs(low + high) / 2 or 1
        if high - low < least:
            low, high = (low + high - least) / 2, (low + high + least) / 2
        return Scale(low, high, several=several, less_is_better=first.less_is_better)
    if isinstance(first, Bars):
        return Scale(0, high or 1.0, several=several)
    xs = [x for one in figures for line in one.series for x in line.x] or [0]
    return Scale(low, high, (min(xs), max(xs)), several)


def spec_of(figure: Figure, scale: Scale) -> Any:
    """What page.js draws; None where the page needs no drawing."""
    if isinstance(figure, Curves):
        return _curves(figure, scale)
    if isinstance(figure, Matrix) and max(len(figure.rows), len(figure.columns)) > MOST_IN_TABLE:
        return _heat_map(figure, scale)
    return _fleet(figure) if isinstance(figure, Fleet) else None


def _plain(text: Any) -> str:
    """plotly reads a little HTML in its texts; names are data."""
    return escape(str(text), quote=False)


def _title(axis: Axis, more: str = "") -> Spec:
    return {"title": {"text": _plain(axis.words) + more}}


def _curves(figure: Curves, scale: Scale) -> Spec:
    lines, x = figure.series, _x_axis(figure, scale)
    marks = [mark for mark in figure.marks if scale.x[0] <= mark.x <= scale.x[1]]
    line = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "line": {"width": 1, "dash": "dot"}}
    word = {"yref": "paper", "y": 1, "yanchor": "bottom", "showarrow": False, "font": {"size": 11}}
    texts = [{"text": _plain(mark.text), "yshift": 14 * (at % 2)} for at, mark in enumerate(marks)]
    places = [math.log10(mark.x) if x["type"] == "log" else mark.x for mark in marks]
    layout = {
        "xaxis": x,
        "yaxis": _y_axis(figure, scale),
        "shapes": [{**line, "x0": mark.x, "x1": mark.x} for mark in marks],
        "annotations": [{**word, **text, "x": place} for text, place in zip(texts, places, strict=True)],
        "legend": {"orientation": "h", "y": 1.14 if marks else 1.02, "yanchor": "bottom", "maxheight": 0.4},
        "height": 360 + 16 * min(len(lines), 12),
        "showlegend": any(line.name for line in lines),
    }
    return {"data": [_line(figure, line, index) for index, line in enumerate(lines)], "layout": layout}


def _line(figure: Curves, line: Series, index: int) -> Spec:
    """The first are the largest: of lines that lie upon one another all are seen."""
    trace: Spec = {
        "name": _plain(line.name),
        "x": rounded(line.x),
        "y": rounded(line.y),
        "text": [_plain(_point(figure, line, at)).replace("\n", "<br>") for at in range(len(line.x))],
        "hovertemplate": "%{text}<extra></extra>",
        "mode": "lines+markers",
        "line": {"width": 2, "dash": DASHES[index // 8 % 4]},
        "marker": {"size": max(6, 11 - 1.5 * index), "symbol": SYMBOLS[index % 8]},
    }
    if len(figure.series) <= FEW_LINES and line.low and line.high:
        ends = [(0, 0, 0) if None in end else end for end in zip(line.y, line.low, line.high, strict=True)]
        arms = {
            "array": [max(0, high - y) for y, _, high in ends],
            "arrayminus": [max(0, y - low) for y, low, _ in ends],
        }
        trace["error_y"] = {"type": "data", "symmetric": False, **arms, "thickness": 1.2, "width": 3}
    return trace


def _point(figure: Curves, line: Series, at: int) -> str:
    x = size_text(line.x[at]) if figure.x.unit == "bytes" else f"{number_text(line.x[at])} {figure.x.unit}"
    spread = spread_text(line.low[at], line.high[at]) if line.low and line.high else ""
    value = f"{x.strip()}: {number_text(line.y[at])} {figure.y.unit}" + (f" ({spread})" if spread else "")
    return "\n".join(filter(None, [line.name, value, line.texts[at] if line.texts else ""]))


def _x_axis(figure: Curves, scale: Scale) -> Spec:
    low, high = scale.x
    log = figure.x.log2 and low > 0
    look = _title(figure.x) | _range(scale, low, high, log)
    steps = sorted({x for line in figure.series for x in line.x})
    if log:
        ticks = steps[:: -(-len(steps) // MOST_TICKS)]
        text = [size_text(tick) if figure.x.unit == "bytes" else number_text(tick) for tick in ticks]
        return look | {"tickvals": ticks, "ticktext": text}
    if not figure.x.unit and len(steps) <= MOST_TICKS and all(float(x).is_integer() for x in steps):
        look |= {"tickvals": steps}  # of workers: no others between them
    return look


def _y_axis(figure: Curves, scale: Scale) -> Spec:
    if not by_ratio(figure.x, scale.low, scale.high):
        return {**_title(figure.y), **_range(scale, min(0, scale.low), scale.high), "rangemode": "tozero"}
    return {**_title(figure.y, ", logarithmic"), **_range(scale, scale.low, scale.high, True)}


def _range(scale: Scale, low: float, high: float, log: bool = False) -> Spec:
    """Of an axis that files share; else plotly knows best."""
    ends = [math.log10(low), math.log10(high)] if log else [low, high]
    margin = 0.04 * (ends[1] - ends[0]) or 0.1
    shared = {"range": [ends[0] - margin * (ends[0] != 0), ends[1] + margin]} if scale.several else {}
    return {"type": "log" if log else "linear", **shared}


def _heat_map(figure: Matrix, scale: Scale) -> Spec:
    spreads = [
        [figure.spread_of(row, at) for at in range(len(line))] for row, line in enumerate(figure.values)
    ]
    names = [[_plain(name) for name in axis] for axis in (figure.columns, figure.rows)]
    where = f"{_plain(figure.row_label)} %{{y}}, {_plain(figure.column_label)} %{{x}}"
    trace = {
        "type": "heatmap",
        "x": names[0],
        "y": names[1],
        "z": [rounded(row, 5) for row in figure.values],
        "text": spreads,
        "zmin": scale.low,
        "zmax": scale.high,
        "colorscale": COLOURS,
        "reversescale": scale.less_is_better,
        "hoverongaps": False,
        "hovertemplate": f"{where}<br><b>%{{z}} {_plain(figure.unit)}</b><br>%{{text}}<extra></extra>",
        "colorbar": {"title": {"text": _plain(figure.unit)}},
    }
    axes = {
        "xaxis": {"title": {"text": _plain(figure.column_label)}, "type": "category", "constrain": "domain"},
        "yaxis": {"title": {"text": _plain(figure.row_label)}, "type": "category", "autorange": "reversed"},
    }
    axes["yaxis"] |= {"scaleanchor": "x", "constrain": "domain"}
    return {"data": [trace], "layout": {**axes, "height": 640}}


def _fleet(figure: Fleet) -> Spec:
    """What fleet.js makes the strip and the tables of."""
    grids = {"values": "value", "low": "low", "high": "high", "least": "min", "most": "max"}
    lists = {
        name: [rounded(line) for line in figure.grid(column).to_numpy()] for name, column in grids.items()
    }
    first, suspects = figure.hosts.drop_duplicates("host"), figure.suspects()
    place = {host: at for at, host in enumerate(figure.names())}
    return {
        **{"unit": figure.unit, "kernels": figure.kernels(), "hosts": list(place), **lists},
        "rounds": [[rounded(rounds, 5) for rounds in line] for line in figure.grid("rounds").to_numpy()],
        "kinds": first["kind"].tolist(),
        "kind_names": figure.kind_names,
        "judged": figure.judged,
        "facts": first["facts"].tolist(),
        "suspects": [[place[one.host], one.words] for one in suspects.itertuples()],
    }


def fleet_in_sum(figure: Fleet) -> Spec:
    """What the page tells of a fleet without a script: of each suspect its worst kernel first."""
    by_host = figure.suspects().groupby("host", sort=False)
    words = []
    for _, rows in by_host:
        others = [f"{one.kernel} {percent_text(one.drop)}" for one in rows[1:].itertuples()]
        words.append(rows["words"].iloc[0] + (f"; also {', '.join(others)}" if others else ""))
    return {
        "summaries": summaries(figure).to_dict("records"),
        "judged": judged_hosts(figure),
        "suspects": words,
        "drops": by_host["drop"].max().to_dict(),
        "values": figure.grid("value").T,
        "kinds": figure.hosts.drop_duplicates("host").set_index("host")["kind"],
    }
