"""Files of numatlas 0.1: read as what they say in the words of today."""

import json
import os
import subprocess

import pandas as pd
import pytest
from commands import ROOT, command, one_line, program
from schema import check

import numatlas
from numatlas.figures import figures_of

COMPARE = ROOT / "tests" / "golden" / "compare"
OLD = COMPARE / "version-1"


@pytest.mark.usefixtures("convert")
@pytest.mark.parametrize("name", ["base.json", "latency.json"])
def test_they_have_what_the_converted_files_have(name):
    old, new = numatlas.load(OLD / name), numatlas.load(COMPARE / name)
    assert (old.kind, old.meta["schema_version"]) == (new.kind, 2)
    assert list(old.frames()) == list(new.frames())
    for frame, wanted in new.frames().items():
        pd.testing.assert_frame_equal(old.frames()[frame], wanted)
    check(COMPARE / name)


@pytest.mark.usefixtures("convert")
def test_intervals_are_the_wider_ones_and_of_sums_students():
    flow = json.loads((OLD / "latency.json").read_text())["scenarios"][0]["flows"][0]
    summary, value = flow["metrics"][0]["summary"], flow["metrics"][0]["value"]
    row = numatlas.load(OLD / "latency.json").flows.iloc[0]
    wanted = (
        min(summary["ci95_low"], value * (1 - flow["half_width"])),
        max(summary["ci95_high"], value * (1 + flow["half_width"])),
    )
    assert (row.low, row.high) == pytest.approx(wanted, rel=1e-6)
    total = json.loads((OLD / "base.json").read_text())["scenarios"][0]["totals"][0]
    half = 2.093 * total["summary"]["stddev"] / 20**0.5
    row = numatlas.load(OLD / "base.json").totals.iloc[0]
    assert (row.low, row.high) == pytest.approx((total["value"] - half, total["value"] + half), rel=1e-6)


def survey_of(*names):
    reports = [json.loads((OLD / name).read_text()) for name in names]
    return {
        "schema_version": 1,
        "program": "numatlas",
        "command": "survey",
        "version": "0.1.0",
        "machine": reports[0]["machines"][0],
        "results": [{**report, "machines": []} for report in reports],
        "warnings": ["told once"],
    }


@pytest.mark.usefixtures("convert")
def test_a_survey(tmp_path):
    (tmp_path / "survey.json").write_text(json.dumps(survey_of("latency.json", "base.json")))
    survey = numatlas.load(tmp_path)
    assert [part.kind for part in survey.parts] == ["latency", "bandwidth"]
    assert [str(warning) for warning in survey.warnings] == ["told once"]
    assert figures_of(survey, "latency") and figures_of(survey, "bandwidth")


def test_the_program_is_found_in_the_path(monkeypatch, tmp_path):
    monkeypatch.delenv("NUMATLAS", raising=False)
    (tmp_path / "numatlas").symlink_to(program())
    monkeypatch.setenv("PATH", str(tmp_path))
    assert numatlas.load(OLD / "latency.json").kind == "latency"


def test_a_file_whose_name_looks_like_an_option(convert, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "--help").write_bytes((OLD / "latency.json").read_bytes())
    assert numatlas.load("--help").kind == "latency"


def test_the_commands_can_use_them(convert, tmp_path):
    done = command("report", OLD / "base.json", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert os.listdir(tmp_path) == ["report.html"]


# ---- Where they cannot be converted


def test_without_the_program_it_is_told(monkeypatch, tmp_path):
    monkeypatch.delenv("NUMATLAS", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(numatlas.FileError, match="needs `numatlas convert`: numatlas is not in PATH"):
        numatlas.load(OLD / "latency.json")
    one_line(command("report", OLD / "latency.json", folder=tmp_path), 2, "needs `numatlas convert`")


def test_a_program_that_is_not_there_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMATLAS", str(tmp_path / "gone"))
    with pytest.raises(numatlas.FileError, match=r"latency\.json: .*/gone: No such file or directory$"):
        numatlas.load(OLD / "latency.json")


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("echo \"numatlas: error: unknown command 'convert'\nnumatlas: hint: x\" >&2", "unknown command"),
        ("true", "exit code 3"),
    ],
)
def test_what_the_program_says_is_one_line(monkeypatch, tmp_path, lines, words):
    old = tmp_path / "numatlas"
    old.write_text(f"#!/bin/sh\n{lines}\nexit 3\n")
    old.chmod(0o755)
    monkeypatch.setenv("NUMATLAS", str(old))
    with pytest.raises(numatlas.FileError) as error:
        numatlas.load(OLD / "latency.json")
    assert "\n" not in str(error.value) and words in str(error.value)
    assert "numatlas: error" not in str(error.value)


@pytest.mark.usefixtures("convert")
def test_a_damaged_one_is_told(tmp_path):
    data = json.loads((OLD / "latency.json").read_text())
    del data["scenarios"][0]["flows"]
    path = tmp_path / "damaged.json"
    path.write_text(json.dumps(data))
    with pytest.raises(
        numatlas.FileError, match="damaged result of numatlas 0.1: key 'flows' not found$"
    ) as error:
        numatlas.load(path)
    assert str(error.value).count(str(path)) == 1


# ---- What has no version, or has it elsewhere


def test_convert_leaves_what_is_up_to_date(measure):
    path = measure("latency", "guest-tiers.json", "--size", "1MiB")
    done = subprocess.run([program(), "convert", path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == json.loads(path.read_text())


def test_csv_of_version_1(tmp_path):
    """Its interval is that of all samples, and the stop rule's stands beside it; of sums it is another."""
    result = numatlas.load(ROOT / "python" / "tests" / "version_1.csv")
    rows = result.flows[result.flows["metric"] == "bandwidth"]
    assert len(rows) and (rows["half_width"] > 0).all()
    assert ((1 - rows["low"] / rows["value"]) / rows["half_width"] > 1 - 1e-9).all()
    assert ((rows["high"] / rows["value"] - 1) / rows["half_width"] > 1 - 1e-9).all()
    sums = result.totals[result.totals["metric"] == "bandwidth_sum"]
    assert len(sums) and sums["low"].isna().all() and sums["high"].isna().all()
    for one in figures_of(result, "bandwidth"):
        assert one.spread == "the file has no interval of these figures"
