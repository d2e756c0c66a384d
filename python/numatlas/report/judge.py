"""What `numatlas compare` says of two files: the page judges nothing itself."""

import json
import subprocess

from numatlas.facts import Metric
from numatlas.files import program_path
from numatlas.result import Result

#: Its verdict on a figure, by the unit and the values of both files.
Verdicts = dict[tuple[str, float, float], str]
#: Seconds that it may take.
PATIENCE = 120


def verdicts(base: Result, new: Result) -> Verdicts:
    """Empty where the program is not there, or cannot compare the files."""
    program = program_path()
    if not program:
        return {}
    line = [program, "compare", "--base", base.path.absolute(), "--new", new.path.absolute()]
    try:
        done = subprocess.run(
            [*line, "--format", "json"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        told: Verdicts = {}
        for one in json.loads(done.stdout)["cases"]:
            figures = {figure["key"]: figure for figure in one["figures"]}
            if one["labels"]["row"] != "case" or "base" not in figures or "new" not in figures:
                continue
            sides = [figures[side]["estimate"]["value"] for side in ("base", "new")]
            figure, verdict = (figures["base"]["unit"], *sides), one["labels"]["verdict"]
            # Two cases with the same figures but other verdicts: nobody knows whose these are.
            told[figure] = verdict if told.get(figure, verdict) == verdict else ""
        return told
    except (OSError, subprocess.TimeoutExpired, ValueError, KeyError, TypeError, AttributeError):
        return {}  # or it is a program of another version


def verdict_on(told: Verdicts, base: Metric | None, new: Metric | None) -> str:
    """ "" where it judges none with these: they are of two cases, or made of several."""
    return told.get((base.unit, base.value, new.value), "") if base and new else ""
