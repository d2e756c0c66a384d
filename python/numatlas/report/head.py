"""What surrounds the figures: which runs, when, what was asked, what they did not measure."""

import re
from typing import Any

import pandas as pd

from numatlas.result import NO_TIME, Result, name_in_survey
from numatlas.units import number_text

#: Machines told one by one; of more the file has the rest.
MOST_MACHINES = 8
#: Reasons told one by one; the rest is counted.
MOST_SKIPS = 12


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
    arguments = [re.sub(r"(^|=)/.*/", r"\1", str(word)) for word in meta.get("arguments") or []]
    seconds = meta.get("seconds")
    started = str(meta.get("started") or "").replace("T", " ").replace("Z", " UTC")
    when = started + (f", {number_text(float(seconds), 3)} s" if seconds is not None else "")
    words = [meta.get("program"), meta.get("version"), meta.get("engine"), meta.get("isa")]
    return {
        "name": name,
        "command": f"numatlas {' '.join(arguments)}" if arguments else result.kind,
        "incomplete": (meta.get("incomplete_reason") or "ended early") * (meta.get("complete") is False),
        "when": "no measurement" if started.startswith(NO_TIME) else when if started else "not told",
        "hosts": _hosts(result),
        "program": ", ".join(dict.fromkeys(str(word) for word in words if word and word != "null")),
        "file": result.path.name,
    }


def _hosts(result: Result) -> str:
    named = [machine["host"] for machine in result.machines if machine.get("host")]
    hosts = list(result.hosts["host"].unique()) if len(result.hosts) else result.meta.get("hosts") or named
    ranks = result.meta.get("ranks")
    return _several(hosts) + (f"; {ranks} ranks" if ranks and ranks != 1 else "")


def _several(names: list[Any]) -> str:
    return ", ".join(map(str, names[:3])) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")


def machines(results: list[Result]) -> list[dict[str, Any]]:
    """The first snapshots, each host with its nodes once: its free memory is of the first file."""
    found: dict[tuple[Any, str], dict[str, Any]] = {}
    for machine in (machine for result in results for machine in result.machines):
        nodes = machine.get("nodes", [])
        alike = repr([(node["id"], node.get("cpus"), node.get("memory_total")) for node in nodes])
        found.setdefault((machine.get("host"), alike), machine)
    return list(found.values())[:MOST_MACHINES]


def notes(result: Result) -> list[str]:
    """How the time was kept, and what an interrupted survey did not come to."""
    told = {part.kind for part in result.parts} | set(result.skipped.get("name", []))
    plan = result.meta.get("plan") or []
    planned = [name_in_survey(one["benchmark"], one.get("arguments")) for one in plan]
    missing = [name for name in planned if name not in told]
    stopped = [f"not run: {', '.join(missing)}"] if missing else []
    return [str(note) for note in result.meta.get("notes") or []] + stopped


def skipped(results: list[Result], names: list[str]) -> list[tuple[str, list[str]]]:
    """What was not measured, and why, by file."""
    blocks = []
    for result, name in zip(results, names, strict=True):
        rows = pd.concat([part.skipped for part in [result, *result.parts]])
        if rows.empty:
            continue
        groups = rows.groupby(rows["reason"].fillna("no reason is told"), sort=False)["name"].agg(list)
        lines = [f"{_several(cases)}: {reason}" for reason, cases in groups.head(MOST_SKIPS).items()]
        more = len(groups) - MOST_SKIPS
        blocks.append((name, lines + ([f"and for {more} more reasons"] if more > 0 else [])))
    return blocks
