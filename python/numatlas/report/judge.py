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
            [*line, "--format", "json"], capture_output=True, text=True, check=False, timeout=PATIENCE
        )
        cases = json.loads(done.stdout)["cases"]
    except (OSError, subprocess.TimeoutExpired, ValueError, KeyError):
        return {}
    sides = [(one, one.get("base") or {}, one.get("new") or {}) for one in cases]
    return {(one["unit"], of.get("value"), to.get("value")): one["verdict"] for one, of, to in sides}


def verdict_on(told: Verdicts, base: Metric | None, new: Metric | None) -> str:
    """ "" where it judges none with these: they are of two cases, or made of several."""
    return told.get((base.unit, base.value, new.value), "") if base and new else ""
