"""The first screen: which runs, when, what was asked, what they found in sum, what they did not measure."""

from typing import Any

import pandas as pd

from numatlas.report.markup import Markup, el
from numatlas.result import Result
from numatlas.units import number_text, shown, size_text

#: Skipped cases told one by one; the rest is counted.
MOST_SKIPS = 12


def distinct_names(results: list[Result]) -> list[str]:
    """What the page calls each file: the host and when; with the file's name, and a number, where that does
    not tell them apart. Never the folder: a page is passed on."""
    names = [result.name for result in results]
    for more in (lambda at: results[at].path.name, lambda at: str(at + 1)):
        twice = {name for name in names if names.count(name) > 1}
        names = [f"{name} ({more(at)})" if name in twice else name for at, name in enumerate(names)]
    return names


def runs(results: list[Result], names: list[str]) -> Markup:
    """A row for each file."""
    heads = ("run", "command", "started, took", "hosts", "program", "file")
    tells = (_command, _when, _hosts, _program, lambda result: result.path.name)
    rows = [
        el(
            "tr",
            el("th", name, scope="row"),
            [el("td", tell(result), data_head=title) for title, tell in zip(heads[1:], tells, strict=True)],
        )
        for result, name in zip(results, names, strict=True)
    ]
    head = el("tr", [el("th", title, scope="col") for title in heads])
    return el(
        "div", el("table", el("thead", head), el("tbody", rows), class_="plain words runs"), class_="scroll"
    )


def _command(result: Result) -> list[Any]:
    arguments = result.meta.get("arguments")
    text = f"numatlas {' '.join(map(str, arguments))}" if arguments else result.kind
    if result.meta.get("complete") is False:
        reason = result.meta.get("incomplete_reason") or "ended early"
        return [el("code", text), el("p", f"\u26a0 not complete: {reason}")]
    return [el("code", text)]


def _when(result: Result) -> str:
    started = str(result.meta.get("started") or "")
    if started.startswith("1970-01-01"):  # the null engine's clock
        return "no measurement"
    started = started.replace("T", " ").replace("Z", " UTC")
    seconds = result.meta.get("seconds")
    took = f", {number_text(float(seconds), 3)} s" if seconds is not None else ""
    return f"{started}{took}" if started else "not told"


def _hosts(result: Result) -> str:
    hosts = result.meta.get("hosts")
    if not result.hosts.empty:
        hosts = list(dict.fromkeys(result.hosts["host"]))
    if not hosts:
        hosts = [name for machine in result.machines if (name := machine.get("host"))]
    words = f"{', '.join(map(str, hosts[:3]))}{f' and {len(hosts) - 3:,} more' if len(hosts) > 3 else ''}"
    ranks = result.meta.get("ranks")
    return words + (f"; {ranks} ranks" if ranks and ranks != 1 else "")


def _program(result: Result) -> str:
    words = [result.meta.get("program"), result.meta.get("version")]
    words += [result.meta.get(key) for key in ("engine", "isa") if result.meta.get(key) != "null"]
    return ", ".join(dict.fromkeys(str(word) for word in words if word))


def summary(results: list[Result], names: list[str]) -> Markup | None:
    """What surveys say in sum: the fact large, its interval small; several surveys beside one another."""
    facts: dict[str, dict[int, dict[str, Any]]] = {}
    for index, result in enumerate(results):
        for fact in result.meta.get("summary") or []:
            if isinstance(fact, dict):
                facts.setdefault(str(fact.get("key", fact.get("words"))), {})[index] = fact
    if not facts:
        return None
    cards = []
    for by_file in facts.values():
        words = next(iter(by_file.values())).get("words") or ""
        values = [
            [el("p", names[index], class_="file") if len(results) > 1 else None, _fact(fact)]
            for index, fact in by_file.items()
        ]
        cards.append(el("div", el("p", words, class_="words"), values, class_="fact"))
    return el("section", el("h2", "In short"), el("div", cards, class_="short"), id="summary")


def _fact(fact: dict[str, Any]) -> list[Markup | None]:
    value, unit = fact.get("value"), fact.get("unit") or ""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return [el("p", "not measured" if value is None else value, class_="value")]
    text = _quantity(value, unit)
    low, high = fact.get("low"), fact.get("high")
    spread = (
        f"{_quantity(low, unit)} to {_quantity(high, unit)}" if low is not None and high is not None else None
    )
    return [el("p", text, class_="value"), el("p", spread, class_="quiet") if spread else None]


def _quantity(value: float, unit: str) -> str:
    if unit in ("B", "bytes"):
        return size_text(value)
    name, factor = shown(unit)
    return f"{number_text(value * factor)} {name}".strip()


def skipped(results: list[Result], names: list[str]) -> Markup | None:
    """What was not measured, and why, by file."""
    blocks = []
    for result, name in zip(results, names, strict=True):
        frames = [part.skipped for part in {id(one): one for one in [result, *result.all()]}.values()]
        frames = [frame for frame in frames if not frame.empty]
        if not frames:
            continue
        rows = pd.concat(frames)
        groups = rows.groupby(rows["reason"].fillna("no reason is told"), sort=False)["name"]
        lines = [
            el("li", _several([str(one) for one in cases]), ": ", reason)
            for reason, cases in list(groups)[:MOST_SKIPS]
        ]
        more = groups.ngroups - MOST_SKIPS
        blocks.append(
            [
                el("p", name, class_="file") if len(results) > 1 else None,
                el("ul", lines, el("li", f"and for {more} more reasons") if more > 0 else None),
            ]
        )
    if not blocks:
        return None
    return el("section", el("h2", "Not measured"), blocks, id="skipped")


def _several(cases: list[str]) -> str:
    return ", ".join(cases[:3]) + (f" and {len(cases) - 3} more" if len(cases) > 3 else "")
