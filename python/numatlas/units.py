"""Quantities and lists as people read them: SI for time and rates, IEC for sizes, as the program prints."""

import math

#: Unit of a result file -> (unit shown, factor).
SHOWN = {"s": ("ns", 1e9), "B/s": ("GB/s", 1e-9), "1/s": ("M/s", 1e-6), "1": ("", 1.0), "cost": ("", 1.0)}
#: Unit of a result file -> from which value on, unit, factor. What rounds up to the next unit is in that one.
#: src/record/unit.cpp has the same steps.
STEPS = {
    "s": ((0.9995, "s", 1.0), (0.9995e-3, "ms", 1e3), (0.99995e-5, "µs", 1e6), (0, "ns", 1e9)),
    "B/s": (
        *((0.9995e12, "TB/s", 1e-12), (1e8, "GB/s", 1e-9), (1e5, "MB/s", 1e-6)),
        *((100, "kB/s", 1e-3), (0, "B/s", 1.0)),
    ),
}
#: Both ends of an interval that reaches further than this to a side, relative to the value, are told with it.
WIDE = 0.5

#: From here on numbers have exponents.
VERY_LARGE = 1e12

SIZES = ("B", "KiB", "MiB", "GiB", "TiB")


def shown(unit: str) -> tuple[str, float]:
    """The unit in which a quantity of a result file is shown, and the factor to it."""
    return SHOWN.get(unit, (unit, 1.0))


def size_text(size: float, whole: bool = False) -> str:
    """Bytes in the largest IEC unit that leaves a number of at least 1 ("1.5 GiB"), or a whole one
    ("1536 MiB")."""
    for unit in SIZES:
        if size < 1024 or unit == "TiB" or (whole and size % 1024):
            break
        size /= 1024
    return f"{size:.0f} {unit}" if whole else f"{size:.4g} {unit}"


def short_size(size: float) -> str:
    """Bytes for a caption: "9.8 GiB"."""
    step = 0
    while size >= 1000 and step < 4:
        size, step = size / 1024, step + 1
    return f"{size:.2g} {SIZES[step]}" if size < 10 else f"{size:.0f} {SIZES[step]}"


def number_text(value: float | None, digits: int = 4) -> str:
    """A number with as many significant digits; "-" where there is none. Very large ones as "1.00e+20"."""
    if value is None or math.isnan(value):
        return "-"
    if value == 0:
        return "0"
    if abs(value) >= VERY_LARGE:
        return f"{value:.{digits - 1}e}"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(places, 6)}f}"


def percent_text(part: float) -> str:
    """0.031 -> "3.1 %"."""
    return f"{100 * part:.1f} %"


def half_width(value: float | None, low: float | None, high: float | None) -> float | None:
    """The larger side of an interval over its value; None where there is no interval."""
    if not value or low is None or high is None or math.isnan(low + high):
        return None
    return max(value - low, high - value) / abs(value)


def is_wide(value: float | None, low: float | None, high: float | None) -> bool:
    """Whether the interval reaches so far that both of its ends are told with the value."""
    width = half_width(value, low, high)
    return width is not None and width > WIDE


def is_unknown(value: float | None, low: float | None, high: float | None) -> bool:
    """Whether the value may also be nothing at all: its interval is wide and reaches zero."""
    return is_wide(value, low, high) and low <= 0 <= high  # type: ignore[operator]


def plus_minus(value: float | None, low: float | None, high: float | None) -> str:
    """Half of an interval, relative: "±0.3 %"; "" where there is none."""
    width = half_width(value, low, high)
    return "" if width is None else width_text(width)


def width_text(width: float) -> str:
    """0.003 -> "±0.3 %"."""
    if width < 0.0005:
        return "±<0.1 %"
    return f"±{100 * width:.1f} %" if width < 0.0995 else f"±{100 * width:.0f} %"


def spread_text(low: float | None, high: float | None, digits: int = 4, between: str = " to ") -> str:
    """ "9.500 to 10.20"; "" where there is none."""
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return ""
    return f"{number_text(low, digits)}{between}{number_text(high, digits)}"


def numbers_of(text: str | None) -> list[int]:
    """ "0-2,8" -> [0, 1, 2, 8]."""
    found: list[int] = []
    for part in filter(None, (text or "").split(",")):
        first, _, last = part.strip().partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def ranges_of(numbers: list[int]) -> str:
    """[0, 1, 2, 8] -> "0-2,8"."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ",".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)


def ink_on(red: float, green: float, blue: float) -> str:
    """Black or white, whichever has more contrast on this colour of parts of 1 (WCAG 2)."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (red, green, blue)
    ]
    return "black" if 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.179 else "white"


def fitting_unit(value: float, unit: str) -> tuple[str, float]:
    """The unit in which people read a quantity of this size, and the factor to it: nanoseconds up to 10 µs,
    GB/s from 0.1 to 1000 GB/s."""
    steps = ((name, factor) for least, name, factor in STEPS.get(unit, ()) if abs(value) >= least)
    return next(steps, shown(unit))


def three_digits(value: float) -> str:
    """A number with two places behind the point at most: "94.5", "1340", "0.57"."""
    size = abs(value)
    return f"{value:.{0 if size >= 99.95 else 1 if size >= 9.995 else 2}f}"


def quantity_text(value: float, unit: str) -> str:
    """A quantity in SI units as people read it: 0.0037 s -> "3.70 ms"; a ratio as "2.1x"."""
    if unit == "1":
        return f"{number_text(value, 3)}x"
    if unit == "B":
        return size_text(value)
    name, factor = fitting_unit(value, unit)
    return f"{three_digits(value * factor)} {name}".strip()


def range_text(low: float, high: float, unit: str) -> str:
    """ "120 to 122 ns", "120 ns"."""
    least, most = (quantity_text(end, unit) for end in (low, high))
    if least == most:
        return most
    return f"{least.removesuffix(f' {most.split()[-1]}')} to {most}"
