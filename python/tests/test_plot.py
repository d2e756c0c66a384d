"""Pictures: what is in them, where it stands, and that they look as they did."""

import re

import made
import numpy as np
import pytest
from made import FLEET, texts
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.text import Text

import numatlas
from numatlas.figures import figures_of
from numatlas.figures.fleet import NONE_JUDGED
from numatlas.figures.model import Bar
from numatlas.figures.scales import INKS, around
from numatlas.plot import build, draw
from numatlas.plot.bars import MOST_BARS
from numatlas.plot.curves import LOOKS
from numatlas.plot.style import text_width, wrap
from numatlas.units import ink_on


def spread_of(axes):
    """Ends of the lines that tell spread, by their place."""
    found = [
        segment
        for lines in axes.findobj(LineCollection)
        if lines.get_gid() == "spread"
        for segment in lines.get_segments()
        if len(segment)  # of absent values
    ]
    return {round(float(segment[0][0]), 3): sorted(float(end[1]) for end in segment) for segment in found}


# Curves


def test_curves_have_a_line_each_and_gaps_where_values_are_absent():
    figure = made.curves()
    axes = build(figure).axes[0]
    lines = {line.get_label(): line for line in axes.lines}
    for series in figure.series:
        drawn = lines[series.name].get_ydata()
        assert len(drawn) == len(series.x)
        for value, there in zip(series.y, drawn, strict=True):
            assert np.isnan(there) if value is None else there == value
    assert np.isnan(lines[figure.series[0].name].get_ydata()[4])


def test_curves_axes():
    axes = build(made.curves()).axes[0]
    assert axes.get_xlabel() == "memory that is walked through"
    assert axes.get_ylabel() == "a dependent load (ns), logarithmic"
    axes.figure.canvas.draw()
    assert [label.get_text() for label in axes.get_xticklabels()][:3] == ["4 KiB", "16 KiB", "64 KiB"]


def test_values_of_less_than_a_decade_begin_at_zero():
    figure = made.curves(1)
    figure.series[0].y = [5.0 + step for step in range(19)]
    figure.series[0].low = figure.series[0].high = [None] * 19
    axes = build(figure).axes[0]
    assert axes.get_yscale() == "linear" and axes.get_ylim()[0] == 0
    assert axes.get_ylabel() == "a dependent load (ns)"


def test_curves_over_workers_begin_at_zero_however_far_they_reach():
    figure = made.curves(1, absent=False)
    figure.x.log2 = False
    axes = build(figure).axes[0]
    assert axes.get_yscale() == "linear" and axes.get_ylim()[0] == 0 and axes.get_xlim()[0] == 0


def test_each_point_has_its_spread():
    figure = made.curves(1)
    series = figure.series[0]
    ends = zip(series.x, series.low, series.high, strict=True)
    assert spread_of(build(figure).axes[0]) == {x: [low, high] for x, low, high in ends if low is not None}


def test_marks_are_labelled_and_those_outside_left_out():
    picture = build(made.curves())
    words = texts(picture)
    assert {"L1 32KiB", "L2 512KiB", "L3 32MiB"} <= set(words) and "far" not in words
    marks = [line.get_xdata()[0] for line in picture.axes[0].lines if line.get_gid() == "mark"]
    assert marks == [2**15, 2**19, 2**25]


def test_marks_that_are_near_do_not_cover_each_other():
    figure = made.curves(1)
    figure.marks[0].at, figure.marks[1].at = 2**18, 2**18.5
    picture = build(figure)
    renderer = picture.canvas.get_renderer()
    picture.draw(renderer)
    boxes = [text.get_window_extent(renderer) for text in picture.findobj(Text) if "KiB" in text.get_text()]
    marks = [box for box in boxes if box.y0 > picture.axes[0].bbox.y1]
    assert len(marks) == 2 and not marks[0].overlaps(marks[1])


@pytest.mark.parametrize("count", [3, 12, len(LOOKS)])
def test_no_two_lines_look_the_same(count):
    lines = [line for line in build(made.curves(count)).axes[0].lines if line.get_gid() != "mark"]
    looks = {
        (line.get_color(), line.get_linestyle(), str(line._dash_pattern), line.get_marker()) for line in lines
    }
    assert len(looks) == count


def test_more_lines_than_names_are_coloured_by_their_order():
    picture = build(made.curves(128))
    assert not picture.legends
    words = (
        "128 lines, in order from CPUs of node 0 -> memory of node 0 to CPUs of node 127 -> memory of node 0"
    )
    assert words in texts(picture, "small")
    light = [sum(to_rgb(line.get_color())) for line in picture.axes[0].lines if line.get_gid() != "mark"]
    assert light == sorted(light)


@pytest.mark.parametrize(
    "figure",
    [made.curves(2), made.curves(32), made.bars(), made.fleet(23)],
    ids=lambda one: type(one).__name__,
)
def test_a_legend_covers_no_data(figure):
    picture = build(figure)
    renderer = picture.canvas.get_renderer()
    picture.draw(renderer)
    (legend,) = picture.legends
    box = legend.get_window_extent(renderer)
    assert not any(box.overlaps(axes.get_tightbbox(renderer)) for axes in picture.axes)
    assert box.x1 <= picture.bbox.x1 and box.y1 <= picture.bbox.y1


# Matrix


def test_cells_have_their_numbers_and_intervals():
    picture = build(made.matrix())
    assert [text.split("\n") for text in texts(picture, "cell")] == [
        ["100", "99.0 - 102"],
        ["101", "100 - 103"],
        ["102", "101 - 104"],
        ["110", "109 - 112"],
        ["111", "110 - 113"],
    ]


def test_what_stands_beside_a_number_is_in_its_cell():
    figure = made.matrix()
    figure.texts[0][1] = "in L3"
    assert texts(build(figure), "cell")[1].split("\n")[:2] in (["in L3", "101"], ["101", "100 - 103"])
    figure.low = figure.high = [[None] * 3] * 2
    assert texts(build(figure), "cell")[1] == "in L3\n101"


def test_an_empty_cell_is_hatched_and_says_why():
    picture = build(made.matrix())
    hatched = [patch for patch in picture.axes[0].patches if patch.get_hatch()]
    assert [patch.get_xy() for patch in hatched] == [(1.5, 0.5)]
    assert "hatched: node 2 has too little memory" in texts(picture, "small")


@pytest.mark.parametrize("less", [True, False])
def test_the_better_end_is_light_and_above(less):
    picture = build(made.matrix(less=less))
    (image,) = picture.axes[0].images
    best = 100 if less else 111
    worst = 111 if less else 100
    assert sum(image.cmap(image.norm(best))[:3]) > sum(image.cmap(image.norm(worst))[:3])
    low, high = picture.axes[1].get_ylim()  # of the colour bar
    assert (low > high) == less
    (words,) = texts(picture, "sense")
    assert words.splitlines()[0] == ("ns" if less else "GB/s")
    assert f"({'less' if less else 'more'})" in words


def test_numbers_are_readable_on_their_colour():
    picture = build(made.matrix(8, 8))
    (image,) = picture.axes[0].images
    shown = [text for text in picture.findobj(Text) if text.get_gid() == "cell"]
    assert len({text.get_color() for text in shown}) == 2
    for text in shown:
        column, row = (round(place) for place in text.get_position())
        behind = image.cmap(image.norm(image.get_array()[row, column]))
        assert contrast(to_rgb(text.get_color()), behind[:3]) >= 4.5
        assert text.get_color() == INKS[ink_on(*behind[:3])]


def contrast(one, other):
    def luminance(colour):
        parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.slow
def test_cells_too_small_have_a_colour_bar_only():
    picture = build(made.matrix(128, 128))
    assert texts(picture, "cell") == []
    assert any(
        text.startswith("the widest spread of a cell is 99.00 to 102.0 ns")
        for text in texts(picture, "small")
    )
    names = [label.get_text() for label in picture.axes[0].get_yticklabels()]
    assert names[:3] == ["0", "8", "16"]


def test_ends_that_look_alike_are_told_as_a_percentage():
    figure = made.matrix()
    figure.values = [[100.0 for _ in line] for line in figure.values]
    figure.low = [[99.999 for _ in line] for line in figure.values]
    figure.high = [[100.001 for _ in line] for line in figure.values]
    assert figure.widest().startswith("±<0.1 % (")


def test_the_name_of_the_only_line_is_its_legend():
    picture = build(made.curves(1))
    names = [text.get_text() for one in picture.legends for text in one.get_texts()]
    assert names == [made.curves(1).series[0].name] and names[0] not in texts(picture, "small")


def test_noise_makes_no_pattern():
    figure = made.matrix()
    figure.values = [[100.0, 100.1, 100.2], [100.0, 100.1, 100.3]]
    (image,) = build(figure).axes[0].images
    assert image.norm.vmax - image.norm.vmin == pytest.approx(0.2 * 100.15)


def test_matrix_axes():
    axes = build(made.matrix()).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("memory of node", "CPUs of node")
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "1", "2"]


# Bars


def test_bars_begin_at_zero_and_have_their_spread():
    figure = made.bars()
    axes = build(figure).axes[0]
    assert axes.get_xlim()[0] == 0
    assert axes.get_xlabel() == "ns (less is better)"
    assert [bar.get_width() for bars in axes.containers for bar in bars] == [10, 20, 30, 11, 21, 0]
    found = [
        segment[:, 0].tolist()
        for lines in axes.findobj(LineCollection)
        if lines.get_gid() == "spread"
        for segment in lines.get_segments()
    ]
    assert found == [[row.low, row.high] for row in figure.rows if row.low is not None]


def test_an_absent_bar_says_so():
    assert texts(build(made.bars()), "number") == ["10.0", "20.0", "30.0", "11.0", "21.0", "no value"]


def test_the_first_name_is_above():
    axes = build(made.bars([f"scenario {index}: read, CPU {index}" for index in range(20)], ["a"])).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()][0] == "scenario 0: read, CPU 0"
    bottom, top = axes.get_ylim()
    assert bottom > top


def test_a_bar_alone_at_its_name_stands_in_the_middle():
    figure = made.bars(["read", "write"], ["loads", "stores"])
    figure.rows = [Bar("read", "loads", 1.0), Bar("write", "stores", 2.0)]
    middles = [
        bar.get_y() + bar.get_height() / 2 for bars in build(figure).axes[0].containers for bar in bars
    ]
    assert middles == pytest.approx([0, 1])


def test_of_many_bars_the_best_are_drawn():
    figure = made.bars([f"{index}" for index in range(100)], ["a"], less=False)
    figure.rows = [row for row in figure.rows if row.value is not None]
    picture = build(figure)
    heights = [bar.get_width() for bars in picture.axes[0].containers for bar in bars]
    assert heights == sorted(row.value for row in figure.rows)[-MOST_BARS:]
    assert f"the best {MOST_BARS} of 99" in texts(picture, "small")


# Fleets


def test_hosts_are_sorted_with_their_spread():
    figure = made.fleet(7, rounds=False)
    picture = build(figure)
    for axes, (_, hosts) in zip(picture.axes, figure.hosts.groupby("kernel", sort=False), strict=True):
        values = hosts.set_index("host")
        names = [label.get_text() for label in axes.get_xticklabels()]
        there = [name for name in names if values["value"].notna()[name]]
        assert there == sorted(there, key=lambda name: values["value"][name])
        assert len(there) == values["value"].notna().sum() and there == names[: len(there)]
        spread = spread_of(axes)
        for place, name in enumerate(there):
            assert spread[place] == list(values.loc[name, ["min", "max"]])
        drawn = [value for line in axes.lines if line.get_gid() == "hosts" for value in line.get_ydata()]
        assert sorted(value for value in drawn if value == value) == sorted(hosts["value"].dropna())


@pytest.mark.parametrize("count", [7, 23, 46])
def test_every_host_has_its_name_and_slow_ones_a_ring(count):
    figure = made.fleet(count)
    for axes in build(figure).axes:
        labels = axes.get_xticklabels()
        assert sorted(label.get_text() for label in labels) == figure.names()
        bold = sorted(label.get_text() for label in labels if label.get_fontweight() == "bold")
        assert bold == figure.names()[:2]
        assert [len(line.get_xdata()) for line in axes.lines if line.get_gid() == "slow"] == [2]


def test_of_ten_thousand_hosts_slow_ones_are_named():
    figure = made.fleet(10000, slow=7)
    picture = build(figure)
    for axes, kernel, missing in zip(picture.axes, figure.kernels(), (1, 0), strict=True):
        assert axes.get_xlabel() == "hosts, from the slowest to the fastest" and axes.get_ylabel() == "GB/s"
        title = axes.get_title("left")
        assert ("(1 without a value)" in title) == bool(missing)
        named = re.fullmatch("slow: ((cn0000[0-6], ){4}cn0000[0-6]) and 2 more", axes.get_title("right"))
        assert len(set(named[1].split(", "))) == 5
        (rings,) = [line for line in axes.lines if line.get_gid() == "slow"]
        assert len(rings.get_xdata()) == 7
        drawn = [value for line in axes.lines if line.get_gid() == "hosts" for value in line.get_ydata()]
        wanted = sorted(figure.hosts[figure.hosts["kernel"] == kernel]["value"].dropna())
        assert sorted(value for value in drawn if value == value) == wanted
    assert "the value axes do not begin at 0" in texts(picture, "small")


def test_a_run_that_nobody_judged_says_so():
    figure = made.fleet(7, slow=0)
    assert "no slow hosts by the run's rule" in texts(build(figure), "small")
    alone = made.fleet(2, slow=0)
    assert NONE_JUDGED in texts(build(alone), "small")
    figure.judged = False
    assert any("nobody looked for slow hosts" in text for text in texts(build(figure), "small"))


def test_the_published_fleet_is_drawn_as_published():
    """The README of distributed_streams: triad's best and worst node rounds 152,911 and 143,874 MB/s."""
    (figure,) = figures_of(numatlas.load(FLEET / "memory_results-48x1-100101042021.dat"), "stream")
    ends = [
        end
        for pair in spread_of(build(figure).axes[figure.kernels().index("triad")]).values()
        for end in pair
    ]
    assert round(min(ends), 1) == 143.9
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
    ],
    ids=lambda one: type(one).__name__,
)
def test_no_words_outside_of_the_picture(figure):
    picture = build(figure)
    renderer = picture.canvas.get_renderer()
    picture.draw(renderer)
    drawn = picture.get_tightbbox(renderer)  # inches
    width, height = picture.get_size_inches()
    assert drawn.x0 >= 0 and drawn.y0 >= 0 and drawn.x1 <= width and drawn.y1 <= height


def test_long_words_are_wrapped_and_cut():
    lines = wrap("observed: " + "node " * 100 + "x" * 100, 3, 8)
    assert all(text_width(line, 8) <= 3 for line in lines) and lines[-1].endswith("...")


def test_names_with_a_dollar_are_no_formulas(tmp_path):
    draw(made.bars(["$HOME$", "a$b"], ["x"]), tmp_path / "x.svg")
    svg = (tmp_path / "x.svg").read_text()
    assert ">$HOME$</text>" in svg and ">a$b</text>" in svg


def test_an_axis_that_does_not_begin_at_zero_spans_a_tenth():
    low, high = around(99.9, 100)
    assert high - low >= 10
