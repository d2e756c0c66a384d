"""The commands as the program runs them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SURVEYS = ROOT / "examples" / "results"
MARK = "of one run"
CSV = "size (MB),0,1\n1,10,11\n64,80,90\n"
SCALING = ROOT / "scripts" / "visualization" / "plot_scaling.py"


def program() -> Path:
    """numatlas, as NUMATLAS names it or as it was built here."""
    named = os.environ.get("NUMATLAS")
    if named:
        return Path(named)
    for preset in ("ci", "release"):
        built = ROOT / "build" / preset / "bin" / "numatlas"
        if built.exists():
            return built
    pytest.skip("numatlas is not built, and NUMATLAS names none")


def command(name, *arguments, folder, script=None, stdout=subprocess.PIPE):
    words = [str(script)] if script else ["-c", f"from numatlas.cli import {name}; {name}()"]
    return subprocess.run(
        [sys.executable, *words, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )


def one_line(done, code, *words):
    assert done.returncode == code, done.stderr
    lines = [line for line in done.stderr.splitlines() if "hint: " not in line]
    assert len(lines) == 1 and done.stdout == "", done.stderr
    for word in words:
        assert word in lines[0]
