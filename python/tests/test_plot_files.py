"""Pictures as files: the same bytes each time, fonts, how they look, numbers as in the result."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

import made
import pytest
from commands import redrawn
from made import FLEET, shapes, texts, told
from made_results import case, column, flow, report, view
from matplotlib.testing.compare import compare_images
from report_pages import measured

import numatlas
from numatlas.drawing.shapes import Words
from numatlas.figures import figures_of
from numatlas.figures.model import Curves, Matrix
from numatlas.plot import FORMATS, build, draw, save

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("form", list(FORMATS))
def test_the_same_figure_gives_the_same_bytes(form, tmp_path):
    for name in "ab":
        draw(made.matrix(), tmp_path / f"{name}.{form}")
    first, second = ((tmp_path / f"{name}.{form}").read_bytes() for name in "ab")
    assert hashlib.sha256(first).hexdigest() == hashlib.sha256(second).hexdigest()


def test_another_process_and_its_settings_give_the_same_bytes(tmp_path):
    draw(made.curves(), tmp_path / "here.png", dpi=60)
    (tmp_path / "matplotlibrc").write_text("font.size: 20\naxes.facecolor: red\nsavefig.dpi: 10\n")
    code = "import made, sys; from numatlas.plot import draw; draw(made.curves(), sys.argv[1], dpi=60)"
    paths = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONPATH": paths, "MATPLOTLIBRC": str(tmp_path), "PYTHONHASHSEED": "7"}
    subprocess.run([sys.executable, "-c", code, tmp_path / "there.png"], env=environment, check=True)
    assert (tmp_path / "here.png").read_bytes() == (tmp_path / "there.png").read_bytes()


def test_fonts_are_whole_and_text_stays_text(tmp_path):
    draw(made.matrix(), tmp_path / "x.pdf")
    draw(made.matrix(), tmp_path / "x.svg")
    data = (tmp_path / "x.pdf").read_bytes()
    assert b"/FontFile2" in data and b"/Type3" not in data and b"CreationDate" not in data
    svg = (tmp_path / "x.svg").read_text()
    assert ">CPUs of node</text>" in svg and "<dc:date>" not in svg


def without_words(figure):
    """Words depend on the font's version; the other tests look at them."""
    drawing = build(figure)
    drawing.parts = [one for one in shapes(drawing) if not isinstance(one, Words)]
    return drawing


def double(figure):
    for values in (figure.series[1].y, figure.series[1].low, figure.series[1].high):
        values[6] *= 2


def one_cell(figure):
    figure.values[0][1] = 109.0


#: Root mean square of 0..255; a value that is changed gives more, as the tests show.
TOLERANCE = 2.0


@pytest.mark.parametrize(
    ("name", "figure", "change"),
    [("curves", made.curves, double), ("matrix", made.matrix, one_cell)],
)
def test_pictures_look_as_they_did(name, figure, change, tmp_path):
    golden = GOLDEN / f"{name}.png"
    if os.environ.get("NUMATLAS_UPDATE_GOLDEN"):
        save(without_words(figure()), golden, dpi=60)
    save(without_words(figure()), tmp_path / "same.png", dpi=60)
    assert compare_images(str(golden), str(tmp_path / "same.png"), TOLERANCE) is None
    changed = figure()
    change(changed)
    save(without_words(changed), tmp_path / "changed.png", dpi=60)
    assert compare_images(str(golden), str(tmp_path / "changed.png"), TOLERANCE) is not None


# From a file to the picture


def a_matrix_file(path):
    """A result with two cases and three samples each, of a machine with two nodes."""

    def measured(node, values):
        ends = {"value": median(values), "low": min(values), "high": max(values)}
        estimate = {**ends, "n": len(values), "method": "samples"}
        figure = {"key": "latency", "unit": "s", "estimate": estimate, "summary": None}
        labels = {"cpu_node": "0", "memory_node": str(node)}
        return case(f"0 -> {node}", labels, [flow(0, [figure], f"bind:{node}")])

    cell = column(figure="latency", scale=1e9)
    samples = {0: [100e-9, 80e-9, 90e-9], 1: [150e-9, 145e-9, 170e-9]}
    workers = [{"host": 0, "rank": 0, "thread": 0, "cpus": "0", "cpu_node": 0, "memory": "local"}]
    views = [view("Latency", "matrix", [cell], "cpu_node", "memory_node")]
    cases = [measured(node, values) for node, values in samples.items()]
    path.write_text(json.dumps(redrawn(report("matrix", cases, views, workers, engine="null"))))
    return samples


def test_numbers_of_a_picture_are_those_of_the_file(tmp_path):
    samples = a_matrix_file(tmp_path / "matrix.json")
    (figure,) = figures_of(numatlas.load(tmp_path / "matrix.json"), "matrix")
    assert isinstance(figure, Matrix)
    picture = build(figure)
    expected = [sorted(values)[1] * 1e9 for values in samples.values()]
    assert figure.values == [pytest.approx(expected)]
    assert texts(picture, "number") == ["90.0", "80.0 - 100", "150", "145 - 170"]
    assert "! no measurement: numbers of the null engine, which touches no memory" in texts(picture, "small")


def test_rounds_of_a_fleet_give_the_medians_that_are_drawn():
    path = FLEET / "run4.json"
    data = json.loads(path.read_text())
    (figure,) = figures_of(numatlas.load(path), "stream")
    points = [one.split(": ")[1].split(" ")[0] for one in told(build(figure), "mark")]
    for index, one in enumerate(measured(data)):
        size = one["figures"][0]["estimate"]["value"] * 1e-9
        expected = sorted(
            median(size * host["processes"] / seconds for seconds in totals["passes"]["node"][1:])
            for host, totals in zip(data["host_rows"], one["host_figures"], strict=True)
        )
        mine = points[index * len(expected) : (index + 1) * len(expected)]
        assert sorted(map(float, mine)) == pytest.approx(expected, rel=1e-3)


def test_figures_without_anything_are_drawn(tmp_path):
    for figure in (
        Curves("c", "no lines"),
        Matrix("m", "no cells", rows=["0"], columns=["0"], values=[[None]]),
    ):
        draw(figure, tmp_path / "x.png")
        assert (tmp_path / "x.png").stat().st_size > 1000
