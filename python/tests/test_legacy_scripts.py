"""plot_scaling.py and process_results.py: as their users call them."""

import os
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import command
from made import FLEET, texts

import numatlas
from numatlas.figures.scales import colour_range
from numatlas.legacy import heat_maps, scaling

ROOT = Path(__file__).parents[2]
PLOT_SCALING = ROOT / "scripts" / "visualization" / "plot_scaling.py"
PROCESS_RESULTS = ROOT / "process_results.py"
PUBLISHED = ROOT / "examples" / "published" / "numa_mem_bench-lumig-domain0.csv"
MAPPING = ROOT / "examples" / "published" / "numa_mem_bench-lumig-domain0-mapping_check.log"
DAT = FLEET / "memory_results-48x1-100101042021.dat"
PNG = b"\x89PNG"


def run(script, *arguments, folder, python=(), **environment):
    """As `script ARGUMENTS` in this folder; with another Python or environment as a new process of it."""
    if not python and not environment:
        return command("", *arguments, folder=folder, script=script)
    command_line = [*(python or [sys.executable]), str(script), *map(str, arguments)]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python"), **environment}
    return subprocess.run(command_line, cwd=folder, env=env, capture_output=True, text=True, check=False)


def error_of(done, code):
    """The one line of an error."""
    assert done.returncode == code, done.stderr
    assert done.stdout == "" and len(done.stderr.splitlines()) == 1
    return done.stderr.strip()


def two_nodes(folder):
    """Six ranks: three on node 0, two on node 1, one whose memory is of the other node."""
    (folder / "two.csv").write_text("size (MB),0,1,2,3,4,5\n1,10,11,12,20,22,15\n2,20,21,22,40,44,30\n")
    (folder / "mapping_check.log").write_text(
        "rank,cpu_id,cpu_numa,memory_numa\n0,1,0,0\n1,2,0,0\n2,3,0,0\n3,17,1,1\n4,18,1,1\n5,4,0,1\n"
    )


# plot_scaling.py


def test_the_published_run_by_node(tmp_path):
    done = run(PLOT_SCALING, PUBLISHED, "--mapping", MAPPING, "--output", "x.png", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "x.png").read_bytes().startswith(PNG)
    printed = [line.split() for line in done.stdout.splitlines() if re.match(r"\s+\d", line)]
    table = [line.split(",") for line in PUBLISHED.read_text().splitlines()[1:]]
    assert len(printed) == len(table) == 12
    for (size, *numbers), shown in zip(table, printed, strict=True):
        values = [float(number) for number in numbers]
        first, _, third = statistics.quantiles(values, n=4, method="inclusive")
        reach = 1.5 * (third - first)
        outliers = [
            f"{value:.2f} ({rank})"
            for rank, value in enumerate(values)
            if not first - reach <= value <= third + reach
        ]
        assert shown[:4] == [
            size,
            "7",
            f"{statistics.mean(values):.2f}",
            f"{statistics.stdev(values):.2f}",
        ]
        assert shown[4:6] == [f"{min(values):.2f}", str(values.index(min(values)))]
        assert shown[6:8] == [f"{max(values):.2f}", str(values.index(max(values)))]
        assert " ".join(shown[8:]) == (", ".join(outliers) or "-")
    assert any(shown[8:] == ["14.94", "(1)"] for shown in printed)  # 8 MB


def test_groups_are_of_the_memorys_node(tmp_path):
    two_nodes(tmp_path)
    done = run(PLOT_SCALING, "two.csv", "--mapping", "mapping_check.log", folder=tmp_path)
    assert done.stdout == (
        "two.csv: latency in ns of 6 ranks; std: of a sample (n - 1)\n"
        "\n"
        "CPU node 0, memory node 1\n"
        " size (MB)  ranks      mean       std       min  rank       max  rank  outliers (rank)\n"
        "         1      1     15.00         -     15.00     5     15.00     5  -\n"
        "         2      1     30.00         -     30.00     5     30.00     5  -\n"
        "\n"
        "node 0\n"
        " size (MB)  ranks      mean       std       min  rank       max  rank  outliers (rank)\n"
        "         1      3     11.00      1.00     10.00     0     12.00     2  -\n"
        "         2      3     21.00      1.00     20.00     0     22.00     2  -\n"
        "\n"
        "node 1\n"
        " size (MB)  ranks      mean       std       min  rank       max  rank  outliers (rank)\n"
        "         1      2     21.00      1.41     20.00     3     22.00     4  -\n"
        "         2      2     42.00      2.83     40.00     3     44.00     4  -\n"
        "\n"
        "two.png\n"
    )
    assert (tmp_path / "two.png").exists()


def test_without_a_mapping_there_is_one_group_and_it_is_said(tmp_path):
    two_nodes(tmp_path)
    done = run(PLOT_SCALING, "two.csv", "--output", "x.svg", folder=tmp_path)
    assert "no --mapping: all ranks are one group" in done.stdout
    assert "\nall ranks\n" in done.stdout
    assert "no mapping: all ranks are one group" in (tmp_path / "x.svg").read_text()


def test_chosen_ranks_only(tmp_path):
    two_nodes(tmp_path)
    done = run(PLOT_SCALING, "two.csv", "--ranks", "1, 3-5", folder=tmp_path)
    assert "of 4 ranks" in done.stdout
    row = [line.split() for line in done.stdout.splitlines() if re.match(r"\s+1 ", line)][0]
    assert row == [
        "1",
        "4",
        "17.00",
        f"{statistics.stdev([11, 20, 22, 15]):.2f}",
        "11.00",
        "1",
        "22.00",
        "4",
        "-",
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["two.csv", "--ranks", "x"], 2, "--ranks: 'x' is neither a rank nor a range"),
        (["two.csv", "--ranks", "1,"], 2, "--ranks: '' is neither a rank nor a range"),
        (["two.csv", "--ranks", "3-1"], 2, "--ranks: '3-1' ends before it begins"),
        (["two.csv", "--ranks", "2-9"], 2, "--ranks: two.csv has no rank 9, but 0 to 5"),
        (["none.csv"], 6, "none.csv: No such file or directory"),
        (["two.csv", "--mapping", "none.log"], 6, "none.log: No such file or directory"),
        (["two.csv", "--mapping", "short.log"], 2, "short.log: does not have rank 1 and 4 more of the CSV"),
        (["two.csv", "--mapping", "two.csv"], 2, "two.csv: not a mapping_check.log of numa_mem_bench"),
        (["mapping_check.log"], 2, "mapping_check.log: not a CSV of numa_mem_bench, but of mapping"),
        (["two.csv", "--output", "x.jpg"], 2, "--output: x.jpg: ends in none of png, svg, pdf"),
        (["empty.csv"], 2, "empty.csv: a header without rows"),
        (["broken.csv"], 2, "broken.csv: damaged"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments, code, words, tmp_path):
    two_nodes(tmp_path)
    (tmp_path / "short.log").write_text("rank,cpu_id,cpu_numa,memory_numa\n0,1,0,0\n")
    (tmp_path / "empty.csv").write_text("size (MB),0,1\n")
    (tmp_path / "broken.csv").write_text("size (MB),0,1\n1,x,3\n")
    done = run(PLOT_SCALING, *arguments, folder=tmp_path)
    assert error_of(done, code).startswith(f"plot_scaling.py: error: {words}")
    assert not list(tmp_path.glob("*.png"))


def test_a_picture_that_cannot_be_written(tmp_path):
    two_nodes(tmp_path)
    done = run(PLOT_SCALING, "two.csv", "--output", "none/x.png", folder=tmp_path)
    assert done.returncode == 6
    assert done.stderr == "plot_scaling.py: error: none/x.png: No such file or directory\n"


def test_the_lines_above_and_below(tmp_path):
    two_nodes(tmp_path)
    rows = numatlas.load(tmp_path / "two.csv").rows
    rows = rows.assign(ns=rows["value"] * 1e9, group=np.where(rows["rank"] < 3, "node 0", "node 1"))
    table = scaling.statistics(rows)
    above, below = scaling.figure(rows, table, "two.csv", True).figures
    assert [line.name for line in above.series] == [f"rank {rank}" for rank in range(6)]
    assert above.series[4].y == pytest.approx([22, 44]) and above.series[4].x == pytest.approx([2**20, 2**21])
    first = below.series[0]
    assert first.name == "node 0 (3 ranks)" and first.y == pytest.approx([11, 21])
    assert (first.low[0], first.high[0]) == (pytest.approx(10), pytest.approx(12))


def test_outliers_are_tukeys():
    values = [10.0, 11.0, 12.0, 13.0, 14.0, 100.0]
    rows = pd.DataFrame({"rank": range(6), "size": 2**20, "ns": values, "group": "node 0"})
    (row,) = scaling.statistics(rows).itertuples()
    assert row.outliers == [(100.0, 5)]
    assert scaling.statistics(rows.tail(3)).iloc[0]["outliers"] == []  # three tell nothing of quartiles


# process_results.py


@pytest.mark.slow
def test_twelve_heat_maps(tmp_path):
    done = run(PROCESS_RESULTS, DAT, folder=tmp_path)
    names = [
        f"{kernel}_{end}.png" for kernel in ("copy", "scale", "add", "triad") for end in ("avg", "min", "max")
    ]
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == names
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    assert all((tmp_path / name).read_bytes().startswith(PNG) for name in names)


@pytest.mark.slow
def test_another_folder(tmp_path):
    (tmp_path / "maps").mkdir()
    assert run(PROCESS_RESULTS, DAT, "--output", "maps", folder=tmp_path).returncode == 0
    assert len(list((tmp_path / "maps").iterdir())) == 12
    done = run(PROCESS_RESULTS, DAT, "--output", "none", folder=tmp_path)
    assert error_of(done, 6) == "process_results.py: error: --output: none: no such folder"


@pytest.fixture
def cells_of(monkeypatch, tmp_path):
    """What is drawn of one file: the cells of every picture by its name."""

    def drawn(text, name):
        path = tmp_path / name
        path.write_text(text)
        pictures = {}

        def keep(picture, part):
            pictures[part.name.removeprefix(".").partition(".")[0]] = texts(picture, "number")
            part.touch()

        monkeypatch.setattr(heat_maps.plot, "save", keep)
        heat_maps.main([str(path), "--output", str(tmp_path)])
        return pictures

    return drawn


def test_average_worst_and_best_are_what_they_say(cells_of):
    """The file has seconds; a node's bandwidth is that of its 48 processes."""
    pictures = cells_of(DAT.read_text(), DAT.name)
    node = re.search(r"<name>cn17</name>.*?</node>", DAT.read_text(), re.DOTALL).group()
    average, least, most = (
        float(value)
        for value in re.search(
            r"<Triad>\s*<Average>(.*?)</Average>\s*<Minimum>(.*?)</Minimum>\s*<Maximum>(.*?)</Maximum>", node
        ).groups()
    )
    bandwidth = {
        "triad_avg": 120000000 * 48 / average / 1e9,
        "triad_min": 120000000 * 48 / most / 1e9,
        "triad_max": 120000000 * 48 / least / 1e9,
    }
    assert round(bandwidth["triad_min"]) == 144  # as published: 143874.1 MB/s
    for name, value in bandwidth.items():
        assert len(pictures[name]) == 2 * 23
        assert pictures[name][32:34] == ["cn17", f"{value:.0f}"]


def test_persistent_memory_has_maps_of_its_own(cells_of):
    text = DAT.read_text().replace(
        "<copy_size>", "<copy_individual_size>60000000</copy_individual_size><copy_size>"
    )
    individual = (
        "<Copy_individual><Average>2</Average><Minimum>1</Minimum><Maximum>3</Maximum></Copy_individual>"
    )
    pictures = cells_of(text.replace("<Copy>", individual + "<Copy>"), "memory_results-48x1-1.dat")
    assert len(pictures) == 15
    assert pictures["copy_individual_max"][:2] == ["cn01", f"{60000000 * 48 / 1e9:.2f}"]


@pytest.mark.parametrize(
    ("count", "shape"), [(1, (1, 1)), (2, (1, 2)), (23, (5, 5)), (46, (7, 7)), (10000, (100, 100))]
)
def test_grids_are_nearly_square(count, shape):
    assert heat_maps.grid_shape(count) == shape


@pytest.mark.slow
@pytest.mark.parametrize(("count", "cells"), [(7, 14), (46, 92), (400, 400), (10000, 0)])
def test_cells_have_words_while_they_can_be_read(count, cells):
    names = pd.Series([f"cn{index:05}" for index in range(count)])
    values = pd.Series(np.linspace(100, 200, count))
    picture = heat_maps.build(names, values, "copy, average of each node", colour_range(values))
    assert len(texts(picture, "number")) == cells
    assert any(text.startswith("slowest: cn00000 100.0, cn00001") for text in texts(picture, "small"))


@pytest.mark.parametrize(
    ("name", "text", "code", "words"),
    [
        ("none.dat", None, 6, "none.dat: No such file or directory"),
        ("cut.dat", DAT.read_text()[:3000], 2, "cut.dat: no whole XML"),
        (
            "two.csv",
            "size (MB),0\n1,2\n",
            2,
            "two.csv: not a .dat file of distributed_streams, but of numa_mem_bench",
        ),
    ],
)
def test_files_that_are_no_results(name, text, code, words, tmp_path):
    if text is not None:
        (tmp_path / name).write_text(text)
    assert error_of(run(PROCESS_RESULTS, name, folder=tmp_path), code).startswith(
        f"process_results.py: error: {words}"
    )


# Both


@pytest.mark.parametrize("script", [PLOT_SCALING, PROCESS_RESULTS, ROOT / "scripts" / "process_results.py"])
def test_help(script, tmp_path):
    done = run(script, "--help", folder=tmp_path)
    assert done.returncode == 0 and done.stdout.startswith(f"usage: {script.name}")


def a_checkout(folder):
    """The scripts alone, as in a checkout whose package is not installed."""
    shutil.copytree(ROOT / "scripts", folder / "scripts")
    return folder / "scripts" / "process_results.py"


#: A Python without packages, whatever is installed.
BARE = (sys.executable, "-I", "-S")


def test_without_the_package_one_line_says_how_to_get_it(tmp_path):
    done = run(a_checkout(tmp_path), DAT, folder=tmp_path, python=BARE)
    line = error_of(done, 3)
    assert line.startswith("process_results.py: error: ") and "is not installed for this Python" in line
    assert "scripts/run" in line and f"pip install {tmp_path / 'python'}" in line


@pytest.mark.slow
def test_the_repositorys_own_environment_is_used_where_there_is_one(tmp_path):
    script = a_checkout(tmp_path)
    python = tmp_path / "build" / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\necho own >>used\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    done = run(script, DAT, folder=tmp_path, python=BARE)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "used").read_text() == "own\n"
    assert len(list(tmp_path.glob("*.png"))) == 12
