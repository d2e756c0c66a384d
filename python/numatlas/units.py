"""Quantities as people read them. SI for time and rates, IEC for sizes, as the program prints them."""

import math

#: Unit of a result file -> (unit shown, factor).
SHOWN = {
    "s": ("ns", 1e9),
    "B/s": ("GB/s", 1e-9),
    "1": ("", 1.0),
}


def shown(unit: str) -> tuple[str, float]:
    """The unit in which a quantity of a result file is shown, and the factor to it."""
    return SHOWN.get(unit, (unit, 1.0))


def size_text(size: float) -> str:
    """Bytes in the largest IEC unit that leaves a number of at least 1: "64MiB", "1.5GiB"."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            break
        size /= 1024
    return f"{size:.4g}{unit}"


def number_text(value: float | None, digits: int = 4) -> str:
    """A number with as many significant digits; "-" where there is none."""
    if value is None or math.isnan(value):
        return "-"
    if value == 0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(places, 6)}f}"


def percent_text(part: float) -> str:
    """0.031 -> "3.1 %"."""
    return f"{100 * part:.1f} %"
