"""The walk through a survey runs, on the example beside it and on any other."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from results import load

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "python" / "explore.py"
RESULTS = ROOT / "examples" / "results"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, str(EXAMPLE), *arguments]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def walk(*arguments: str) -> list[str]:
    done = run(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_of_the_four_nodes():
    printed = walk()
    assert printed[0].startswith("guest ") and "matrix" in printed[0]
    assert "0 of 16 chases had most of their pages elsewhere" in printed
    assert [line.split()[0] for line in printed if line.startswith("bind:")] == [
        "bind:0",
        "bind:1",
        "bind:2",
        "bind:3",
    ]


def test_of_a_node_without_cpus():
    printed = walk(str(RESULTS / "tiers.json"))
    assert "0 of 6 chases had most of their pages elsewhere" in printed
    assert any(line.startswith("survey: transfer: no GPU can be used") for line in printed)


def without_matrix(data):
    data["results"] = [part for part in data["results"] if part["command"] != "matrix"]


def without_points(data):
    for part in data["results"]:
        part["cases"] = []
        part["views"] = []  # they name labels of the cases


def without_totals(data):
    for part in data["results"]:
        for case in part["cases"]:
            case["figures"] = []


def without_placement(data):
    """As of memory whose pages the system does not tell of."""
    for part in data["results"]:
        if part["command"] == "matrix":
            part["cases"][0]["flows"][0]["residency"]["pages_by_node"] = {}


@pytest.mark.parametrize("change", [without_matrix, without_points, without_totals, without_placement])
def test_what_is_not_there_is_skipped(tmp_path, change):
    data = load(RESULTS / "tiers.json")
    change(data)
    path = tmp_path / "survey.json"
    path.write_text(json.dumps(data))
    printed = walk(str(path))
    assert any(line.startswith("survey: transfer: no GPU can be used") for line in printed)
    (chases,) = [line for line in printed if "chases" in line] or [""]
    wanted = {without_totals: "0 of 6", without_placement: "1 of 6"}.get(change, "")
    assert chases.startswith(wanted) and bool(chases) == bool(wanted)


@pytest.mark.parametrize(
    ("file", "code", "words"),
    [("none.json", 6, "none.json: No such file or directory"), ("", 2, "FILE: the value is empty")],
)
def test_a_file_that_cannot_be_read_is_one_line(file, code, words):
    done = run(file)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", f"explore.py: error: {words}\n")
