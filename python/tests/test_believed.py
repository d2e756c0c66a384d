"""What the page says of how far its figures can be believed: warnings, what was left out, what cannot be."""

import json
from dataclasses import replace

import pytest
from commands import redrawn
from made import box_of, shapes, texts
from made_results import estimate, survey
from report_pages import Tree

import numatlas
from numatlas.facts import metrics
from numatlas.figures import figures_of
from numatlas.figures.overlay import overlaid
from numatlas.plot import build
from numatlas.report.page import page
from numatlas.report.verdict import Verdict, verdict


def words(element):
    return " ".join(element["text"].replace("\u00a0", " ").split())


def changed(path, change):
    """The survey there, after `change` of its data."""
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(redrawn(data)))
    return numatlas.load(path)


def part(data, command):
    return next(one for one in data["results"] if one["command"] == command)


def trusted(grade, *commands):
    """What a survey, or benchmarks of it, say of themselves: "unreliable", "doubtful" or "trusted"."""

    def change(data):
        for one in [part(data, command) for command in commands] or [data]:
            one |= {"trust": grade, "doubt": "two speeds of 64MiB" if grade != "trusted" else None}

    return change


@pytest.mark.parametrize(
    ("trust", "grade", "sentence"),
    [
        ("trusted", "good", "These figures can be trusted: nothing disturbed the run."),
        ("doubtful", "wary", "Read with care: two speeds of 64MiB."),
        ("unreliable", "bad", "Unreliable: two speeds of 64MiB."),
    ],
)
def test_the_verdict_is_the_programs(tmp_path, trust, grade, sentence):
    result = changed(survey(tmp_path / "a.json", 1, 1, 4), trusted(trust))
    assert verdict(result) == Verdict(grade, sentence)
    (shown,) = Tree(page([result])).find(class_="verdict", role="status")
    assert words(shown) == sentence and grade in shown["class"]


def test_several_runs_tell_which_is_unreliable_or_low(tmp_path):
    bad = changed(survey(tmp_path / "a.json", 1, 1, 4), trusted("unreliable"))
    others = {"low": 9e10, "high": 1.2e11, "median": 1e11}
    others["count"] = 3
    told = {"what": "read", "unit": "B/s", "verdict": "LOW", "text": "read 20 GB/s", "source": "S"}
    told |= {"value": 2e10, "others": others}
    low = changed(survey(tmp_path / "b.json", 1, 1, 4), lambda data: data.update(normal=[told]))
    tree = Tree(page([bad, low]))
    rows = [words(row) for row in tree.find("tr", within=tree.find("table", class_="compare")[0])]
    assert "trustUNRELIABLE–" in rows and "beside others–1 LOW" in rows


def test_pictures_name_an_unreliable_run_first(tmp_path):
    """However many other warnings there are."""

    def disturb(data):
        trusted("unreliable", "latency")(data)
        text = [{"code": "setting", "where": None, "text": f"warning {at}"} for at in range(4)]
        part(data, "latency")["warnings"] = text

    result = changed(survey(tmp_path / "a.json", 1, 1, 4), disturb)
    figure = figures_of(result, "latency")[0]
    told = texts(build(figure), "small")
    (place,) = [at for at, text in enumerate(told) if text.startswith("! UNRELIABLE: two speeds")]
    assert not [text for text in told[:place] if text.startswith("!")]


def test_no_verdict_is_python_s_own(tmp_path):
    """However wide the intervals are, and whatever warnings say."""

    def disturb(data):
        widened(3, "matrix_latency")(data)
        text = "the host was busy: other programs ran"
        part(data, "latency")["warnings"] = [{"code": "other-processes", "text": text, "where": None}]

    assert verdict(changed(survey(tmp_path / "a.json", 1, 1, 4), disturb)) is None
    assert verdict(numatlas.load(survey(tmp_path / "b.json", 1, 1, 4, engine="null"))) is None
    empty = changed(survey(tmp_path / "c.json", 1, 1, 4), lambda data: data.update(results=[]))
    assert verdict(empty) == Verdict("wary", "No benchmark had the time to measure.")


def test_figures_of_an_unreliable_run_are_small_and_grey(tmp_path):
    result = changed(survey(tmp_path / "a.json", 1, 1, 4), trusted("unreliable", "matrix"))
    doubted = {one.key for one in metrics(result) if one.doubted}
    assert doubted == {"matrix_latency", "matrix_bandwidth"}
    assert all(one.doubted for one in metrics(changed(result.path, trusted("unreliable"))))
    changed(survey(result.path, 1, 1, 4), trusted("unreliable", "matrix"))
    cards = Tree(page([numatlas.load(result.path)])).find(class_="doubted")
    assert [words(card).split(" ")[0] for card in cards] == ["Latency", "Reads"]


def test_warnings_of_a_figure_stand_in_the_list_by_code(tmp_path):
    def warn(data):
        for at, one in enumerate(part(data, "loaded")["cases"]):
            told = [{"code": "low-overlap", "where": None, "text": f"alone for {at} %"}]
            one["flows"][0]["warnings"] = told + [{"code": "stopped", "where": None, "text": "only once"}] * (
                at == 2
            )

    tree = Tree(page([changed(survey(tmp_path / "a.json", 1, 1, 4), warn)]))
    (figure,) = [one for one in tree.find("article") if one["id"].startswith("loaded")]
    (line,) = tree.find("p", class_="warnings", within=figure)
    (section,) = tree.find("section", id="warnings")
    listed = {f"#{one['id']}": one["text"].strip() for one in tree.find("li", within=section)}
    told = [listed[link["href"]] for link in tree.find("a", within=line)]
    assert len(told) == 12 and {"only once", "alone for 0 %"} < set(told)
    assert "⚠ low-overlap (11)" in [one["text"] for one in tree.find("summary", within=section)]


def without_node(number):
    def change(data):
        matrix = part(data, "matrix")
        labels = ("cpu_node", "memory_node")
        own = (str(number), str(number))
        matrix["cases"] = [
            one for one in matrix["cases"] if tuple(one["labels"][name] for name in labels) != own
        ]
        places = ("cpu_node", "memory_node")
        matrix["facts"] = [
            one for one in matrix["facts"] if tuple(one["where"].get(name) for name in places) != own
        ]
        data["plan"] = [
            {"benchmark": "matrix", "left_out": "the CPUs of node 1"},
            {"benchmark": "latency", "left_out": None},
        ]

    return change


def test_a_node_without_a_figure_of_its_own_has_no_colour(tmp_path):
    result = changed(survey(tmp_path / "a.json", 2, 1, 4), without_node(1))
    (atlas,) = figures_of(result, "atlas")
    places = {place.name: place for place in atlas.places}
    assert places["N0"].values and not places["N1"].values and not places["N1"].texts
    assert places["N1"].spreads["latency"] == "330 ns from N0"
    assert "own: not measured" in texts(build(atlas))
    tree = Tree(page([result]))
    assert "! 1 cut short" in [words(one) for one in tree.find("a", class_="badge")]


def test_marks_of_a_load_are_the_facts_of_the_cards(tmp_path):
    """Of one curve; a family has them at its lines, each of its own."""
    result = numatlas.load(survey(tmp_path / "a.json", 1, 1, 4))
    (figure,) = figures_of(result, "loaded")
    (card,) = [one for one in metrics(result) if one.words == "Under load"]
    assert [mark.text for mark in figure.marks] == ["idle 120 ns", "highest load 40.0 GB/s"]
    assert card.text == "120 ns" and figure.series[0].special[0][2].startswith("170 ns")
    both = overlaid([figure, figure], ["A", "B"])
    assert both.marks == figure.marks

    def mix(data):
        loaded = part(data, "loaded")
        for one in json.loads(json.dumps(loaded["cases"])):
            one["labels"] |= {"load_kernel": "mix 2:1"} if "load_kernel" in one["labels"] else {}
            loaded["cases"].append(one)
        loaded["views"].append(json.loads(json.dumps(loaded["views"][0]).replace('"read"', '"mix 2:1"')))

    (figure,) = figures_of(changed(survey(tmp_path / "a.json", 1, 1, 4), mix), "loaded")
    assert [line.name for line in figure.series] == ["100 % reads", "67 % reads (mix 2:1)"]
    assert figure.marks == []


def test_marks_of_two_runs_have_the_letters_of_these(tmp_path):
    paths = [survey(tmp_path / "a.json", 1, 1, 4), survey(tmp_path / "b.json", 1, 1, 4, slower=1.5)]
    figures = [figures_of(numatlas.load(path), "loaded")[0] for path in paths]
    marks = [mark.text for mark in overlaid(figures, ["A", "B"]).marks]
    assert len(marks) == 4 and all(text[:3] in ("A: ", "B: ") for text in marks)
    picture = build(overlaid(figures, ["A", "B"]))
    assert set(marks) <= set(texts(picture))
    near = overlaid([figures[0], replace(figures[0], marks=moved(figures[0].marks))], ["A", "B"])
    first, second = (box_of(one) for one in shapes(build(near), "label") if "idle" in one.text)
    assert first[3] <= second[1] or second[3] <= first[1]


def moved(marks):
    return [replace(mark, at=1.02 * mark.at) if mark.level else mark for mark in marks]


def test_lines_that_one_of_two_runs_has_are_of_it(tmp_path):
    first, second = survey(tmp_path / "a.json", 1, 1, 4), survey(tmp_path / "b.json", 1, 1, 4, day=2)

    def drop(data):
        data["results"] = [one for one in data["results"] if one["command"] != "loaded"]

    tree = Tree(page([changed(first, drop), numatlas.load(second)]))
    (figure,) = [one for one in tree.find("article") if one["id"].startswith("loaded")]
    told = {one["text"] for one in tree.find("text", within=figure)}
    assert any(text.startswith("B: highest load") for text in told)
    rows = tree.find("td", within=figure)
    assert rows[0]["text"] == "B"


def test_heads_of_runs_tell_each_date_once(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("size (MB),0,1\n1,10,11\n64,80,90\n")
    runs = [survey(tmp_path / "a.json", 1, 1, 4), survey(tmp_path / "b.json", 1, 1, 4), path]
    tree = Tree(page([numatlas.load(run) for run in runs]))
    heads = [words(one) for one in tree.find("th", within=tree.find("table", class_="compare")[0])]
    mine = [head for head in heads if head[:1] in "ABC" and "2026" in head]
    assert len(mine) == 2 and all(head.count("2026") == 1 for head in mine)
    assert "a.json" in mine[0] and "b.json" in mine[1]  # of one day, alike but for that


# ---- How well a value is known


def widened(share, *keys):
    """The facts of these keys known to ± `share` only."""

    def change(data):
        for one in (fact for report in data["results"] for fact in report["facts"]):
            if one["key"] in keys:
                one["estimate"] = estimate(one["estimate"]["value"], share)

    return change


def dashed_places(result):
    (atlas,) = figures_of(result, "atlas")
    dashed = [one.told for one in shapes(build(atlas), "unsteady")]
    return [place.name for place in atlas.places if place.detail in dashed]


def test_a_place_known_to_40_percent_is_dashed_as_the_key_says(tmp_path):
    path = survey(tmp_path / "a.json", 1, 1, 4)
    assert dashed_places(numatlas.load(path)) == ["N0"]  # its latency is known to 20 % only
    for key in ("matrix_latency", "matrix_bandwidth"):
        survey(path, 1, 1, 4)
        changed(path, widened(0.01, "matrix_latency", "matrix_bandwidth"))
        assert dashed_places(numatlas.load(path)) == []
        result = changed(path, widened(0.4, key))
        assert dashed_places(result) == ["N0"]
        (atlas,) = figures_of(result, "atlas")
        assert any("dashed: interval of ±10 % or wider" in text for text in texts(build(atlas)))


def test_a_wide_interval_stands_with_its_value(tmp_path):
    result = changed(survey(tmp_path / "a.json", 1, 1, 4), widened(0.9, "matrix_latency"))
    card = {one.key: one for one in metrics(result)}["matrix_latency"]
    assert (card.text, card.spread, card.doubted) == ("120 ns", "(12.0 to 228)", False)
    (atlas,) = figures_of(result, "atlas")
    assert "latency" in atlas.places[0].values


def test_a_value_that_may_be_nothing_is_not_shown(tmp_path):
    keys = ("matrix_latency", "cache_latency", "loaded_latency_80")
    result = changed(survey(tmp_path / "a.json", 1, 1, 4), widened(1, *keys))
    cards = {one.key: one for one in metrics(result)}
    assert cards["matrix_latency"].text == "0.00 to 240 ns" and not cards["matrix_latency"].spread
    (atlas,) = figures_of(result, "atlas")
    assert "latency" not in atlas.places[0].values
    assert all(hop.texts["latency"].startswith("0.00 to ") for hop in atlas.chain[:-1])
    drawn = " ".join(texts(build(atlas, mode="latency")))
    assert "0.00 to 240 ns" in drawn and "±100 %" not in drawn


def test_an_interval_that_reaches_zero_stands_in_the_place_of_its_value(tmp_path):
    def widen(data):
        for case in part(data, "matrix")["cases"] + part(data, "bandwidth")["cases"][:1]:
            case["figures"] = [{**one, "estimate": estimate(4e10, 1)} for one in case["figures"]]

    result = changed(survey(tmp_path / "a.json", 2, 1, 4), widen)
    (_, read) = figures_of(result, "matrix")
    assert read.values == [[None, None], [None, None]] and read.low[0][0] == 0
    (bars, *_) = figures_of(result, "bandwidth")
    assert any(row.value is None and row.high == pytest.approx(80) for row in bars.rows)
    cells = [words(cell) for cell in Tree(page([result])).find("td")]
    assert cells.count("0.00 to 80.00") >= 4
    assert {"unknown", "0 - 80.0"} <= set(texts(build(read), "number"))
    (ladder,) = figures_of(result, "latency")
    at = ladder.series[0].x.index(1 << 20)
    assert ladder.series[0].y[at] is None and ladder.series[0].high[at] is not None
