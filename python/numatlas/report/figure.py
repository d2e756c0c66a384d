"""The frame around every picture: title, how it was measured, spread, placement, warnings, raw numbers."""

from dataclasses import dataclass, field

from numatlas.figures.model import Bars, Curves, Figure, Fleet, MachinePicture, Matrix
from numatlas.report.bars import bars, common_top
from numatlas.report.curves import common_limits, curves
from numatlas.report.fleet import fleet
from numatlas.report.machine import machine
from numatlas.report.markup import Markup, el
from numatlas.report.matrix import common_scale, matrix
from numatlas.report.pack import embed, table
from numatlas.report.ranges import numbers_of, ranges_of


@dataclass
class Panel:
    """A figure of a file, in its place on the page."""

    figure: Figure
    file: str  #: how the page calls the file
    identity: str  #: of its element
    others: list[str] = field(default_factory=list)  #: files that hold the very same


def draw(panels: list[Panel]) -> list[Markup]:
    """The pictures of one key, of one file or of several, which then have one scale."""
    shared = len(panels) > 1
    figures = [panel.figure for panel in panels]
    maps = [figure for figure in figures if isinstance(figure, Matrix)]
    lines = [figure for figure in figures if isinstance(figure, Curves)]
    columns = [figure for figure in figures if isinstance(figure, Bars)]
    scale, limits, top = common_scale(maps), common_limits(lines), common_top(columns)
    drawn = []
    for panel in panels:
        figure = panel.figure
        if isinstance(figure, Matrix):
            drawn.append(matrix(figure, panel.identity, scale, shared))
        elif isinstance(figure, Curves):
            drawn.append(curves(figure, panel.identity, limits, shared))
        elif isinstance(figure, Bars):
            drawn.append(bars(figure, top, shared))
        elif isinstance(figure, Fleet):
            drawn.append(fleet(figure, panel.identity))
        elif isinstance(figure, MachinePicture):
            drawn.append(machine(figure))
        else:
            drawn.append(el("p", "This page cannot draw it; its numbers are below.", class_="nothing"))
    return drawn


def frame(panel: Panel, picture: Markup, label: str, numbers: dict[str, int]) -> Markup:
    """`label`: the file, where the page has several. `numbers`: of the warnings that stand at the top."""
    figure = panel.figure
    return el(
        "article",
        el(
            "h4",
            figure.title,
            el("a", "#", href=f"#{panel.identity}", class_="anchor", title="link to this figure"),
        ),
        el("p", label, class_="file") if label else None,
        el("div", picture, class_="picture"),
        _told(figure),
        _warnings(figure, numbers),
        _raw(panel),
        class_="figure",
        id=panel.identity,
        data_kind=type(figure).__name__,
    )


def _told(figure: Figure) -> Markup:
    lines: list[tuple[str, str | list[Markup]]] = []
    if not isinstance(figure, MachinePicture):
        lines.append(("Spread", figure.spread or "none is known"))
        lines.append(("Placement", figure.placement or "no host memory to observe"))
    if len(figure.notes) == 1:
        lines.append(("How", figure.notes[0]))
    elif figure.notes:
        lines.append(("How", [el("span", note, class_="note") for note in figure.notes]))
    return el(
        "dl", [[el("dt", name), el("dd", value, class_=name.lower())] for name, value in lines], class_="told"
    )


def _warnings(figure: Figure, numbers: dict[str, int]) -> Markup:
    """Those of this figure in words, those of the run by their number."""
    own = [text for text in figure.warnings if text not in numbers]
    shared = [(numbers[text], text) for text in figure.warnings if text in numbers]
    if not own and not shared:
        return el("p", "No warnings.", class_="warnings none")
    texts = {number: text for number, text in shared}
    links = [
        [", " if index else "", _warning_link(run, texts)]
        for index, run in enumerate(filter(None, ranges_of(list(texts)).split(",")))
    ]
    return el(
        "div",
        [el("p", f"\u26a0 {text}") for text in own],
        el("p", "\u26a0 ", "warnings of the run: " if len(shared) > 1 else "warning of the run: ", links)
        if shared
        else None,
        class_="warnings",
    )


def _warning_link(run: str, texts: dict[int, str]) -> Markup:
    """ "3" or "3-7"; the words are seen when it is pointed at."""
    numbers = numbers_of(run)
    return el("a", run, href=f"#warning-{numbers[0]}", title="\n".join(texts[number] for number in numbers))


def _raw(panel: Panel) -> Markup | None:
    if panel.figure.data.empty:
        return None
    name = f"numbers-{panel.identity}"
    return el(
        "div",
        el("button", "copy as TSV", type="button", class_="copy", data_table=name),
        el("button", "download CSV", type="button", class_="download", data_table=name),
        el("a", "link", href=f"#{panel.identity}", class_="button"),
        el(
            "details",
            el("summary", "raw numbers"),
            el("pre", "", tabindex=0),
            class_="raw",
            id=f"raw-{panel.identity}",
            data_table=name,
        ),
        embed(name, table(panel.figure.data)),
        class_="raws screen",
    )
