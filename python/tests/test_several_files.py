"""Several files on one page and in one picture, as different as files of one project are."""

import json
from dataclasses import replace

import pandas as pd
import pytest
from commands import SURVEYS, command, one_line, redrawn
from made import assert_words_lie_within, shapes, texts
from report_pages import FLEETS, Tree

import numatlas
from numatlas.figures import figures_of
from numatlas.figures.fleet import summaries
from numatlas.figures.model import Bars, Beside
from numatlas.figures.overlay import group_keys, overlaid
from numatlas.figures.scales import colour_of, common_ends
from numatlas.plot import Frame, build
from numatlas.report.page import page

EXAMPLES = sorted(SURVEYS.glob("*.json"))


def in_microseconds(folder):
    """A survey whose latencies are shown in another unit."""
    data = json.loads((SURVEYS / "tiers.json").read_text())
    for cell in (cell for part in data["results"] for view in part["views"] for cell in view["cells"]):
        cell["scale"] = 1e6 if cell["scale"] == 1e9 else cell["scale"]
    path = folder / "microseconds.json"
    path.write_text(json.dumps(redrawn(data)))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_curves_in_other_units_stand_side_by_side(tmp_path, order):
    paths = (SURVEYS / "tiers.json", in_microseconds(tmp_path))
    tree = Tree(page([numatlas.load(paths[at]) for at in order]))
    mine = [one for one in tree.find("article") if one["id"].startswith("latency-")]
    assert len(mine) == 2 and {one["data-kind"] for one in mine} == {"Curves"}


def test_sums_of_a_fleet_are_in_their_own_rows(tmp_path):
    """Of two kinds of hosts: pandas tells sums and groups in different orders."""
    (fleet,) = figures_of(numatlas.load(FLEETS / "run1.json"), "stream")
    kinds = {host: at % 2 for at, host in enumerate(fleet.names())}
    fleet.hosts = fleet.hosts.assign(kind=fleet.hosts["host"].map(kinds)).sort_values("host")
    fleet.kind_names = ["a", "b"]
    fleet.hosts = pd.concat([fleet.hosts, fleet.hosts.iloc[:3].assign(host="more", kind=1)])
    rows = summaries(fleet)
    assert len(rows) == 2 * len(fleet.kernels())
    for row in rows.itertuples():
        mine = fleet.hosts[(fleet.hosts["kernel"] == row.kernel) & (fleet.hosts["kind"] == row.kind)]
        assert row.count == mine["value"].notna().sum() and row.suspects == mine["slow"].sum()


def plotted(kind, *names, folder):
    done = command("plot", kind, *(SURVEYS / f"{name}.json" for name in names), folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.slow
def test_curves_of_one_sort_share_a_picture_whatever_pages_they_are_of(tmp_path):
    results = [numatlas.load(SURVEYS / f"{name}.json") for name in ("two-cpus", "four-nodes", "tiers")]
    every = [[one for one in figures_of(result, "latency")] for result in results]
    keys = group_keys(every)
    assert [mine[0] for mine in keys] == ["latency-latency"] * 3
    both = overlaid([mine[0] for mine in every], list("ABC"))
    names = [line.name for line in both.series]
    assert {"A base, node 0", "A thp, node 0", "B base, node 0"} <= set(names)
    assert len(plotted("latency", "two-cpus", "four-nodes", "tiers", folder=tmp_path)) == 1


def test_two_figures_of_one_sort_stay_apart(measure):
    """A file with two of them: by their keys only."""
    first, second = figures_of(numatlas.load(SURVEYS / "tiers.json"), "matrix")[1:3]
    assert first.family == second.family and first.key != second.key
    assert group_keys([[first, second], [second]]) == [[first.key, second.key], [second.key]]
    assert group_keys([[first], [second]]) == [[first.key], [first.key]]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["atlas", "matrix"])
def test_maps_stand_side_by_side(tmp_path, kind):
    assert plotted(kind, "four-nodes", "tiers", folder=tmp_path)


def test_maps_side_by_side_have_one_scale_and_their_letters():
    figures = [
        figures_of(numatlas.load(SURVEYS / f"{name}.json"), "matrix")[0] for name in ("four-nodes", "tiers")
    ]
    titled = [replace(one, title=f"{name}: x") for one, name in zip(figures, "AB", strict=True)]
    picture = build(Beside("m", "m", figures=titled, notes=["A: one; B: other"]))
    cells = [value for one in figures for value in one.ends()]
    ends = common_ends(figures)
    fills = [one.look["fill"] for one in shapes(picture, "cell")]
    assert fills == [colour_of(value, ends, True)[0] for value in cells]
    assert {"A: x", "B: x", "A: one; B: other"} <= set(texts(picture))
    narrow = build(Beside("m", "m", figures=titled), Frame(3.3))
    assert narrow.tall > picture.tall
    assert_words_lie_within(picture)


def test_files_without_a_figure_in_common(tmp_path):
    done = command("plot", "latency", SURVEYS / "tiers.json", in_microseconds(tmp_path), folder=tmp_path)
    one_line(done, 3, "these files have no latency figures that share a picture")


def test_a_mode_is_of_an_atlas_only(tmp_path):
    done = command("plot", "latency", SURVEYS / "tiers.json", "--mode", "bandwidth", folder=tmp_path)
    one_line(done, 2, "--mode: bandwidth: of an atlas only")


def test_a_column_that_one_of_two_tables_has_stands_under_its_head():
    bars = [
        Bars("a", "a", heads=["kernel", "sum", "±"], cells=[["read", "1", "2"]]),
        Bars("a", "a", heads=["kernel", "fits", "sum", "±", "±"], cells=[["read", "L2", "3", "4", "5"]]),
    ]
    table = overlaid(bars, ["A", "B"])
    assert table.heads == ["run", "kernel", "sum", "±", "fits", "±"]
    assert table.cells == [["A", "read", "1", "2", "-", "-"], ["B", "read", "3", "4", "L2", "5"]]
