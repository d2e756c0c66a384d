"""Families of curves of latency under load: their lines, what is marked, and the CSV for Mess."""

import csv
import json

import pytest
from commands import command, redrawn
from made import texts
from made_results import survey
from report_pages import Tree, table_of
from results import value

import numatlas
from numatlas.figures import figures_of
from numatlas.figures.model import Curves, Matrix
from numatlas.plot import build
from numatlas.report.page import page

OPTIONS = ["--kernels", "read,write", "--mix", "3:1,2:1,1:1", "--cpus", "node:0", "--pairs", "0:0,0:2"]


@pytest.fixture(scope="module")
def family(measure):
    return measure("loaded", "guest-tiers.json", *OPTIONS)


def test_the_family_stands_in_one_picture_over_the_traffic(family, plain):
    (figure,) = figures_of(numatlas.load(family), "loaded")
    assert len(figure.series) == 10  # five shares of reads, two memories
    (line,) = [line for line in figure.series if "2" in line.name.split(",")[0] and "writes" in line.name]
    cases = [
        case
        for case in plain(family)["cases"]
        if case["labels"]["memory_node"] == "2" and case["labels"].get("load_kernel") == "write"
    ]
    moved = [value(case, "traffic_sum") * 1e-9 for case in cases]
    assert sorted(line.x)[1:] == pytest.approx(sorted(moved))
    (at_80,) = [value(case, "latency_at_80_percent") for case in cases if "80_percent" in str(case)]
    x, y, words, what = line.special[0]
    (row,) = [case for case in cases if "80_percent" in str(case)]
    assert (x, y) == pytest.approx((value(row, "traffic_sum") * 1e-9, at_80 * 1e9))
    assert (x, y) in zip(line.x, line.y, strict=True) and words.endswith("at 80 %")
    legend = texts(build(figure))
    assert any(words in text for text in legend) and what in legend


def test_the_csv_has_the_columns_of_mess(family, tmp_path):
    """As its app_plotter.py reads memory_curves.csv."""
    tree = Tree(page([numatlas.load(family)]))
    (button,) = tree.find("button", data_name="memory_curves-0-0.csv")
    rows = table_of(tree, button["data-table"])
    columns = {"read_pct_rounded", "pause", "bandwidth_mean", "latency_mean"}
    assert columns | {"bandwidth_smooth", "latency_smooth"} == set(rows[0])
    shares = {row["read_pct_rounded"] for row in rows}
    assert shares == {100, 80, 75, 67, 50}  # a line is read before it is written
    assert len(rows) == 5 * 12 and min(row["bandwidth_mean"] for row in rows) > 0


def test_the_knee_is_the_program_s_over_the_traffic(family, plain):
    (figure,) = figures_of(numatlas.load(family), "loaded")
    cases = [case for case in plain(family)["cases"] if "knee_latency" in str(case)]
    knees = [one for line in figure.series for one in line.special if one.what.startswith("knee")]
    assert len(knees) == len(cases) == 10
    for case in cases:
        moved = value(case, "knee") * value(case, "traffic_sum") / value(case, "bandwidth_sum")
        where = (moved * 1e-9, value(case, "knee_latency") * 1e9)
        assert any((one.x, one.y) == pytest.approx(where) for one in knees)


def test_what_is_unknown_is_no_point_and_no_mark(family, tmp_path, plain):
    """A load that is hardly known has no place on the axis: not its case's own latency, and no mark at it."""
    data = plain(family)
    rows = [case for case in data["cases"] if case["labels"].get("load") in ("80%", "95%")]
    for case in rows:
        for figure in case["figures"]:
            if figure["key"] in ("bandwidth_sum", "traffic_sum"):
                figure["estimate"] |= {"low": 0, "high": 3 * figure["estimate"]["value"]}
    path = tmp_path / "unknown.json"
    path.write_text(json.dumps(redrawn(data)))
    (known,), (figure,) = (figures_of(numatlas.load(one), "loaded") for one in (family, path))
    assert any(one.what.startswith("at 80 %") for line in known.series for one in line.special)
    assert not any(one.what.startswith("at 80 %") for line in figure.series for one in line.special)
    for line, own in zip(figure.series, known.series, strict=True):
        hidden = [at for at, x in enumerate(line.x) if x is None]
        assert {line.texts[at].split("\n")[2].split(",")[0] for at in hidden} == {"80 %", "95 %"}
        assert len(line.points()) == len(own.points()) - 2
    tree = Tree(page([numatlas.load(path)]))
    cells = [cell["text"].strip() for cell in tree.find("td")]
    assert sum(text.startswith("0.00 to") for text in cells) >= len(rows)


def test_the_peak_is_a_line_in_every_curve_that_it_belongs_to(tmp_path):
    path = survey(tmp_path / "a.json", 1, 1, 4)
    data = json.loads(path.read_text())
    slot = {"name": "A", "socket": "0", "channel": "A", "size": 1 << 36, "type": "DDR5", "width": 64}
    slot |= {"rated_speed": 12.5e9, "configured_speed": 12.5e9}
    slots = {"source": "a test", "problem": None, "slots": [slot]}
    for part in data["results"]:
        part["machines"][0] |= {"hypervisor": "", "memory_slots": slots}
    path.write_text(json.dumps(redrawn(data)))
    result = numatlas.load(path)
    text = "theoretical peak 100 GB/s"
    (loads,) = figures_of(result, "loaded")
    (curve,) = [one for one in figures_of(result, "bandwidth") if isinstance(one, Curves)]
    for figure, level in ((loads, False), (curve, True)):
        (mark,) = [mark for mark in figure.marks if mark.text == text]
        assert (mark.at, mark.level) == (pytest.approx(100), level)
        assert text in texts(build(figure))
    (ladder,) = figures_of(result, "latency")
    assert [mark.text for mark in ladder.marks] == ["L2 512 KiB", "L3 32 MiB"]


def test_a_file_for_mess_is_written_by_plot(family, tmp_path):
    done = command("plot", "loaded", family, "-o", "curves.csv", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    paths = sorted(path.name for path in tmp_path.glob("*.csv"))
    assert paths == ["curves-0-0.csv", "curves-0-2.csv"]
    with (tmp_path / paths[0]).open() as file:
        assert {row["read_pct_rounded"] for row in csv.DictReader(file)} == {"100", "80", "75", "67", "50"}


def test_curves_of_memories_say_which_is_local(measure):
    words = ("survey", "cxl-tiers.json", "--time", "1m", "--no-report")
    result = numatlas.load(measure(*words, output="--output"))
    (curves,) = [one for one in figures_of(result, "loaded") if isinstance(one, Curves)]
    names = ["memory node 0 (local)", "memory node 1 (remote)", "memory node 2 (CXL)"]
    assert [line.name for line in curves.series] == names


def test_slowdowns_by_neighbours_are_maps(measure):
    result = numatlas.load(measure("loaded", "cxl-tiers.json", "--load-memory", "each"))
    maps = [one for one in figures_of(result) if isinstance(one, Matrix)]
    labels = {(one.row_label, one.column_label, one.less_is_better) for one in maps}
    assert labels == {("CPUs:memory", "load on node", True)}
    assert all(one.rows[0] == "0:0" and one.columns == list("01234") for one in maps)
    (title,) = Tree(page([result])).find("h1")
    assert "class" not in title, "no alarm"


def test_curves_of_tables_with_different_columns_share_a_picture(measure):
    """Huge pages are on some nodes only."""
    words = ("survey", "cxl-tiers.json", "--time", "2m", "--only", "faults", "--no-report")
    result = numatlas.load(measure(*words, output="--output"))
    (curves,) = [one for one in figures_of(result, "faults") if isinstance(one, Curves)]
    assert curves.heads == ["curve", "threads", "base", "thp", "2M"]
    assert {row[-1] for row in curves.cells if "node 4" in row[0]} == {"-"}
