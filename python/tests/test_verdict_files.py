"""JSON of `compare` and `check`: read, and shown as lists."""

import json
import os
import subprocess

import pytest
from commands import command, one_line, program
from made_results import survey
from report_pages import EVIL, FLEETS, Tree

import numatlas
from numatlas.figures import figures_of
from numatlas.plot import build
from numatlas.report.page import page

SIDE = {"file": "base.json", "runs": [{"hosts": ["cn1"], "started": "2026-11-01T10:00:00Z"}]}


def case(name, verdict, change, unit="s"):
    ends = {"value": 1e-7, "low": 0.9e-7, "high": 1.1e-7}
    told = {"command": "matrix", "case": name, "of": "all flows", "metric": "latency", "unit": unit}
    told |= {"verdict": verdict, "reason": None, "doubt": None, "p": 0.01, "base": ends, "new": ends}
    return {**told, "change": change, "change_low": change - 0.01, "change_high": change + 0.01}


@pytest.fixture
def compared(tmp_path):
    cases = [case(f"case {number}", "not distinguishable", 0.0) for number in range(30)]
    cases += [case(EVIL, "slower", 0.2), case("second", "faster", -0.3)]
    data = {"program": "numatlas", "schema_version": 2, "command": "compare", "cases": cases, "base": SIDE}
    data |= {"new": SIDE, "counts": {"slower": 1, "faster": 1, "not_distinguishable": 30}, "min_effect": 0.02}
    path = tmp_path / "compared.json"
    path.write_text(json.dumps(data))
    return path


def test_changes_stand_first(compared):
    result = numatlas.load(compared)
    assert result.kind == "compare" and len(result.rows) == 32
    (listing,) = figures_of(result)
    assert [row[0] for row in listing.rows[:3]] == ["▼ slower", "▲ faster", "not distinguishable"]
    assert listing.rows[0][-2:] == ["+20.0 %", "+19.0 % to +21.0 %"]
    assert listing.verdict == ["1 slower, 1 faster, 30 not distinguishable"]
    text = page([result])
    tree = Tree(text)
    assert len(tree.find("tr", within=tree.find("article")[0])) == 32 + 2  # two heads
    assert "<b>x</b>" not in text


def test_what_the_null_engine_made_up_is_told_of_a_comparison_too(compared):
    data = json.loads(compared.read_text())
    assert not Tree(page([numatlas.load(compared)])).find(class_="banner")
    data["new"] = {"file": "new.json", "runs": [{"hosts": ["cn1"], "started": "1970-01-01T00:00:00Z"}]}
    compared.write_text(json.dumps(data))
    tree = Tree(page([numatlas.load(compared)]))
    assert "Nothing was measured" in tree.find(class_="banner")[0]["text"]
    assert tree.find("h1")[0]["text"] == "cn1 2026-11-01 against cn1"


def test_a_list_is_no_picture(compared, tmp_path):
    done = command("plot", "compare", compared, folder=tmp_path)
    one_line(done, 2, "KIND: compare: no kind of plot")


def run(folder, *words):
    done = subprocess.run(
        [program(), *words],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )
    assert done.returncode in (0, 1, 9), done.stderr
    return json.loads(done.stdout)


def test_what_check_writes_is_read(tmp_path):
    files = [str(FLEETS / f"run{number}.json") for number in (1, 2, 3, 4)]
    path = tmp_path / "check.json"
    path.write_text(json.dumps(run(tmp_path, "check", *files, "--format", "json")))
    result = numatlas.load(path)
    listing, history = figures_of(result)
    assert [row[1] for row in listing.rows] == ["run4.json", "run3.json", "run2.json", "run1.json"]
    assert history.series[0].y == [float(len(one["slow"])) for one in result.meta["runs"]]
    assert "cn2: triad 20 % below the median of its own 3 earlier runs" in listing.verdict[0]
    assert "cn5" in page([result])


def test_what_compare_writes_is_read(measure, tmp_path):
    files = [str(measure("matrix", "guest-tiers.json", *seed)) for seed in ((), ("--seed", "7"))]
    path = tmp_path / "compare.json"
    path.write_text(json.dumps(run(tmp_path, "compare", *files, "--format", "json")))
    result = numatlas.load(path)
    (listing,) = figures_of(result)
    assert len(listing.rows) == len(result.rows) == len(json.loads(path.read_text())["cases"])
    assert listing.title in page([result])


def test_what_compare_writes_of_a_history_is_read(measure, tmp_path):
    seeds = ((), ("--seed", "7"), ("--seed", "8"))
    files = [str(measure("matrix", "guest-tiers.json", *seed)) for seed in seeds]
    data = run(tmp_path, "compare", *files, "--format", "json")
    (group,) = data["groups"]
    slow = {"case": "read", "change": -0.2, "hosts": 4}
    group |= {"not_judged": "too few hosts", "peers": {"hosts": 4, "cases": 1, "slow": [slow]}}
    path = tmp_path / "history.json"
    path.write_text(json.dumps(data))
    result = numatlas.load(path)
    first, case = result.rows.iloc[0], group["cases"][0]
    assert (first["base_value"], first["new_low"]) == (case["earlier"]["value"], case["newest"]["low"])
    assert first["of"] == f"guest: {case['of']}"
    (listing,) = figures_of(result)
    assert listing.title == "The newest runs against earlier ones"
    assert listing.notes == ["matrix, guest: 3 runs; not judged: too few hosts", *data["notes"]]
    assert listing.verdict[1:] == ["guest: read -20.0 % from the median of 4 hosts"]
    tree = Tree(page([result]))
    assert "Nothing was measured" in tree.find(class_="banner")[0]["text"]
    assert "slower than others of their kind" in " ".join(card["text"] for card in tree.find(class_="metric"))


def test_files_of_verdicts_and_of_results_share_a_page(compared, tmp_path):
    tree = Tree(page([numatlas.load(compared), numatlas.load(survey(tmp_path / "a.json"))]))
    kinds = [section["id"] for section in tree.find("section") if section["id"].startswith("section-")]
    assert kinds[0] == "section-compare" and "section-matrix" in kinds


def test_a_comparison_in_words_for_people(compared):
    data = json.loads(compared.read_text())
    told = {"hosts": None, "warning": None}
    data["differences"] = [
        {"what": "CPUs", "base": "8", "new": "4", **told},
        {"what": "kind", "base": "dram", "new": None, "hosts": ["cn1", "cn2"], "warning": "not alike"},
    ]
    data["cases"] = [case("a", "slower", 0.2, "B/s") | {"metric": "bandwidth_sum"}, case("b", "slower", 0.5)]
    nothing = dict.fromkeys(("of", "metric", "unit", "change", "change_low", "change_high", "base", "new"))
    data["cases"].append(case("c", "not comparable", 0.0) | nothing | {"reason": "both: skipped"})
    data["counts"] |= {"slower": 2, "only_base": 3}
    compared.write_text(json.dumps(data))
    (listing,) = figures_of(numatlas.load(compared))
    assert listing.notes[2:] == [
        "differs: CPUs: 8 → 4",
        "differs: kind: dram → not told, on cn1, cn2",
    ]
    assert listing.warnings == ["kind: not alike"]
    assert listing.rows[0][4] == "bandwidth"
    assert listing.rows[2] == ["not comparable", "matrix", "c", *[""] * 6, "both: skipped"]
    text = page([numatlas.load(compared)])
    assert ">nan<" not in text
    cards = Tree(text).find(class_="metric")
    assert [" ".join(card["text"].split()) for card in cards] == [
        "slower 2 matrix b: +50.0 %",
        "faster 1",
        "not comparable 1",
        "not distinguishable 30",
        "in one side only 3 3 in base",
    ]
    assert ["alarm" in card["class"] for card in cards[:2]] == [True, False]


def checked(path, runs, started="2026-11-0{}T10:00:00Z", **more):
    slow = [{"host": "cn1", "text": "cn1: triad 20 % below", "kernels": [{"name": "triad"}]}]
    every = [
        {
            "file": f"{at}.json",
            "started": started.format(at + 1),
            "hosts": 9,
            "judged": 8,
            "slow": slow,
            **more,
        }
        for at in range(runs)
    ]
    data = {"program": "numatlas", "schema_version": 2, "command": "check", "runs": every, "cases": []}
    path.write_text(json.dumps(data | {"notes": [], "history": {"fell": []}}))
    return numatlas.load(path)


def test_slow_hosts_are_whole_numbers_by_whole_runs(tmp_path):
    result = checked(tmp_path / "check.json", 3)
    history = figures_of(result)[1]
    axes = build(history).axes[0]
    assert [axes.xaxis.get_major_formatter()(tick) for tick in axes.get_xticks()] == ["1", "2", "3"]
    assert axes.get_xlim()[0] > 0.5
    assert all(float(tick).is_integer() for tick in axes.get_yticks())
    cards = [" ".join(card["text"].split()) for card in Tree(page([result])).find(class_="metric")]
    assert cards == [
        "runs 3",
        "slow in the newest run 1 8 of 9 hosts judged",
        "became slower 0 than their own earlier runs",
    ]


@pytest.mark.parametrize("more", [{"started": "1970-01-01T00:00:0{}Z"}, {"engine": "null, 8 workers"}])
def test_what_the_null_engine_made_up_is_told_of_checked_runs_too(tmp_path, more):
    assert not Tree(page([checked(tmp_path / "a.json", 2)])).find(class_="banner")
    tree = Tree(page([checked(tmp_path / "b.json", 2, **more)]))
    assert "Nothing was measured" in tree.find(class_="banner")[0]["text"]
