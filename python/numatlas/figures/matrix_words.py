"""What stands in the cells of a map, for the plots and the page."""

from collections.abc import Callable

from numatlas.figures.model import Matrix
from numatlas.units import number_text

#: Points: of words in cells; smaller ones nobody reads.
LARGEST, SMALLEST, INTERVAL = 8.0, 4.5, 5.5

#: Words of cells, their size in points, and whether they have intervals.
Words = tuple[dict[tuple[int, int], str], float, bool]


def fitting(figure: Matrix, wide: float, tall: float, width: Callable[[str], float]) -> Words:
    """Words of the cells, as many as fit so many points: with what stands beside the numbers and with
    intervals, with either, or numbers alone. `width`: of words of one point."""
    there = [
        (row, at)
        for row, line in enumerate(figure.values)
        for at, value in enumerate(line)
        if value is not None or figure.spread_of(row, at)
    ]
    for beside, intervals in ((True, True), (False, True), (True, False), (False, False)):
        words = {}
        for row, at in there:
            lines = [figure.texts[row][at] if beside else "", _value(figure.values[row][at])]
            lines.append(figure.spread_of(row, at, 3, " - ") if intervals else "")
            words[row, at] = "\n".join(filter(None, lines))
        widest = max((width(line) for text in words.values() for line in text.split("\n")), default=1)
        most = max((text.count("\n") + 1 for text in words.values()), default=1)
        size = min(LARGEST, 0.9 * wide / widest, 0.72 * tall / most)
        if size >= (SMALLEST if most == 1 else INTERVAL):
            return words, size, intervals and any(figure.spread_of(*cell) for cell in there)
    return {}, 0, False


def _value(value: float | None) -> str:
    return "unknown" if value is None else number_text(value, 3)
