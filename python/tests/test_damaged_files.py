"""The commands and files that they cannot use, or that say less than they should."""

import errno
import json
import os
import subprocess
from pathlib import Path

import pytest
from commands import ROOT, SCALING, SURVEYS, command, one_line, program
from report_pages import FLEETS, Tree, measured, with_verdicts
from results import load

import numatlas
from numatlas import exit_codes
from numatlas.figures import figures_of
from numatlas.figures.fleet import judged_hosts
from numatlas.file_error import FileError, intact
from numatlas.report.page import page


def survey(tmp_path, name="survey.json"):
    """What a survey holds, to be changed, and where to write it."""
    return load(SURVEYS / "four-nodes.json"), tmp_path / name


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
    path = tmp_path / "run.json"
    data = json.loads((FLEETS / "run1.json").read_text())
    for case in measured(data):
        for totals in case["host_figures"]:
            del totals["passes"]
            totals["figures"][0]["estimate"] = None
    data["cases"][0]["host_figures"] = []
    data["cases"] = [one for one in data["cases"] if one["labels"].get("finding") != "slow"]
    path.write_text(json.dumps(data))
    result = numatlas.load(path)
    assert result.hosts["value"].isna().all() and result.rounds.empty
    assert "no host could be judged" in Tree(page([result])).find("article", data_kind="Fleet")[0]["text"]


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


def _estimates(reports):
    for report in reports:
        for case in report["cases"]:
            for flow in case["flows"]:
                yield from (figure["estimate"] for figure in flow["figures"] if figure["estimate"])


def _without_intervals(reports, value):
    """The reader would stumble over an interval of that value; here the figures are to."""
    for estimate in _estimates(reports):
        estimate |= {"value": value, "low": None, "high": None}


@pytest.mark.parametrize("value", ["x", {"a": 1}])
def test_values_that_are_no_numbers(tmp_path, value):
    data, path = survey(tmp_path)
    _without_intervals(data["results"], value)
    path.write_text(json.dumps(data))
    one_line(command("report", path, folder=tmp_path), 2, f"{path}: damaged")
    one_line(command("plot", "matrix", path, folder=tmp_path), 2, f"{path}: damaged")
    assert os.listdir(tmp_path) == ["survey.json"]


def test_the_damaged_one_of_several_is_named(tmp_path):
    data, path = survey(tmp_path)
    _without_intervals(data["results"], "x")
    path.write_text(json.dumps(data))
    done = command("report", SURVEYS / "tiers.json", path, FLEETS / "run1.json", folder=tmp_path)
    one_line(done, 2, f"error: {path}: damaged")


@pytest.mark.slow
@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_infinity_ends_with_a_page_or_one_line(measure, plain, tmp_path, value):
    data = plain(measure("latency", "guest-tiers.json", "--size", "1MiB"))
    for estimate in _estimates([data]):
        estimate["value"] = value
    (tmp_path / "a.json").write_text(json.dumps(data))
    (tmp_path / "b.csv").write_text(f"size (MB),0,1\n1,{value},11\n64,80,{value}\n")
    for name in ("a.json", "b.csv"):
        done = command("report", name, folder=tmp_path)
        if done.returncode:
            one_line(done, 2, f"{name}: ")
    done = command("", "b.csv", folder=tmp_path, script=SCALING)
    assert "Traceback" not in done.stderr


def test_loaded_without_labels(measure, plain, tmp_path):
    data = plain(measure("loaded", "guest-tiers.json"))
    for case in data["cases"]:
        del case["labels"]
    path = tmp_path / "loaded.json"
    path.write_text(json.dumps(data))
    words = "loaded.json: damaged, or changed by hand: field 'cases[0]' must contain"
    one_line(command("report", "loaded.json", folder=tmp_path), 2, words)


@pytest.mark.slow
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


@pytest.mark.parametrize(("name", "field"), [("compare", "warnings"), ("check", "warnings")])
def test_damaged_verdicts(tmp_path, name, field):
    files = [FLEETS / "run1.json"] * (2 if name == "compare" else 1)
    done = subprocess.run(
        [str(program()), name, *map(str, files), "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    path, data = tmp_path / f"{name}.json", json.loads(done.stdout)
    path.write_text(json.dumps(data))
    assert numatlas.load(path).kind == name
    del data[field]
    path.write_text(json.dumps(data))
    with pytest.raises(FileError, match=f"damaged, or changed by hand: it must contain .*'{field}'"):
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


# ---- Hosts that nobody could judge


def fleet(tmp_path, kinds, rounds=None):
    data = json.loads((FLEETS / "run1.json").read_text())
    data["hosts"] = data["hosts"][: len(kinds)]
    data["host_rows"] = [{**row, "kind": kind} for row, kind in zip(data["host_rows"], kinds, strict=False)]
    for case in measured(data):
        case["host_figures"] = case["host_figures"][: len(kinds)]
        if rounds is not None:
            del case["host_figures"][rounds]["passes"]
    return with_verdicts(data, tmp_path / "fleet.json", [], ["told in words"])


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
    figures = [figure for case in json.loads(done.stdout)["cases"] for figure in case["figures"]]
    judged = sum(one["estimate"]["value"] for one in figures if one["key"] == "host_judged")
    assert judged_hosts(figures_of(result, "stream")[0]) == judged
