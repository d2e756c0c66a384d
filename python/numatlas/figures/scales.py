"""What axes and colours reach over: one rule for the page and for the plots.

Scales come from values, never from the ends of intervals: one poorly known point must not squeeze the others.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from numatlas.figures.model import Curves, Mark, Matrix
from numatlas.units import ink_on

#: Values that differ by more than this factor get a logarithmic axis where sizes are on the other.
DECADE = 10
#: Colours reach over at least this part of the middle value, so that noise makes no pattern.
LEAST_RANGE = 0.2
#: A figure with a wider interval is unsteady: dashed in the atlas, counted in the verdict.
UNSTEADY = 0.1
#: Part of its largest value that an axis which does not begin at 0 spans at least.
LEAST_SPAN = 0.1
#: How far the intervals may stretch an axis beyond its values.
STRETCH = 1.25
#: A mark beyond so many times the highest value is not drawn: there would be no room for values.
FAR = 3
#: Colours at even steps from low to high, of even steps of lightness for all kinds of sight (cividis).
COLOURS = ("00224e", "083370", "35456c", "4f576c", "666970", "7d7c78", "948e77", "aea371", "c8b866", "e5cf52")
COLOURS = (*COLOURS, "fee838")
#: Inks on colours; on a page these stay as they are, light or dark.
INKS = {"black": "#010101", "white": "#FEFEFE"}


@dataclass(frozen=True)
class Scale:
    """Of an axis: its ends, and whether it is logarithmic."""

    low: float
    high: float
    log: bool = False

    def part(self, value: float) -> float:
        """Where a value stands, from 0 to 1."""
        ends = [math.log(max(one, 1e-300)) if self.log else one for one in (self.low, value, self.high)]
        return (ends[1] - ends[0]) / ((ends[2] - ends[0]) or 1.0)

    def ticks(self, most: int = 10, whole: bool = False) -> list[float]:
        """At most about so many round values; `whole`: no parts of something that is counted."""
        if self.log:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            every = [step * 10.0**power for power in powers for step in (1, 2, 5)]
            found = [one for one in every if self.low <= one <= self.high]
            return found if len(found) <= most else [one for one in found if f"{one:e}"[0] == "1"]
        power = 10.0 ** math.floor(math.log10((self.high - self.low) / most))
        steps = [power * step for step in (1, 2, 2.5, 5, 10) if power * step >= (self.high - self.low) / most]
        step = max(1.0, math.ceil(steps[0])) if whole else steps[0]
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(at * step, 12) for at in range(first, last + 1)]


def x_scale(figure: Curves, most: int) -> tuple[Scale, list[float]]:
    """Of the horizontal axis, and what is named on it: at most so many sizes that were measured, or round
    values from 0."""
    steps = sorted({x for line in figure.series for x in line.x if x is not None}) or [0.0]
    if figure.x.log2 and steps[0] > 0:
        margin = (steps[-1] / steps[0]) ** 0.03 if len(steps) > 1 else 2
        scale = Scale(steps[0] / margin, steps[-1] * margin, True)
        return scale, scale.ticks(most) if figure.x.unit == "ns" else _apart(steps, most)
    scale = Scale(0.0, 1.03 * _reach(steps[-1], figure.marks, level=False) or 1.0)
    return scale, scale.ticks(10, figure.x.unit == "" and all(float(step).is_integer() for step in steps))


def y_scale(figure: Curves) -> tuple[Scale, list[float], str]:
    """Of the vertical axis, what is named on it, and its words: what is logarithmic says so."""
    scale, words = value_scale(figure), figure.y.words
    if scale.log:
        return scale, scale.ticks(), f"{words}, logarithmic"
    scale = Scale(scale.low, 1.03 * _reach(scale.high / 1.03, figure.marks, level=True))
    whole = figure.y.unit == "" and all(float(end).is_integer() for end in figure.ends())
    return scale, scale.ticks(8, whole), f"{words}, not from 0" if scale.low > 0 else words


def _reach(most: float, marks: list[Mark], level: bool) -> float:
    """The end of an axis: also of marks that are wanted, and not far away."""
    ends = [mark.at for mark in marks if mark.wanted and mark.level is level and mark.at <= FAR * most]
    return max([most, *ends])


def _apart(steps: list[float], most: int) -> list[float]:
    """Those that have names: as many as there is room for, and none beside another."""
    named, least = steps[:1], (steps[-1] / steps[0]) ** (0.999 / most)
    for step in steps[1:]:
        if step >= named[-1] * least:
            named.append(step)
    return named


def value_scale(figure: Curves) -> Scale:
    """Of the vertical axis, without its marks. From 0, but for values of more than a decade over sizes or
    numbers of workers, which are shown by ratio. Intervals stretch it by a quarter at most."""
    values = [y for line in figure.series for y in line.y if y is not None]
    low, high = min(values, default=0), max(values, default=0)
    ends = [end for line in figure.series for end in (*line.low, *line.high) if end is not None]
    top = min(max([high, *ends]), STRETCH * high)
    bottom = max(min([low, *(end for end in ends if end > 0)]), low / STRETCH)
    # On an axis from 0 the lowest steps of a ladder would not be seen.
    if figure.x.log2 and low > 0 and high > DECADE * low:
        return Scale(0.9 * bottom, 1.15 * top, True)
    return Scale(min(0.0, 1.06 * low), 1.06 * top or 1.0)


def around(low: float, high: float) -> tuple[float, float]:
    """An axis that does not begin at 0: at least a tenth of its largest value, so that noise stays small."""
    span = max(high - low, LEAST_SPAN * abs(high), 1e-12)
    middle = (low + high) / 2
    return middle - 0.55 * span, middle + 0.55 * span


def colour_range(values: Iterable[float | None]) -> tuple[float, float]:
    """From the least to the largest value, and never so narrow that noise becomes a pattern."""
    there = [float(value) for value in values if value is not None and value == value]
    low, high = (min(there), max(there)) if there else (0.0, 1.0)
    least = LEAST_RANGE * abs(low + high) / 2 or 1.0
    if high - low < least:
        low, high = (low + high - least) / 2, (low + high + least) / 2
    return low, high


def colour_of(value: float, ends: tuple[float, float], less_is_better: bool) -> tuple[str, str]:
    """The colour of a value between these ends, whose light end is the better one, and the ink that can be
    read on it."""
    part = min(max((value - ends[0]) / (ends[1] - ends[0]), 0.0), 1.0)
    place = (1 - part if less_is_better else part) * (len(COLOURS) - 1)
    at = min(int(place), len(COLOURS) - 2)
    both = [[int(colour[digit : digit + 2], 16) for digit in (0, 2, 4)] for colour in COLOURS[at : at + 2]]
    parts = [low + (high - low) * (place - at) for low, high in zip(*both, strict=True)]
    return "#" + "".join(f"{round(one):02x}" for one in parts), INKS[ink_on(*(one / 255 for one in parts))]


def common_ends(maps: Iterable[Matrix]) -> tuple[float, float]:
    """One scale of colours."""
    return colour_range(end for one in maps for end in one.ends())
