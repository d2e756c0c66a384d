"""The statistics of the program, for files that have samples only."""

from collections.abc import Sequence
from math import ceil, floor, sqrt


def median_interval(ordered: Sequence[float]) -> tuple[float, float | None, float | None]:
    """Median of sorted values and its 95 % interval by order statistics (Hoefler & Belli, SC'15); no
    interval below 6 values."""
    count = len(ordered)
    middle = count // 2
    median = ordered[middle] if count % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    if count < 6:
        return median, None, None
    reach = 1.96 * sqrt(count)
    low = max(floor((count - reach) / 2), 1)
    high = min(ceil(1 + (count + reach) / 2), count)
    return median, ordered[low - 1], ordered[high - 1]
