"""Results of the real program: its null engine on recorded machines, which is fast and always the same."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


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


@pytest.fixture(scope="session")
def measure(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """measure("matrix", "guest-tiers.json", "--cpus", "0-3") -> the JSON; measured once a session."""
    folder = tmp_path_factory.mktemp("results")
    environment = {**os.environ, "NUMATLAS_ENGINE": "null", "NUMATLAS_MPI": "none", "LC_ALL": "C.UTF-8"}
    environment.pop("OMP_NUM_THREADS", None)
    done: dict[tuple[str, ...], Path] = {}

    def of_machine(command: str, machine: str, *options: str, output: str = "--json") -> Path:
        key = (command, machine, *options, output)
        if key not in done:
            suffix = "csv" if output != "--json" else "json"
            path = folder / f"{len(done)}-{command}.{suffix}"
            where = [] if output == "--format" else [output, str(path)]
            words = [str(program()), command, "--machine", str(ROOT / "tests" / "topologies" / machine), "-q"]
            if output == "--format":
                words += ["--format", "csv"]
            run = subprocess.run(
                [*words, *options, *where], env=environment, capture_output=True, text=True, check=False
            )
            assert run.returncode == 0, run.stderr
            if output == "--format":
                path.write_text(run.stdout)
            done[key] = path
        return done[key]

    return of_machine


@pytest.fixture(scope="session")
def plain() -> Callable[[Path], dict]:
    """The file as it is, for a second way to its numbers."""
    return lambda path: json.loads(path.read_text())
