"""Pictures: what is in them, where it stands, and that their words lie in them."""

import re
from dataclasses import replace

import made
import pytest
from made import FLEET, assert_words_lie_within, box_of, middle, shapes, texts, told, upright_axis

import numatlas
from numatlas.drawing import drawn
from numatlas.drawing.bars import MOST_BARS
from numatlas.drawing.curves import MOST_NAMED
from numatlas.drawing.shapes import Group, Image, Path, Words, width_of, wrapped
from numatlas.figures import figures_of
from numatlas.figures.fleet import NONE_JUDGED
from numatlas.figures.model import Bar, Beside
from numatlas.figures.scales import INKS, around, colour_of, common_ends
from numatlas.plot import build, draw
from numatlas.units import ink_on


def lines_of(drawing):
    return [one for one in shapes(drawing, "line") if len(one.runs[0]) > 2 or len(one.runs) > 1]


# Curves


def test_curves_have_a_line_each_and_gaps_where_values_are_absent():
    figure = made.curves()
    drawing = build(figure)
    assert [one.told for one in lines_of(drawing)] == [series.name for series in figure.series]
    _, value, _ = upright_axis(drawing)
    for line, series in zip(lines_of(drawing), figure.series, strict=True):
        points = [point for run in line.runs for point in run]
        there = [y for y in series.y if y is not None]
        assert [value(y) for _, y in points] == pytest.approx(there, rel=1e-3)
        assert len(line.runs) > 1 or len(there) == len(series.y)
    points = sum(len(series.points()) for series in figure.series)
    assert len(shapes(drawing, "mark")) == points + len(figure.series)  # and the legend's


def test_curves_axes():
    words = texts(build(made.curves()))
    assert "memory that is walked through" in words and "a dependent load (ns), logarithmic" in words
    assert [text for text in words if text.endswith(" KiB")][:3] == ["4 KiB", "16 KiB", "64 KiB"]


def test_values_of_less_than_a_decade_begin_at_zero():
    figure = made.curves(1)
    figure.series[0].y = [5.0 + step for step in range(19)]
    figure.series[0].low = figure.series[0].high = [None] * 19
    names, _, linear = upright_axis(build(figure))
    assert linear and names[0] == "0" and "a dependent load (ns)" in texts(build(figure))


def test_curves_over_workers_begin_at_zero_however_far_they_reach():
    figure = made.curves(1, absent=False)
    figure.x.log2 = False
    names, _, linear = upright_axis(build(figure))
    assert linear and names[0] == "0"


def test_the_band_of_a_curve_is_its_intervals():
    figure = made.curves(1)
    drawing, series = build(figure), figure.series[0]
    _, value, _ = upright_axis(drawing)
    ends = [value(y) for one in shapes(drawing, "band") for _, y in one.runs[0]]
    ends += [value(y) for one in shapes(drawing, "spread") for _, y in one.runs[0]]
    wanted = [end for ends_of in (series.low, series.high) for end in ends_of if end is not None]
    assert sorted(ends) == pytest.approx(sorted(wanted), rel=1e-3)


def test_marks_are_labelled_and_those_outside_left_out():
    drawing = build(made.curves())
    words = texts(drawing, "label")
    assert {"L1 32KiB", "L2 512KiB", "L3 32MiB"} <= set(words) and "far" not in words
    assert len(shapes(drawing, "rule")) == 3


def overlap(first, second):
    beside = first[2] <= second[0] or second[2] <= first[0]
    return not (beside or first[3] <= second[1] or second[3] <= first[1])


def test_marks_that_are_near_do_not_cover_each_other():
    figure = made.curves(1)
    figure.marks[0].at, figure.marks[1].at = 2**18, 2**18.5
    boxes = [box_of(one) for one in shapes(build(figure), "label") if re.match("L[12] ", one.text)]
    assert len(boxes) == 2 and not overlap(*boxes)


@pytest.mark.parametrize("count", [3, 12, MOST_NAMED])
def test_no_two_lines_look_the_same(count):
    drawing = drawn(made.curves(count), 480.0)
    groups = [one for block in drawing.parts for one in block.parts if isinstance(one, Group) and one.colour]
    lines = [part for group in groups for part in group.parts if isinstance(part, Path) and part.told]
    looks = {(group.colour, *(one.kind for one in group.parts if "line" in one.kind)) for group in groups}
    assert len(lines) >= count and len(looks) == count


def test_more_lines_than_names_are_coloured_by_their_order():
    drawing = build(made.curves(128))
    words = texts(drawing, "small")
    first, last = "CPUs of node 0 -> memory of node 0", "CPUs of node 127 -> memory of node 0"
    assert f"128 lines, in order from {first} to {last}" in " ".join(words)
    assert first not in texts(drawing)


@pytest.mark.parametrize(
    "figure",
    [made.curves(2), made.curves(32), made.bars(), made.fleet(23)],
    ids=lambda one: type(one).__name__,
)
def test_a_legend_covers_nothing(figure):
    drawing = drawn(figure, 480.0)
    legend = [one for one in drawing.parts[0].parts if isinstance(one, Words)]
    assert legend and max(box_of(one)[3] for one in legend) <= drawing.parts[1].y
    assert not any(overlap(box_of(one), box_of(other)) for one in legend for other in legend if one != other)
    assert max(box_of(one)[2] for one in legend) <= drawing.wide


def test_the_name_of_the_only_line_is_its_legend():
    figure = made.curves(1)
    assert texts(build(figure)).count(figure.series[0].name) == 1


# Matrix


def test_cells_have_their_numbers_and_intervals():
    found = texts(build(made.matrix()), "number")
    assert found[:4] == ["100", "99.0 - 102", "101", "100 - 103"] and len(found) == 10


def test_what_stands_beside_a_number_is_in_its_cell():
    figure = made.matrix()
    figure.texts[0][1] = "in L3"
    assert "in L3" in texts(build(figure), "number")
    figure.low = figure.high = [[None] * 3] * 2
    assert texts(build(figure), "number")[1:3] == ["in L3", "101"]


def test_an_empty_cell_is_crossed_out_and_says_why():
    drawing = build(made.matrix())
    assert len(shapes(drawing, "empty")) == len(shapes(drawing, "axis")) == 1
    assert len(shapes(drawing, "cell")) == 5
    assert "crossed out: node 2 has too little memory" in texts(drawing, "small")


@pytest.mark.parametrize("less", [True, False])
def test_the_better_end_is_light(less):
    figure = made.matrix(less=less)
    drawing = build(figure)
    best, worst = (100, 111) if less else (111, 100)
    fills = {one.look["fill"] for one in shapes(drawing, "cell")}
    light, dark = (colour_of(value, common_ends([figure]), less)[0] for value in (best, worst))
    assert {light, dark} <= fills and sum(bytes.fromhex(light[1:])) > sum(bytes.fromhex(dark[1:]))
    (words,) = [text for text in texts(drawing) if "light is better" in text]
    assert f"{'ns' if less else 'GB/s'}; light is better ({'less' if less else 'more'})" in words


def test_numbers_are_readable_on_their_colour():
    drawing = build(made.matrix(8, 8))
    shown = [one for one in shapes(drawing, "number")]
    cells = {
        middle(one): [int(one.look["fill"][at : at + 2], 16) / 255 for at in (1, 3, 5)]
        for one in shapes(drawing, "cell")
    }
    assert len({one.fill for one in shown}) == 2
    for text in shown:
        behind = min(cells, key=lambda place: abs(place[0] - text.x) + abs(place[1] - text.y))
        ink = [int(text.fill[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        assert contrast(ink, cells[behind]) >= 4.5
        assert text.fill == INKS[ink_on(*cells[behind])]


def contrast(one, other):
    def luminance(colour):
        parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_many_cells_are_one_image_with_every_eighth_name():
    drawing = build(made.matrix(128, 128))
    (image,) = [one for one in shapes(drawing) if isinstance(one, Image)]
    assert (len(image.pixels), len(image.pixels[0])) == (128, 128) and not texts(drawing, "number")
    small = " ".join(texts(drawing, "small"))
    assert "the widest spread of a cell is 99.00 to 102.0 ns" in small
    names = [text for text in texts(drawing) if text.isdigit()]
    steps = {int(after) - int(before) for before, after in zip(names, names[1:], strict=False)}
    assert {step for step in steps if step > 0} <= {4, 8, 16}


def test_ends_that_look_alike_are_told_as_a_percentage():
    figure = made.matrix()
    figure.values = [[100.0 for _ in line] for line in figure.values]
    figure.low = [[99.999 for _ in line] for line in figure.values]
    figure.high = [[100.001 for _ in line] for line in figure.values]
    assert figure.widest().startswith("±<0.1 % (")


def test_noise_makes_no_pattern():
    figure = made.matrix()
    figure.values = [[100.0, 100.1, 100.2], [100.0, 100.1, 100.3]]
    low, high = common_ends([figure])
    assert high - low == pytest.approx(0.2 * 100.15)


def test_matrix_axes():
    drawing = build(made.matrix())
    assert {"memory of node", "CPUs of node"} <= set(texts(drawing, "label"))
    assert [text for text in texts(drawing) if text in "012"] == ["0", "1", "0", "1", "2"]


# Bars


def bars_of(drawing):
    """Lefts and widths."""
    found = [one for one in shapes(drawing, "bar")]
    return [(one.runs[0][0][0], one.runs[0][1][0] - one.runs[0][0][0]) for one in found]


def test_bars_begin_at_zero_and_have_their_spread():
    figure = made.bars()
    drawing = build(figure)
    assert "ns (less is better)" in texts(drawing, "label")
    (left,) = {left for left, _ in bars_of(drawing)}
    unit = bars_of(drawing)[0][1] / figure.rows[0].value
    assert [wide / unit for _, wide in bars_of(drawing)] == pytest.approx(
        [row.value or 0 for row in figure.rows]
    )
    found = [[(x - left) / unit for x, _ in one.runs[0]] for one in shapes(drawing, "whisker")]
    for ends, row in zip(found, (row for row in figure.rows if row.low is not None), strict=True):
        assert ends == pytest.approx([row.low, row.high])


def test_an_absent_bar_says_so():
    assert texts(build(made.bars()), "number") == [row.text for row in made.bars().rows]
    assert "no value" in texts(build(made.bars()), "number")


def test_the_first_name_is_above():
    figure = made.bars([f"scenario {index}: read, CPU {index}" for index in range(20)], ["a"])
    names = [
        one for one in shapes(build(figure)) if isinstance(one, Words) and one.text.startswith("scenario")
    ]
    assert names[0].text == "scenario 0: read, CPU 0" and names == sorted(names, key=lambda one: one.y)


def test_each_bar_stands_at_its_name():
    figure = made.bars(["read", "write"], ["loads", "stores"])
    figure.rows = [Bar("read", "loads", 1.0, text="1.0"), Bar("write", "stores", 2.0, text="2.0")]
    places = {one.text: one.y for one in shapes(build(figure)) if isinstance(one, Words)}
    assert places["read"] == places["1.0"] < places["write"] == places["2.0"]


def test_of_many_bars_the_best_are_drawn():
    figure = made.bars([f"{index}" for index in range(100)], ["a"], less=False)
    figure.rows = [row for row in figure.rows if row.value is not None]
    drawing = build(figure)
    best = sorted(figure.rows, key=lambda row: row.value)[-MOST_BARS:]
    assert sorted(texts(drawing, "number")) == sorted(row.text for row in best)
    assert f"the best {MOST_BARS} of 99" in texts(drawing, "small")


# Fleets


def panels_of(figure):
    """By kernel, the shapes of its panel."""
    blocks = [one for one in drawn(figure, 700.0).parts if made.texts(one, "bold")]
    return dict(zip(figure.kernels(), blocks, strict=True))


@pytest.mark.parametrize("count", [7, 23, 46])
def test_every_host_has_its_name_and_slow_ones_a_ring(count):
    figure = made.fleet(count)
    for kernel, panel in panels_of(figure).items():
        hosts = figure.hosts[figure.hosts["kernel"] == kernel].set_index("host")
        labels = [
            one for one in shapes(panel) if isinstance(one, Words) and one.upright and one.side == "end"
        ]
        names = [one.text.removesuffix(": no value") for one in labels]
        assert sorted(names) == figure.names()
        assert sorted(one.text for one in labels if "alarm" in one.kind) == figure.names()[:2]
        assert len(shapes(panel, "ring")) == 2
        values = list(hosts["value"][names].dropna())
        assert (
            values == sorted(values) and [one.text for one in labels][: len(values)] == names[: len(values)]
        )
        points = [one.split(":")[0] for one in told(panel, "mark")]
        assert points == names[: len(values)]
        _, value, _ = upright_axis(panel)
        places = [middle(one)[1] for one in shapes(panel, "mark")]
        assert [value(y) for y in places] == pytest.approx(values, rel=1e-3)


def test_hosts_have_their_rounds_and_intervals():
    figure = made.fleet(7, rounds=False)
    for kernel, panel in panels_of(figure).items():
        hosts = figure.hosts[(figure.hosts["kernel"] == kernel) & figure.hosts["value"].notna()]
        _, value, _ = upright_axis(panel)
        ends = sorted(value(y) for one in shapes(panel, "spread") for _, y in one.runs[0])
        wanted = hosts[["min", "max", "low", "high"]].to_numpy(dtype=float).ravel()
        assert ends == pytest.approx(sorted(one for one in wanted if one == one), rel=1e-3)


def test_of_ten_thousand_hosts_slow_ones_are_named():
    figure = made.fleet(10000, slow=7)
    for (kernel, panel), missing in zip(panels_of(figure).items(), (1, 0), strict=True):
        words = texts(panel)
        assert "hosts, slowest to fastest" in words and "GB/s" in words
        assert kernel + (" (1 without a value)" if missing else "") in words
        (slow,) = texts(panel, "alarm")
        named = re.fullmatch("slow: ((cn0000[0-6], ){4}cn0000[0-6]) and 2 more", slow)
        assert len(set(named[1].split(", "))) == 5 and len(shapes(panel, "ring")) == 7
        (dots,) = shapes(panel, "dots")
        assert len(dots.runs) == 10000 - missing
    assert "the value axes do not begin at 0" in texts(build(figure), "small")


def test_a_run_that_nobody_judged_says_so():
    figure = made.fleet(7, slow=0)
    assert "no slow hosts by the run's rule" in texts(build(figure), "small")
    alone = made.fleet(2, slow=0)
    assert NONE_JUDGED in " ".join(texts(build(alone), "small"))
    figure.judged = False
    assert any("nobody looked for slow hosts" in text for text in texts(build(figure), "small"))


def test_the_published_fleet_is_drawn_as_published():
    """The README of distributed_streams: triad's best and worst node rounds 152,911 and 143,874 MB/s."""
    (figure,) = figures_of(numatlas.load(FLEET / "memory_results-48x1-100101042021.dat"), "stream")
    rounds = [one.split("rounds ")[1].split(" to ") for one in told(panels_of(figure)["triad"], "mark")]
    assert min(float(low) for low, _ in rounds) == 143.9 and max(float(high) for _, high in rounds) == 152.9
    assert len(figure.names()) == 23


# The page


@pytest.mark.parametrize(
    "figure",
    [made.curves(), made.matrix(), made.bars(), made.fleet(7), made.fleet(100)],
    ids=lambda one: type(one).__name__,
)
def test_the_small_print(figure):
    small = texts(build(figure), "small")
    assert "! no measurement: numbers of the null engine, which touches no memory" in small
    assert "! a warning of the machine" in small and "! another warning" not in small
    left = [text for text in small if "more warnings" in text]
    assert len(left) == 1 and left[0].startswith("and 2 more warnings")
    if figure.spread:
        assert any(
            text.startswith("spread: 95 % interval of the median; observed: all pages") for text in small
        )
        assert "first note" in small and "and 2 more notes" in left[0].replace("warnings and", "and")


@pytest.mark.parametrize(
    "figure",
    [
        made.curves(32),
        made.curves(128),
        made.matrix(),
        made.matrix(40, 40),
        made.matrix(1, 2),
        made.bars(),
        made.fleet(46),
        Beside("m", "m", figures=[made.matrix(), made.matrix()], notes=["A: one; B: other"]),
    ],
    ids=lambda one: type(one).__name__,
)
def test_no_words_outside_of_the_picture(figure):
    assert_words_lie_within(build(figure))


LONG = "a name of 60 letters, as those of scenarios and places are at times"


@pytest.mark.parametrize("wide", [229.0, 302.0, 480.0])
@pytest.mark.parametrize(
    "figure",
    [
        made.curves(3),
        made.curves(1),
        made.matrix(1, 3),
        made.matrix(2, 3),
        replace(made.matrix(1, 2), rows=[LONG], columns=[LONG, "1"]),
        made.bars(),
        made.bars([LONG, "b"], list("abcdefghijkl")),
        made.fleet(12),
        made.fleet(100),
    ],
    ids=lambda one: getattr(one, "key", one),
)
def test_words_lie_within_the_bare_drawing_and_do_not_cover_each_other(figure, wide):
    drawing = drawn(figure, wide)
    blocks = [
        [
            box_of(one)
            for one in shapes(replace(drawing, parts=[block]))
            if isinstance(one, Words) and one.text
        ]
        for block in drawing.parts
    ]
    for boxes, block in zip(blocks, drawing.parts, strict=True):
        assert all(left >= -1 and right <= drawing.wide + 1 for left, _, right, _ in boxes)
        assert all(top >= block.y - 1 for _, top, _, _ in boxes)
    assert all(bottom <= drawing.tall + 1 for boxes in blocks for _, _, _, bottom in boxes)
    for above, below in zip(blocks, blocks[1:], strict=False):
        assert max(bottom for _, _, _, bottom in above) <= min(top for _, top, _, _ in below) + 2


def test_groups_beyond_the_colours_have_lines():
    drawing = build(made.bars(["x"], list("abcdefghij")))
    assert len(shapes(drawing, "b2")) == 2 * 2  # of two bars, and of the legend


def test_long_words_are_wrapped_and_cut():
    lines = wrapped("observed: " + "node " * 100 + "x" * 100, 300, 11)
    assert all(width_of(line, 11) <= 300 for line in lines) and lines[-1].endswith("…")


def test_names_with_a_dollar_are_no_formulas(tmp_path):
    draw(made.bars(["$HOME$", "a$b"], ["x"]), tmp_path / "x.svg")
    svg = (tmp_path / "x.svg").read_text()
    assert ">$HOME$</text>" in svg and ">a$b</text>" in svg


def test_an_axis_that_does_not_begin_at_zero_spans_a_tenth():
    low, high = around(99.9, 100)
    assert high - low >= 10
