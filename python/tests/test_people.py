"""Words, units and sizes of pages and pictures as people write them, on screens, phones and paper."""

import json
import re

import pytest
from commands import ROOT, SURVEYS, command, one_line, redrawn
from made import shapes
from made_results import survey
from report_pages import Tree, fleet_of

import numatlas
from numatlas.drawing.shapes import COLOURS
from numatlas.figures import figures_of
from numatlas.figures.placement import placement_of
from numatlas.file_error import FileError
from numatlas.plot import Frame, build
from numatlas.report.page import page
from numatlas.report.pictures import MOST_PRINTED, fleet_in_sum
from numatlas.units import number_text, quantity_text, size_text

STYLE = (ROOT / "python" / "numatlas" / "report" / "style.css").read_text()


def test_sizes_and_rates():
    assert (size_text(32768), size_text(3 << 19, whole=True)) == ("32 KiB", "1536 KiB")
    assert quantity_text(2.972e12, "B/s") == "2.97 TB/s" and quantity_text(9.99e11, "B/s") == "999 GB/s"
    assert number_text(1e200, 3) == "1.00e+200" and number_text(123456.0) == "123456"


def test_pages_whose_node_nobody_told():
    flows = numatlas.load(SURVEYS / "tiers.json")["latency"].flows.head(1)
    flows = flows.assign(pages_total=9, pages_checked=9, pages_observed=3, pages_elsewhere=0)
    assert "the node of 6 pages is not known" in placement_of(flows)


# ---- Screens, phones and paper


def test_of_many_hosts_the_slowest_are_printed(tmp_path):
    result = numatlas.load(fleet_of(400, tmp_path / "fleet.json"))
    (fleet,) = figures_of(result, "stream")
    printed = fleet_in_sum(fleet)["printed"]
    assert "cn00003" in printed and len(printed) == MOST_PRINTED
    triad = fleet.hosts[fleet.hosts["kernel"] == "triad"]
    seen = triad["host"].isin(printed)
    assert triad["value"][seen].max() <= triad["value"][~seen].min()
    tree = Tree(page([result]))
    assert len(tree.find("tr", class_="rest")) == 400 - MOST_PRINTED
    (words,) = tree.find("p", class_="printed")
    assert words["text"].startswith("The slowest 50 hosts and all suspects, and 350 more")
    paper = STYLE[STYLE.index("@media print") :]
    assert ".hosts tr.rest { display: none; }" in paper


def test_fleet_charts_keep_a_width_that_can_be_read():
    assert re.search(r"\.strip > svg \{ min-width: 6\d\dpx", STYLE)


def test_links_have_an_outline_that_is_seen_on_dark_cards():
    light, dark = COLOURS["edge"]
    assert int(dark[1:3], 16) > 0xC0 > int(light[1:3], 16)


@pytest.mark.parametrize("width", [3.3, 7.0])
def test_the_key_of_an_atlas_is_as_large_as_the_small_print(tmp_path, width):
    (atlas,) = figures_of(numatlas.load(survey(tmp_path / "a.json")), "atlas")
    sizes = {one.text[:6]: one.size for one in shapes(build(atlas, Frame(width)), "small")}
    assert sizes["colour"] == sizes["spread"]


def test_long_names_and_titles_wrap():
    assert "text-overflow: ellipsis" not in STYLE and "line-clamp" not in STYLE
    assert "white-space: nowrap" not in re.search(r"\.metric \.value \{[^}]*\}", STYLE)[0]


# ---- Damage


def first_estimate(data):
    return data["results"][0]["cases"][0]["flows"][0]["figures"][0]["estimate"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda data: first_estimate(data).update(value="x"),
            "field 'results[0].cases[0].flows[0].figures[0].estimate' cannot be",
        ),
        (lambda data: data["results"][1].update(views={"a": 1}), "field 'results[1].views' must be array"),
        (
            lambda data: data["results"][0]["views"][0].update(title=5),
            "field 'results[0].views[0].title' must be string",
        ),
    ],
)
def test_the_damaged_field_is_named(tmp_path, change, words):
    path = survey(tmp_path / "a.json", 1, 1, 4)
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    with pytest.raises(FileError) as error:
        page([numatlas.load(path)])
    assert words in str(error.value) and str(error.value).startswith(str(path))


def test_the_damaged_field_is_named_by_the_command_too(tmp_path):
    path = survey(tmp_path / "a.json", 1, 1, 4)
    data = json.loads(path.read_text())
    data["results"][0]["seconds"] = "long"
    path.write_text(json.dumps(data))
    one_line(command("report", path, folder=tmp_path), 2, "field 'results[0].seconds' must be number")


def test_very_large_numbers_have_exponents(tmp_path):
    path = survey(tmp_path / "a.json", 1, 1, 4)
    data = json.loads(path.read_text())
    for one in data["results"][3]["cases"]:
        for figure in [*one["figures"], *(figure for flow in one["flows"] for figure in flow["figures"])]:
            figure["estimate"] = dict.fromkeys(("value", "low", "high"), 1e200) | {"n": 1, "method": "none"}
    path.write_text(json.dumps(redrawn(data)))
    tree = Tree(page([numatlas.load(path)]))
    assert not [one for one in tree.find("td") if re.search(r"\d{30}", one["text"])]
