"""The commands as the program runs them: where they write to, and files that they cannot use."""

import errno
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from conftest import program
from report_pages import FLEETS, Tree

import numatlas
from numatlas import exit_codes
from numatlas.figures import figures_of
from numatlas.figures.fleet import judged_hosts
from numatlas.file_error import FileError, intact
from numatlas.files import check_output
from numatlas.output import standard_output, write_whole
from numatlas.report.page import page

ROOT = Path(__file__).resolve().parents[2]
SURVEYS = ROOT / "examples" / "results"
MARK = "of one run"
CSV = "size (MB),0,1\n1,10,11\n64,80,90\n"
SCALING = ROOT / "scripts" / "visualization" / "plot_scaling.py"


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

    with pytest.raises(error if isinstance(error, type) else type(error)):
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
    with pytest.raises(PermissionError):
        write_whole(path, write_mark)
    path.unlink()
    tmp_path.chmod(0o555)
    with pytest.raises(PermissionError):
        write_whole(path, write_mark)
    tmp_path.chmod(0o755)


def test_plots_and_scripts_go_through_links_and_pipes(tmp_path):
    csv = tmp_path / "two.csv"
    csv.write_text(CSV)
    link, target = tmp_path / "link.png", tmp_path / "picture"
    link.symlink_to(target)
    for name, arguments in (("plot", ["flows", csv]), ("", [csv])):
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
    name = f"x-{last.key}.svg"
    (tmp_path / name).write_bytes(result.read_bytes())
    done = command("plot", "matrix", name, "-o", "x.svg", folder=tmp_path)
    one_line(done, 2, f"--output: {name} is one of the files to read")
    assert os.listdir(tmp_path) == [name]


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
        done = command(name, *arguments, folder=tmp_path, script=script, stdout=nobody)
    program_name = "numatlas" if name else "plot_scaling.py"
    wanted = f"{program_name}: error: standard output: write: Broken pipe\n"
    assert (done.returncode, done.stderr) == (6, wanted)
    assert sorted(os.listdir(tmp_path)) == sorted(["a.csv", *written])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_is_told(tmp_path):
    (tmp_path / "a.csv").write_text(CSV)
    with open("/dev/full", "w") as full:
        done = command("report", "a.csv", folder=tmp_path, stdout=full)
    wanted = "numatlas: error: standard output: write: No space left on device\n"
    assert (done.returncode, done.stderr) == (6, wanted)


def test_no_standard_output_at_all(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    with standard_output():
        pass
    with pytest.raises(FileError, match="^standard output: write: Bad file descriptor$"), standard_output():
        print("x")


# ---- Files that cannot be used


def survey(tmp_path, name="survey.json"):
    """What a survey holds, to be changed, and where to write it."""
    return json.loads((SURVEYS / "four-nodes.json").read_text()), tmp_path / name


def dat(configuration="", results=""):
    return (
        f"<stream_run><configuration>{configuration}</configuration><results>{results}</results></stream_run>"
    )


TIMES = "<Copy><Average>1</Average><Minimum>1</Minimum><Maximum>1</Maximum></Copy>"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (dat(), "processes_per_node"),
        (
            dat("<processes_per_node>1</processes_per_node>", f"<node><name>a</name>{TIMES}</node>"),
            "copy_size",
        ),
        (dat("<processes_per_node>1e999</processes_per_node>"), "infinity"),
        ('{"schema_version": ' + "1" * 5000 + "}", "4300"),
        ('{"program": "numatlas", "schema_version": 1, "nodes": ' + "[" * 100_000, "nested too deeply"),
        ("x" * 131_073 + "\n", "131072"),
    ],
)
def test_damage_is_told_in_one_line(tmp_path, text, words):
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(FileError) as error:
        numatlas.load(path)
    assert str(error.value).startswith(f"{path}: ")
    assert words in str(error.value) and "\n" not in str(error.value) and len(str(error.value)) < 400


def test_an_average_of_nothing(tmp_path):
    data = json.loads((FLEETS / "run1.json").read_text())
    for host in data["hosts"]:
        host["rounds"] = []
        host["summaries"] = [{"average": 0, "minimum": 0, "maximum": 0}] * 2
    path = tmp_path / "run.json"
    path.write_text(json.dumps(data))
    with pytest.raises(FileError, match="damaged, or changed by hand: .*division by zero"):
        numatlas.load(path)


def test_a_name_that_no_file_can_have():
    with pytest.raises(FileError, match="File name too long") as error:
        numatlas.load("x" * 5000)
    assert error.value.code == exit_codes.IO


@pytest.mark.parametrize("code", ["EACCES", "EPERM", "EROFS"])
def test_what_the_system_forbids_has_a_code_of_its_own(monkeypatch, code):
    number = getattr(errno, code)

    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "is_dir", refuse)
    with pytest.raises(FileError) as error:
        numatlas.load("locked.json")
    assert error.value.code == exit_codes.PERMISSION == 4
    assert str(error.value) == f"locked.json: {os.strerror(number)}"


def test_too_little_memory_is_one_line():
    with pytest.raises(FileError, match=r"^big\.json: takes more memory than there is$"), intact("big.json"):
        raise MemoryError


def _metrics(data):
    for part in data["results"]:
        for scenario in part["scenarios"]:
            for flow in scenario["flows"]:
                flow["half_width"] = None  # the reader would stumble; here the figures are to
                yield from flow["metrics"]


@pytest.mark.parametrize("value", ["x", {"a": 1}])
def test_values_that_are_no_numbers(tmp_path, value):
    data, path = survey(tmp_path)
    for metric in _metrics(data):
        metric["value"] = value
    path.write_text(json.dumps(data))
    one_line(command("report", path, folder=tmp_path), 2, f"{path}: damaged")
    one_line(command("plot", "matrix", path, folder=tmp_path), 2, f"{path}: damaged")
    assert os.listdir(tmp_path) == ["survey.json"]


def test_the_damaged_one_of_several_is_named(tmp_path):
    data, path = survey(tmp_path)
    for metric in _metrics(data):
        metric["value"] = "x"
    path.write_text(json.dumps(data))
    done = command("report", SURVEYS / "tiers.json", path, FLEETS / "run1.json", folder=tmp_path)
    one_line(done, 2, f"error: {path}: damaged")


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_infinity_ends_with_a_page_or_one_line(measure, tmp_path, value):
    data = json.loads(measure("latency", "guest-tiers.json", "--size", "1MiB", "--no-samples").read_text())
    for scenario in data["scenarios"]:
        for flow in scenario["flows"]:
            for metric in flow["metrics"]:
                metric["value"] = value
    (tmp_path / "a.json").write_text(json.dumps(data))
    (tmp_path / "b.csv").write_text(f"size (MB),0,1\n1,{value},11\n64,80,{value}\n")
    for name in ("a.json", "b.csv"):
        done = command("report", name, folder=tmp_path)
        if done.returncode:
            one_line(done, 2, f"{name}: ")
    done = command("", "b.csv", folder=tmp_path, script=SCALING)
    assert "Traceback" not in done.stderr


def test_loaded_without_labels(measure, tmp_path):
    data = json.loads(measure("loaded", "guest-tiers.json", "--no-samples").read_text())
    for scenario in data["scenarios"]:
        del scenario["labels"]
    (tmp_path / "loaded.json").write_text(json.dumps(data))
    done = command("report", "loaded.json", folder=tmp_path)
    if done.returncode:
        one_line(done, 2, "loaded.json: damaged")


def test_a_script_names_the_damaged_file(tmp_path):
    text = (FLEETS / "memory_results-48x1-100101042021.dat").read_text()
    (tmp_path / "run.dat").write_text(
        text.replace("<Average>", "<Average>1e-999<!-- ").replace("</Average>", " --></Average>")
    )
    one_line(command("", "run.dat", folder=tmp_path, script=ROOT / "process_results.py"), 2, "run.dat: ")
    (tmp_path / "run.dat").write_text(
        text.replace("<Minimum>", "<Minimum>inf<!-- ").replace("</Minimum>", " --></Minimum>")
    )
    done = command("", "run.dat", folder=tmp_path, script=ROOT / "process_results.py")
    assert "Traceback" not in done.stderr


# ---- What is no result


def test_verdicts_are_no_results(tmp_path):
    for name, files in (
        ("compare", [SURVEYS / "four-nodes.json", SURVEYS / "tiers.json"]),
        ("check", [FLEETS / "run1.json"]),
    ):
        done = subprocess.run(
            [str(program()), name, *map(str, files), "--format", "json"],
            capture_output=True,
            text=True,
            check=False,
        )
        path = tmp_path / f"{name}.json"
        path.write_text(done.stdout)
        with pytest.raises(FileError, match=f"of `numatlas {name}`: it holds verdicts, not results"):
            numatlas.load(path)


def test_a_machine_has_nodes(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"program": "numatlas", "schema_version": 1}')
    with pytest.raises(FileError, match="neither results nor a machine"):
        numatlas.load(path)
    path.write_text('{"schema_version": 1, "nodes": []}')
    assert numatlas.load(path).kind == "topology"


@pytest.mark.parametrize("text", ['{"schema_version": 1, "nodes": []}', "size (MB),0,1\n1,10,11\n"])
def test_a_byte_order_mark_is_no_damage(tmp_path, text):
    path = tmp_path / "a"
    path.write_text(text, encoding="utf-8-sig")
    assert numatlas.load(path).kind in ("topology", "numa_mem_bench")


# ---- In short


def cards(*results):
    return [card["text"] for card in Tree(page(list(results))).find(class_="fact")]


def test_of_a_matrix_the_lowest_and_highest_are_told():
    result = numatlas.load(SURVEYS / "four-nodes.json")
    facts = result.meta["summary"]
    cells = [fact for fact in facts if fact["key"] == "matrix_latency"]
    assert len(cells) == 16
    told = cards(result)
    for end, fact in (("lowest", min(cells, key=_value)), ("highest", max(cells, key=_value))):
        (card,) = [one for one in told if f"{end} of 16" in one and one.startswith("latency of one CPU")]
        assert card.startswith(fact["words"]) and f"{fact['value'] * 1e9:.4g}"[:5] in card
    many = {fact["key"] for fact in facts if sum(one["key"] == fact["key"] for one in facts) > 4}
    few = [fact for fact in facts if fact["key"] not in many]
    assert len(told) == 2 * len(many) + len(few)
    for fact in few:
        assert [one for one in told if one.startswith(fact["words"])]


def _value(fact):
    return fact["value"]


def test_facts_stand_side_by_side_where_they_are_of_one_place(tmp_path):
    names = []
    for number, node in enumerate((0, 1)):
        where = {"cpu_node": "0", "memory_node": str(node)}
        data = json.loads((SURVEYS / "tiers.json").read_text())
        data["summary"] = [
            {
                "key": "a",
                "where": {"memory_node": "0", "cpu_node": "0"},
                "words": "same",
                "value": 1 + number,
            },
            {"key": "b", "where": where, "words": f"node {node}", "value": 3 + number, "unit": "1"},
            {"key": "c", "where": {"level": "L1"}, "words": "L1", "value": 5, "unit": "1"},
            {"key": "c", "where": {"level": "L2"}, "words": "L2", "value": 6, "unit": "1"},
        ]
        folder = tmp_path / str(number)
        folder.mkdir()
        names.append(folder / "survey.json")
        names[-1].write_text(json.dumps(data))
    told = cards(*map(numatlas.load, names))
    assert [(card[:2], card.count("guest")) for card in told] == [
        ("sa", 2),
        ("no", 1),
        ("no", 1),
        ("L1", 2),
        ("L2", 2),
    ]


# ---- Hosts that nobody could judge


def fleet(tmp_path, kinds, rounds=None):
    data = json.loads((FLEETS / "run1.json").read_text())
    data["slow"], data["not_judged"] = [], ["told in words"]
    data["hosts"] = data["hosts"][: len(kinds)]
    for at, (host, kind) in enumerate(zip(data["hosts"], kinds, strict=True)):
        host["kind"] = kind
        if rounds == at:
            host["rounds"] = [{name: [] for name in one} for one in host["rounds"]]
    path = tmp_path / "fleet.json"
    path.write_text(json.dumps(data))
    return path


@pytest.mark.parametrize(
    ("kinds", "without", "words"),
    [
        ([0, 0, 1, 1], None, "no host could be judged"),
        ([0, 0, 0], 1, "no host could be judged"),
        ([0, 0, 0, 1, 1], None, "No suspects among the 3 hosts, of 5, that could be judged."),
        ([0, 0, 0, 0], None, "No suspects among all 4 hosts."),
    ],
)
def test_it_is_told_how_many_hosts_were_judged(tmp_path, kinds, without, words):
    path = fleet(tmp_path, kinds, without)
    result = numatlas.load(path)
    text = Tree(page([result])).find("article", data_kind="Fleet")[0]["text"]
    assert words in text
    assert ("No suspects" in text) == words.startswith("No suspects")
    done = subprocess.run(
        [str(program()), "check", str(path), "--format", "json"], capture_output=True, text=True, check=False
    )
    assert judged_hosts(figures_of(result, "stream")[0]) == json.loads(done.stdout)["runs"][0]["judged"]
