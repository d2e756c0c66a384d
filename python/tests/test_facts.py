"""Headline figures come from the facts of the file, whatever benchmark states them."""

import json

import pytest
from commands import SURVEYS, redrawn
from made import texts
from made_results import case, column, fact, figure, flow, report, survey, view
from report_pages import Tree

import numatlas
from numatlas.facts import cache_levels, facts, gpu_rates, headline_of, metrics, pairs
from numatlas.figures import figures_of
from numatlas.figures.model import Bars, Curves, Matrix
from numatlas.file_error import FileError
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
    path.write_text(json.dumps(redrawn(data)))
    return numatlas.load(path)


def test_the_fact_of_a_new_benchmark_is_a_headline(tmp_path):
    turned = fact("turn", "a turn to the left", 3e-9, "s", "Turns", "{} to the left", depth="1")
    result = of_a_new_benchmark(tmp_path / "a.json", [turned])
    (mine,) = [one for one in metrics(result) if one.key == "turn"]
    assert (mine.words, mine.text, mine.spread, mine.where) == (
        "Turns",
        "3.00 ns",
        "±1.0 %",
        "a turn to the left",
    )
    assert mine.brief == "to the left"
    tree = Tree(page([result]))
    assert "Turns" in [words["text"] for words in tree.find("p", class_="words")]


def test_the_views_of_a_new_benchmark_are_drawn(tmp_path):
    result = of_a_new_benchmark(tmp_path / "a.json")
    drawn = figures_of(result, "turns")
    assert [type(one) for one in drawn[:2]] == [Bars, Matrix]
    for one in drawn:
        assert build(one).parts
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


def test_gpus_have_their_best_copies(tmp_path):
    path = survey(tmp_path / "a.json", 2, 1, 4, gpus=2)
    data = json.loads(path.read_text())
    copies = [
        fact("gpu_copy_rate", f"GPU 1 {way}", rate, "B/s", "GPU 1", f"{way} {{}}", gpu="1", direction=way)
        for way, rate in (("h2d", 50e9), ("h2d", 55e9), ("d2h", 52e9), ("both", 90e9))
    ]
    data["results"][0]["facts"] += copies
    path.write_text(json.dumps(redrawn(data)))
    result = numatlas.load(path)
    assert [(row.direction, row.value) for row in gpu_rates(result).itertuples()] == [
        ("h2d", 55e9),
        ("d2h", 52e9),
    ]
    (atlas,) = figures_of(result, "atlas")
    gpu = next(place for place in atlas.places if place.name == "GPU1")
    assert gpu.beside == [
        "55.0 GB/s ±1.0 % to it, 52.0 GB/s ±1.0 % back",
        "55.0 GB/s to it, 52.0 GB/s back",
    ]
    (card,) = [one for one in metrics(result) if one.name == "gpu copy rate, gpu 1"]
    assert card.value == pytest.approx(50e9) and card.brief == "h2d"
    told = "h2d 55.0 GB/s ±1.0 %; d2h 52.0 GB/s ±1.0 %; both 90.0 GB/s ±1.0 %"
    assert (card.words, card.beside) == ("GPU 1", told)


def test_a_gpu_has_its_own_memory_in_the_map(tmp_path):
    path = survey(tmp_path / "a.json", 1, 1, 4, gpus=1)
    data = json.loads(path.read_text())
    data["results"][0]["facts"] += [
        fact("gpu_read", "read of its memory", 4.2e12, "B/s", "GPU 0", "read {}", gpu="0"),
        fact("gpu_copy_rate", "to it", 55e9, "B/s", "GPU 0", "h2d {}", gpu="0", direction="h2d"),
    ]
    path.write_text(json.dumps(redrawn(data)))
    (atlas,) = figures_of(numatlas.load(path), "atlas")
    (gpu,) = [place for place in atlas.places if place.name == "GPU0"]
    assert gpu.texts["bandwidth"] == "4.20 TB/s of its memory" and "bandwidth" not in gpu.values
    (stem,) = atlas.stems
    assert stem.beside[0] == "55.0 GB/s ±1.0 % to it"
    shown = texts(build(atlas, mode="bandwidth"))
    assert {"4.20 TB/s of its memory", "55.0 GB/s ±1.0 % to it"} <= set(shown)


def test_caches_stand_by_kind_of_core_in_the_map(tmp_path):
    path = survey(tmp_path / "a.json", 1, 1, 4)
    data = json.loads(path.read_text())
    for part in data["results"]:
        part["facts"] = [one for one in part["facts"] if not one["where"].get("level")]
    for kind, value in (("P-cores", 1e-9), ("E-cores", 2e-9)):
        where = {"level": "L1", "pages": "thp", "kind": kind}
        one = fact("cache_latency", "latency of L1", value, "s", "Idle latency", "L1 {}", **where)
        data["results"][0]["facts"].append(one)
    for key, value in (("cache_latency_lowest", 2e-8), ("cache_latency_highest", 1.05e-7)):
        where = {"level": "L3", "pages": "thp", "kind": "P-cores"}
        one = fact(key, "latency of L3", value, "s", "Idle latency", "L3 {}", **where)
        data["results"][0]["facts"].append(one)
    path.write_text(json.dumps(redrawn(data)))
    (atlas,) = figures_of(numatlas.load(path), "atlas")
    told = [(hop.name, hop.texts["latency"], hop.spreads["latency"]) for hop in atlas.chain]
    assert told == [
        ("E-cores: L1, thp pages", "2.00 ns", "±1.0 %"),
        ("P-cores: L1, thp pages", "1.00 ns", "±1.0 %"),
        ("P-cores: L3, thp pages", "20.0 to 105 ns", "no plateau"),
    ]
    rows = {hop.box.y for hop in atlas.chain}
    assert len(rows) == 2


def test_much_slower_base_pages_are_told_in_the_map(tmp_path):
    path = survey(tmp_path / "a.json", 1, 1, 4)
    data = json.loads(path.read_text())
    facts = data["results"][0]["facts"]
    for pages, value in (("thp", 1e-7), ("base", 2.5e-7)):
        where = {"level": "memory", "pages": pages}
        facts.append(fact("memory_latency", "memory", value, "s", "Idle latency", "{}", **where))
    path.write_text(json.dumps(redrawn(data)))
    (atlas,) = figures_of(numatlas.load(path), "atlas")
    assert atlas.said == ["with base pages 250 ns, 2.5 times as long as with huge pages"]


def test_numbers_of_workers_are_shown_by_powers_of_two(tmp_path):
    result = numatlas.load(survey(tmp_path / "a.json", 2, 4, 16))
    (scaling,) = [one for one in figures_of(result, "bandwidth") if isinstance(one, Curves)]
    assert scaling.x.log2 and scaling.series[0].x == [1, 2, 4, 8, 16, 32, 64, 128, 256]
    assert any("logarithmic" in text for text in texts(build(scaling)))
    few = numatlas.load(survey(tmp_path / "b.json", 1, 1, 4))
    (scaling,) = [one for one in figures_of(few, "bandwidth") if isinstance(one, Curves)]
    assert not scaling.x.log2


def test_cards_are_the_headings_of_the_file_in_its_order():
    path = SURVEYS / "h200.json"
    every = [one for part in json.loads(path.read_text())["results"] for one in part["facts"]]
    headings = list(dict.fromkeys(one["heading"] for one in every if one["heading"]))
    assert [one.words for one in metrics(numatlas.load(path))] == headings


def test_a_badge_counts_settings(tmp_path):
    result = numatlas.load(survey(tmp_path / "a.json", 1, 1, 4))
    result.warnings = [Warning(f"setting {one}", "setting") for one in range(2)]
    assert badges([result])[0] == ("2 settings disturb", "warnings")
    result.warnings = result.warnings[:1]
    assert badges([result])[0] == ("1 setting disturbs", "warnings")


def test_a_fact_says_what_its_headline_says(tmp_path):
    shown = fact("first", "of all", 3e-9, "s", "Turns", "{}")
    beside = {**fact("turn_time", "of node 0", 4e-9, "s", "Turns", "{} more"), "where": {"cpu_node": "0"}}
    beside["estimate"]["method"] = "within"
    alone = {**json.loads(json.dumps(beside)), "heading": "Others"}
    alone["estimate"] |= {"low": 0.0, "high": 9e-9}
    of_a_new_benchmark(tmp_path / "a.json", [shown, beside])
    of_a_new_benchmark(tmp_path / "b.json", [beside])
    of_a_new_benchmark(tmp_path / "c.json", [shown, {**alone, "heading": None, "line": None}])
    below, front, vague = (
        headline_of(numatlas.load(tmp_path / f"{name}.json"), "turn_time") for name in "abc"
    )
    for one in (below, front):
        assert (one.text, one.spread, one.name) == ("4.00 ns", "±1.0 %*", "turn time") and not one.doubted
    assert below.claim == front.claim and "interval 3.96 ns to 4.04 ns; of too few visits" in front.claim
    assert (vague.text, vague.spread, vague.doubted) == ("0.00 to 9.00 ns", "", True)


def test_tables_of_a_program_without_headlines_are_refused(tmp_path):
    path = tmp_path / "a.json"
    of_a_new_benchmark(path, [fact("first", "of all", 3e-9, "s", "Turns", "{}")])
    data = json.loads(path.read_text())
    for one in data["results"]:
        one.pop("headlines", None)
    path.write_text(json.dumps(data))
    with pytest.raises(FileError, match="its tables are of numatlas 0.1.0, which did not draw them"):
        figures_of(numatlas.load(path), "turns")
