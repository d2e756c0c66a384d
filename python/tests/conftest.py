"""Results of the real program: its null engine on recorded machines, which is fast and always the same."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import ROOT, program
from report_pages import EVIL, fact

sys.path.insert(0, str(ROOT / "tests"))
from results import load  # noqa: E402
from schema import check  # noqa: E402


@pytest.fixture(scope="session")
def measure(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """measure("matrix", "guest-tiers.json", "--cpus", "0-3") -> the JSON; measured once a session. All JSON
    follows the published schema."""
    folder = tmp_path_factory.mktemp("results")
    environment = {**os.environ, "NUMATLAS_ENGINE": "null", "NUMATLAS_MPI": "none", "LC_ALL": "C.UTF-8"}
    environment.pop("OMP_NUM_THREADS", None)
    done: dict[tuple[str, ...], Path] = {}

    def of_machine(command: str, machine: str, *options: str, output: str = "--json") -> Path:
        key = (command, machine, *options, output)
        if key not in done:
            suffix = {"--json": "json", "--output": "folder"}[output]
            path = folder / f"{len(done)}-{command}.{suffix}"
            words = [str(program()), command, "--machine", str(ROOT / "tests" / "topologies" / machine), "-q"]
            run = subprocess.run(
                [*words, *options, output, str(path)],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert run.returncode == 0, run.stderr
            if output in ("--json", "--output"):
                check(path / "survey.json" if output == "--output" else path)
            done[key] = path
        return done[key]

    return of_machine


@pytest.fixture(scope="session")
def plain() -> Callable[[Path], dict]:
    """What is in the file, for a second way to its numbers; flows are whole."""
    return load


@pytest.fixture(scope="session")
def made_survey(measure: Callable, plain: Callable, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the results of several commands in one file."""
    words = {
        "latency": ["--size", "32KiB,1MiB,64MiB"],
        "matrix": [],
        "loaded": [],
        "cores": [],
        "touch": [],
        "weights": [],
    }
    parts = [plain(measure(name, "guest-tiers.json", *options)) for name, options in words.items()]
    folder = tmp_path_factory.mktemp("a-folder-nobody-tells")
    data = {
        "schema_version": 2,
        "program": "numatlas",
        "version": "0.1.0",
        "command": "survey",
        "arguments": ["survey"],
        "started": "2026-11-01T10:01:05Z",
        "seconds": 12.5,
        "warnings": [warning["text"] for warning in parts[0]["warnings"]],
        "skipped": [{"benchmark": "transfer", "reason": f"no GPU {EVIL}"}],
        "machine": parts[0]["machines"][0],
        "results": [{**part, "machines": [], "facts": []} for part in parts],
    }
    data["results"][0]["facts"] = [
        fact("a", "Idle latency", 8.125e-8, unit="s", ends=(8e-8, 8.2e-8)),
        fact("b", "Times as long", 2.5),
    ]
    (folder / "survey.json").write_text(json.dumps(data))
    return folder
