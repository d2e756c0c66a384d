import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1]


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A wheel's layout: the package with a program that says what it is asked, and the scripts."""
    real = tmp_path / "package/numatlas"
    real.mkdir(parents=True)
    for name in ("__init__.py", "launcher.py"):
        (real / name).write_bytes((PACKAGE / "numatlas" / name).read_bytes())
    programs = real / "program/bin"
    programs.mkdir(parents=True)
    program = programs / "numatlas"
    program.write_text('#!/bin/sh\necho "numatlas $* [$NUMATLAS_EXEC_PATH]"\nexit 7\n', encoding="utf-8")
    program.chmod(0o755)
    (tmp_path / "bin").mkdir()
    for name in ("numatlas", "numa_bench"):
        script = tmp_path / "bin" / name
        script.write_text(
            f"#!{sys.executable}\nimport sys\nfrom numatlas.launcher import main\nsys.exit(main())\n",
            encoding="utf-8",
        )
        script.chmod(0o755)
    return tmp_path


def start(installed: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(installed / "package"), **more}
    program = str(installed / "bin" / words[0])
    return subprocess.run([program, *words[1:]], capture_output=True, text=True, check=False, env=environment)


def test_becomes_the_program(installed: Path) -> None:
    done = start(installed, "numatlas", "survey", "--time", "1 s")
    assert done.returncode == 7
    assert done.stdout.startswith("numatlas survey --time 1 s")
    assert f"[{installed / 'bin'}]" in done.stdout  # where numatlas-report is


def test_the_users_folders_come_first(installed: Path) -> None:
    done = start(installed, "numatlas", NUMATLAS_EXEC_PATH="/mine")
    assert f"[/mine:{installed / 'bin'}]" in done.stdout


def test_the_program_learns_the_name_of_an_earlier_tool(installed: Path) -> None:
    program = installed / "package/numatlas/program/bin/numatlas"
    program.unlink()
    program.symlink_to("/bin/sh")
    assert start(installed, "numa_bench", "-c", "echo $0").stdout == "numa_bench\n"


def test_a_program_that_is_not_there(installed: Path) -> None:
    (installed / "package/numatlas/program/bin/numatlas").unlink()
    done = start(installed, "numatlas")
    assert done.returncode == 3
    assert "No such file" in done.stderr and "architecture" in done.stderr


def run_python(code: str, *options: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    command = [sys.executable, *options, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_the_package_is_imported_without_pandas() -> None:
    done = run_python("import sys; import numatlas.launcher; print('pandas' in sys.modules)")
    assert done.stdout == "False\n"
    done = run_python("import sys; import numatlas; numatlas.load; print('pandas' in sys.modules)")
    assert done.stdout == "False\n"


def test_report_without_its_libraries_says_how_to_get_them() -> None:
    done = run_python(
        "import sys; sys.modules['pandas'] = None\nfrom numatlas import launcher\nlauncher.report()"
    )
    assert done.returncode == 3
    assert "pandas is not installed" in done.stderr
    assert "pip install 'numatlas[report]'" in done.stderr


def test_report_under_an_older_python_says_so() -> None:
    done = run_python(
        "import sys; sys.version_info = (3, 9, 2)\nfrom numatlas import launcher\nlauncher.report()"
    )
    assert done.returncode == 3
    assert "Python 3.9: `numatlas report` needs 3.11" in done.stderr


def test_names_that_the_package_does_not_have() -> None:
    done = run_python("import numatlas\ntry: numatlas.nothing\nexcept AttributeError as e: print(e)")
    assert done.stdout == "module 'numatlas' has no attribute 'nothing'\n"
