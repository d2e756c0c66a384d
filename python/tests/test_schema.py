"""Results follow docs/result.schema.json, and it is strict enough to tell what does not.

The results that other tests measure are checked where they are made (conftest.py)."""

import copy
import json

import pytest
from commands import ROOT, SURVEYS
from schema import check, problem_of

GOLDEN = ROOT / "tests" / "golden"
GPUS = "two-sockets-four-gpus.json"

#: Those that other tests have no JSON of; each goes through the check of `measure`.
CASES = [
    ("latency", GPUS, ["--size", "64MiB", "--pages", "base,2M", "--threads", "2", "--serial"]),
    ("bandwidth", GPUS, ["--size", "64MiB", "--kernels", "copy", "--mix", "2:1", "--stores", "non-temporal"]),
    ("transfer", GPUS, ["--gpus", "0", "--memory", "weighted:0=3,1=1", "--pin", "pinned,pageable"]),
    ("transfer", GPUS, ["--gpus", "3", "--measure", "copies,chase", "--direction", "both", "--size", "64"]),
    (
        "touch",
        "guest-four-nodes.json",
        ["--size", "16", "--pattern", "own,other", "--kernel", "update", "--serial"],
    ),
    ("copy", "cxl-tiers.json", ["--from", "interleave:0,1", "--to", "bind:2", "--threads", "1"]),
    ("cores", "guest-tiers.json", ["--method", "cas", "--home", "1"]),
    ("weights", "cxl-tiers.json", ["--threads", "1", "--nodes", "0,2"]),
    ("run", "cxl-tiers.json", [GOLDEN / "scenarios" / "tiers.toml"]),
    ("run", GPUS, [ROOT / "examples" / "scenarios" / "loaded_nodes.toml"]),
    ("run", GPUS, ["chase cpu:0 mem:0 + read cpu:1-3 mem:1 rate:50%"]),
    ("survey", GPUS, ["--only", "cores,transfer", "--no-report"]),
    ("stream", GPUS, ["--repeats", "8"]),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_results_follow_it(measure, case):
    command, machine, options = case
    output = "--output" if command == "survey" else "--json"
    assert measure(command, machine, *options, output=output).exists()


@pytest.mark.parametrize("name", ["four-nodes.json", "h100.json", "tiers.json", "two-cpus.json"])
def test_the_examples_follow_it(name):
    check(SURVEYS / name)


def deleted(*path):
    def change(report):
        parent = report
        for key in path[:-1]:
            parent = parent[key]
        del parent[path[-1]]

    return change


def replaced(value, *path):
    def change(report):
        parent = report
        for key in path[:-1]:
            parent = parent[key]
        parent[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (replaced(1, "schema_version"), "$.schema_version"),
        (replaced("other", "program"), "$.program"),
        (deleted("cases"), "'cases'"),
        (deleted("cases", 0, "flow_common"), "'flow_common'"),
        (deleted("cases", 0, "flows", 0, "worker"), "'worker'"),
        (replaced("fine", "cases", 0, "status"), "$.cases[0].status"),
        (replaced("12", "cases", 0, "flows", 0, "figures", 0, "estimate", "value"), "estimate"),
        (replaced(-1, "cases", 0, "distribution", "counts", 0), "counts[0]"),
        (replaced(["a sentence"], "warnings"), "$.warnings[0]"),
        (replaced(True, "cases", 0, "flow_common", "kernel"), "flow_common.kernel"),
        (replaced("0x7f", "cases", 0, "flows", 0, "address"), "address"),
    ],
)
def test_what_is_no_result_does_not(measure, change, words):
    report = json.loads(measure("latency", "guest-tiers.json", "--size", "1MiB").read_text())
    assert problem_of(report) == ""
    changed = copy.deepcopy(report)
    change(changed)
    assert words in problem_of(changed)
