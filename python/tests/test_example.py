"""The walk through a survey runs, on the example beside it and on any other."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "python" / "explore.py"
RESULTS = ROOT / "examples" / "results"


def walk(*arguments: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), *arguments], capture_output=True, text=True, check=False
    )
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
