"""The atlas: what stands where, with which figures."""

import json

import made
import pytest
from commands import redrawn
from made import assert_words_lie_within, box_of, shapes, texts
from made_results import estimate, latency_of, survey
from report_pages import Tree

import numatlas
from numatlas.cli import inches
from numatlas.drawing.shapes import Words
from numatlas.facts import metrics
from numatlas.figures import figures_of
from numatlas.figures.atlas_layout import WIDE
from numatlas.figures.model import Beside
from numatlas.file_error import FileError
from numatlas.plot import Frame, build, draw
from numatlas.report.page import page

SHAPES = {
    "one node": (1, 1, {}),
    "two sockets of four nodes": (2, 4, {}),
    "four sockets": (4, 1, {}),
    "eight sockets": (8, 1, {}),
    "far memory and GPUs": (2, 1, {"far": True, "gpus": 4}),
}


def atlas_of(tmp_path, packages=2, nodes=4, **more):
    result = numatlas.load(survey(tmp_path / "survey.json", packages, nodes, 4, **more))
    (atlas,) = figures_of(result, "atlas")
    return result, atlas


@pytest.mark.parametrize("shape", SHAPES)
def test_places_lie_within_the_map_and_apart(tmp_path, shape):
    packages, nodes, more = SHAPES[shape]
    _, atlas = atlas_of(tmp_path, packages, nodes, **more)
    boxes = [place.box for place in atlas.places]
    assert len(boxes) == packages * nodes + bool(more) + more.get("gpus", 0)
    for at, box in enumerate(boxes):
        assert box.x >= 0 and box.x + box.wide <= WIDE + 1e-9
        assert box.y >= 0 and box.y + box.tall <= atlas.height + 1e-9
        for other in boxes[at + 1 :]:
            beside = box.x + box.wide <= other.x or other.x + other.wide <= box.x
            assert beside or box.y + box.tall <= other.y or other.y + other.tall <= box.y


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("width", [3.3, 7.0])
def test_no_words_outside_of_the_picture(tmp_path, shape, width):
    packages, nodes, more = SHAPES[shape]
    _, atlas = atlas_of(tmp_path, packages, nodes, **more)
    for mode in atlas.modes:
        assert_words_lie_within(build(atlas, Frame(width), mode))


def test_places_and_links_have_what_was_measured(tmp_path):
    _, atlas = atlas_of(tmp_path)
    places = {place.name: place for place in atlas.places}
    for node in range(8):
        assert places[f"N{node}"].values["latency"] == pytest.approx(latency_of(node, node, 4))
    assert places["N0"].texts == {"latency": "120 ns", "bandwidth": "41.7 GB/s"}
    assert places["N0"].spreads["latency"] == "±1.0 %"
    (link,) = atlas.links
    assert link.texts["latency"] == "330 ns" and link.note in ("2.7x", "2.8x")
    assert link.unsteady == {"latency"}  # one of its pairs is known to ±20 % only
    assert atlas.sockets[0].texts["latency"] == "socket 0, node to node 140 ns"
    assert [hop.name.split(" ")[0] for hop in atlas.chain] == ["L1,", "L2", "L3", "memory,"]
    words = texts(build(atlas))
    assert {"120 ns", "330 ns (2.7x)", "15.2 GB/s"} <= set(words) or "330 ns (2.8x)" in words


def test_an_interval_stands_beside_its_own_figure(tmp_path):
    path = survey(tmp_path / "survey.json", 2, 2, 4)
    data = json.loads(path.read_text())
    for fact in data["results"][0]["facts"]:
        if fact["unit"] == "B/s":
            fact["estimate"] = estimate(17.5e9, 0.28)
    path.write_text(json.dumps(redrawn(data)))
    (atlas,) = figures_of(numatlas.load(path), "atlas")
    found = [one for one in shapes(build(atlas, mode="latency")) if isinstance(one, Words)]
    assert "17.5 GB/s ±28 %" in [one.text for one in found]
    (big, *_) = [one for one in found if one.text == "120 ns"]
    near = [box_of(one) for one in found if one.text == "±1.0 %" and one.y == big.y]
    end = box_of(big)[2]
    assert any(0 < left - end < big.size for left, *_ in near)
    assert "±28 %" in texts(build(atlas, mode="bandwidth"))
    assert "120 ns ±1.0 %" in texts(build(atlas, mode="bandwidth"))


def test_memory_without_cpus_stands_at_the_nearest_socket(tmp_path):
    _, atlas = atlas_of(tmp_path, 2, 1, far=True, gpus=2)
    (far,) = [place for place in atlas.places if place.name == "N2 CXL"]
    assert far.texts["latency"] == "250 ns" and far.note.startswith("from N0, ")
    assert far.box.y > atlas.sockets[0].box.y


def test_memory_without_cpus_stands_where_the_firmware_has_it_unless_all_sockets_measured(tmp_path):
    path = survey(tmp_path / "survey.json", 2, 1, 4, far=True)
    data = json.loads(path.read_text())
    (far,) = [node for node in data["machine"]["nodes"] if node["id"] == 2]
    far["distance"] = {"0": 24, "1": 14}

    def side(**node):
        far.update(node)
        path.write_text(json.dumps(data))
        (atlas,) = figures_of(numatlas.load(path), "atlas")
        (spot,) = [place for place in atlas.places if place.name == "N2 CXL"]
        boxes = [socket.box for socket in atlas.sockets]
        assert spot.values["latency"] > 0
        return [box.x <= spot.box.x < box.x + box.wide for box in boxes].index(True), spot.note

    measured = [fact for part in data["results"] for fact in part["facts"] if fact["where"]]
    assert side() == (0, "from N0, 128 GiB")
    from_second = [fact for fact in measured if fact["where"] == {"cpu_node": "1", "memory_node": "2"}]
    assert from_second
    for part in data["results"]:
        part["facts"] = [fact for fact in part["facts"] if fact not in from_second]
    assert side() == (1, "from N0, 128 GiB")
    assert side(hmat={"initiators": "0"}) == (0, "from N0, 128 GiB")


def test_numbers_of_the_null_engine_are_not_called_measured(tmp_path):
    path = survey(tmp_path / "survey.json", 2, 1, 4)
    data = json.loads(path.read_text())
    for one in [data, *data["results"]]:
        one["engine"] = "null"
    path.write_text(json.dumps(data))
    (atlas,) = figures_of(numatlas.load(path), "atlas")
    assert "measured" not in atlas.title


def test_nothing_measured_between_nodes_makes_no_atlas(tmp_path):
    result, _ = atlas_of(tmp_path)
    result.parts = [part for part in result.parts if part.kind == "loaded"]
    assert not figures_of(result, "atlas")


def test_headline_figures(tmp_path):
    result, _ = atlas_of(tmp_path, 2, 1, far=True)
    told = {one.key: one for one in metrics(result)}
    assert told["matrix_latency"].text == "120 ns" and told["matrix_latency"].spread == "±1.0 %"
    assert told["matrix_latency"].beside == "local 120 to 121 ns, remote 330 ns, CXL 250 ns"
    assert told["peak_bandwidth"].unit == "B/s"
    frame = result.summary
    assert list(frame["key"]) == [one.key for one in metrics(result)] and frame["value"].notna().all()


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_the_same_atlas_gives_the_same_bytes(tmp_path, suffix):
    _, atlas = atlas_of(tmp_path)
    paths = [tmp_path / f"{name}.{suffix}" for name in "ab"]
    for path in paths:
        draw(atlas, path, frame=Frame(3.3, title=False, footer=False))
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_mode_that_is_not_there(tmp_path):
    _, atlas = atlas_of(tmp_path)
    with pytest.raises(FileError, match="nothing of weights"):
        build(atlas, mode="weights")


@pytest.mark.parametrize(("text", "width"), [("3.3in", 3.3), ("84mm", 84 / 25.4), ("8.4cm", 8.4 / 2.54)])
def test_widths(text, width):
    assert inches(text) == pytest.approx(width)


@pytest.mark.parametrize("text", ["", "3.3", "1in", "1000cm", "-3in", "3 in", "nan"])
def test_widths_that_are_none(text):
    with pytest.raises(FileError, match="no such width"):
        inches(text)


def test_a_map_of_one_mode_is_seen_without_a_choice(tmp_path):
    result, atlas = atlas_of(tmp_path, 1, 1)
    for part in result.parts:
        part.meta["facts"] = [one for one in part.meta["facts"] if one["key"] != "matrix_latency"]
    (atlas,) = figures_of(result, "atlas")
    assert atlas.modes == ["bandwidth"]
    tree = Tree(page([result]))
    (place,) = tree.find("div", class_="atlas")
    assert "drawn" in place["class"].split() and tree.find("svg", within=place)
    assert not tree.find("fieldset")


def test_a_map_of_one_value_has_no_scale_of_its_own():
    figure = made.matrix(1, 1)
    assert not any("better" in text for text in texts(build(figure)))
    both = build(Beside("m", "m", figures=[figure, made.matrix(1, 1)]))
    assert sum("better" in text for text in texts(both)) == 2
