"""Results as one page of HTML: looked at without a network, printed, passed on."""

from importlib import resources
from string import Template

from numatlas.figures import KINDS, figures_of
from numatlas.figures.model import Fleet, MachinePicture, Matrix
from numatlas.report import head
from numatlas.report.figure import Panel, draw, frame
from numatlas.report.markup import Markup, el, folded, identifier, join
from numatlas.report.pack import deflated
from numatlas.result import Result

TITLES = {
    "machine": "Machine",
    "latency": "Latency by size",
    "matrix": "Node to node",
    "loaded": "Latency under load",
    "bandwidth": "Bandwidth",
    "scaling": "Thread scaling",
    "cores": "Core to core",
    "copy": "Copies between nodes",
    "touch": "First touch",
    "weights": "Weights of interleaved memory",
    "transfer": "Host memory and GPUs",
    "stream": "STREAM over hosts",
    "flows": "Scenarios",
}

#: Columns of a matrix that fit half of a page.
NARROW = 8

#: Warnings of the runs that are told at once; figures have links to the others.
FIRST_WARNINGS = 8

SCRIPTS = ("page.js", "curves.js", "fleet.js")


def page(results: list[Result], title: str = "") -> str:
    """One self-contained page of all figures of the results, those of one key side by side. Nothing is
    loaded from elsewhere, and no folder of a file is told."""
    names = head.distinct_names(results)
    kinds = _kinds(results, names)
    panels = [panel for groups in kinds.values() for group in groups for panel in group]
    warnings = _shared_warnings(results, panels)
    numbers = {text: index + 1 for index, text in enumerate(warnings)}
    title = title or _title(names)
    body = [
        _header(title),
        head.summary(results, names),
        el("section", el("h2", "Runs"), head.runs(results, names), id="runs"),
        _warning_section(warnings, numbers, len(results)),
        head.skipped(results, names),
        _contents(kinds),
        [_section(kind, groups, names, numbers) for kind, groups in kinds.items()],
    ]
    if not panels:
        body.append(el("p", "These files hold nothing to draw.", class_="nothing"))
    plots = any(type(panel.figure).__name__ in ("Curves", "Fleet") for panel in panels)
    return Template(_resource("page.html")).substitute(
        title=join(title),
        style=_resource("style.css"),
        body=join(body),
        plotly=_plotly() if plots else "",
        script="\n".join(_resource(name) for name in SCRIPTS),
    )


def _resource(name: str) -> str:
    return resources.files("numatlas.report").joinpath(name).read_text(encoding="utf-8")


def _plotly() -> Markup:
    """plotly.js, deflated: a third of its size, and not run before a picture needs it."""
    from plotly.offline import get_plotlyjs

    note = Markup(
        "<!-- plotly.js, https://plotly.com/javascript, MIT licence; its notice is at its start -->\n"
    )
    return join(
        [
            note,
            el("script", Markup(deflated(get_plotlyjs())), type="text/plain", id="plotly", data_packed=True),
        ]
    )


def _title(names: list[str]) -> str:
    return f"numatlas: {names[0]}" if len(names) == 1 else f"numatlas: {len(names)} runs"


def _kinds(results: list[Result], names: list[str]) -> dict[str, list[list[Panel]]]:
    """By kind, the figures of each key: one a file that has it."""
    found: dict[str, list[list[Panel]]] = {}
    taken: set[str] = set()
    for kind in KINDS:
        groups: dict[str, list[Panel]] = {}
        for result, name in zip(results, names, strict=True):
            mine: dict[str, int] = {}
            for figure in figures_of(result, kind):
                # A survey may hold a command twice: its second figures are a group of their own.
                mine[figure.key] = mine.get(figure.key, 0) + 1
                again = f"-{mine[figure.key]}" if mine[figure.key] > 1 else ""
                group = groups.setdefault(figure.key + again, [])
                same = next((panel for panel in group if _same_machine(panel, figure)), None)
                if same:
                    same.others.append(name)
                    continue
                identity = _free(identifier(f"{figure.key}{again}"), taken)
                group.append(Panel(figure, name, identity))
        if groups:
            found[kind] = list(groups.values())
    return found


def _free(wanted: str, taken: set[str]) -> str:
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}-file{number}"
    taken.add(name)
    return name


def _same_machine(panel: Panel, figure: object) -> bool:
    """The same machine in several files is drawn once; its free memory is of the first."""
    if not isinstance(figure, MachinePicture) or not isinstance(panel.figure, MachinePicture):
        return False

    def lasting(machine: dict) -> dict:
        nodes = [
            {
                key: value
                for key, value in node.items()
                if key not in ("memory_free", "memory_cache", "huge_pages")
            }
            for node in machine.get("nodes", [])
        ]
        changing = ("source", "allowance", "nodes")
        return {**{key: value for key, value in machine.items() if key not in changing}, "nodes": nodes}

    return lasting(panel.figure.machine) == lasting(figure.machine)


def _shared_warnings(results: list[Result], panels: list[Panel]) -> dict[str, list[str]]:
    """Warnings of two figures and more, and of runs, with the files they are of: told once, at the top."""
    files: dict[str, list[str]] = {}
    count: dict[str, int] = {}
    for panel in panels:
        for text in panel.figure.warnings:
            count[text] = count.get(text, 0) + 1
            for name in [panel.file, *panel.others]:
                if name not in files.setdefault(text, []):
                    files[text].append(name)
    for result, name in zip(results, head.distinct_names(results), strict=True):
        for text in result.warnings:
            count[text] = count.get(text, 0) + 2
            if name not in files.setdefault(text, []):
                files[text].append(name)
    shared = {text: names for text, names in files.items() if count[text] > 1}
    # That nothing was measured is the first thing to know, then what most figures have.
    return dict(
        sorted(shared.items(), key=lambda pair: (not pair[0].startswith("no measurement"), -count[pair[0]]))
    )


def _header(title: str) -> Markup:
    return el(
        "header",
        el("h1", title),
        el("button", "dark", type="button", id="theme", class_="screen", title="light or dark"),
    )


def _warning_section(warnings: dict[str, list[str]], numbers: dict[str, int], files: int) -> Markup | None:
    if not warnings:
        return None
    lines = [
        el(
            "li",
            f"\u26a0 {text}",
            el("span", f" ({'all runs' if len(names) == files else ', '.join(names)})", class_="quiet")
            if files > 1
            else None,
            id=f"warning-{numbers[text]}",
        )
        for text, names in warnings.items()
    ]
    return el(
        "section",
        el("h2", "Warnings of the runs"),
        folded(lines, FIRST_WARNINGS, "warnings"),
        id="warnings",
    )


def _contents(kinds: dict[str, list[list[Panel]]]) -> Markup:
    entries = []
    for kind, groups in kinds.items():
        inner = [el("li", el("a", group[0].figure.title, href=f"#{group[0].identity}")) for group in groups]
        entries.append(
            el(
                "li",
                el("a", TITLES.get(kind, kind), href=f"#section-{kind}"),
                el("ul", inner) if len(inner) > 1 else None,
            )
        )
    return el("nav", el("h2", "Contents"), el("ul", entries), aria_label="contents")


def _section(kind: str, groups: list[list[Panel]], names: list[str], numbers: dict[str, int]) -> Markup:
    blocks = []
    for group in groups:
        labels = [", ".join([panel.file, *panel.others]) if len(names) > 1 else "" for panel in group]
        articles = [
            frame(panel, picture, label, numbers)
            for panel, picture, label in zip(group, draw(group), labels, strict=True)
        ]
        blocks.append(el("div", articles, class_=_width(group, len(groups))))
    return el(
        "section",
        el("h2", TITLES.get(kind, kind)),
        el("div", blocks, class_="blocks"),
        id=f"section-{kind}",
    )


def _width(group: list[Panel], groups: int) -> str:
    """The classes of a group: its figures beside one another, or two groups in a line, or alone."""
    figure = group[0].figure
    if isinstance(figure, Fleet | MachinePicture):
        return "panels"
    if len(group) > 1:
        return "panels several"
    narrow = not isinstance(figure, Matrix) or len(figure.columns) <= NARROW
    return "panels half" if narrow and groups > 1 else "panels"
