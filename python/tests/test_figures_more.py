"""Figures where files are not the plainest: several kinds, hosts, absent values."""

import json

import numpy as np
import pytest
from commands import SURVEYS, redrawn

import numatlas
from numatlas.figures import figures_of
from numatlas.figures.model import Bars, Curves, Matrix

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


@pytest.mark.parametrize(
    "case",
    [
        ("latency", TIERS, ["--size", "32KiB,1MiB"]),
        ("matrix", TIERS, []),
        ("loaded", TIERS, []),
        ("touch", TIERS, []),
    ],
    ids=lambda case: " ".join([case[0], *case[2]]),
)
def test_an_absent_value_is_none(measure, plain, tmp_path, case):
    command, machine, options = case
    data = plain(measure(command, machine, *options))
    for figure in data["cases"][-1]["flows"][0]["figures"]:
        figure["estimate"] = None
    path = tmp_path / "absent.json"
    path.write_text(json.dumps(redrawn(data)))
    found = numbers(figures_of(numatlas.load(path), command))
    values = [value for part in found.values() for line in part if isinstance(line, list) for value in line]
    assert values
    assert not [value for value in values if value is not None and np.isnan(value)]


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


def test_the_key_of_curves_that_share_a_picture_has_the_order_of_the_file():
    (loaded, *_) = figures_of(numatlas.load(SURVEYS / "two-cpus.json"), "loaded")
    assert loaded.key == "loaded-latency-0-0-read-thp"
    assert list(loaded.where) == ["cpu_node", "memory_node", "load_kernel", "pages"]
