"""Results as one page of HTML: looked at without a network, printed, passed on."""

from dataclasses import dataclass, field
from functools import cache
from importlib import resources

import jinja2
from markupsafe import Markup

from numatlas.figures import figures_of
from numatlas.figures.fleet import NONE_JUDGED
from numatlas.figures.machine import barred_cpus, boxes_of
from numatlas.figures.model import Figure, Fleet, MachinePicture, Matrix
from numatlas.file_error import intact
from numatlas.report import head, pack, pictures
from numatlas.result import Result
from numatlas.units import number_text, percent_text, ranges_of, size_text, spread_text

#: Columns of a matrix that fit half of a page.
NARROW = 8

SCRIPTS = ("page.js", "fleet.js")


@dataclass
class Panel:
    """A figure of a file, in its place on the page."""

    figure: Figure
    file: str  #: how the page calls the file
    identity: str  #: of its element
    others: list[str] = field(default_factory=list)  #: files that hold the very same
    scale: pictures.Scale | None = None  #: that of its group

    @property
    def sort(self) -> str:
        """Of its picture."""
        return type(self.figure).__name__


def page(results: list[Result], title: str = "") -> str:
    """One self-contained page of all figures of the results, those of one key side by side. Nothing is
    loaded from elsewhere, and no folder of a file is told. Raises FileError where a file is damaged."""
    with intact(", ".join(str(result.path) for result in results)):
        return _page(results, title)


def _page(results: list[Result], title: str) -> str:
    names = head.distinct_names(results)
    sections = _sections(results, names)
    panels = [panel for groups in sections.values() for group in groups for panel in group]
    warnings = _shared_warnings(results, names, panels)
    try:
        return (
            _environment()
            .get_template("page.html")
            .render(
                title=title or f"numatlas: {names[0] if len(names) == 1 else f'{len(names)} runs'}",
                cards=head.cards(results, names),
                notes=[note for result in results for note in head.notes(result)],
                runs=[head.run(result, name) for result, name in zip(results, names, strict=True)],
                skipped=head.skipped(results, names),
                warnings=warnings,
                numbers={text: index + 1 for index, text in enumerate(warnings)},
                names=names,
                sections=sections,
                plots=any(panel.sort in ("Curves", "Fleet", "Matrix") for panel in panels),
                style=_resource("style.css"),
                script=Markup("\n").join(_resource(name) for name in SCRIPTS),
            )
        )
    except jinja2.UndefinedError as error:
        raise ValueError(str(error)) from error


@cache
def _environment() -> jinja2.Environment:
    """All that is data is escaped; what is not comes as Markup."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("numatlas.report", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"number": number_text, "percent": percent_text, "size": size_text, "ranges": ranges_of}
    made.globals |= {
        "barred_cpus": barred_cpus,
        "boxes_of": boxes_of,
        "embed": pack.embed,
        "fleet_in_sum": pictures.fleet_in_sum,
        "none_judged": NONE_JUDGED,
        "gradient": pictures.GRADIENT,
        "packed": pack.packed,
        "plotly": _plotly,
        "spec_of": pictures.spec_of,
        "spread": spread_text,
        "table": pack.table,
        "width_of": _width,
    }
    return made


def _resource(name: str) -> Markup:
    return Markup(resources.files("numatlas.report").joinpath(name).read_text(encoding="utf-8"))


def _plotly() -> Markup:
    """plotly.js, deflated: a third of its size, and not run before a picture needs it."""
    from plotly.offline import get_plotlyjs

    return pack.packed("plotly", get_plotlyjs())


def _sections(results: list[Result], names: list[str]) -> dict[str, list[list[Panel]]]:
    """By kind, the figures of each key: one a file that has it. The machine first."""
    found: dict[str, dict[str, list[Panel]]] = {}
    for result, name in zip(results, names, strict=True):
        mine: dict[str, int] = {}
        with intact(result.path):
            figures = figures_of(result)
        for figure in figures:
            # A survey may hold a command twice: its second figures are a group of their own.
            mine[figure.key] = mine.get(figure.key, 0) + 1
            key = figure.key + (f"-{mine[figure.key]}" if mine[figure.key] > 1 else "")
            group = found.setdefault(figure.kind, {}).setdefault(key, [])
            same = next((panel for panel in group if _same_machine(panel.figure, figure)), None)
            if same:
                same.others.append(name)
            else:
                group.append(Panel(figure, name, key + (f"-file{len(group) + 1}" if group else "")))
    for groups in found.values():
        for group in groups.values():
            scale = pictures.common_scale([panel.figure for panel in group])
            for panel in group:
                panel.scale = scale
    ordered = sorted(found, key=lambda kind: kind != "machine")
    return {kind: list(found[kind].values()) for kind in ordered}


def _same_machine(one: Figure, other: Figure) -> bool:
    """The same machine in several files is drawn once; its free memory is of the first."""
    if not isinstance(one, MachinePicture) or one.title != other.title:
        return False
    first, second = (figure.data.drop(columns="memory_free", errors="ignore") for figure in (one, other))
    return first.equals(second)


def _shared_warnings(results: list[Result], names: list[str], panels: list[Panel]) -> dict[str, list[str]]:
    """Warnings of two figures and more, and of runs, with the files they are of: told once, at the top."""
    files: dict[str, dict[str, None]] = {}
    count: dict[str, int] = {}
    told = [(text, 1, [panel.file, *panel.others]) for panel in panels for text in panel.figure.warnings]
    told += [
        (str(one), 2, [name]) for result, name in zip(results, names, strict=True) for one in result.warnings
    ]
    for text, weight, where in told:
        count[text] = count.get(text, 0) + weight
        files.setdefault(text, {}).update(dict.fromkeys(where))
    shared = [text for text in files if count[text] > 1]
    # That nothing was measured is the first thing to know, then what most figures have.
    shared.sort(key=lambda text: (not text.startswith("no measurement"), -count[text]))
    return {text: list(files[text]) for text in shared}


def _width(group: list[Panel], groups: int) -> str:
    """The classes of a group: its figures beside one another, or two groups in a line, or alone."""
    figure = group[0].figure
    if isinstance(figure, Fleet | MachinePicture):
        return "panels"
    if len(group) > 1:
        return "panels several"
    narrow = not isinstance(figure, Matrix) or len(figure.columns) <= NARROW
    return "panels half" if narrow and groups > 1 else "panels"
