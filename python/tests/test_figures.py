"""What figures say, against the files that they are of."""

import numpy as np
import pytest
from results import value

import numatlas
from numatlas.figures import KINDS, figures_of
from numatlas.figures.model import Bars, Curves, Figure, Fleet, Matrix

#: A command, a recorded machine, options that keep it small, the kinds of figures.
CASES = [
    ("latency", "guest-four-nodes.json", ["--size", "32KiB,1MiB,64MiB", "--pages", "base,thp"], {"latency"}),
    ("bandwidth", "two-sockets-four-gpus.json", ["--threads", "1,2,4"], {"bandwidth", "scaling"}),
    ("matrix", "guest-tiers.json", [], {"matrix"}),
    ("loaded", "guest-tiers.json", [], {"loaded"}),
    ("cores", "guest-tiers.json", [], {"cores"}),
    ("copy", "guest-tiers.json", [], {"copy"}),
    ("touch", "guest-tiers.json", [], {"touch"}),
    ("weights", "guest-tiers.json", [], {"weights"}),
    ("transfer", "two-sockets-four-gpus.json", ["--gpus", "0,2"], {"transfer"}),
]


def figures(measure, case) -> list[Figure]:
    command, machine, options, _ = case
    return figures_of(numatlas.load(measure(command, machine, *options)))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_each_figure_says_what_it_must(measure, case):
    found = figures(measure, case)
    result = numatlas.load(measure(case[0], case[1], *case[2]))
    kinds = {kind for kind in KINDS if figures_of(result, kind)}
    assert kinds == case[3] | {"machine"}
    measured = [one for one in found if not one.key.startswith("machine")]
    keys = [one.key for one in measured]
    assert len(set(keys)) == len(keys)
    for one in measured:
        assert one.title and one.spread, one.key
        assert "observed" in one.placement or "peer" in one.key, one.key
        assert any("null engine" in warning for warning in one.warnings), one.key
        assert len(one.data) > 0, one.key
        for values, low, high in spreads(one):
            shown = [(v, lo, hi) for v, lo, hi in zip(values, low, high, strict=True) if v is not None]
            assert shown, one.key
            assert all(lo is None or lo <= middle <= hi for middle, lo, hi in shown), one.key
            assert any(lo is not None for _, lo, _ in shown), one.key


def spreads(one: Figure) -> list:
    if isinstance(one, Matrix):
        return list(zip(one.values, one.low, one.high, strict=True))
    if isinstance(one, Fleet):
        return list(zip(one.values, one.low, one.high, strict=True))
    series = one.series if isinstance(one, Curves) else one.groups if isinstance(one, Bars) else []
    return [(line.y, line.low, line.high) for line in series]


def test_a_matrix_is_the_files(measure, plain):
    path = measure("matrix", "guest-tiers.json")
    latency = next(one for one in figures_of(numatlas.load(path)) if one.key.startswith("matrix-latency"))
    wanted = np.full((2, 3), np.nan)
    for case in plain(path)["cases"]:
        if case["kernel"] == "chase":
            cell = (int(case["labels"]["cell_cpu_node"]), int(case["labels"]["cell_memory_node"]))
            wanted[cell] = value(case["flows"][0], "latency") * 1e9
    assert (latency.rows, latency.columns, latency.unit) == (["0", "1"], ["0", "1", "2"], "ns")
    np.testing.assert_allclose(np.array(latency.values, dtype=float), wanted)


def test_a_copy_counts_once(measure, plain):
    path = measure("copy", "guest-tiers.json")
    found = [one for one in figures_of(numatlas.load(path)) if isinstance(one, Matrix)]
    rates = {
        tuple(case["labels"][name] for name in ("from", "to", "side")): value(case, "copy_rate") * 1e-9
        for case in plain(path)["cases"]
        if case["status"] == "ok"
    }
    shown = {
        (row, column, one.data["side"].iloc[0]): one.values[y][x]
        for one in found
        for y, row in enumerate(one.rows)
        for x, column in enumerate(one.columns)
        if one.values[y][x] is not None
    }
    assert shown == pytest.approx(rates)


def test_load_stands_over_what_was_achieved(measure, plain):
    path = measure("loaded", "guest-tiers.json")
    result = numatlas.load(path)
    one = next(one for one in figures_of(result, "loaded") if one.key == "loaded-read")
    line = next(s for s in one.series if s.name == "CPUs of node 0 -> memory of node 2")
    wanted = {}
    for case in plain(path)["cases"]:
        labels = case["labels"]
        if (labels["cell_cpu_node"], labels["cell_memory_node"]) != ("0", "2"):
            continue
        latency = value(next(flow for flow in case["flows"] if not flow["load"]), "latency") * 1e9
        if labels["load"] == "idle":
            wanted[0.0] = latency
        elif labels["load_kernel"] == "read":
            wanted[value(case, "bandwidth_sum") * 1e-9] = latency
    assert len(wanted) == 11
    assert dict(zip(line.x, line.y, strict=True)) == pytest.approx(wanted)
    assert line.x == sorted(line.x)


def test_pages_that_lie_elsewhere_are_told(measure, plain, tmp_path):
    import json

    data = plain(measure("matrix", "guest-tiers.json"))
    flow = data["cases"][1]["flows"][0]
    assert flow["memory"] == "bind:1"
    flow["residency"]["pages_by_node"] = {"0": 4096, "1": 12288}
    flow["warnings"] = [{"code": "placement", "where": None, "text": "only 75.0 % of the pages lie there"}]
    path = tmp_path / "astray.json"
    path.write_text(json.dumps(data))
    latency = next(one for one in figures_of(numatlas.load(path)) if one.key.startswith("matrix-latency"))
    assert "asked bind:1, seen node 0: 25 %, node 1: 75 %" in latency.placement
    assert "only 75.0 % of the pages lie there" in latency.warnings


def test_slow_hosts_are_suspects(plain, tmp_path):
    import json
    from pathlib import Path

    root = Path(__file__).resolve().parents[2]
    data = plain(root / "tests" / "golden" / "fleet" / "run1.json")
    data["slow"] = [{"host": "cn5", "kernels": [{"kernel": 1, "name": "triad", "drop": 0.2, "mads": 12.5}]}]
    path = tmp_path / "slow.json"
    path.write_text(json.dumps(data))
    (fleet,) = figures_of(numatlas.load(path), "stream")
    assert [suspect.words for suspect in fleet.suspects] == [
        "cn5: triad 20.0 % below the median of its kind, 12.5 MADs"
    ]
    assert fleet.judged
    place = fleet.hosts.index("cn5")
    assert fleet.values[1][place] < 0.85 * fleet.values[1][0]
