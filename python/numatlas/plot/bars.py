"""Lying bars from 0, with their spread and their numbers."""

from matplotlib.figure import Figure as Picture

from numatlas.figures.model import Bar, Bars
from numatlas.plot.style import COLOURS, PAPER, WIDTH, Frame, page, shorten, text_width

#: Of the width: the axes at least, a name at most; inches of a bar; points of the numbers beside the bars.
AXES_PART, NAME_PART, BAR, NUMBER = 3.8 / WIDTH, 2.6 / WIDTH, 0.2, 6.0
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\")
#: More bars than this nobody reads on paper: the best of them.
MOST_BARS = 60


def build(figure: Bars, frame: Frame = PAPER) -> Picture:
    """Bars of one name stand together, those of one group have one colour; what has no value says so."""
    rows = figure.best(MOST_BARS)
    extra = [f"the best {MOST_BARS} of {len(figure.rows)}"] if len(rows) < len(figure.rows) else []
    names, groups = (list(dict.fromkeys(getattr(row, field) for row in rows)) for field in ("name", "group"))
    legend = groups if len(groups) > 1 else []
    made = page(figure, max(1.2, BAR * len(rows) + 0.2 * len(names) + 0.5), legend, extra, frame)
    axes = made.picture.add_subplot()
    handles = []
    for index, group in enumerate(groups):
        look = {
            "color": COLOURS[index % len(COLOURS)],
            "hatch": HATCHES[index // len(COLOURS) % len(HATCHES)],
        }
        mine = [row for row in rows if row.group == group]
        places, thick = zip(*(_place(row, rows, names) for row in mine), strict=True)
        widths = [row.value or 0 for row in mine]
        handles.append(axes.barh(places, widths, thick, edgecolor="white", linewidth=0.5, **look))
        for row, place in zip(mine, places, strict=True):
            if row.low is not None and row.high is not None:
                axes.hlines(
                    place, row.low, row.high, color="white", linewidth=2.2, alpha=0.7
                )  # seen on black
                axes.hlines(place, row.low, row.high, color="black", linewidth=0.9, gid="spread")
            end = (min(max(row.value or 0, row.high or 0), figure.most()), place)
            words = {"textcoords": "offset points", "va": "center_baseline", "size": NUMBER, "gid": "number"}
            axes.annotate(row.text, end, (3, 0), **words)
    better = f"{'less' if figure.less_is_better else 'more'} is better"
    axes.set_yticks(range(len(names)), [shorten(name, NAME_PART * frame.width, 7) for name in names])
    # Room for the numbers beyond the longest bar.
    number = max((text_width(row.text, NUMBER) for row in rows), default=0)
    end = figure.most() / (1 - (number + 0.1) / (AXES_PART * frame.width)) or 1
    label = f"{figure.unit} ({better})" if figure.unit else better
    axes.set(ylim=(len(names) - 0.5, -0.5), xlim=(0, end), xlabel=label)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    if legend:
        made.legend(handles, legend)
    made.fill()
    return made.picture


def _place(row: Bar, rows: list[Bar], names: list[str]) -> tuple[float, float]:
    """Middle and thickness: bars at a name share its room."""
    beside = [other.group for other in rows if other.name == row.name]
    thick = 0.8 / len(beside)
    return names.index(row.name) + thick * (beside.index(row.group) + 0.5) - 0.4, 0.94 * thick
