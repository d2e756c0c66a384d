"""The first screen: what a run says in five seconds."""

from dataclasses import dataclass

import pandas as pd

from numatlas.facts import Metric, metrics
from numatlas.figures.overlay import letters
from numatlas.figures.told import is_of_the_null_engine, model_words
from numatlas.report.verdict import Verdict, cut_short, verdict
from numatlas.result import Result
from numatlas.units import is_unknown, short_size

#: A change of this many times and more is told as such.
MOST_PERCENT = 10
#: What is wrong, by the labels of the cases of those who judge.
WRONG = {"finding": ["slow", "fell", "low", "below"], "verdict": ["slower"]}
#: Of more runs than this the table has no intervals.
MOST_WORDY = 4


def title_of(results: list[Result]) -> str:
    """The machine and when; "10 runs"; what a comparison found."""
    if len(results) > 1:
        return f"{len(results)} runs"
    return str(results[0].meta.get("answer") or machine_of(results[0]))


def is_alarm(result: Result) -> bool:
    """Whether `check` or `compare` found something that is wrong."""
    return any(name in result.rows and result.rows[name].isin(words).any() for name, words in WRONG.items())


def machine_of(result: Result) -> str:
    """ "cn042 · 2x AMD EPYC 7763, 8 nodes, 1 TiB · 22 Nov 2026, 57 s"."""
    machine = result.machine
    count = result.hosts["host"].nunique() if len(result.hosts) else 0
    name = f"STREAM on {count:,} host{'s' * (count != 1)}" if count else machine.get("host")
    words = [name or result.path.name, machine_words(machine, gpus=True), when(result)]
    return " · ".join(filter(None, words))


def machine_words(machine: dict, gpus: bool = False) -> str:
    """ "2x AMD EPYC 7763, 8 nodes, 1 TiB"."""
    nodes = machine.get("nodes", [])
    model = model_words(machine, gpus) if machine.get("cpu_model") else ""
    memory = sum(node.get("memory_total") or 0 for node in nodes)
    count = f"{len(nodes)} node{'s' * (len(nodes) != 1)}" if nodes else ""
    return ", ".join(filter(None, [model, count, short_size(memory) if memory else ""]))


def started_at(result: Result) -> pd.Timestamp | None:
    """None where nothing was measured, or the file does not say."""
    started = pd.to_datetime(result.meta.get("started"), errors="coerce")
    return None if pd.isna(started) or started.year == 1970 else started


def when(result: Result) -> str:
    """ "22 Nov 2026, 57 s", or ""."""
    started = started_at(result)
    seconds = result.meta.get("seconds")
    took = f"{seconds:.0f} s" if seconds is not None and seconds >= 1 else ""
    date = f"{started.day} {started:%b %Y}" if started else ""
    return ", ".join(filter(None, [date, took]))


def badges(results: list[Result]) -> list[tuple[str, str]]:
    """Words, and the section that has more."""
    disturbing = {str(one) for result in results for one in result.warnings if one.code == "setting"}
    missing = {
        str(name) for result in results for name in result.skipped.get("name", []) if len(result.skipped)
    }
    cut = {name for result in results for name in cut_short(result)}
    # Records of measurements say in their verdict what to doubt; answers of programs' runs do not.
    doubts = {str(one) for result in results if result.command == "advise" for one in result.warnings}
    found = [
        (len(doubts - disturbing), f"warning{'s' * (len(doubts - disturbing) > 1)}", "warnings"),
        (len(disturbing), f"setting{'s disturb' if len(disturbing) > 1 else ' disturbs'}", "warnings"),
        (len(cut), "cut short", "runs"),
        (len(missing), "not measured", "skipped"),
    ]
    return [(f"{count} {words}", place) for count, words, place in found if count]


@dataclass
class Beside:
    """A figure beside what others published: places from 0 to 100 on a line."""

    verdict: str  #: "ok", "LOW", "not judged"
    text: str
    source: str
    low: float  #: of the others, as `high` and `median`
    high: float
    median: float
    mine: float


def normal(result: Result) -> list[Beside]:
    """Of a survey, the figures that others published some of; what is LOW comes first."""
    found = []
    for one in result.meta.get("normal") or []:
        others = one["others"]
        if not others:
            continue
        ends = [one["value"], others["low"], others["high"]]
        least, span = 0.9 * min(ends), 1.1 * max(ends) - 0.9 * min(ends)
        places = [others["low"], others["high"], others["median"], one["value"]]
        at = [100 * (place - least) / span for place in places]
        found.append(Beside(one["verdict"], one["text"], one["source"] or "", *at))
    return sorted(found, key=lambda one: one.verdict != "LOW")


# ---- Several runs


@dataclass
class Row:
    """A headline figure of several runs."""

    words: str
    cells: list[Metric | None]
    change: str  #: from the first to the last run


@dataclass
class Several:
    """What stands on the first screen of several runs."""

    heads: list[tuple[str, str, list[str]]]  #: letter, name and lines of what tells the run from others
    common: str  #: what all have alike
    rows: list[Row]
    trust: list[Verdict | None]  #: of each run
    low: list[int]  #: of each run the figures that are LOW beside those of others
    compact: bool  #: too many runs for all words


def headlines(results: list[Result]) -> dict[str, list[Metric | None]]:
    """By name, those of each run."""
    told = [{one.name: one for one in metrics(result)} for result in results]
    return {name: [mine.get(name) for mine in told] for name in {name: 1 for mine in told for name in mine}}


def several_of(results: list[Result], names: list[str]) -> Several:
    """Their headline figures side by side, and the change from the first to the last run, which
    `numatlas compare` judges."""
    words = [
        [str(one.machine.get("host") or one.path.name), machine_words(one.machine, gpus=True), when(one)]
        for one in results
    ]
    if len(set(map(tuple, words))) < len(words):  # runs of one day
        words = [[*mine, result.path.name] for mine, result in zip(words, results, strict=True)]
    alike = [len(set(column)) == 1 for column in zip(*words, strict=True)]
    return Several(
        [
            (letter, name, [text for text, same in zip(mine, alike, strict=True) if text and not same])
            for letter, name, mine in zip(letters(len(names)), names, words, strict=True)
        ],
        ", ".join(text for text, same in zip(words[0], alike, strict=True) if text and same),
        [
            Row(next(cell.head for cell in cells if cell), cells, _change(cells[0], cells[-1]))
            for cells in headlines(results).values()
        ],
        [verdict(result) for result in results],
        [sum(one.verdict == "LOW" for one in normal(result)) for result in results],
        len(results) > MOST_WORDY,
    )


def _change(first: Metric | None, last: Metric | None) -> str:
    """Of values that are known."""
    unknown = [not one or is_unknown(one.value, one.low, one.high) for one in (first, last)]
    if any(unknown) or not first.value:
        return ""
    times = last.value / first.value
    return f"{100 * (times - 1):+.1f} %" if times < MOST_PERCENT else f"{times:,.0f}x"


def nothing_measured(results: list[Result]) -> str:
    """Why no figure of the page is a measurement; "" where all are."""
    null = [result for result in results if is_of_the_null_engine(result)]
    if not null:
        return ""
    of = "" if len(null) == len(results) else f" in {len(null)} of {len(results)} files"
    recorded = any(one.machine.get("source") not in (None, "live") for one in null)
    words = " on a recorded machine" if recorded else ""
    return f"Simulated{of}: nothing was measured, the null engine made up these numbers{words}."
