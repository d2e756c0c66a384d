"""Results as one page of HTML: looked at without a network, printed, passed on."""

import base64
import hashlib
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import Any

import jinja2
import pandas as pd
from markupsafe import Markup

from numatlas.drawing import Ends
from numatlas.facts import metrics
from numatlas.figures import figures_of
from numatlas.figures.fleet import NONE_JUDGED
from numatlas.figures.model import Atlas, Curves, Figure, Fleet, Matrix
from numatlas.figures.overlay import can_overlay, form_of, group_keys, letters, overlaid
from numatlas.figures.scales import common_ends
from numatlas.figures.told import NOTHING
from numatlas.file_error import intact
from numatlas.report import first, head, pack, pictures, svg
from numatlas.report.verdict import verdict
from numatlas.result import Result
from numatlas.units import number_text, percent_text, size_text, spread_text

#: Kinds in the order in which they are read; others follow, the map is the last.
ORDER = ("compare", "check", "stream", "matrix", "cores", "latency", "loaded", "bandwidth")
LAST = "atlas"
#: What stands on the first screen, one of each that is there, and how many in all.
FIRST = ("atlas", "latency", "loaded", "bandwidth", "matrix", "cores")
MOST_FIRST = 4
#: Headline figures that are seen at once.
MOST_CARDS = 7


@dataclass
class Panel:
    """A figure of a file, in its place on the page."""

    figure: Figure
    file: str  #: how the page calls the file
    identity: str  #: of its element
    others: list[str] = field(default_factory=list)  #: files that hold the very same
    ends: Ends = None  #: of the colours of its group

    @property
    def sort(self) -> str:
        """Of its picture."""
        return type(self.figure).__name__


def page(results: list[Result], title: str = "") -> str:
    """One self-contained page of all figures of the results, those of one key side by side. Nothing is
    loaded from elsewhere, and no folder of a file is told. Raises FileError where a file is damaged."""
    with intact(*(result.path for result in results)):
        return _page(results, title)


def _page(results: list[Result], title: str) -> str:
    names = head.distinct_names(results)
    sections = _sections(results, names)
    panels = [panel for groups in sections.values() for group in groups for panel in group]
    shown = _of_first_screen(sections)
    warnings = _warnings(results, names, panels)
    alone = len(results) == 1
    title = title or first.title_of(results)
    subtitles = [first.title_of(results), *([first.machine_of(results[0])] if results[0].machine else [])]
    cards = metrics(results[0]) if alone else []
    twice = any(one.key == "matrix_latency" for one in cards)  # of memory, as in the card of idle latency
    cards.sort(key=lambda one: (one.doubted, twice and one.key == "memory_latency"))
    return render(
        "page.html",
        title=title,
        subtitle=" · ".join(one for one in dict.fromkeys(subtitles) if one != title) if alone else "",
        alarm=alone and first.is_alarm(results[0]),
        badges=first.badges(results),
        nothing=first.nothing_measured(results),
        verdict=verdict(results[0]) if alone else None,
        cards=[cards[:MOST_CARDS], cards[MOST_CARDS:]],
        starred=any("*" in one.text + one.spread for one in cards),
        several=None if alone else first.several_of(results, names),
        normal=first.normal(results[0]) if alone else [],
        columns=[shown[0::2], shown[1::2]],
        notes=[note for result in results for note in head.notes(result)],
        runs=[head.run(result, name) for result, name in zip(results, names, strict=True)],
        skipped=head.skipped(results, names),
        warnings=[(code, list(of.itertuples())) for code, of in warnings.groupby("code", sort=False)],
        numbers={text: index + 1 for index, text in enumerate(warnings["text"])},
        names=names,
        machines=head.machines(results),
        sections=sections,
    )


def render(template: str, **values: Any) -> str:
    """A page of this template, with its style and the one script that may run."""
    script = f'\n"use strict";\n{_resource("page.js")}\n'
    values["script_hash"] = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    values |= {"style": Markup(svg.style() + _resource("style.css")), "script": Markup(script)}
    try:
        return _environment().get_template(template).render(**values)
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
    made.filters |= {"number": number_text, "percent": percent_text}
    functions = (
        *(spread_text, width_of, pack.embed, pack.packed),
        *(pack.table, pictures.drawing_of, pictures.fleet_in_sum, pictures.is_drawn),
        *(pictures.cells_of, pictures.sentence_of, pictures.told_of, size_text),
    )
    made.globals |= {one.__name__: one for one in functions}
    made.globals |= {"none_judged": NONE_JUDGED}
    return made


def _resource(name: str) -> str:
    return resources.files("numatlas.report").joinpath(name).read_text(encoding="utf-8")


def _sections(results: list[Result], names: list[str]) -> dict[str, list[list[Panel]]]:
    """By kind, the figures of each key: one a file that has it; curves of several files in one picture."""
    found: dict[str, dict[str, list[Panel]]] = {}
    files = []
    for result in results:
        with intact(result.path):
            files.append(figures_of(result))
    for figures, keys, name in zip(files, group_keys(files), names, strict=True):
        for figure, key in zip(figures, keys, strict=True):
            group = found.setdefault(figure.kind, {}).setdefault(key, [])
            group.append(Panel(figure, name, key + (f"-file{len(group) + 1}" if group else "")))
    short = dict(zip(names, letters(len(names)), strict=True))
    for groups in found.values():
        for key, group in groups.items():
            groups[key] = _on_common_scales(group, short)
    rank = {kind: at for at, kind in enumerate(ORDER)} | {LAST: 100}
    ordered = sorted(found, key=lambda kind: rank.get(kind, 50))
    return {kind: list(found[kind].values()) for kind in ordered}


def _of_first_screen(sections: dict[str, list[list[Panel]]]) -> list[Panel]:
    """The map and the first curves, taken out of their sections: nothing stands on the page twice."""
    found = []
    for kind in FIRST:
        for group in sections.get(kind, []):
            figure = group[0].figure
            alone = not pictures.is_drawn(figure)  # a headline figure already
            fits = isinstance(figure, Atlas | Curves) or width_of(group, 2) == "panels half"
            if len(group) == 1 and fits and not alone and len(found) < MOST_FIRST:
                found.append(group[0])
                sections[kind].remove(group)
                break
    for kind in [kind for kind, groups in sections.items() if not groups]:
        del sections[kind]
    return found


def _on_common_scales(group: list[Panel], short: dict[str, str]) -> list[Panel]:
    """Curves and bars of one form in one picture, maps of one form on one scale; others side by side."""
    forms: dict[tuple, list[Panel]] = {}
    for panel in group:
        forms.setdefault(form_of(panel.figure), []).append(panel)
    found = []
    for alike in forms.values():
        named = len(short) > 1 and isinstance(alike[0].figure, Curves)
        if named or (len(alike) > 1 and can_overlay([panel.figure for panel in alike])):
            alike = [_overlaid(alike, short)]
        maps = [panel.figure for panel in alike if isinstance(panel.figure, Matrix)]
        ends = common_ends(maps) if maps else None
        found += [replace(panel, ends=ends) for panel in alike]
    return found


def _overlaid(group: list[Panel], short: dict[str, str]) -> Panel:
    """Curves of several files in one picture, each line with its file's letter."""
    one = overlaid([panel.figure for panel in group], [short[panel.file] for panel in group])
    return Panel(one, group[0].file, group[0].identity, [panel.file for panel in group[1:]])


def _warnings(results: list[Result], names: list[str], panels: list[Panel]) -> pd.DataFrame:
    """Those of figures and of runs, once each: text, code, the files they are of."""
    told = [
        (one, file)
        for panel in panels
        for one in panel.figure.warnings
        for file in (panel.file, *panel.others)
    ]
    told += [(one, name) for run, name in zip(results, names, strict=True) for one in run.warnings]
    rows = [(str(one), one.code, one == NOTHING, file) for one, file in told]
    every = pd.DataFrame(rows, columns=["text", "code", "nothing", "files"]).groupby("text", sort=False)
    found = every.agg({"code": "max", "nothing": "max", "files": list}).reset_index()
    found = found.assign(weight=found["files"].map(len), code=found["code"].replace("", "of figures"))
    # That nothing was measured comes first, then what most figures have; those of a code together.
    found = found.sort_values(["nothing", "weight"], ascending=False, kind="stable")
    order = pd.Series(pd.factorize(found["code"])[0], found.index).sort_values(kind="stable")
    found["files"] = found["files"].map(lambda files: list(dict.fromkeys(files)))
    return found.loc[order.index].reset_index(drop=True)


def width_of(group: list[Panel], groups: int) -> str:
    """The classes of a group: its figures beside one another, or two groups in a line, or alone."""
    figure = group[0].figure
    if len(group) > 1 and not isinstance(figure, Fleet):
        return "panels several"
    return "panels half" if pictures.is_narrow(figure) and groups > 1 else "panels"
