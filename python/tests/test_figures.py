"""What figures say, against the files that they are of."""

import json
import re

import numpy as np
import pytest
from report_pages import FLEETS, finding, with_verdicts
from results import value

import numatlas
from numatlas.figures import figures_of
from numatlas.figures.model import Bars, Curves, Figure, Matrix
from numatlas.figures.tables import NO_SPREAD
from numatlas.figures.told import NOTHING
from numatlas.result import cell_of, view_of

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
    for one in measured:
        assert one.title and one.spread, one.key
        assert re.fullmatch("[0-9A-Za-z]+(-[0-9A-Za-z]+)*", one.key)
        assert "observed" in one.placement or "peer" in one.key or command == "transfer", one.key
        assert NOTHING in one.warnings, one.key
        assert len(one.data) > 0, one.key
        for values, low, high in spreads(one):
            shown = [(v, lo, hi) for v, lo, hi in zip(values, low, high, strict=True) if v is not None]
            assert all(lo is None or lo <= middle <= hi for middle, lo, hi in shown), one.key
        known = any(lo is not None for _, low, _ in spreads(one) for lo in low)
        assert known != (one.spread == NO_SPREAD), one.key
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
    assert dict(zip(line.x, line.y, strict=True)) == pytest.approx(wanted)
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


# ---- Views


def with_views(path, tmp_path, *views, change=None):
    data = json.loads(path.read_text())
    data["views"] = [json.loads(json.dumps(view)) for view in views]
    if change:
        change(data)
    changed = tmp_path / "views.json"
    changed.write_text(json.dumps(data))
    return changed


def test_a_table_has_the_columns_of_its_view(measure, plain):
    path = measure("bandwidth", "two-sockets-four-gpus.json", "--threads", "1,2,4")
    bars, curves = figures_of(numatlas.load(path), "bandwidth")
    (view,) = plain(path)["views"]
    assert bars.title == view["title"] and bars.notes[:2] == view["notes"]
    assert [head for head in bars.heads if head in ("kernel", "workers", "sum", "moved")] == bars.heads[
        :1
    ] + [
        "workers",
        "sum",
        "moved",
    ]
    cases = plain(path)["cases"]
    assert [row.value for row in bars.rows] == [value(case, "bandwidth_sum") * 1e-9 for case in cases]
    moved = bars.heads.index("moved")
    assert [row.cells[moved] for row in bars.rows] == [
        f"{value(case, 'traffic_sum') * 1e-9:.2f}" for case in cases
    ]
    # What was measured with three numbers of workers is drawn over these.
    assert curves.x.label == "workers" and {tuple(line.x) for line in curves.series} == {(1, 2, 4)}
    assert [line.name for line in curves.series] == list(dict.fromkeys(case["kernel"] for case in cases))


def test_a_table_with_a_column_for_each_value_is_lines_or_a_map(measure, tmp_path):
    path = measure("latency", "guest-tiers.json", "--size", "1MiB,2MiB", "--threads", "2", "--pages", "base")
    cells = [cell_of(head="worker", label="worker"), cell_of(figure="latency", scale=1e9)]
    sizes = view_of("Each worker", "table", cells, level="flows", columns="size")
    pages = {**sizes, "columns": "pages"}
    lines, *grids = figures_of(numatlas.load(with_views(path, tmp_path, sizes, pages)), "latency")
    assert isinstance(lines, Curves) and lines.x.unit == "bytes"
    assert [(line.name, line.x) for line in lines.series] == [
        ("worker 0", [2**20, 2**21]),
        ("worker 1", [2**20, 2**21]),
    ]
    assert [one.title for one in grids] == ["Each worker, size 1 MiB", "Each worker, size 2 MiB"]
    for grid in grids:
        assert isinstance(grid, Matrix) and (grid.rows, grid.columns) == (["0", "1"], ["base"])


def test_curves_of_one_shape_share_a_picture(measure, tmp_path):
    path = measure("latency", "guest-four-nodes.json", "--size", "32KiB,1MiB,64MiB", "--pages", "base,thp")
    cells = [cell_of(head="size", label="size"), cell_of(figure="latency", scale=1e9)]
    both = [
        view_of(f"Latency ({pages})", "curve", cells, rows="size", where={"pages": pages}, verdict=["so"])
        for pages in ("base", "thp")
    ]
    (one,) = figures_of(numatlas.load(with_views(path, tmp_path, *both)), "latency")
    assert (one.key, one.title) == ("latency-latency", "Latency per load by buffer size")
    assert [line.name for line in one.series] == ["base", "thp"]
    assert one.verdict == ["base: so", "thp: so"]


def test_a_case_without_a_label_belongs_to_all(measure, tmp_path):
    path = measure("loaded", "guest-tiers.json")
    cells = [cell_of(label="load"), cell_of(figure="latency", scale=1e9)]
    where = {"cpu_node": "0", "memory_node": "0", "load_kernel": "read"}
    view = view_of("Loads", "table", cells, where=where)
    (one,) = figures_of(numatlas.load(with_views(path, tmp_path, view)), "loaded")
    assert one.rows[0].cells[0] == "idle" and len(one.rows) == 13


def test_medians_of_groups_are_those_of_the_file(measure, tmp_path):
    path = measure("latency", "guest-tiers.json", "--size", "1MiB,2MiB", "--threads", "2")

    def group(labels, median, ends):
        ends_of_median = {"low": median / 1.25, "high": median * 1.25}
        estimate = {"value": median, **ends_of_median, "n": 5, "method": "visits"}
        summary = dict.fromkeys(("n", "median", "p5", "p25", "p75", "p95", "p99", "mean", "stddev", "mad"), 1)
        figure = {
            "key": "latency",
            "unit": "s",
            "estimate": estimate,
            "summary": {**summary, "outliers": 0, "min": ends[0], "max": ends[1]},
        }
        return {"labels": labels, "workers": 2, "figures": [figure]}

    def change(data):
        for at, case in enumerate(data["cases"]):
            case["groups"] = [group({"nodes": "0 -> 0"}, (at + 1) * 1e-9, (at * 1e-9, (at + 2) * 1e-9))]

    cells = [cell_of(label="size"), cell_of(figure="latency", scale=1e9, part="spread")]
    curve = view_of("By nodes", "curve", cells, level="groups", rows="size", columns="nodes")
    table = view_of("Cases", "table", [*cells[:1], {**cells[1], "part": "with_interval"}])
    line, bars = figures_of(numatlas.load(with_views(path, tmp_path, curve, table, change=change)), "latency")
    (series,) = line.series
    assert (series.name, series.y) == ("node 0", pytest.approx([1, 2]))
    assert (series.low, series.high) == (pytest.approx([0, 1]), pytest.approx([2, 3]))
    assert "lowest to the highest worker" in line.spread
    assert [(row.value, row.low, row.high) for row in bars.rows] == [
        pytest.approx((1, 0.8, 1.25)),
        pytest.approx((2, 1.6, 2.5)),
    ]


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
