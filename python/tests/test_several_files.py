"""Several files on one page and in one picture, as different as files of one project are."""

import json

import pandas as pd
import pytest
from commands import SURVEYS
from made_results import survey
from report_pages import FLEETS, Tree

import numatlas
from numatlas.figures import figures_of, trend
from numatlas.figures.fleet import summaries
from numatlas.figures.model import Bars, Matrix
from numatlas.report.page import page

EXAMPLES = sorted(SURVEYS.glob("*.json"))


def test_a_trend_of_runs_that_have_not_all_the_same_figures(tmp_path):
    paths = [survey(tmp_path / f"{day}.json", 2, 1, 4, day=day, slower=1 + day / 10) for day in range(1, 5)]
    data = json.loads(paths[1].read_text())
    data["results"] = [one for one in data["results"] if one["command"] != "bandwidth"]
    paths[1].write_text(json.dumps(data))
    results = [numatlas.load(path) for path in paths]
    (figure,) = trend.figures(results, list("ABCD"))
    lines = {line.name: line for line in figure.series}
    assert lines["local latency"].y == pytest.approx([1, 1.2 / 1.1, 1.3 / 1.1, 1.4 / 1.1])
    assert lines["peak bandwidth"].x == [1, 3, 4]
    assert lines["peak bandwidth"].y == pytest.approx([1, 1.1 / 1.3, 1.1 / 1.4])
    assert Tree(page(results)).find("article", id="trend")


def test_a_trend_of_different_machines():
    tree = Tree(page([numatlas.load(path) for path in EXAMPLES]))
    assert tree.find("article", id="trend")


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_bars_and_maps_of_one_key_stand_side_by_side(order):
    """Of one node the map is bars."""
    results = [numatlas.load(SURVEYS / ("two-cpus.json", "tiers.json")[at]) for at in order]
    tree = Tree(page(results))
    kinds = {one["id"]: one["data-kind"] for one in tree.find("article")}
    mine = [kind for name, kind in kinds.items() if name.startswith("cores-hand-over")]
    assert sorted(mine) == ["Bars", "Matrix"]
    assert {Bars, Matrix} <= {type(one) for result in results for one in figures_of(result)}


def test_figures_in_different_units_share_no_axis(tmp_path):
    """Of one machine in ns, of another in ms."""
    paths = [survey(tmp_path / "a.json", 1, 1, 4), survey(tmp_path / "b.json", 1, 1, 4, day=2, slower=1e5)]
    tree = Tree(page([numatlas.load(path) for path in paths]))
    ladders = [one for one in tree.find("article") if one["id"].startswith("latency-latency-base")]
    assert len(ladders) == 2


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
        assert sum(row.counts) == row.count
        mine = fleet.hosts[(fleet.hosts["kernel"] == row.kernel) & (fleet.hosts["kind"] == row.kind)]
        assert row.count == mine["value"].notna().sum() and row.suspects == mine["slow"].sum()
