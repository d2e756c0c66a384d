"""The page of results: what stands in it, and what must not."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from commands import redrawn
from report_pages import EVIL, FLEETS, Tree, evil_fleet, fleet_of, measured, table_of

import numatlas
from numatlas.figures import figures_of
from numatlas.figures.model import Matrix
from numatlas.figures.scales import LEAST_RANGE, common_ends
from numatlas.report.page import page
from numatlas.report.pictures import cells_of
from numatlas.result import Result
from numatlas.units import number_text, numbers_of, ranges_of

# ---- What stands in the page


@pytest.mark.slow
def test_a_surveys_notes_and_what_it_did_not_come_to(made_survey, tmp_path):
    data = json.loads((made_survey / "survey.json").read_text())
    data = {**data, "notes": ["took 70 s instead of 60 s"], "plan": [{"benchmark": "cores"}]}
    data["results"] = [report for report in data["results"] if report["command"] != "cores"]
    data["skipped"] = []
    path = tmp_path / "survey.json"
    for facts in (data["results"][0]["facts"], []):
        data["results"][0]["facts"] = facts
        path.write_text(json.dumps(redrawn(data)))
        text = page([numatlas.load(path)], "")
        assert "took 70 s instead of 60 s" in text
        assert "not run: cores" in text


def test_every_figure_tells_spread_placement_warnings_and_numbers(made_survey):
    result = numatlas.load(made_survey)
    tree = Tree(page([result], ""))
    wanted = {one.key: one for one in figures_of(result)}
    articles = tree.find("article")
    assert len(articles) == len(wanted) and {one["id"] for one in articles} == set(wanted)
    for article in articles:
        figure = wanted[article["id"]]
        assert tree.find("h4", within=article)[0]["text"] == f"{figure.title}#"
        assert tree.find(within=article, class_="warnings"), figure.key
        if article["data-kind"] == "Atlas":
            continue
        (spread,) = tree.find("dd", within=article, class_="spread")
        (placement,) = tree.find("dd", within=article, class_="placement")
        assert spread["text"] == figure.spread
        assert placement["text"] == figure.placement
        numbers = f"numbers-{article['id']}"
        assert tree.find("button", within=article, class_="download", data_table=numbers)
        rows = table_of(tree, f"numbers-{article['id']}")
        assert len(rows) == len(figure.data)


@pytest.mark.slow
def test_anchors_lead_somewhere_and_identities_are_unique(made_survey):
    tree = Tree(page([numatlas.load(made_survey), numatlas.load(made_survey)], ""))
    identities = [element["id"] for element in tree.all if element.get("id")]
    assert len(identities) == len(set(identities))
    targets = {link["href"] for link in tree.find("a")}
    assert "#warning-1" in targets
    assert targets <= {f"#{identity}" for identity in identities}


def test_head_tells_run_summary_and_what_was_skipped(made_survey):
    tree = Tree(page([numatlas.load(made_survey)], ""))
    (runs,) = tree.find("section", id="runs")
    for words in ("numatlas survey", "2026-11-01 10:01:05 UTC, 12.5 s", "survey.json", "0.1.0"):
        assert words in runs["text"]
    (skipped,) = tree.find("section", id="skipped")
    assert "transfer: no GPU" in skipped["text"]


def test_a_survey_with_pieces_missing_is_a_page_all_the_same(made_survey, tmp_path):
    data = json.loads((made_survey / "survey.json").read_text())
    for name in ("warnings", "skipped", "arguments", "started", "seconds", "version"):
        del data[name]
    for part in data["results"]:
        part["facts"] = []
    data["machine"] = {"nodes": [{"id": 0}], "gpus": [{}], "cpus": [{"id": 0}]}
    (tmp_path / "survey.json").write_text(json.dumps(redrawn(data)))
    tree = Tree(page([numatlas.load(tmp_path)], ""))
    wanted = [
        one for one in figures_of(numatlas.load(made_survey)) if one.kind != "atlas"
    ]  # no CPU is on a node
    assert len(tree.find("article")) == len(wanted)


def test_warnings_of_all_figures_stand_once(made_survey):
    result = numatlas.load(made_survey)
    text = page([result], "")
    tree = Tree(text)
    (section,) = tree.find("section", id="warnings")
    assert section["text"].count("no measurement") == 1
    assert section["text"].index("no measurement") < section["text"].index("numa_balancing")
    for article in tree.find("article"):
        if article["data-kind"] != "Atlas":
            assert "no measurement" not in article["text"]
            links = [link["href"] for link in tree.find("a", within=article)]
            assert "#warning-1" in links


def test_nothing_is_loaded_and_no_folder_is_told(made_survey):
    text = page([numatlas.load(made_survey)], "")
    tree = Tree(text)
    for element in tree.all:
        for name in ("src", "srcset", "data", "action", "poster"):
            assert not element.get(name) or element[name].startswith("data:"), element
        assert element["tag"] not in ("link", "iframe", "object", "base")
        if element.get("href"):
            assert element["href"].startswith(("data:image/png" if element["tag"] == "image" else "#", "#"))
    styles = "".join(element["text"] for element in tree.find("style"))
    assert "@import" not in styles and "url(" not in styles
    assert made_survey.name not in text and str(made_survey.parent) not in text


def test_markup_in_data_is_text(tmp_path):
    text = page([numatlas.load(evil_fleet(tmp_path))], f"of {EVIL}")
    tree = Tree(text)
    assert not [one for one in tree.find("script") if "obeyed" in one["text"] and not one.get("type")]
    # Where it stands as text, it is whole.
    assert tree.find("h1")[0]["text"] == f"of {EVIL}"
    (suspects,) = tree.find("ol", class_="suspects")
    assert (
        suspects["text"].strip().startswith(f"{EVIL}: triad 20.0 % below the median of its kind, 31.5 MADs")
    )
    rows = table_of(tree, "numbers-stream")
    assert EVIL in {row["host"] for row in rows}
    assert "<script>document" not in text


def test_a_map_is_drawn_and_its_cells_are_told(measure):
    result = numatlas.load(measure("matrix", "guest-tiers.json"))
    (figure,) = [one for one in figures_of(result, "matrix") if one.key.startswith("matrix-latency")]
    tree = Tree(page([result], ""))
    (article,) = tree.find("article", id=figure.key)
    words = " ".join(one["text"] for one in tree.find("text", within=article))
    (table,) = tree.find("table", within=article)
    heads = [one["text"] for one in tree.find("th", within=table)]
    assert heads == ["CPU node", "0", "1", "2"]
    cells = [one["text"] for one in tree.find("td", within=table)]
    assert cells[0] == "0" and len(cells) == 2 * 4
    for row in figure.values:
        for value in row:
            assert number_text(value, 3) in words and any(f"{value:.1f}" in cell for cell in cells)
    assert "light is better (less)" in article["text"]


def drawn(monkeypatch, figure):
    """A page of this figure alone."""
    monkeypatch.setattr("numatlas.report.page.figures_of", lambda _: [replace(figure, kind="made")])
    return Tree(page([Result(Path("made.json"), "made")], ""))


def test_an_empty_cell_says_why(measure, monkeypatch):
    result = numatlas.load(measure("matrix", "guest-tiers.json"))
    (figure,) = [one for one in figures_of(result, "matrix") if one.key.startswith("matrix-latency")]
    figure.values[0][1] = figure.low[0][1] = figure.high[0][1] = None
    figure.texts[0][1] = "too little memory"
    figure.words[0][1] = "too little memory"
    tree = drawn(monkeypatch, figure)
    assert tree.find("svg")
    assert cells_of(figure)["words"][0][1] == "too little memory"


def test_large_maps_are_drawn(monkeypatch):
    names = [f"<{index}>" for index in range(40)]
    values = [[10.0 + row + column for column in range(40)] for row in range(40)]
    figure = Matrix("m", "m", rows=names, columns=names, unit="ns", values=values, low=values)
    figure.high = [[value + (9 if value == 88 else 1) for value in row] for row in values]
    figure.words = [[f"{value:.2f}" for value in row] for row in values]
    tree = drawn(monkeypatch, figure)
    (place,) = tree.find("div", data_cells="picture-m")
    assert tree.find("image", within=place)
    names_of = [one["text"] for one in tree.find("text", within=place) if one["text"][:1] == "<"]
    assert names_of.count("<39>") == 1 and names_of.count("<36>") == 2  # every fourth column's has room
    words = " ".join(one["text"] for one in tree.find("text", within=place))
    assert "the widest spread of a cell is 88.00 to 97.00 ns ( <39>, <39>)" in words
    spec = cells_of(figure)
    assert spec["words"][39][39] == "88.00" and spec["rows"] == names
    assert len(spec["words"]) == len(spec["words"][0]) == 40


def test_small_differences_do_not_get_the_whole_scale():
    def scale_of(*values):
        return common_ends([Matrix("m", "m", rows=["0"], columns=list("ab"), values=[list(values)])])

    narrow, wide = scale_of(100.0, 100.5), scale_of(50.0, 100.0)
    assert narrow[1] - narrow[0] == pytest.approx(LEAST_RANGE * 100.25)
    assert wide == (50.0, 100.0)


def test_what_follows_from_a_table_stands_below_it(measure):
    result = numatlas.load(measure("weights", "guest-tiers.json"))
    (view,) = result.views
    (verdict,) = Tree(page([result], "")).find("pre", class_="verdict")
    assert view["verdict"] and verdict["text"] == "\n".join(view["verdict"])


def test_a_table_has_its_bars_and_all_its_columns(measure):
    result = numatlas.load(measure("bandwidth", "two-sockets-four-gpus.json", "--threads", "1,4"))
    (figure,) = figures_of(result, "bandwidth")
    tree = Tree(page([result], ""))
    (article,) = tree.find("article", id=figure.key)
    (table,) = tree.find("table", within=article)
    heads = [head["text"] for head in tree.find("th", within=table)]
    assert heads == figure.heads and {"kernel", "sum", "moved"} <= set(heads)
    drawn = [one["text"] for one in tree.find("text", within=article)]
    for row, cells in zip(figure.rows, tree.find("tr", within=table)[1:], strict=True):
        assert row.text in drawn and row.text in cells["text"]


# ---- Several files


@pytest.mark.slow
def test_several_files_stand_side_by_side_on_one_scale(measure):
    paths = [measure("matrix", name) for name in ("guest-four-nodes.json", "guest-tiers.json")]
    results = [numatlas.load(path) for path in paths]
    tree = Tree(page(results, ""))
    names = [row["text"] for row in tree.find("th", scope="row", within=tree.find("table", class_="runs")[0])]
    assert len(set(names)) == 2
    heads = [head["text"] for head in tree.find("th", scope="col", within=tree.find(class_="compare")[0])]
    assert [head[0] for head in heads[-2:]] == ["A", "B"]
    keys = [{one.key for one in figures_of(result, "matrix")} for result in results]
    both = keys[0] & keys[1]
    assert both
    groups = tree.find(class_="several", within=tree.find("section", id="section-matrix")[0])
    assert len(groups) == len(both)
    for group in groups:
        labels = [one["text"] for one in tree.find("p", within=group, class_="file")]
        assert labels == names
        mine = [
            one
            for result in results
            for one in figures_of(result, "matrix")
            if one.key == tree.find("article", within=group)[0]["id"]
        ]
        assert len(mine) == len(tree.find("article", within=group)) == 2
    wanted = sum(len(figures_of(result)) for result in results)
    assert len(tree.find("article")) == wanted  # two machines, and all matrices


def test_files_of_one_name_are_told_apart_without_their_folders(made_survey, tmp_path):
    other = tmp_path / "another-folder"
    other.mkdir()
    shutil.copy(made_survey / "survey.json", other)
    results = [numatlas.load(made_survey), numatlas.load(other)]
    text = page(results, "")
    tree = Tree(text)
    names = [row["text"] for row in tree.find("th", scope="row", within=tree.find("table", class_="runs")[0])]
    assert [name[-4:] for name in names] == [" (1)", " (2)"]
    assert "another-folder" not in text and made_survey.name not in text


def test_the_same_machine_is_told_once(made_survey, measure):
    paths = [measure(name, "guest-tiers.json") for name in ("matrix", "cores")]
    tree = Tree(page([numatlas.load(path) for path in paths], ""))
    assert len(tree.find("div", class_="machine")) == 1


def test_machine_has_its_nodes_and_settings(measure):
    result = numatlas.load(measure("matrix", "two-sockets-four-gpus.json"))
    tree = Tree(page([result], ""))
    (article,) = tree.find("div", class_="machine")
    heads = [one["text"] for one in tree.find("th", within=article, scope="row")]
    assert heads[:3] == ["0", "1", "2"] and "cxl" in article["text"]


# ---- Fleets


def test_a_fleet_is_told_in_sum_first(tmp_path):
    result = numatlas.load(fleet_of(500, tmp_path / "fleet.json"))
    tree = Tree(page([result], ""))
    (sums,) = tree.find("table", class_="sums")
    rows = [row for row in tree.find("tr", within=sums) if row["text"].startswith(("copy", "triad"))]
    assert [row["text"].strip()[-1] for row in rows] == ["1", "0"]  # suspects
    (article,) = tree.find("article", data_kind="Fleet")
    assert article["text"].index("Suspects: 1 of 500 hosts") < article["text"].index("cn00003")
    assert "cn00003: copy 20.0 % below the median of its kind" in article["text"]
    assert len(tree.find("tr", within=tree.find(class_="hosts")[0])) == 501
    values = [row["value"] for row in table_of(tree, "numbers-stream")]
    assert values == list(result.hosts["value"])


@pytest.mark.slow
def test_ten_thousand_hosts_stay_below_20_mb(tmp_path):
    text = page([numatlas.load(fleet_of(10_000, tmp_path / "fleet.json"))], "")
    assert 1_000_000 < len(text.encode()) < 20_000_000


def test_a_file_without_machine_and_spread_says_so(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("size (MB), 0, 1\n1, 12.5, 12.25\n64, 80.0, 90.5\n")
    tree = Tree(page([numatlas.load(path)], ""))
    assert "the file has no interval" in tree.find("dd", class_="spread")[0]["text"]
    assert "90.50" in tree.find("details", class_="numbers")[0]["text"]


def test_no_verdict_is_not_called_a_good_one(tmp_path):
    path = tmp_path / "killed.json"
    report = json.loads((FLEETS / "run1.json").read_text())
    report["cases"] = measured(report)  # without verdicts
    path.write_text(json.dumps(report))
    tree = Tree(page([numatlas.load(path)], ""))
    assert "Nobody looked for slow hosts" in tree.find("article", data_kind="Fleet")[0]["text"]
    assert "No suspects" not in tree.find("article", data_kind="Fleet")[0]["text"]


# ---- Pieces


def test_lists_of_numbers():
    assert numbers_of("0-2,8, 10-11") == [0, 1, 2, 8, 10, 11]
    assert ranges_of([8, 0, 1, 2, 11, 10]) == "0-2,8,10-11"
    assert numbers_of("") == [] and ranges_of([]) == ""
