"""The page of results: what stands in it, and what must not."""

import base64
import json
import re
import shutil
import zlib

import pytest
from report_pages import EVIL, FLEETS, Tree, evil_fleet, fleet_of, table_of

import numatlas
from numatlas.figures import figures_of
from numatlas.report.colours import LEAST_RANGE, STOPS, colour, ink_on, scale_of, text_of
from numatlas.report.markup import el, identifier
from numatlas.report.page import page
from numatlas.report.ranges import numbers_of, ranges_of

# ---- What stands in the page


def test_a_surveys_notes_and_what_it_did_not_come_to(made_survey, tmp_path):
    data = json.loads((made_survey / "survey.json").read_text())
    data = {**data, "notes": ["took 70 s instead of 60 s"], "plan": [{"benchmark": "cores"}]}
    data["results"] = [report for report in data["results"] if report["command"] != "cores"]
    data["skipped"] = []
    path = tmp_path / "survey.json"
    path.write_text(json.dumps(data))
    text = page([numatlas.load(path)], "")
    assert "took 70 s instead of 60 s" in text
    assert "not run: cores" in text


def test_every_figure_tells_spread_placement_warnings_and_numbers(made_survey):
    result = numatlas.load(made_survey)
    tree = Tree(page([result], ""))
    wanted = figures_of(result)
    articles = tree.find("article")
    assert [tree.find("h4", within=one)[0]["text"] for one in articles] == [f"{one.title}#" for one in wanted]
    for article, figure in zip(articles, wanted, strict=True):
        assert tree.find(within=article, class_="warnings"), figure.key
        if article["data-kind"] == "MachinePicture":
            continue
        (spread,) = tree.find("dd", within=article, class_="spread")
        (placement,) = tree.find("dd", within=article, class_="placement")
        assert spread["text"] == figure.spread
        assert placement["text"] == figure.placement
        for name in ("copy", "download"):
            assert tree.find("button", within=article, class_=name, data_table=f"numbers-{article['id']}")
        rows = table_of(tree, f"numbers-{article['id']}")
        assert [row["value"] for row in rows] == list(figure.data["value"])


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
    facts = [element["text"] for element in tree.find(class_="fact")]
    assert facts == ["Idle latency81.25 ns80.00 ns to 82.00 ns", "Copies to a GPUnot measured"]
    (skipped,) = tree.find("section", id="skipped")
    assert "transfer: no GPU" in skipped["text"]


def test_a_survey_with_pieces_missing_is_a_page_all_the_same(made_survey, tmp_path):
    data = json.loads((made_survey / "survey.json").read_text())
    for name in ("summary", "warnings", "skipped", "arguments", "started", "seconds", "version"):
        del data[name]
    data["machine"] = {"nodes": [{"id": 0}], "gpus": [{}], "cpus": [{"id": 0}]}
    (tmp_path / "survey.json").write_text(json.dumps(data))
    tree = Tree(page([numatlas.load(tmp_path)], ""))
    assert not tree.find("section", id="summary")
    assert len(tree.find("article")) == len(figures_of(numatlas.load(made_survey)))


def test_warnings_of_all_figures_stand_once(made_survey):
    result = numatlas.load(made_survey)
    text = page([result], "")
    tree = Tree(text)
    (section,) = tree.find("section", id="warnings")
    assert section["text"].count("no measurement") == 1
    assert section["text"].index("no measurement") < section["text"].index("numa_balancing")
    for article in tree.find("article"):
        if article["data-kind"] != "MachinePicture":
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
            assert element["href"].startswith("#")
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
    assert suspects["text"].startswith(f"{EVIL}: triad 20.0 % below the median of its kind, 31.5 MADs")
    rows = table_of(tree, "numbers-stream")
    assert EVIL in {row["host"] for row in rows}
    assert "<script>document" not in text


def test_matrix_cells_have_the_numbers_and_the_better_end(measure):
    result = numatlas.load(measure("matrix", "guest-tiers.json"))
    (figure,) = [one for one in figures_of(result, "matrix") if one.key.startswith("matrix-latency")]
    tree = Tree(page([result], ""))
    (article,) = tree.find("article", id=identifier(figure.key))
    cells = [cell for cell in tree.find("td", within=article) if cell.get("style")]
    values = [value for row in figure.values for value in row]
    for cell, value in zip(cells, values, strict=True):
        assert abs(float(re.match(r"[\d.]+", cell["title"].split(": ")[1])[0]) - value) < 0.001 * value
        assert " to " in cell["text"]
    best = cells[values.index(min(values))]["style"]
    assert best == "background:#{:02x}{:02x}{:02x};color:#000".format(*STOPS[-1])
    (legend,) = tree.find(class_="scale-line", within=article)
    assert "less is better" in legend["text"]


def test_an_empty_cell_says_why(measure):
    result = numatlas.load(measure("matrix", "guest-tiers.json"))
    (figure,) = [one for one in figures_of(result, "matrix") if one.key.startswith("matrix-latency")]
    from numatlas.report.matrix import common_scale, matrix

    scale = common_scale([figure])
    figure.values[0][1] = None
    figure.whys = [["" for _ in row] for row in figure.values]
    figure.whys[0][1] = "too little memory"
    tree = Tree(matrix(figure, "one", scale, shared=False))
    (absent,) = tree.find("td", class_="absent")
    assert absent["title"] == "too little memory"


def test_large_maps_are_an_image_of_as_many_cells():
    from numatlas.figures.model import Matrix
    from numatlas.report.matrix import common_scale, matrix

    names = [str(index) for index in range(40)]
    values = [[10.0 + row + column for column in range(40)] for row in range(40)]
    figure = Matrix("m", "m", rows=names, columns=names, unit="ns", values=values, low=values)
    figure.high = [[value + (9 if value == 88 else 1) for value in row] for row in values]
    tree = Tree(matrix(figure, "m", common_scale([figure]), shared=False))
    (image,) = tree.find("img")
    raw = base64.b64decode(image["src"].partition(",")[2])
    assert raw[:8] == b"\x89PNG\r\n\x1a\n" and raw[16:24] == bytes([0, 0, 0, 40, 0, 0, 0, 40])
    pixels = zlib.decompress(raw[raw.index(b"IDAT") + 4 : -16])
    assert tuple(pixels[1:4]) == STOPS[-1] and tuple(pixels[-4:-1]) == STOPS[0]
    assert not tree.find("td")
    assert tree.find("p")[1]["text"] == "widest spread: 88.00 to 97.00 ns ( 39,  39)"


def test_small_differences_do_not_get_the_whole_scale():
    low, high = scale_of([100.0, 100.5])
    assert high - low == pytest.approx(LEAST_RANGE * 100.25)
    assert scale_of([50.0, 100.0]) == (50.0, 100.0)
    assert colour(100.0, (50.0, 100.0), less_is_better=True) == STOPS[0]
    assert ink_on(STOPS[0]) == "#fff" and ink_on(STOPS[-1]) == "#000"


# ---- Several files


def test_several_files_stand_side_by_side_on_one_scale(measure):
    paths = [measure("matrix", name) for name in ("guest-four-nodes.json", "guest-tiers.json")]
    results = [numatlas.load(path) for path in paths]
    tree = Tree(page(results, ""))
    names = [row["text"] for row in tree.find("th", scope="row", within=tree.find("table", class_="runs")[0])]
    assert len(set(names)) == 2
    keys = [{one.key for one in figures_of(result, "matrix")} for result in results]
    both = keys[0] & keys[1]
    assert both
    groups = tree.find(class_="several")
    assert len(groups) == len(both)
    for group in groups:
        labels = [one["text"] for one in tree.find("p", within=group, class_="file")]
        assert labels == names
        first, second = (one["text"] for one in tree.find(class_="scale-line", within=group))
        assert first == second and "one scale for all files" in first
        mine = [
            one
            for result in results
            for one in figures_of(result, "matrix")
            if identifier(one.key) == tree.find("article", within=group)[0]["id"]
        ]
        scale = scale_of([value for one in mine for row in one.values for value in row])
        shown = [cell["style"].split(";")[0] for cell in tree.find("td", within=group)]
        assert shown == [
            f"background:{text_of(colour(value, scale, one.less_is_better))}"
            for one in mine
            for row in one.values
            for value in row
        ]
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


def test_the_same_machine_is_drawn_once(made_survey, measure):
    paths = [measure(name, "guest-tiers.json") for name in ("matrix", "cores")]
    tree = Tree(page([numatlas.load(path) for path in paths], ""))
    (machine,) = tree.find("article", data_kind="MachinePicture")
    for path in paths:
        assert path.name in tree.find("p", within=machine, class_="file")[0]["text"]


def test_machine_has_its_nodes_gpus_and_memory_without_cpus(measure):
    result = numatlas.load(measure("matrix", "two-sockets-four-gpus.json"))
    tree = Tree(page([result], ""))
    (article,) = tree.find("article", data_kind="MachinePicture")
    nodes = tree.find(class_="node", within=article)
    assert [node["text"][:6] for node in nodes] == ["Node 0", "Node 1", "Node 2"]
    assert "CXL" in nodes[2]["text"] and "no CPUs; nearest: node 0" in nodes[2]["text"]
    memory = [row["memory_total"] for row in table_of(tree, "numbers-machine")]
    assert memory == [node["memory_total"] for node in result.machines[0]["nodes"]]
    assert [len(tree.find(class_="gpu", within=node)) for node in nodes] == [2, 2, 0]
    assert [len(tree.find(class_="cpu", within=node)) for node in nodes] == [8, 8, 0]


# ---- Fleets


def test_a_fleet_is_told_in_sum_first(tmp_path):
    result = numatlas.load(fleet_of(500, tmp_path / "fleet.json"))
    tree = Tree(page([result], ""))
    (sums,) = tree.find("table", class_="sums")
    rows = [row for row in tree.find("tr", within=sums) if row["text"].startswith(("copy", "triad"))]
    assert [len(tree.find("svg", within=row)) for row in rows] == [1, 1]
    (article,) = tree.find("article")
    assert article["text"].index("Suspects: 1 of 500 hosts") < article["text"].index("cn00003")
    assert "cn00003: copy 20.0 % below the median of its kind" in article["text"]
    assert not tree.find(class_="plain-hosts")
    values = [row["value"] for row in table_of(tree, "numbers-stream")]
    assert values == list(result.hosts["value"])


def test_ten_thousand_hosts_stay_below_20_mb(tmp_path):
    text = page([numatlas.load(fleet_of(10_000, tmp_path / "fleet.json"))], "")
    assert 1_000_000 < len(text.encode()) < 20_000_000


def test_a_file_without_machine_and_spread_says_so(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("size (MB), 0, 1\n1, 12.5, 12.25\n64, 80.0, 90.5\n")
    tree = Tree(page([numatlas.load(path)], ""))
    assert "the file has no spread" in tree.find("dd", class_="spread")[0]["text"]
    assert "90.50" in tree.find("details", class_="numbers")[0]["text"]


def test_no_verdict_is_not_called_a_good_one():
    tree = Tree(page([numatlas.load(FLEETS / "run1.json")], ""))
    assert "Nobody looked for slow hosts" in tree.find("article")[0]["text"]
    assert "No suspects" not in tree.find("article")[0]["text"]


# ---- Pieces


def test_markup_escapes_all_but_its_own():
    made = el("p", "<b>", el("i", "&"), None, ["x", el("br")], title='"<', class_="a", hidden=True, id=None)
    assert made == '<p title="&quot;&lt;" class="a" hidden>&lt;b&gt;<i>&amp;</i>x<br></p>'


def test_lists_of_numbers():
    assert numbers_of("0-2,8, 10-11") == [0, 1, 2, 8, 10, 11]
    assert ranges_of([8, 0, 1, 2, 11, 10]) == "0-2,8,10-11"
    assert numbers_of("") == [] and ranges_of([]) == ""
