"""numatlas.load on every kind of file, good and bad, against a plain reading of the file."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from statistics import median

import pandas as pd
import pytest
from results import load

import numatlas

ROOT = Path(__file__).resolve().parents[2]
FLEET = ROOT / "tests" / "golden" / "fleet"


def test_flows_are_what_the_file_says(measure, plain):
    path = measure("matrix", "guest-tiers.json")
    result, data = numatlas.load(path), plain(path)
    wanted = [
        (index, number, figure["key"], *(figure["estimate"][part] for part in ("value", "low", "high")))
        for index, case in enumerate(data["cases"])
        for number, flow in enumerate(case["flows"])
        for figure in flow["figures"]
    ]
    columns = ["point", "flow", "metric", "value", "low", "high"]
    assert list(result.flows[columns].itertuples(index=False, name=None)) == wanted
    assert result.machines == data["machines"]
    assert result.kind == "matrix"


def test_the_half_width_is_the_larger_side_of_the_interval(measure):
    row = numatlas.load(measure("latency", "guest-tiers.json", "--size", "64MiB")).flows.iloc[0]
    assert row.low < row.value < row.high
    assert row.half_width == max(row.value - row.low, row.high - row.value) / row.value


def test_what_all_flows_have_alike_is_of_each(measure, tmp_path):
    """The file has it once for each case, whatever it is."""
    path = measure("latency", "guest-tiers.json", "--size", "1MiB", "--threads", "2")
    data = json.loads(path.read_text())
    assert "kernel" in data["cases"][0]["flow_common"] and "kernel" not in data["cases"][0]["flows"][1]
    whole = tmp_path / "whole.json"
    whole.write_text(json.dumps(load(path)))
    pd.testing.assert_frame_equal(numatlas.load(whole).flows, numatlas.load(path).flows)
    assert (numatlas.load(path).flows["kernel"] == "chase").all()


def test_warnings_are_told_with_their_place(measure, plain, tmp_path):
    data = plain(measure("latency", "guest-tiers.json", "--size", "1MiB"))
    data["warnings"] = [
        {"code": "a", "where": "1MiB base, worker 0", "text": "one"},
        {"code": "b", "where": None, "text": "two"},
    ]
    path = tmp_path / "warned.json"
    path.write_text(json.dumps(data))
    warnings = numatlas.load(path).warnings
    assert [str(warning) for warning in warnings] == ["1MiB base, worker 0: one", "two"]
    assert [(one.code, one.where, one.text) for one in warnings] == [
        ("a", "1MiB base, worker 0", "one"),
        ("b", None, "two"),
    ]


def test_warnings_of_flows_keep_their_codes(measure, plain, tmp_path):
    data = plain(measure("latency", "guest-tiers.json", "--size", "1MiB"))
    data["cases"][0]["flows"][0]["warnings"] = [
        {"code": "stopped", "where": None, "text": "one"},
        {"code": "low-overlap", "where": None, "text": "two"},
    ]
    path = tmp_path / "warned.json"
    path.write_text(json.dumps(data))
    row = numatlas.load(path).flows.iloc[0]
    assert (row.flow_warnings, row.flow_warning_codes) == ("one; two", "stopped; low-overlap")


def test_warnings_of_a_survey_have_the_codes_of_its_benchmarks(made_survey):
    survey = numatlas.load(made_survey)
    assert survey.warnings and all(warning.code for warning in survey.warnings)


def test_a_pipe_is_read_once(measure, tmp_path):
    path = measure("latency", "guest-tiers.json", "--size", "1MiB")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(path.read_bytes()), daemon=True)
    writer.start()
    pd.testing.assert_frame_equal(numatlas.load(pipe).flows, numatlas.load(path).flows)
    writer.join(timeout=20)


def test_the_interval_of_a_sum_is_that_of_the_program(measure, plain):
    """survey.json tells the one that the program shows."""
    folder = measure("survey", "guest-tiers.json", "--only", "bandwidth", "--no-report", output="--output")
    (report,) = plain(folder / "survey.json")["results"]
    facts = [{**fact, **fact["estimate"]} for fact in report["facts"]]
    (part,) = [part for part in numatlas.load(folder).parts if part.kind == "bandwidth"]
    sums = part.totals[part.totals["metric"] == "bandwidth_sum"]
    assert facts
    for fact in facts:
        row = sums.iloc[(sums["value"] - fact["value"]).abs().argmin()]
        assert (row["value"], row["low"], row["high"]) == pytest.approx(
            (fact["value"], fact["low"], fact["high"]), rel=1e-6
        )
        assert row["low"] < row["value"]


def test_labels_and_places_are_columns(measure):
    flows = numatlas.load(measure("matrix", "guest-tiers.json")).flows
    chases = flows[flows["kernel"] == "chase"]
    assert (chases["memory_node"].astype(int) == chases["observed_memory_node"]).all()
    pairs = chases[["cpu_node", "memory_node"]].astype(int).itertuples(index=False, name=None)
    assert set(pairs) == {(cpu, memory) for cpu in (0, 1) for memory in (0, 1, 2)}
    assert set(flows["unit"]) == {"s", "B/s"}


def test_ranks_of_numa_mem_bench(tmp_path):
    path = tmp_path / "ranks.csv"
    path.write_text("size (MB),0,1\n1,10.40,11.64\n2,13.26,13.28\n")
    rows = numatlas.load(path).rows
    assert list(rows.itertuples(index=False, name=None)) == [
        (2**20, 0, pytest.approx(10.40e-9)),
        (2**21, 0, pytest.approx(13.26e-9)),
        (2**20, 1, pytest.approx(11.64e-9)),
        (2**21, 1, pytest.approx(13.28e-9)),
    ]


def test_stream_by_rounds(plain):
    path = FLEET / "run1.json"
    result, data = numatlas.load(path), plain(path)
    triad = data["cases"][1]
    moved = triad["figures"][0]["estimate"]["value"] * data["host_rows"][2]["processes"]
    row = result.hosts.query("host == @data['hosts'][2] and kernel == 'triad'").iloc[0]
    bandwidths = sorted(moved / seconds for seconds in triad["host_figures"][2]["passes"]["node"][1:])
    assert row.value == pytest.approx(median(bandwidths))
    assert bandwidths[0] <= row["low"] <= row.value <= row["high"] <= bandwidths[-1]
    assert (row["min"], row["max"]) == (bandwidths[0], bandwidths[-1])
    assert result.rounds["counted"].sum() == len(result.rounds) * 7 // 8


def test_dat_of_distributed_streams():
    result = numatlas.load(FLEET / "memory_results-48x1-100101042021.dat")
    assert result.meta["started"] == "2021-04-01T10:01"
    assert result.hosts["host"].nunique() == 23
    triad = result.hosts[result.hosts["kernel"] == "triad"]
    # The table that the program printed: all bytes over the mean of the times.
    assert 120e6 * 48 / triad["average_seconds"].mean() == pytest.approx(154258.6e6, rel=1e-3)
    assert (triad["min"] <= triad["max"]).all()


BAD = {
    "empty": ("", "empty"),
    "blank": (" \n", "empty"),
    "cut": (
        '{"program": "numatlas", "schema_version": 2, "cases": [{"na',
        "not valid JSON (truncated?): line 1, ",
    ),
    "cut after a case": (
        '{"program": "numatlas",\n"cases": [{"name": "a"}',
        "is not valid JSON (truncated?): line 2, column 24",
    ),
    "foreign": ('{"name": "somebody else"}', "no result of numatlas"),
    "list": ("[1, 2]", "neither a result"),
    "newer": ('{"program": "numatlas", "schema_version": 3, "command": "latency"}', "of a newer numatlas"),
    "older": ('{"program": "numatlas", "command": "latency"}', "no schema_version"),
    "damaged": (
        '{"program": "numatlas", "schema_version": 2, "command": "matrix", "cases": 5}',
        "damaged",
    ),
    "no fields": ('{"program": "numatlas", "schema_version": 2, "command": "stream"}', "neither results nor"),
    "of 0.1": ('{"program": "numatlas", "schema_version": 1, "command": "stream"}', "of an older numatlas"),
    "syntax": ('{"program": "numatlas",, "a": 1}', "is not valid JSON: line 1, column 24: Expecting"),
    "words after it": ('{"program": "numatlas"}\nxyz', "is not valid JSON: line 2, column 1: Extra data"),
    "xml": ("<html></html>", "not of distributed_streams"),
    "cut xml": ("<stream_run><experiment>", "no whole XML"),
    "no nodes": (
        "<stream_run><configuration><processes_per_node>1</processes_per_node><threads_per_process>1"
        "</threads_per_process><number_of_nodes>1</number_of_nodes></configuration><results/></stream_run>",
        "no nodes",
    ),
    "csv": ("a,b\n1,2\n", "neither a result"),
    "csv of --format": ("host,rank,thread\na,0,0\n", "neither a result"),
    "header only": ("size (MB),0,1\n", "header without rows"),
    "words": ("size (MB),0\n1,abc\n", "damaged"),
    "short row": ("size (MB),0,1\n1,2\n2,3,4\n", "damaged: line 2 has fewer fields"),
    "short last row": ("size (MB),0,1\n1,2,3\n2,3\n", "ends in the middle, in line 3: a run"),
    "cut head": ("size (MB),0,1", "ends in the middle, in line 1"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_give_one_line(tmp_path, name):
    text, words = BAD[name]
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(numatlas.FileError) as error:
        numatlas.load(path)
    assert str(error.value).startswith(f"{path}: ")
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_a_binary_and_a_folder(tmp_path):
    (tmp_path / "binary").write_bytes(b"\x7fELF\xff\xfe\x00")
    with pytest.raises(numatlas.FileError, match="not text"):
        numatlas.load(tmp_path / "binary")
    with pytest.raises(numatlas.FileError, match=r"without survey\.json"):
        numatlas.load(tmp_path)
    with pytest.raises(numatlas.FileError, match="No such file"):
        numatlas.load(tmp_path / "nothing")


def test_every_cut_of_a_file_is_noticed(measure, tmp_path):
    """Wherever a copy was cut: one line and no stray exception."""
    text = measure("latency", "guest-tiers.json", "--size", "1MiB").read_text().rstrip()
    path = tmp_path / "cut.json"
    for end in range(1, len(text), max(1, len(text) // 200)):
        path.write_text(text[:end])
        with pytest.raises(numatlas.FileError):
            numatlas.load(path)


@pytest.mark.parametrize("form", ["ranks", "mapping"])
def test_every_cut_of_a_csv_within_a_row_is_noticed(form, tmp_path):
    """What is left of a cut number is a number too, and pandas takes a row of fewer fields."""
    examples = ROOT / "examples" / "published"
    text = {
        "ranks": (examples / "numa_mem_bench-lumig-domain0.csv").read_text,
        "mapping": (examples / "numa_mem_bench-lumig-domain0-mapping_check.log").read_text,
    }[form]()
    path = tmp_path / "cut.csv"
    path.write_text(text)
    numatlas.load(path)
    head = text.index("\n") + 1
    for end in range(head, len(text)):
        path.write_text(text[:end])
        line = text[:end].count("\n") + 1
        wanted = f"ends in the middle, in line {line}: a run that was killed, or a full disk?"
        if text[end - 1] == "\n":  # nothing tells that rows are missing
            wanted = "a header without rows" if end == head else ""
        if wanted:
            with pytest.raises(numatlas.FileError) as error:
                numatlas.load(path)
            assert str(error.value).startswith(f"{path}: {wanted}")
        else:
            numatlas.load(path)


def test_no_name_is_not_the_current_folder(monkeypatch):
    monkeypatch.chdir(ROOT / "examples" / "results")
    with pytest.raises(numatlas.FileError, match="^FILE: the value is empty$"):
        numatlas.load("")


@pytest.mark.slow
def test_fields_that_are_missing_or_wrong_give_one_line(measure, plain, tmp_path):
    """Each field of a result in turn taken away, and replaced by something else."""
    data = plain(measure("latency", "guest-tiers.json", "--size", "1MiB"))
    path = tmp_path / "changed.json"
    case = data["cases"][0]
    flow = case["flows"][0]
    for parent in (data, case, flow, flow["figures"][0], flow["figures"][0]["estimate"]):
        for key in list(parent):
            kept = parent[key]
            for other in (None, 7, "x", [], {}):
                parent[key] = other
                _load_or_one_line(path, data)
            del parent[key]
            _load_or_one_line(path, data)
            parent[key] = kept


def _load_or_one_line(path: Path, data: dict) -> None:
    path.write_text(json.dumps(data))
    try:
        numatlas.load(path)
    except numatlas.FileError as error:
        assert str(error).startswith(str(path))


def test_version_is_the_repositorys():
    version = (ROOT / "VERSION").read_text().strip()
    command = [sys.executable, "setup.py", "--version"]
    done = subprocess.run(command, cwd=ROOT / "python", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = done.stdout
    assert told.splitlines()[-1] == version
