"""The commands as the program runs them."""

import json
import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
from importlib import import_module
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


def redrawn(data: dict) -> dict:
    """A result or a survey that was made up, with its tables as the program draws them."""
    tool = program().parent.parent / "tests" / "draw_results"
    done = subprocess.run([tool], input=json.dumps(data), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# Each command is a process of its own, forked from one that has loaded matplotlib: loading it takes longer
# than most commands.
_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(
    ["numatlas.cli", "numatlas.plot", "numatlas.report.page", "numatlas.legacy.scaling"]
)


def _command(name, script, arguments, folder, environment, streams):
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for number, path in enumerate(streams, start=1):
        os.dup2(os.open(path, os.O_WRONLY), number)
    sys.argv = [str(script) if script else "-c", *map(str, arguments)]
    if script:
        sys.path.insert(0, str(Path(script).parent))
        runpy.run_path(str(script), run_name="__main__")
    else:
        getattr(import_module("numatlas.cli"), name)()


def command(name, *arguments, folder, script=None):
    """A function of numatlas.cli, or a script, with these arguments in this folder."""
    with tempfile.NamedTemporaryFile() as out, tempfile.NamedTemporaryFile() as err:
        streams = [out.name, err.name]
        process = _processes.Process(
            target=_command, args=(name, script, arguments, folder, dict(os.environ), streams)
        )
        process.start()
        process.join()
        texts = [Path(stream).read_text() for stream in streams]
        return subprocess.CompletedProcess([name, *arguments], process.exitcode, *texts)


def command_to(stdout, name, *arguments, folder, script=None):
    """The same as a new process of Python whose standard output is this."""
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
