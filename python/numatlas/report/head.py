"""The first screen: which runs, when, what was asked, what they found in sum, what they did not measure."""

import json
from dataclasses import dataclass
from typing import Any

import pandas as pd

from numatlas.report.markup import Markup, el
from numatlas.result import Result
from numatlas.units import number_text, shown, size_text

#: Skipped cases told one by one; the rest is counted.
MOST_SKIPS = 12

#: Facts of one key (the cells of a matrix) that are told one by one; of more the lowest and the highest.
MOST_OF_A_KEY = 4


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


@dataclass
class _Card:
    """A fact of surveys; of several, what they say of the same place."""

    words: str
    values: list[Markup]


def summary(results: list[Result], names: list[str]) -> Markup | None:
    """What surveys say in sum: the fact large, its interval small. Several surveys stand beside one another
    where they have the same fact of the same place."""
    told = [_facts(result) for result in results]
    most: dict[str, int] = {}
    for facts in told:
        for key, mine in facts.items():
            most[key] = max(most.get(key, 0), len(mine))
    cards: dict[tuple, _Card] = {}
    for key, count in most.items():
        for facts, name in zip(told, names, strict=True):
            found: set[tuple] = set()
            mine = facts.get(key, [])
            for fact, end in _ends(mine) if count > MOST_OF_A_KEY else [(fact, "") for fact in mine]:
                place = (key, end, json.dumps(fact.get("where"), sort_keys=True))
                while place in found:  # a survey that says the same twice
                    place = (*place, "")
                found.add(place)
                card = cards.setdefault(place, _Card(str(fact.get("words") or key), []))
                card.values += [el("p", name, class_="file")] if len(results) > 1 else []
                card.values += [el("p", f"{end} of {len(mine)}", class_="quiet")] if end else []
                card.values += [line for line in _fact(fact) if line]
    if not cards:
        return None
    blocks = [
        el("div", el("p", card.words, class_="words"), card.values, class_="fact") for card in cards.values()
    ]
    notes = [el("li", note) for result in results for note in _notes(result)]
    listed = el("ul", notes, class_="quiet") if notes else None
    return el("section", el("h2", "In short"), el("div", blocks, class_="short"), listed, id="summary")


def _notes(result: Result) -> list[str]:
    """How the time was kept, and what an interrupted survey did not come to."""
    told = {part.kind for part in result.parts} | set(result.skipped.get("name", []))
    planned = [item["benchmark"] for item in result.meta.get("plan") or []]
    missing = [name for name in planned if name not in told]
    stopped = [f"not run: {', '.join(missing)}"] if missing else []
    return [str(note) for note in result.meta.get("notes") or []] + stopped


def _facts(result: Result) -> dict[str, list[dict[str, Any]]]:
    """By key, in the survey's order."""
    facts: dict[str, list[dict[str, Any]]] = {}
    for fact in result.meta.get("summary") or []:
        if isinstance(fact, dict):
            facts.setdefault(str(fact.get("key", fact.get("words"))), []).append(fact)
    return facts


def _ends(facts: list[dict[str, Any]]) -> list[tuple[dict[str, Any], str]]:
    """The lowest and the highest, where there are two: of the others the figures tell."""
    numbers = [fact for fact in facts if _is_number(fact.get("value"))]
    if len(numbers) < 2:
        return [(fact, "") for fact in numbers]
    ordered = sorted(numbers, key=lambda fact: fact["value"])
    return [(ordered[0], "lowest"), (ordered[-1], "highest")]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _fact(fact: dict[str, Any]) -> list[Markup | None]:
    value, unit = fact.get("value"), fact.get("unit") or ""
    if not _is_number(value):
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
