"""The published schema of results, and whether a file follows it."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

DOCS = Path(__file__).resolve().parents[2] / "docs"


@cache
def validator() -> Draft202012Validator:
    schema = json.loads((DOCS / "result.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@cache
def codes() -> set[str]:
    """Those of warnings that docs/results.md describes."""
    section = (DOCS / "results.md").read_text().partition("### Codes of warnings")[2].partition("\n### ")[0]
    return set(re.findall(r"^\| `([a-z0-9-]+)` \|", section, re.MULTILINE))


def problem_of(report: dict[str, Any]) -> str:
    """What is not as the schema says, and where; "" where all is."""
    error = best_match(validator().iter_errors(report))
    return f"{error.json_path}: {error.message[:500]}" if error else ""


def check(path: Path) -> None:
    """A report, or each of those in a survey: that it follows the schema, and that its warnings' codes are
    described."""
    data = json.loads(path.read_text())
    reports = data["results"] if data["command"] == "survey" else [data]
    for report in reports:
        problem = problem_of(report)
        assert not problem, f"{path}: {report['command']}: {problem}"
        unknown = {warning["code"] for warning in report["warnings"]} - codes()
        assert not unknown, f"{path}: docs/results.md does not describe the warnings {unknown}"
