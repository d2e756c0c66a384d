"""A result in Python: what is it, what has it, and what it takes to read it."""

import json
import subprocess
import sys
from importlib import resources

import pytest
from commands import SURVEYS
from made_results import survey

import numatlas
from numatlas.result import name_in_survey


def test_a_survey_gives_its_benchmarks(tmp_path):
    result = numatlas.load(survey(tmp_path / "a.json"))
    assert result["matrix"] is result.parts[0] and result["loaded"].kind == "loaded"
    with pytest.raises(KeyError, match="weights: a.json has matrix, latency, loaded, bandwidth"):
        result["weights"]


def test_a_survey_is_a_mapping_of_its_benchmarks(tmp_path):
    result = numatlas.load(survey(tmp_path / "a.json"))
    assert list(result) == list(result.keys()) == ["matrix", "latency", "loaded", "bandwidth"]
    assert list(result.values()) == result.parts and dict(result)["loaded"] is result["loaded"]
    assert "latency" in result and "weights" not in result and result.get("weights") is None
    one = result["latency"]
    assert list(one.items()) == [("latency", one)]
    assert one == one and one != numatlas.load(tmp_path / "a.json")["latency"] and len({one, one}) == 1


def test_frames_of_a_survey_are_those_of_its_benchmarks(tmp_path):
    result = numatlas.load(survey(tmp_path / "a.json"))
    for name, commands in (("flows", list(result)), ("totals", ["matrix", "loaded", "bandwidth"])):
        frame = getattr(result, name)
        assert frame.columns[0] == "command" and list(frame.index) == list(range(len(frame)))
        assert list(dict.fromkeys(frame["command"])) == commands
        for command in commands:
            mine = frame[frame["command"] == command]
            assert mine["value"].tolist() == getattr(result[command], name)["value"].tolist()
    assert str(result.flows["cpu"].dtype) == "Int64"


def test_a_survey_without_benchmarks_has_empty_frames(tmp_path):
    path = survey(tmp_path / "a.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), "results": []}))
    result = numatlas.load(path)
    assert result.flows.empty and result.parts == []


def test_a_short_repr(tmp_path):
    result = numatlas.load(survey(tmp_path / "a.json"))
    assert repr(result) == "<numatlas survey a.json: matrix, latency, loaded, bandwidth>"
    assert repr(result["latency"]).startswith("<numatlas latency a.json: flows 9 x ")


def test_nodes_and_cpus_are_integers():
    result = numatlas.load(SURVEYS / "tiers.json")
    flows = result["matrix"].flows
    for name in ("rank", "thread", "cpu", "cpu_node", "memory_node"):
        assert str(flows[name].dtype) == "Int64", name
    assert flows["memory_node"].max() == 2


def test_a_file_without_headlines_has_an_empty_summary(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("size (MB), 0, 1\n1, 12.5, 12.25\n64, 80.0, 90.5\n")
    assert numatlas.load(path).summary.empty


def test_reading_needs_pandas_alone():
    code = f"import numatlas, sys; numatlas.load({str(SURVEYS / 'tiers.json')!r}).summary; " + (
        "print([name for name in ('matplotlib', 'jinja2', 'plotly', 'PIL') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_loading_takes_no_pandas():
    path = str(SURVEYS / "tiers.json")
    code = f"import numatlas, sys; numatlas.load({path!r}); print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_types_and_version():
    assert resources.files("numatlas").joinpath("py.typed").is_file()
    assert numatlas.__version__[0].isdigit()


@pytest.mark.parametrize("words", [["--on", "gpus"], ["-q", "--on=gpu:0"]])
def test_what_gpus_measured_in_a_survey_has_a_name_of_its_own(tmp_path, words):
    path = survey(tmp_path / "a.json")
    data = json.loads(path.read_text())
    [bandwidth] = [one for one in data["results"] if one["command"] == "bandwidth"]
    data["results"].append({**bandwidth, "arguments": words})
    path.write_text(json.dumps(data))
    result = numatlas.load(path)
    assert list(result) == ["matrix", "latency", "loaded", "bandwidth", "bandwidth-gpus"]
    assert result["bandwidth-gpus"].command == "bandwidth"
    assert set(result.totals["command"]) >= {"bandwidth", "bandwidth-gpus"}
    assert name_in_survey("bandwidth", ["--on", "cpus"]) == "bandwidth"
