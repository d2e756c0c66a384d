"""What surrounds the figures: which runs, when, what was asked, what they say in sum, what they did not
measure."""

import json
from typing import Any

import pandas as pd

from numatlas.facts import facts
from numatlas.result import NO_TIME, Result
from numatlas.units import estimate_text, number_text, poorly_known, quantity_text

#: Reasons told one by one; the rest is counted.
MOST_SKIPS = 12
#: Facts of one key (the cells of a matrix) that are told one by one; of more the lowest and the highest.
MOST_OF_A_KEY = 4

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
    arguments, seconds = meta.get("arguments"), meta.get("seconds")
    started = str(meta.get("started") or "").replace("T", " ").replace("Z", " UTC")
    when = started + (f", {number_text(float(seconds), 3)} s" if seconds is not None else "")
    words = [meta.get("program"), meta.get("version"), meta.get("engine"), meta.get("isa")]
    return {
        "name": name,
        "command": f"numatlas {' '.join(map(str, arguments))}" if arguments else result.kind,
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


def cards(results: list[Result], names: list[str]) -> list[Json]:
    """What surveys say in sum: `words`, and of each file its `values`. Several surveys stand beside one
    another where they have the same fact of the same place."""
    told = [
        facts(result).assign(file=name) for result, name in zip(results, names, strict=True) if result.parts
    ]
    every = pd.concat(told, ignore_index=True) if told else pd.DataFrame()
    if every.empty:
        return []
    of_key = every.groupby(["file", "key"])["value"]
    every = every.assign(count=of_key.transform("size"), rank=of_key.rank("first"), end="")
    many = every.groupby("key")["count"].transform("max") > MOST_OF_A_KEY
    every.loc[many & (every["rank"] == every["count"]), "end"] = "highest"
    every.loc[many & (every["rank"] == 1), "end"] = "lowest"
    every = every[~many | (every["end"] != "")]
    every = every.iloc[pd.Series(pd.factorize(every["key"])[0]).sort_values(kind="stable").index]
    place = every["key"] + every["end"] + every["where"].map(lambda where: json.dumps(where, sort_keys=True))
    place += every.groupby([every["file"], place]).cumcount().astype(str)  # a survey that says the same twice
    return [
        {
            "words": rows["words"].iloc[0],
            "values": [_value(row, len(results) > 1) for row in rows.itertuples()],
        }
        for _, rows in every.groupby(place, sort=False)
    ]


def _value(row: Any, named: bool) -> dict[str, str]:
    told = poorly_known(row.value, row.low, row.high)  # the text has the interval
    low, high = (
        "" if told or pd.isna(end) else quantity_text(end, row.unit, 4) for end in (row.low, row.high)
    )
    return {
        "file": row.file if named else "",
        "end": f"{row.end} of {row.count}" if row.end and row.count > 1 else "",
        "text": estimate_text(row, 4),
        "spread": f"{low} to {high}" if low and high else "",
    }


def notes(result: Result) -> list[str]:
    """How the time was kept, and what an interrupted survey did not come to."""
    told = {part.kind for part in result.parts} | set(result.skipped.get("name", []))
    missing = [one["benchmark"] for one in result.meta.get("plan") or [] if one["benchmark"] not in told]
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
