"""The first screen: which runs, when, what was asked, what they found in sum, what they did not measure."""

import json
from typing import Any

import pandas as pd

from numatlas.result import Result
from numatlas.units import number_text, quantity_text

#: Skipped cases told one by one; the rest is counted.
MOST_SKIPS = 12

#: Facts of one key (the cells of a matrix) that are told one by one; of more the lowest and the highest.
MOST_OF_A_KEY = 4

#: The null engine's clock.
NO_TIME = "1970-01-01"

Json = dict[str, Any]


def distinct_names(results: list[Result]) -> list[str]:
    """What the page calls each file: the host and when; with the file's name, and a number, where that does
    not tell them apart. Never the folder: a page is passed on."""
    names = [result.name for result in results]
    for more in (lambda at: results[at].path.name, lambda at: str(at + 1)):
        twice = {name for name in names if names.count(name) > 1}
        names = [f"{name} ({more(at)})" if name in twice else name for at, name in enumerate(names)]
    return names


def run(result: Result, name: str) -> dict[str, str]:
    """A row of the table of files."""
    meta = result.meta
    arguments = meta.get("arguments")
    started = str(meta.get("started") or "").replace("T", " ").replace("Z", " UTC")
    took = f", {number_text(float(meta['seconds']), 3)} s" if meta.get("seconds") is not None else ""
    words = [meta.get("program"), meta.get("version"), meta.get("engine"), meta.get("isa")]
    incomplete = meta.get("incomplete_reason") or "ended early"
    return {
        "name": name,
        "command": f"numatlas {' '.join(map(str, arguments))}" if arguments else result.kind,
        "incomplete": incomplete if meta.get("complete") is False else "",
        "when": "no measurement"
        if started.startswith(NO_TIME)
        else started + took
        if started
        else "not told",
        "hosts": _hosts(result),
        "program": ", ".join(dict.fromkeys(str(word) for word in words if word and word != "null")),
        "file": result.path.name,
    }


def _hosts(result: Result) -> str:
    hosts = result.meta.get("hosts") or [
        machine["host"] for machine in result.machines if machine.get("host")
    ]
    if not result.hosts.empty:
        hosts = list(dict.fromkeys(result.hosts["host"]))
    ranks = result.meta.get("ranks")
    more = f" and {len(hosts) - 3:,} more" if len(hosts) > 3 else ""
    return ", ".join(map(str, hosts[:3])) + more + (f"; {ranks} ranks" if ranks and ranks != 1 else "")


def cards(results: list[Result], names: list[str]) -> list[Json]:
    """What surveys say in sum: `words`, and of each file its `values`. Several surveys stand beside one
    another where they have the same fact of the same place."""
    told = [_facts(result) for result in results]
    most: dict[str, int] = {}
    for facts in told:
        most |= {key: max(most.get(key, 0), len(mine)) for key, mine in facts.items()}
    found: dict[tuple, Json] = {}
    for key, count in most.items():
        for facts, name in zip(told, names, strict=True):
            places: set[tuple] = set()
            mine = facts.get(key, [])
            for fact, end in _ends(mine) if count > MOST_OF_A_KEY else [(fact, "") for fact in mine]:
                place = (key, end, json.dumps(fact["where"], sort_keys=True))
                while place in places:  # a survey that says the same twice
                    place = (*place, "")
                places.add(place)
                card = found.setdefault(place, {"words": fact["words"], "values": []})
                value = {
                    "file": name if len(results) > 1 else "",
                    "end": f"{end} of {len(mine)}" if end else "",
                }
                card["values"].append(value | _fact(fact))
    return list(found.values())


def notes(result: Result) -> list[str]:
    """How the time was kept, and what an interrupted survey did not come to."""
    told = {part.kind for part in result.parts} | set(result.skipped.get("name", []))
    planned = [item["benchmark"] for item in result.meta.get("plan") or []]
    missing = [name for name in planned if name not in told]
    stopped = [f"not run: {', '.join(missing)}"] if missing else []
    return [str(note) for note in result.meta.get("notes") or []] + stopped


def _facts(result: Result) -> dict[str, list[Json]]:
    """By key, in the survey's order."""
    facts: dict[str, list[Json]] = {}
    for part in result.parts:
        for fact in part.meta.get("facts", []):
            facts.setdefault(fact["key"], []).append(fact)
    return facts


def _ends(facts: list[Json]) -> list[tuple[Json, str]]:
    """The lowest and the highest, where there are two: of the others the figures tell."""
    ordered = sorted(facts, key=lambda fact: fact["estimate"]["value"])
    if len(ordered) < 2:
        return [(fact, "") for fact in ordered]
    return [(ordered[0], "lowest"), (ordered[-1], "highest")]


def _fact(fact: Json) -> dict[str, str]:
    value, low, high = (
        None if number is None else _quantity(number, fact["unit"])
        for number in (fact["estimate"][name] for name in ("value", "low", "high"))
    )
    return {"text": value, "spread": f"{low} to {high}" if low and high else ""}


def _quantity(number: float, unit: str) -> str:
    """A ratio has an "x" behind it."""
    return f"{number_text(number)}x" if unit == "1" else quantity_text(number, unit, 4)


def skipped(results: list[Result], names: list[str]) -> list[tuple[str, list[str]]]:
    """What was not measured, and why, by file."""
    blocks = []
    for result, name in zip(results, names, strict=True):
        frames = [part.skipped for part in {id(one): one for one in [result, *result.all()]}.values()]
        rows = pd.concat(frames)
        if rows.empty:
            continue
        groups = rows.groupby(rows["reason"].fillna("no reason is told"), sort=False)["name"].agg(list)
        lines = [f"{_several(cases)}: {reason}" for reason, cases in groups.head(MOST_SKIPS).items()]
        more = len(groups) - MOST_SKIPS
        blocks.append((name, lines + ([f"and for {more} more reasons"] if more > 0 else [])))
    return blocks


def _several(cases: list[Any]) -> str:
    return ", ".join(map(str, cases[:3])) + (f" and {len(cases) - 3} more" if len(cases) > 3 else "")
