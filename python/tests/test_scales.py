"""One rule for axes and colours: of values, not of their intervals."""

import made
import pytest

from numatlas.drawing.shapes import POINTS
from numatlas.figures.scales import DECADE, colour_range, value_scale
from numatlas.plot import Frame, build
from numatlas.units import is_unknown, is_wide, plus_minus, quantity_text, short_size


def ladder():
    return made.curves(1, absent=False)


def test_a_unknown_point_changes_no_axis():
    """The interval of one point reaches from below zero to three times its value."""
    figure = ladder()
    before = value_scale(figure)
    middle = figure.series[0].y[9]
    figure.series[0].low[9], figure.series[0].high[9] = -1.33 * middle, 3.33 * middle
    after = value_scale(figure)
    assert before.log and after == before
    highest = max(figure.series[0].y)
    figure.series[0].high[-1] = 40 * highest
    assert value_scale(figure).high < 1.5 * highest


def test_a_unknown_point_is_an_interval():
    figure = ladder()
    middle = figure.series[0].y[9]
    figure.series[0].y[9] = None
    figure.series[0].low[9], figure.series[0].high[9] = 0.1 * middle, 3.33 * middle
    drawing = build(figure)
    assert "an interval without a point: it reaches zero" in made.texts(drawing)
    assert not any("±233 %" in text for text in [*made.texts(drawing), *made.told(drawing)])
    assert len(made.shapes(drawing, "mark")) == len(figure.series[0].points()) + 1  # and the legend's


def test_a_point_with_a_warning_is_hollow():
    figure = ladder()
    figure.series[0].flagged = [place == 3 for place in range(len(figure.series[0].y))]
    (ring,) = made.shapes(build(figure), "hollow")
    others = sorted(made.middle(one)[0] for one in made.shapes(build(figure), "mark"))
    assert sum(x < made.middle(ring)[0] for x in others) == 3 + 1  # and the legend's


def test_logarithmic_only_over_sizes_and_a_decade():
    figure = ladder()
    assert value_scale(figure).log
    figure.series[0].y = [10 + place * (10 * DECADE - 10.5) / 18 for place in range(19)]
    assert not value_scale(figure).log or max(figure.series[0].y) > DECADE * 10
    figure.series[0].y = [10.0 + place for place in range(19)]
    assert value_scale(figure).low == 0 and not value_scale(figure).log


def test_colours_of_nothing_and_of_absent_values():
    assert colour_range([]) == (0.0, 1.0)
    assert colour_range([None, 50.0, float("nan"), 100.0]) == (50.0, 100.0)


def test_both_intervals_are_drawn():
    figure = ladder()
    series = figure.series[0]
    series.x_low, series.x_high = [x * 0.9 for x in series.x], [x * 1.1 for x in series.x]
    runs = [one.runs[0] for one in made.shapes(build(figure), "spread")]
    assert sum(run[0][1] == run[1][1] for run in runs) == sum(run[0][0] == run[1][0] for run in runs) == 19


@pytest.mark.parametrize("width", [3.3, 7.0, 12.0])
@pytest.mark.parametrize("make", [made.curves, made.matrix, made.bars])
def test_pictures_of_any_width_hold_their_words(make, width):
    drawing = build(make(), Frame(width))
    assert drawing.wide * POINTS / 72 == pytest.approx(width)
    made.assert_words_lie_within(drawing)


def test_without_title_and_footer_there_are_no_such_words():
    words = made.texts(build(made.curves(), Frame(title=False, footer=False)))
    assert "Latency by size of the memory" not in words and not [word for word in words if "spread" in word]


# ---- Units for people


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (2.72e-8, "s", "27.2 ns"),
        (9e-6, "s", "9000 ns"),
        (3.745916e-3, "s", "3.75 ms"),
        (2.5e-5, "s", "25.0 µs"),
        (12.0, "s", "12.0 s"),
        (3.1e11, "B/s", "310 GB/s"),
        (1.2e13, "B/s", "12.0 TB/s"),
        (2.5e7, "B/s", "25.0 MB/s"),
        (5.7e8, "B/s", "0.57 GB/s"),
        (9.996e11, "B/s", "1.00 TB/s"),
        (9.996e-4, "s", "1.00 ms"),
    ],
)
def test_quantities_for_people_are_those_of_the_program(value, unit, text):
    assert quantity_text(value, unit) == text


def test_widths_and_sizes_for_people():
    assert plus_minus(100, 99.7, 100.3) == "±0.3 %" and plus_minus(100, 67, 133) == "±33 %"
    assert plus_minus(100, None, None) == "" and plus_minus(100, 100, 100.01) == "±<0.1 %"
    assert [short_size(size) for size in (512, 32 << 10, 223330304, 1 << 40)] == [
        "512 B",
        "32 KiB",
        "213 MiB",
        "1 TiB",
    ]
    assert is_wide(10, 4, 11) and not is_wide(10, 9, 11) and not is_wide(10, None, None)
    assert is_unknown(10, 0, 11) and is_unknown(1, -2, 4) and not is_unknown(10, 4, 11)
