"""The commands: where they write to."""

import json
import os
import stat
import sys
import threading
from pathlib import Path

import pytest
from commands import CSV, MARK, SCALING, SURVEYS, command, command_to, one_line
from made_results import survey
from report_pages import FLEETS

import numatlas
from numatlas.figures import figures_of
from numatlas.file_error import FileError
from numatlas.files import check_output
from numatlas.output import standard_output, write_whole
from numatlas.text import printable


def write_mark(path):
    path.write_text(MARK)


# ---- Where it is written to


def test_a_pipe_is_written_to_and_stays(tmp_path):
    pipe = tmp_path / "pipe.html"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    write_whole(pipe, write_mark)
    reader.join(timeout=20)
    assert read == [MARK]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe.html"]


@pytest.mark.parametrize("before", ["", "there before"])
def test_a_link_stays_and_its_target_is_written(tmp_path, before):
    (tmp_path / "there").mkdir()
    target = tmp_path / "there" / "target.dat"
    if before:
        target.write_text(before)
    link = tmp_path / "link.html"
    link.symlink_to("there/target.dat")
    names = []
    write_whole(link, lambda part: (names.append(part), write_mark(part)))
    assert link.is_symlink() and target.read_text() == MARK
    # Pictures take their form from the name that was asked for.
    (part,) = names
    assert part.suffix == ".html" and part.parent == target.parent and str(os.getpid()) in part.name
    assert os.listdir(target.parent) == ["target.dat"]


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), ValueError("no"), KeyboardInterrupt]
)
def test_what_was_there_stays_when_writing_fails(tmp_path, error):
    path = tmp_path / "page.html"
    path.write_text("there before")

    def make(part):
        part.write_text("half")
        raise error

    with pytest.raises(
        FileError if isinstance(error, OSError) else error if isinstance(error, type) else type(error)
    ):
        write_whole(path, make)
    assert os.listdir(tmp_path) == ["page.html"] and path.read_text() == "there before"


def test_a_folder_is_no_file_to_write(tmp_path):
    (tmp_path / "page.html").mkdir()
    one_line(command("report", FLEETS / "run1.json", "-o", "page.html", folder=tmp_path), 6, "Is a directory")
    assert os.listdir(tmp_path) == ["page.html"] and not os.listdir(tmp_path / "page.html")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc")
def test_a_folder_that_nobody_can_write_to(tmp_path):
    done = command("report", FLEETS / "run1.json", "-o", "/proc/page.html", folder=tmp_path)
    one_line(done, 6, "--output: /proc/page.html: ")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to all")
def test_what_is_write_protected_stays(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("there before")
    path.chmod(0o444)
    with pytest.raises(FileError, match="Permission denied"):
        write_whole(path, write_mark)
    path.unlink()
    tmp_path.chmod(0o555)
    with pytest.raises(FileError, match="Permission denied"):
        write_whole(path, write_mark)
    tmp_path.chmod(0o755)


@pytest.mark.slow
def test_plots_and_scripts_go_through_links_and_pipes(tmp_path):
    csv = tmp_path / "two.csv"
    csv.write_text(CSV)
    link, target = tmp_path / "link.png", tmp_path / "picture"
    link.symlink_to(target)
    for name, arguments in (("plot", ["run", csv]), ("", [csv])):
        target.unlink(missing_ok=True)
        done = command(name, *arguments, "-o", link, folder=tmp_path, script=None if name else SCALING)
        if name and done.returncode == 3:  # not of this kind: take the one that it has
            kind = done.stderr.split("it has ")[1].split(",")[0].strip()
            done = command(name, kind, csv, "-o", link, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert link.is_symlink() and target.read_bytes().startswith(b"\x89PNG")
    assert sorted(os.listdir(tmp_path)) == ["link.png", "picture", "two.csv"]


# ---- What is read is not written to


@pytest.mark.parametrize(
    ("name", "arguments", "output"),
    [
        ("report", ["a.csv"], "a.csv"),
        ("report", ["run.json", "a.csv"], "./a.csv"),
        ("report", ["a.csv", "run.json"], "link.csv"),
        ("report", ["link.csv"], "a.csv"),
        ("report", ["survey"], "survey/survey.json"),
        ("plot", ["latency", "y.svg"], "y.svg"),
        ("", ["y.svg"], "y.svg"),
        ("", ["a.csv", "--mapping", "y.svg"], "link.svg"),
    ],
)
def test_an_input_is_not_overwritten(tmp_path, name, arguments, output):
    (tmp_path / "survey").mkdir()
    files = [tmp_path / file for file in ("a.csv", "y.svg", "run.json", "survey/survey.json")]
    for file in files:
        # Also where it could not be read: the command line is wrong before that.
        file.write_text(CSV)
    (tmp_path / "link.csv").symlink_to("a.csv")
    (tmp_path / "link.svg").symlink_to("y.svg")
    before = sorted(os.listdir(tmp_path))
    done = command(name, *arguments, "-o", output, folder=tmp_path, script=None if name else SCALING)
    one_line(done, 2, f"error: --output: {Path(output)} is one of the files to read")
    assert all(file.read_text() == CSV for file in files) and sorted(os.listdir(tmp_path)) == before


def test_no_picture_of_several_overwrites_the_input(tmp_path):
    result = SURVEYS / "tiers.json"
    *_, last = figures_of(numatlas.load(result), "matrix")
    name = f"{last.key}.png"
    (tmp_path / name).write_bytes(result.read_bytes())
    done = command("plot", "matrix", name, folder=tmp_path)
    one_line(done, 2, f"--output: {name} is one of the files to read")
    assert os.listdir(tmp_path) == [name]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["matrix", "loaded", "latency"])
def test_output_names_the_one_picture_of_several_figures(tmp_path, kind):
    path = survey(tmp_path / "a.json", 2, 1, 4)
    data = json.loads(path.read_text())
    for one in [one for one in data["results"] if one["command"] != "matrix"]:  # a second figure of each kind
        view = json.loads(json.dumps(one["views"][0]))
        view["cells"][-1]["digits"] += 1
        one["views"].append(view)
    path.write_text(json.dumps(data))
    assert len(figures_of(numatlas.load(path), kind)) == 2
    done = command("plot", kind, "a.json", "-o", "all.png", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "all.png\n")
    assert sorted(os.listdir(tmp_path)) == ["a.json", "all.png"]
    done = command("plot", kind, "a.json", folder=tmp_path)
    files = {file for file in os.listdir(tmp_path) if file.startswith(f"{kind}-")}
    assert len(files) == 2 and set(done.stdout.split()) == files


def test_a_device_may_be_read_and_written():
    check_output(Path("/dev/null"), ["/dev/null"])


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("report", ["a.csv", "-o", ""], "--output: the value is empty"),
        ("report", ["a.csv", ""], "FILE: the value is empty"),
        ("plot", ["latency", "a.csv", "-o", ""], "--output: the value is empty"),
        ("plot", ["latency", ""], "FILE: the value is empty"),
        ("", ["a.csv", "-o", ""], "--output: the value is empty"),
        ("", ["a.csv", "--mapping", ""], "--mapping: the value is empty"),
        ("", [""], "CSV: the value is empty"),
    ],
)
def test_no_name_is_a_mistake(tmp_path, name, arguments, words):
    (tmp_path / "a.csv").write_text(CSV)
    (tmp_path / "survey.json").write_text((SURVEYS / "tiers.json").read_text())
    done = command(name, *arguments, folder=tmp_path, script=None if name else SCALING)
    one_line(done, 2, f"error: {words}")
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "survey.json"]


# ---- Standard output that takes nothing


@pytest.mark.parametrize(
    ("name", "arguments", "written", "unbuffered"),
    [
        ("report", ["a.csv"], ["report.html"], ""),
        ("report", ["a.csv"], ["report.html"], "1"),
        ("report", ["--help"], [], ""),
        ("plot", ["latency", "a.csv"], ["latency.png"], ""),
        ("plot", ["latency", "a.csv", "--figure", "list"], [], "1"),
        ("", ["a.csv"], ["a.png"], ""),
        ("", ["--help"], [], ""),
        ("", ["--help"], [], "1"),
    ],
)
def test_standard_output_that_was_closed_is_told(tmp_path, monkeypatch, name, arguments, written, unbuffered):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    (tmp_path / "a.csv").write_text(CSV)
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as nobody:
        script = None if name else SCALING
        done = command_to(nobody, name, *arguments, folder=tmp_path, script=script)
    program_name = "numatlas" if name else "plot_scaling.py"
    wanted = f"{program_name}: error: standard output: write: Broken pipe\n"
    assert (done.returncode, done.stderr) == (6, wanted)
    assert sorted(os.listdir(tmp_path)) == sorted(["a.csv", *written])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_is_told(tmp_path):
    (tmp_path / "a.csv").write_text(CSV)
    with open("/dev/full", "w") as full:
        done = command_to(full, "report", "a.csv", folder=tmp_path)
    wanted = "numatlas: error: standard output: write: No space left on device\n"
    assert (done.returncode, done.stderr) == (6, wanted)


def test_no_standard_output_at_all(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    with standard_output():
        pass
    with pytest.raises(FileError, match="^standard output: write: Bad file descriptor$"), standard_output():
        print("x")


# ---- What names do to a terminal


def test_names_are_escaped():
    name = "cn\x1b]0;t\x07\n\u202e\u009b2J\x7f\udcff"
    assert printable(name) == r"cn\x1b]0;t\x07\x0a\u202e\x9b2J\x7f\xff"
    assert printable("Knoten ä 节点 🖥") == "Knoten ä 节点 🖥"


@pytest.mark.parametrize(("name", "arguments"), [("report", []), ("plot", ["latency"])])
def test_errors_are_one_line_whatever_a_file_is_called(tmp_path, name, arguments):
    done = command(name, *arguments, "no\x1b[2J\nnumatlas: error: forged.json", folder=tmp_path)
    one_line(done, 6, r"no\x1b[2J\x0anumatlas: error: forged.json")


# ---- What can be plotted


def test_what_is_no_kind_of_plot(tmp_path):
    result = SURVEYS / "tiers.json"
    done = command("plot", "foo", result, folder=tmp_path)
    one_line(done, 3, "tiers.json: nothing to plot as foo")
    assert "hint: it has atlas, " in done.stderr
    assert not list(tmp_path.iterdir())
