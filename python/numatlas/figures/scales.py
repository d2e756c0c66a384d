"""What axes and colours reach over: one rule for the page and for the plots.

Scales come from values, never from the ends of intervals: one poorly known point must not squeeze the others.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from numatlas.figures.model import Curves

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


@dataclass(frozen=True)
class Scale:
    """Of an axis: its ends, and whether it is logarithmic."""

    low: float
    high: float
    log: bool = False


def value_scale(figure: Curves) -> Scale:
    """Of the vertical axis. From 0, but for values of more than a decade over sizes or numbers of workers,
    which are shown by ratio. Intervals stretch it by a quarter at most."""
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
