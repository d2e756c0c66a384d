"""Headline figures come from the facts of the file, whatever benchmark states them."""

import json

import pytest
from commands import SURVEYS
from made_results import case, column, fact, figure, flow, report, survey, view
from report_pages import Tree

import numatlas
from numatlas.facts import cache_levels, facts, gpu_rates, metrics, pairs
from numatlas.figures import figures_of
from numatlas.figures.model import Bars, Curves, Matrix
from numatlas.plot import build
from numatlas.report.first import badges
from numatlas.report.page import page
from numatlas.result import Warning


def of_a_new_benchmark(path, facts_of=()):
    """A survey with results of a command that this package never heard of: a table, a matrix and a curve."""
    workers = [{"rank": 0, "thread": 0, "host": 0, "cpus": "0", "cpu_node": 0, "memory": "local"}]
    cases = []
    for depth in (1, 2, 4, 8, 16):
        for way in ("left", "right"):
            labels = {"way": way, "depth": str(depth)}
            one = flow(0, [figure("turn", depth * (3e-9 if way == "left" else 4e-9))])
            cases.append(case(f"turn {way} {depth}", labels, [one]))
    turn = column("turn", figure="turn", scale=1e9)
    views = [
        view("Turns in ns", "table", [column("way", "way"), column("depth", "depth"), turn]),
        view("Turns by both in ns", "matrix", [turn], "way", "depth"),
        view(
            "Turns by depth in ns", "curve", [column("way", "way"), column("depth", "depth"), turn], "depth"
        ),
    ]
    data = json.loads(survey(path, 1, 1, 4).read_text())
    data["results"].append(report("turns", cases, views, workers, facts=list(facts_of)))
    path.write_text(json.dumps(data))
    return numatlas.load(path)


def test_the_fact_of_a_new_benchmark_is_a_headline(tmp_path):
    turned = fact("turn", "a turn to the left", 3e-9, "s", "Turns", "{} to the left", depth="1")
    result = of_a_new_benchmark(tmp_path / "a.json", [turned])
    (mine,) = [one for one in metrics(result) if one.key == "turn"]
    assert (mine.words, mine.text, mine.spread, mine.where) == (
        "turns",
        "3.00 ns",
        "±1.0 %",
        "a turn to the left",
    )
    tree = Tree(page([result]))
    assert "turns" in [words["text"] for words in tree.find("p", class_="words")]


def test_the_views_of_a_new_benchmark_are_drawn(tmp_path):
    result = of_a_new_benchmark(tmp_path / "a.json")
    drawn = figures_of(result, "turns")
    assert [type(one) for one in drawn[:2]] == [Bars, Matrix]
    for one in drawn:
        assert build(one).axes
    identities = {article["id"] for article in Tree(page([result])).find("article")}
    assert {one.key for one in drawn} <= identities


def test_the_frames_of_facts(tmp_path):
    result = numatlas.load(survey(tmp_path / "a.json", 2, 1, 4))
    every = facts(result)
    assert set(every["command"]) == {"matrix", "latency", "loaded", "bandwidth"}
    cells = pairs(result)
    assert cells.groupby("what").size().to_dict() == {"bandwidth": 4, "latency": 4}
    assert cells["cpu_node"].dtype == int and set(cells["memory_node"]) == {0, 1}
    assert list(cache_levels(result)["level"]) == ["L1", "L2", "L3", "memory"]
    assert gpu_rates(result).empty


@pytest.mark.parametrize(
    ("hypervisor", "told"), [("", "50 % of the DIMMs' 196 GB/s"), ("kvm", ""), (None, "")]
)
def test_the_peak_is_told_as_a_part_of_what_the_modules_can_carry(tmp_path, hypervisor, told):
    path = survey(tmp_path / "a.json", 2, 1, 4)
    data = json.loads(path.read_text())
    peak = next(one for one in metrics(numatlas.load(path)) if one.key == "peak_bandwidth")
    snapshots = [data["machine"], *(one for part in data["results"] for one in part["machines"])]
    for snapshot in snapshots:
        snapshot["memory_slots"] = {"source": "DMI", "problem": "", "slots": []}
        snapshot["memory_slots"]["peak_bandwidth"] = 2 * peak.value
        snapshot["hypervisor"] = hypervisor
    path.write_text(json.dumps(data))
    peak = next(one for one in metrics(numatlas.load(path)) if one.key == "peak_bandwidth")
    assert peak.beside == told


def test_gpus_have_their_best_copies(tmp_path):
    path = survey(tmp_path / "a.json", 2, 1, 4, gpus=2)
    data = json.loads(path.read_text())
    copies = [
        fact("gpu_copy_rate", f"GPU 1 {way}", rate, "B/s", gpu="1", direction=way)
        for way, rate in (("h2d", 50e9), ("h2d", 55e9), ("d2h", 52e9), ("both", 90e9))
    ]
    data["results"][0]["facts"] += copies
    path.write_text(json.dumps(data))
    result = numatlas.load(path)
    assert [(row.direction, row.value) for row in gpu_rates(result).itertuples()] == [
        ("h2d", 55e9),
        ("d2h", 52e9),
    ]
    (atlas,) = figures_of(result, "atlas")
    gpu = next(place for place in atlas.places if place.name == "GPU1")
    assert gpu.texts["bandwidth"] == "55.0 GB/s h2d" and gpu.texts["other"] == "52.0 GB/s d2h ±1.0 %"
    (card,) = [one for one in metrics(result) if one.words == "host to GPU"]
    assert card.value == pytest.approx(55e9)


def test_numbers_of_workers_are_shown_by_powers_of_two(tmp_path):
    result = numatlas.load(survey(tmp_path / "a.json", 2, 4, 16))
    (scaling,) = [one for one in figures_of(result, "bandwidth") if isinstance(one, Curves)]
    assert scaling.x.log2 and scaling.series[0].x == [1, 2, 4, 8, 16, 32, 64, 128, 256]
    axes = build(scaling).axes[0]
    assert axes.get_xscale() == "log" and axes.get_yscale() == "log"
    few = numatlas.load(survey(tmp_path / "b.json", 1, 1, 4))
    (scaling,) = [one for one in figures_of(few, "bandwidth") if isinstance(one, Curves)]
    assert not scaling.x.log2


def test_an_idle_latency_alone_makes_no_card(tmp_path):
    path = survey(tmp_path / "a.json", 1, 1, 4)
    data = json.loads(path.read_text())
    (part,) = [one for one in data["results"] if one["command"] == "loaded"]
    part["facts"] = [one for one in part["facts"] if one["key"] == "loaded_latency_idle"]
    for one in part["cases"]:
        one["flows"][0]["figures"] = one["flows"][0]["figures"][:1]
        one["figures"] = one["figures"][:1]
    path.write_text(json.dumps(data))
    assert "under load" not in {one.words for one in metrics(numatlas.load(path))}


def test_latencies_of_other_nodes_have_the_span_that_the_terminal_has():
    told = {one.key: one for one in metrics(numatlas.load(SURVEYS / "tiers.json"))}
    cells = pairs(numatlas.load(SURVEYS / "tiers.json"))
    cells = cells[(cells["what"] == "latency") & (cells["cpu_node"] != cells["memory_node"])]
    spans = [told[key].beside.split(", ")[0] for key in ("remote_latency", "far_latency") if key in told]
    numbers = [float(word) for span in spans for word in span.split() if word.replace(".", "").isdigit()]
    ends = [cells["value"].min() * 1e9, cells["value"].max() * 1e9]
    assert [min(numbers), max(numbers)] == pytest.approx(ends, rel=0.01)


def test_a_badge_counts_settings(tmp_path):
    result = numatlas.load(survey(tmp_path / "a.json", 1, 1, 4))
    result.warnings = [Warning(f"setting {one}", "setting") for one in range(2)]
    assert badges([result])[0] == ("2 settings disturb", "warnings")
    result.warnings = result.warnings[:1]
    assert badges([result])[0] == ("1 setting disturbs", "warnings")
