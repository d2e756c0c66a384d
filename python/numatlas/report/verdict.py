"""Whether the figures of a run can be believed, as the program itself says (docs/methods.md), in a line."""

from dataclasses import dataclass

from numatlas.facts import nodes_with_cpus, pairs
from numatlas.figures.people import spaced
from numatlas.figures.told import is_of_the_null_engine
from numatlas.result import Result
from numatlas.units import ranges_of

#: What a record says of itself, the worst first, and how the page has it.
GRADES = {"unreliable": "bad", "doubtful": "wary", "trusted": "good"}


@dataclass
class Verdict:
    """`grade`: bad, wary or good, or "" where the file says nothing."""

    grade: str
    text: str


def verdict(result: Result) -> Verdict | None:
    """Of a survey that of its worst benchmark; None where nothing was measured, or others are judged."""
    if is_of_the_null_engine(result) or "answer" in result.meta or len(result.hosts):
        return None
    if result.meta.get("complete") is False:
        reason = result.meta.get("incomplete_reason") or "ended early"
        return Verdict("wary", f"Not complete: {reason}.")
    told = [part.meta for part in result.all() if part.meta.get("trust") in GRADES]
    if not told:
        return Verdict("", "This file does not say how far it can be believed: it is of an older version.")
    worst = next(grade for grade in GRADES if any(one["trust"] == grade for one in told))
    if worst == "trusted":
        return Verdict("good", "These figures can be trusted: nothing disturbed the run.")
    mine = [one for one in told if one["trust"] == worst]
    doubt = spaced(str(mine[0].get("doubt") or ""))
    first = {"unreliable": "Unreliable", "doubtful": "Read with care"}[worst]
    return Verdict(GRADES[worst], f"{first}{_of(mine, told)}: {doubt}.")


def _of(mine: list[dict], told: list[dict]) -> str:
    """ " (matrix and 3 more benchmarks)", of a part of a survey only."""
    if len(mine) == len(told):
        return ""
    more = len(mine) - 1
    return f" ({mine[0]['command']}{f' and {more} more' if more else ''})"


def cut_short(result: Result) -> list[str]:
    """Benchmarks of a survey that left something out."""
    return [str(one["benchmark"]) for one in result.meta.get("plan") or [] if one.get("left_out")]


def nodes_left_out(result: Result) -> str:
    """Nodes with CPUs that did not reach their own memory, where others did: "nodes 2-7"."""
    found = pairs(result)
    own = set(found["cpu_node"][found["cpu_node"] == found["memory_node"]])
    missing = sorted(nodes_with_cpus(result) - own) if own else []
    return f"node{'s' * (len(missing) > 1)} {ranges_of(missing)}" if missing else ""
