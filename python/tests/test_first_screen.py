"""The first screen: what a run says in five seconds, one run or several."""

import base64
import hashlib
import json

import pytest
from made_results import survey
from report_pages import EVIL, Tree, fleet_of

import numatlas
from numatlas.report.first import normal, title_of
from numatlas.report.page import page

MACHINE = "2x AMD EPYC 7763 64-Core Processor, 8 nodes, 512 GiB"


def tree_of(*paths, title=""):
    return Tree(page([numatlas.load(path) for path in paths], title))


def words(element):
    return " ".join(element["text"].split())


def test_one_run(tmp_path):
    tree = tree_of(survey(tmp_path / "a.json"))
    assert tree.find("h1")[0]["text"] == f"cn1 · {MACHINE} · 1 Nov 2026, 57 s"
    cards = [words(card) for card in tree.find(class_="metric")]
    assert cards[0] == "Latency 121 ns ±1.0 % local 120 to 122 ns, remote 140 to 330 ns"
    assert [card.split(" ")[0] for card in cards] == ["Latency", "Reads", "Under", "Bandwidth", "Idle"]
    (first,) = tree.find("section", id="first")
    (atlas,) = tree.find(class_="atlas", within=first)
    assert [radio["id"] for radio in tree.find("input", within=atlas)] == [
        "mode-atlas-latency",
        "mode-atlas-bandwidth",
    ]
    titles = [words(title).rstrip("#") for title in tree.find("h4", within=first)]
    assert {"Pointer-chase latency in ns (base pages)", "Loaded latency in ns (read)"} <= set(titles)
    (badge,) = tree.find("a", class_="badge")
    assert (badge["href"], badge["text"]) == ("#skipped", "! 1 not measured")


def test_a_run_that_was_stopped_says_so(tmp_path):
    path = survey(tmp_path / "a.json")
    data = json.loads(path.read_text()) | {"complete": False, "incomplete_reason": f"interrupted {EVIL}"}
    path.write_text(json.dumps(data))
    (shown,) = tree_of(path).find(class_="verdict", role="status")
    assert words(shown) == f"Not complete: interrupted {EVIL}."


def test_nothing_stands_on_the_page_twice(tmp_path):
    tree = tree_of(survey(tmp_path / "a.json"))
    kinds = [article["data-kind"] for article in tree.find("article")]
    assert kinds.count("Atlas") == 1
    titles = [words(title) for title in tree.find("h4")]
    assert len(titles) == len(set(titles))
    targets = {link["href"][1:] for link in tree.find("a")}
    assert targets <= {one["id"] for one in tree.all if one.get("id")}


@pytest.mark.slow
def test_that_nothing_was_measured_stands_over_everything(tmp_path):
    tree = tree_of(survey(tmp_path / "a.json", engine="null"))
    (banner,) = tree.find(class_="banner")
    assert banner["text"] == "⚠ Simulated: nothing was measured, the null engine made up these numbers."
    assert tree.all.index(banner) < tree.all.index(tree.find("h1")[0])
    assert not tree_of(survey(tmp_path / "b.json")).find(class_="banner")
    both = tree_of(tmp_path / "a.json", tmp_path / "b.json")
    assert "in 1 of 2 files" in both.find(class_="banner")[0]["text"]


def test_two_runs(tmp_path):
    paths = [survey(tmp_path / "a.json"), survey(tmp_path / "b.json", day=2, slower=1.5)]
    tree = tree_of(*paths)
    (table,) = tree.find("table", class_="compare")
    assert f"All runs: cn1, {MACHINE}." in words(tree.find(class_="card")[0])
    rows = [words(row) for row in tree.find("tr", within=table)]
    assert rows[0].endswith("A1 Nov 2026, 57 sB2 Nov 2026, 57 s")
    assert rows[1] == "Latency +50.0 %121 ns ±1.0 %182 ns ±1.0 %"
    assert any(row.startswith("Bandwidth -33.3 %") for row in rows)
    lines = [words(one).rstrip("#") for one in tree.find("h4", within=tree.find("section", id="first")[0])]
    assert {"Pointer-chase latency in ns (base pages)", "Loaded latency in ns (read)"} <= set(lines)
    (ladder,) = tree.find("article", id="latency-latency-base")
    names = {text["text"] for text in tree.find("text", within=ladder)}
    assert {"A", "B"} <= names


def test_a_fleet_begins_with_its_sum(tmp_path):
    tree = tree_of(fleet_of(50, tmp_path / "fleet.json"))
    assert tree.find("h1")[0]["text"].startswith("STREAM on 50 hosts")
    cards = [words(card) for card in tree.find(class_="metric")]
    assert cards[0] == "hosts 50 50 with values" and cards[2] == "slow hosts 1 by the run's rule"
    assert cards[1].startswith("median host, triad ") and "half of the hosts: " in cards[1]


def test_only_the_pages_own_script_may_run(tmp_path):
    text = page([numatlas.load(survey(tmp_path / "a.json"))], f"of {EVIL}")
    tree = Tree(text)
    (policy,) = [meta["content"] for meta in tree.find("meta") if meta.get("http-equiv")]
    (script,) = [one["text"] for one in tree.find("script") if not one.get("type")]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy and "default-src 'none'" in policy
    assert "unsafe-eval" not in policy and "http" not in policy


def test_warnings_are_grouped_by_code(tmp_path):
    path = survey(tmp_path / "a.json")
    data = json.loads(path.read_text())
    for part in data["results"]:
        part["warnings"] = [
            {"code": code, "where": None, "text": f"{code} {number}"}
            for number in range(3)
            for code in ("stopped", "two-speeds")
        ]
    path.write_text(json.dumps(data))
    tree = tree_of(path)
    (section,) = tree.find("section", id="warnings")
    summaries = [one["text"] for one in tree.find("summary", within=section)]
    assert {"⚠ stopped (3)", "⚠ two-speeds (3)"} <= set(summaries)
    listed = [item["id"] for item in tree.find("li", within=section)]
    assert listed == [f"warning-{number + 1}" for number in range(len(listed))]


def test_a_title_without_a_machine(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("size (MB), 0, 1\n1, 12.5, 12.25\n64, 80.0, 90.5\n")
    assert title_of([numatlas.load(path)]) == "one.csv"


def test_the_machine_is_a_mark_among_others(tmp_path):
    path = survey(tmp_path / "a.json", 1, 1, 4)
    data = json.loads(path.read_text())
    others = {"count": 3, "median": 55e9, "low": 50e9, "high": 60e9}
    told = {"unit": "B/s", "source": "a table"}
    data["normal"] = [
        {"what": "read", "verdict": "ok", "text": "read 52 GB/s", "value": 52e9, "others": others, **told},
        {"what": "copies", "verdict": "LOW", "text": "copies", "value": 25e9, "others": others, **told},
        {"what": "x", "verdict": "not judged", "text": "unknown", "value": 1, "others": None, **told},
    ]
    path.write_text(json.dumps(data))
    (card,) = Tree(page([numatlas.load(path)])).find("details", id="normal")
    assert "1 of 2 figures LOW" in card["text"] and "open" in card
    assert card["text"].index("LOW") < card["text"].index("read 52 GB/s") and "unknown" not in card["text"]
    low, read = normal(numatlas.load(path))
    assert low.mine < low.low < low.median < low.high and read.low < read.mine < read.median
