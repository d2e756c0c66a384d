"""The colours of heat maps: one scale from dark blue (worse) to yellow (better), which readers with any
kind of colour vision, and printers without colours, can tell apart: lightness rises all along it."""

import base64
import struct
import zlib

#: Stops at equal distances, of rising lightness.
STOPS = (
    (18, 38, 84),
    (52, 70, 110),
    (92, 96, 114),
    (128, 125, 116),
    (168, 157, 108),
    (211, 191, 88),
    (254, 230, 70),
)

#: Values closer together than this part of their middle do not get the whole scale: noise would look like
#: a difference.
LEAST_RANGE = 0.2


def scale_of(values: list[float]) -> tuple[float, float]:
    """The lowest and highest value of the scale for these values."""
    low, high = min(values), max(values)
    middle = (low + high) / 2
    if high - low < LEAST_RANGE * abs(middle):
        half = LEAST_RANGE * abs(middle) / 2
        low, high = middle - half, middle + half
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def colour(value: float, scale: tuple[float, float], less_is_better: bool) -> tuple[int, int, int]:
    """Red, green, blue of a value; the better end of the scale is the lighter one."""
    low, high = scale
    part = min(max((value - low) / (high - low), 0.0), 1.0)
    if less_is_better:
        part = 1 - part
    place = part * (len(STOPS) - 1)
    index = min(int(place), len(STOPS) - 2)
    rest = place - index
    red, green, blue = (
        round(a + (b - a) * rest) for a, b in zip(STOPS[index], STOPS[index + 1], strict=True)
    )
    return red, green, blue


def ink_on(background: tuple[int, int, int]) -> str:
    """Black or white, whichever has the more contrast (relative luminance of WCAG 2)."""
    linear = [((c / 255 + 0.055) / 1.055) ** 2.4 if c > 10 else c / 255 / 12.92 for c in background]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000" if luminance > 0.179 else "#fff"


def text_of(rgb: tuple[int, int, int]) -> str:
    """As CSS writes it."""
    return "#{:02x}{:02x}{:02x}".format(*rgb)


def gradient() -> str:
    """The scale for CSS, from worse to better."""
    return f"linear-gradient(to right, {', '.join(text_of(stop) for stop in STOPS)})"


def image(values: list[list[float | None]], scale: tuple[float, float], less_is_better: bool) -> str:
    """A pixel a cell, transparent where there is no value: a PNG as a data address."""
    lines = []
    for row in values:
        line = bytearray([0])  # no filter
        for value in row:
            line += (
                bytes([0, 0, 0, 0]) if value is None else bytes([*colour(value, scale, less_is_better), 255])
            )
        lines.append(bytes(line))
    header = struct.pack(">IIBBBBB", len(values[0]), len(values), 8, 6, 0, 0, 0)
    body = (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(b"".join(lines), 9))
        + _chunk(b"IEND", b"")
    )
    return f"data:image/png;base64,{base64.b64encode(body).decode()}"


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
