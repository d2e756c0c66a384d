"""Figures where files are not the plainest: several kinds, hosts, absent values."""

import copy
import json

import numpy as np
import pytest
from commands import SURVEYS
from results import value

import numatlas
from numatlas.figures import figures_of
from numatlas.figures.model import Bars, Curves, Matrix
from numatlas.figures.tables import Tables
from numatlas.result import cell_of, view_of

GPUS = "two-sockets-four-gpus.json"
TIERS = "guest-tiers.json"


def numbers(found) -> dict:
    """Every number that a picture shows, by where it is."""
    told = {}
    for one in found:
        if isinstance(one, Matrix):
            told[one.key, "rows"], told[one.key, "columns"] = one.rows, one.columns
            lines = {"cells": (one.values, one.low, one.high)}
        elif isinstance(one, Curves):
            lines = {line.name: ([line.y], [line.low], [line.high]) for line in one.series}
            told |= {(one.key, line.name, "x"): line.x for line in one.series}
        elif isinstance(one, Bars):
            told[one.key, "names"] = [f"{row.name}, {row.group}" for row in one.rows]
            told[one.key, "cells"] = one.heads
            parts = [[getattr(row, name) for row in one.rows] for name in ("value", "low", "high")]
            lines = {"": tuple([part] for part in parts)}
        else:
            continue
        for name, spread in lines.items():
            told |= {
                (one.key, one.title, name, what): part
                for what, part in zip(("value", "low", "high"), spread, strict=True)
            }
    return told


@pytest.mark.parametrize("name", ["copies", "latency", "chase", "peer"])
def test_every_measure_alone(measure, name):
    found = figures_of(
        numatlas.load(measure("transfer", GPUS, "--measure", name, "--gpus", "0,2")), "transfer"
    )
    assert found


def test_an_axis_of_a_users_file_is_drawn_by_its_values(measure, tmp_path):
    kinds = {}
    for name, values in {"readers": '"1,2,4"', "load": '["idle", "1GB/s"]'}.items():
        path = tmp_path / f"{name}.toml"
        word = {"readers": "threads:{readers}", "load": "rate:{load}"}[name]
        path.write_text(
            f'[axes]\n{name} = {values}\n[[scenario]]\nname = "a"\n'
            f'flows = ["chase cpu:8 mem:0", "read cpu:0-3 mem:0 {word}"]\n'
        )
        kinds[name] = [type(one) for one in figures_of(numatlas.load(measure("run", GPUS, str(path))), "run")]
    assert kinds == {"readers": [Curves], "load": [Bars]}


def test_a_cell_has_one_number(measure, plain, tmp_path):
    """Cases that share a cell are told apart by what they differ in."""
    data = plain(measure("matrix", TIERS, "--pages", "base,thp"))
    (view,) = [view for view in data["views"] if view["where"]["kernel"] == "chase"][:1]
    del view["where"]["pages"]
    path = tmp_path / "both.json"
    path.write_text(json.dumps({**data, "views": [view]}))
    found = figures_of(numatlas.load(path), "matrix")
    assert [one.key.split("-")[-1] for one in found] == ["base", "thp"]
    assert [one.title for one in found] == [f"{view['title']}, {pages}" for pages in ("base", "thp")]
    for one, pages in zip(found, ("base", "thp"), strict=True):
        wanted = [
            value(case["flows"][0], "latency") * 1e9
            for case in data["cases"]
            if (case["kernel"], case["pages"]) == ("chase", pages)
        ]
        assert [cell for row in one.values for cell in row] == pytest.approx(wanted)


@pytest.mark.parametrize(
    "case",
    [
        ("latency", TIERS, ["--size", "32KiB,1MiB"]),
        ("latency", TIERS, ["--size", "1MiB,2MiB", "--threads", "2"]),
        ("matrix", TIERS, []),
        ("loaded", TIERS, []),
        ("cores", TIERS, []),
        ("touch", TIERS, []),
        ("transfer", GPUS, ["--gpus", "0,2"]),
    ],
    ids=lambda case: " ".join([case[0], *case[2]]),
)
def test_an_absent_value_is_none(measure, plain, tmp_path, case):
    command, machine, options = case
    data = plain(measure(command, machine, *options))
    for figure in data["cases"][-1]["flows"][0]["figures"]:
        figure["estimate"] = None
    path = tmp_path / "absent.json"
    path.write_text(json.dumps(data))
    found = numbers(figures_of(numatlas.load(path), command))
    values = [value for part in found.values() for line in part if isinstance(line, list) for value in line]
    assert values
    assert not [value for value in values if value is not None and np.isnan(value)]


def two_hosts(data: dict, part: float = 0.5) -> dict:
    """The same on a second host whose values are `part` of the first's."""
    data = copy.deepcopy(data)
    data["hosts"] = ["one", "two"]
    count = len(data["workers"])
    data["workers"] += [{**w, "host": 1, "rank": w["rank"] + 1} for w in data["workers"]]
    for case in data["cases"]:
        first = copy.deepcopy(case["figures"])
        second = copy.deepcopy(case["figures"])
        others = copy.deepcopy(case["flows"])
        for flow in others:
            flow["worker"] += count
        scale([*second, *[figure for flow in others for figure in flow["figures"]]], part)
        scale(case["figures"], 1 + part)
        case["flows"] += others
        if first:
            case["host_figures"] = [{"host": 0, "figures": first}, {"host": 1, "figures": second}]
    return data


def scale(figures: list[dict], factor: float) -> None:
    """Values alone: without their spread."""
    for figure in figures:
        figure["summary"] = None
        if figure["estimate"]:
            figure["estimate"] |= {"value": figure["estimate"]["value"] * factor, "low": None, "high": None}


@pytest.mark.parametrize("command", ["matrix", "copy", "loaded", "cores"])
def test_each_host_has_its_numbers(measure, plain, tmp_path, command):
    data = plain(measure(command, TIERS))
    path = tmp_path / "hosts.json"
    path.write_text(json.dumps(two_hosts(data)))
    alone = figures_of(numatlas.load(measure(command, TIERS)), command)
    found = figures_of(numatlas.load(path), command)
    if command == "loaded":
        lines = {line.name: line for one in found for line in one.series}
        for line in (line for one in alone for line in one.series):
            first, second = (
                next(
                    other
                    for name, other in lines.items()
                    if name == ", ".join(filter(None, [line.name, host]))
                )
                for host in ("one", "two")
            )
            assert first.x == pytest.approx(line.x)
            assert second.x == pytest.approx([0.5 * x for x in line.x])
            assert second.y == pytest.approx([0.5 * y for y in line.y])
        return
    assert len(found) == 2 * len(alone)
    for one in alone:
        for host, part in (("one", 1.0), ("two", 0.5)):
            (mine,) = [other for other in found if other.key == f"{one.key}-{host}"]
            assert host in mine.title
            wanted = np.array(one.values, dtype=float) * part
            np.testing.assert_allclose(np.array(mine.values, dtype=float), wanted)


def test_sums_over_hosts_say_so(measure, plain, tmp_path):
    path = tmp_path / "hosts.json"
    path.write_text(json.dumps(two_hosts(plain(measure("bandwidth", GPUS, "--threads", "1,2,4")))))
    for one in figures_of(numatlas.load(path), "bandwidth"):
        assert "sum over 2 hosts" in one.title
    for one in figures_of(numatlas.load(measure("bandwidth", GPUS, "--threads", "1,2,4")), "bandwidth"):
        assert "hosts" not in one.title


def test_nodes_of_two_hosts_are_two(measure, plain, tmp_path):
    path = tmp_path / "hosts.json"
    data = plain(measure("latency", TIERS, "--size", "32KiB,1MiB"))
    cells = [cell_of(head="size", label="size"), cell_of(figure="latency", scale=1e9)]
    path.write_text(
        json.dumps({**two_hosts(data), "views": [view_of("Latency", "curve", cells, rows="size")]})
    )
    (ladder,) = figures_of(numatlas.load(path), "latency")
    assert [line.name for line in ladder.series] == ["one", "two"]
    assert ladder.series[1].y == pytest.approx([0.5 * value for value in ladder.series[0].y])
    assert "lowest" not in ladder.spread


def test_points_that_were_stopped_are_no_workers_in_turn(measure, plain, tmp_path):
    """They have no sum, but what their workers had recorded."""
    data = plain(measure("bandwidth", GPUS, "--threads", "2"))
    for case in data["cases"]:
        case |= {"status": "incomplete", "reason": "interrupted", "figures": []}
    path = tmp_path / "stopped.json"
    path.write_text(json.dumps(data))
    (bars,) = figures_of(numatlas.load(path), "bandwidth")
    assert bars.heads[bars.column] == "worker median" and "sum" not in bars.heads
    medians = [value(case["groups"][0], "bandwidth") * 1e-9 for case in data["cases"]]
    assert [row.value for row in bars.rows] == pytest.approx(medians)
    name, others = data["cases"][0]["name"], len(medians) - 1
    assert bars.notes[-1] == f"incomplete: {name} and {others} more: interrupted"


def placement(measure, plain, tmp_path, change, command="matrix", start="matrix-latency") -> str:
    data = plain(measure(command, TIERS, "--pages", "base"))
    change(data["cases"])
    path = tmp_path / "placed.json"
    path.write_text(json.dumps(data))
    return next(one for one in figures_of(numatlas.load(path)) if one.key.startswith(start)).placement


def test_all_pages_are_where_they_were_asked(measure, plain, tmp_path):
    text = placement(measure, plain, tmp_path, lambda cases: None)
    assert text == "observed: all pages on the node asked for; pages of 4 KiB"


def test_flows_that_nobody_observed_are_told(measure, plain, tmp_path):
    def change(cases):
        cases[0]["flows"][0]["residency"] |= {"pages_by_node": {}, "problem": "no such call"}
        cases[1]["flows"][0]["residency"] |= {"pages_by_node": {}, "problem": "not allowed"}

    text = placement(measure, plain, tmp_path, change)
    assert text.startswith("observed: all pages seen on the node asked for (of 6 flows, 4 observed)")


def test_pages_that_nobody_observed_at_all(measure, plain, tmp_path):
    def change(cases):
        for case in cases:
            case["flows"][0]["residency"] |= {"pages_by_node": {}, "problem": "not allowed"}

    text = placement(measure, plain, tmp_path, change)
    assert text == "where the pages lay was not observed; not observed: not allowed"


def test_few_pages_elsewhere_are_told(measure, plain, tmp_path):
    def change(cases):
        cases[1]["flows"][0]["residency"]["pages_by_node"] = {"0": 4, "1": 9996}

    text = placement(measure, plain, tmp_path, change)
    assert "all pages" not in text
    assert "asked bind:1, seen node 0: 0.04 %, node 1: 99.96 %" in text
    assert "4 of 10000 pages elsewhere" in text


def test_the_source_of_a_copy_counts(measure, plain, tmp_path):
    def change(cases):
        flow = next(case for case in cases if case["labels"]["from"] == "bind:0")["flows"][0]
        flow["source_residency"]["pages_by_node"] = {"0": 1, "2": 3}

    copies = (measure, plain, tmp_path)
    assert "all pages on the node asked for" in placement(*copies, lambda cases: None, "copy", "copy")
    text = placement(*copies, change, "copy", "copy")
    assert "source: asked bind:0, seen node 0: 25 %, node 2: 75 %" in text


def test_a_sample_of_pages_is_told(measure, plain, tmp_path):
    def change(cases):
        for case in cases:
            for flow in case["flows"]:
                node = flow["memory"].removeprefix("bind:")
                pages = {"pages_by_node": {node: 90}, "pages_unknown": 10}
                flow["residency"] |= {**pages, "pages_asked": 100, "pages_total": 1000}

    text = placement(measure, plain, tmp_path, change)
    assert "all pages seen on the node asked for (a sample of 600 of 6000 pages; the node of 60 pages" in text


def test_keys_of_copies_tell_what_they_are_of(measure):
    found = figures_of(numatlas.load(measure("copy", TIERS, "--size", "1MiB,2MiB", "--side", "any")), "copy")
    keys = [one.key for one in found]
    assert len(set(keys)) == len(keys) >= 2
    for one in found:
        (row,) = one.data.drop_duplicates(["size", "pages", "stores"]).itertuples()
        assert one.key == f"copy-copy-rate-{row.pages}-{row.size >> 20}MiB-{row.stores}"


def test_curves_of_several_kinds_of_pages_over_a_number_of_them_are_bars(measure):
    (bars,) = figures_of(numatlas.load(measure("tlb", "guest-tiers.json")), "tlb")
    assert bars.unit == "ns" and bars.heads[bars.column] == "one per page"
    assert len(bars.rows) == len({(row.name, row.group) for row in bars.rows})


def test_columns_of_raw_numbers_stand_in_the_order_of_the_file(measure):
    result = numatlas.load(measure("latency", "guest-tiers.json", "--size", "1MiB"))
    columns = Tables(result, result.views).of_flows
    assert len(columns) > 1 and columns == sorted(columns, key=list(result.flows).index)


def test_the_key_of_curves_that_share_a_picture_has_the_order_of_the_file():
    (loaded, *_) = figures_of(numatlas.load(SURVEYS / "two-cpus.json"), "loaded")
    assert loaded.key == "loaded-latency-0-0-read-thp"
    assert list(loaded.where) == ["cpu_node", "memory_node", "load_kernel", "pages"]
