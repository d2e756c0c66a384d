"""Text from files, as a terminal or a page may show it."""

import re
from bisect import bisect_left
from collections.abc import Callable

#: What a terminal takes as an order or a line end, what turns the direction of writing, and bytes that were
#: no text: as src/base/text.cpp of the program.
_ACTS = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def cut(text: str, fits: Callable[[str], bool], end: str = "...") -> str:
    """The text, or as much of it as fits with `end` behind it."""
    if fits(text):
        return text
    most = bisect_left(range(len(text)), True, key=lambda count: not fits(text[:count] + end))
    return text[: max(most - 1, 0)] + end


def printable(text: str) -> str:
    """The text with those characters as "\\x1b" or "\\u202e"; whoever named a host can then neither move the
    cursor nor forge a line."""
    return _ACTS.sub(lambda found: _escaped(ord(found.group())), text)


def _escaped(code: int) -> str:
    byte = code - 0xDC00 if 0xDC80 <= code <= 0xDCFF else code  # a byte of a file's name (PEP 383)
    return f"\\x{byte:02x}" if byte < 0x100 else f"\\u{byte:04x}"
