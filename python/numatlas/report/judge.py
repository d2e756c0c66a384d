"""What `numatlas compare` says of two files: the page judges nothing itself."""

import json
import os
import shutil
import subprocess

from numatlas.result import Result

#: Its verdict on a figure, by the unit and the values of both files.
Verdicts = dict[tuple[str, float, float], str]
#: Seconds that it may take.
PATIENCE = 120


def verdicts(base: Result, new: Result) -> Verdicts:
    """Empty where the program is not there, or cannot compare the files."""
    program = os.environ.get("NUMATLAS") or shutil.which("numatlas")
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
