"""What figures say, against the files that they are of."""

import json
import re

import numpy as np
import pytest
from report_pages import FLEETS, finding, with_verdicts
from results import value

import numatlas
from numatlas.figures import figures_of
from numatlas.figures.model import Bars, Curves, Figure, Listing, Matrix
from numatlas.figures.told import NOTHING

#: A command, a recorded machine, options that keep it small.
CASES = [
    ("latency", "guest-four-nodes.json", ["--size", "32KiB,1MiB,64MiB", "--pages", "base,thp"]),
    ("bandwidth", "two-sockets-four-gpus.json", ["--threads", "1,2,4"]),
    ("matrix", "guest-tiers.json", []),
    ("loaded", "guest-tiers.json", []),
    ("cores", "guest-tiers.json", []),
    ("copy", "guest-tiers.json", []),
    ("touch", "guest-tiers.json", []),
    ("weights", "guest-tiers.json", []),
    ("transfer", "two-sockets-four-gpus.json", ["--gpus", "0,2"]),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_each_figure_says_what_it_must(measure, case):
    command, machine, options = case
    result = numatlas.load(measure(command, machine, *options))
    found = figures_of(result)
    # The atlas is of pairs of nodes, or of nodes and GPUs.
    assert {one.kind for one in found} - {"atlas"} == {command}
    assert any(one.kind == "atlas" for one in found) == (command in ("matrix", "transfer"))
    measured = [one for one in found if one.kind == command]
    keys = [one.key for one in measured]
    assert len(set(keys)) == len(keys)
    for one in [one for one in measured if not isinstance(one, Listing)]:
        assert one.title and one.spread, one.key
        assert re.fullmatch("[0-9A-Za-z]+(-[0-9A-Za-z]+)*", one.key)
        assert "observed" in one.placement or "peer" in one.key or command == "transfer", one.key
        assert NOTHING in one.warnings, one.key
        assert len(one.data) > 0, one.key
        for values, low, high in spreads(one):
            shown = [(v, lo, hi) for v, lo, hi in zip(values, low, high, strict=True) if v is not None]
            assert all(lo is None or lo <= middle <= hi for middle, lo, hi in shown), one.key
        known = any(lo is not None for _, low, _ in spreads(one) for lo in low)
        assert known != (one.spread == "these figures have no interval"), one.key
        # Three times have no interval, and the sum by the GPUs' own clocks has none in the file.
        assert known or re.search("pin-time|event-bandwidth-sum", one.key), one.key


def spreads(one: Figure) -> list:
    if isinstance(one, Matrix):
        return list(zip(one.values, one.low, one.high, strict=True))
    if isinstance(one, Bars):
        return [([row.value], [row.low], [row.high]) for row in one.rows]
    return [(line.y, line.low, line.high) for line in one.series] if isinstance(one, Curves) else []


def test_a_matrix_is_the_files(measure, plain):
    path = measure("matrix", "guest-tiers.json")
    latency = next(one for one in figures_of(numatlas.load(path)) if one.key.startswith("matrix-latency"))
    wanted = np.full((2, 3), np.nan)
    for case in plain(path)["cases"]:
        if case["kernel"] == "chase":
            cell = (int(case["labels"]["cpu_node"]), int(case["labels"]["memory_node"]))
            wanted[cell] = value(case["flows"][0], "latency") * 1e9
    assert (latency.rows, latency.columns, latency.unit) == (["0", "1"], ["0", "1", "2"], "ns")
    np.testing.assert_allclose(np.array(latency.values, dtype=float), wanted)


def test_a_copy_counts_once(measure, plain):
    path = measure("copy", "guest-tiers.json")
    found = [one for one in figures_of(numatlas.load(path)) if isinstance(one, Matrix)]
    rates = {
        tuple(case["labels"][name] for name in ("from", "to")): value(case, "copy_rate") * 1e-9
        for case in plain(path)["cases"]
        if case["status"] == "ok"
    }
    shown = {
        (row, column): one.values[y][x]
        for one in found
        for y, row in enumerate(one.rows)
        for x, column in enumerate(one.columns)
        if one.values[y][x] is not None
    }
    assert shown == pytest.approx(rates)


def test_load_stands_over_what_was_achieved(measure, plain):
    path = measure("loaded", "guest-tiers.json")
    (one,) = [one for one in figures_of(numatlas.load(path), "loaded") if isinstance(one, Curves)]
    (line,) = [line for line in one.series if re.search("0.*2.*100 % reads", line.name)]
    wanted = {}
    for case in plain(path)["cases"]:
        labels = case["labels"]
        if (labels["cpu_node"], labels["memory_node"]) != ("0", "2"):
            continue
        latency = value(next(flow for flow in case["flows"] if not flow["load"]), "latency") * 1e9
        if labels["load"] == "idle":
            wanted[0.0] = latency
        elif labels["load_kernel"] == "read":
            wanted[value(case, "traffic_sum") * 1e-9] = latency
    assert len(wanted) == 13
    assert line.x == pytest.approx(sorted(wanted))
    assert line.y == pytest.approx([wanted[x] for x in sorted(wanted)])
    assert line.x == sorted(line.x)


def test_pages_that_lie_elsewhere_are_told(measure, plain, tmp_path):
    data = plain(measure("matrix", "guest-tiers.json"))
    flow = data["cases"][1]["flows"][0]
    assert flow["memory"] == "bind:1"
    flow["residency"]["pages_by_node"] = {"0": 4096, "1": 12288}
    flow["warnings"] = [{"code": "placement", "where": None, "text": "only 75.0 % of the pages are there"}]
    path = tmp_path / "astray.json"
    path.write_text(json.dumps(data))
    latency = next(one for one in figures_of(numatlas.load(path)) if one.key.startswith("matrix-latency"))
    assert "asked bind:1, seen node 0: 25 %, node 1: 75 %" in latency.placement
    assert "only 75.0 % of the pages are there" in map(str, latency.warnings)


def test_slow_hosts_are_suspects(tmp_path):
    data = json.loads((FLEETS / "run1.json").read_text())
    path = with_verdicts(data, tmp_path / "slow.json", [finding("cn5", "triad", -0.2, 12.5)])
    (fleet,) = figures_of(numatlas.load(path), "stream")
    assert list(fleet.suspects()["words"]) == ["cn5: triad 20.0 % below the median of its kind, 12.5 MADs"]
    assert fleet.judged
    triad = fleet.hosts[fleet.hosts["kernel"] == "triad"].set_index("host")["value"]
    assert triad["cn5"] < 0.85 * triad["cn1"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data["views"][0].update(rows=5), "field 'views[0].rows' must be"),
        (
            lambda data: data["cases"][2]["flows"][0]["figures"][0]["estimate"].update(low=1.0, high=2.0),
            "the interval of latency, 1 to 2, excludes its value",
        ),
        (
            lambda data: data["cases"][-1]["figures"][0]["estimate"].update(low=1.0, high=2.0),
            "the interval of bandwidth_sum, 1 to 2, excludes its value",
        ),
    ],
)
def test_what_cannot_be_believed_is_one_line(measure, plain, tmp_path, change, words):
    data = plain(measure("matrix", "guest-tiers.json"))
    change(data)
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(data))
    with pytest.raises(numatlas.FileError) as error:
        numatlas.load(path)
    assert str(error.value).startswith(f"{path}: ") and words in str(error.value)
    assert "\n" not in str(error.value)
