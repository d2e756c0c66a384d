"""Whether the figures of a run can be believed, as the program itself says (docs/methods.md), in a line."""

from dataclasses import dataclass

from numatlas.figures.told import is_of_the_null_engine
from numatlas.result import Result, name_in_survey

#: What a record says of itself, and how the page has it.
GRADES = {"unreliable": "bad", "doubtful": "wary", "trusted": "good"}
SENTENCES = {
    "bad": "Unreliable: {}.",
    "wary": "Read with care: {}.",
    "good": "These figures can be trusted: nothing disturbed the run.",
}
WORDS = {"bad": "UNRELIABLE", "wary": "with care", "good": "trusted"}


@dataclass
class Verdict:
    """`grade`: bad, wary or good."""

    grade: str
    text: str

    @property
    def word(self) -> str:
        """Of its grade."""
        return WORDS[self.grade]


def verdict(result: Result) -> Verdict | None:
    """None where nothing was measured, many hosts are judged, or the file does not say."""
    if is_of_the_null_engine(result) or len(result.hosts):
        return None
    if result.meta.get("complete") is False:
        reason = result.meta.get("incomplete_reason") or "ended early"
        return Verdict("wary", f"Not complete: {reason}.")
    if result.kind == "survey" and not result.parts:
        return Verdict("wary", "No benchmark had the time to measure.")
    grade = GRADES.get(str(result.meta.get("trust")))
    return Verdict(grade, SENTENCES[grade].format(result.meta.get("doubt") or "")) if grade else None


def cut_short(result: Result) -> list[str]:
    """Benchmarks of a survey that left something out."""
    return [
        name_in_survey(one["benchmark"], one.get("arguments"))
        for one in result.meta.get("plan") or []
        if one.get("left_out")
    ]
