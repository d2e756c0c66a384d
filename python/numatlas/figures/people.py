"""The program's words as a page has them: its text tables are for terminals."""

import re

from numatlas.text import signs

_RATE = re.compile(r"\b(us|ns|ms|s|faults) an? (\w+)")
_SIZE = re.compile(r"(\d)([KMGT]iB)\b")


def words(text: str) -> str:
    """With units as people write them; what may be a command stays as it is."""
    text = signs(_RATE.sub(r"\1 per \2", text))
    text = re.sub(r"\bus\b", "µs", text)
    is_table_or_command = "   " in text or " --" in text
    return text if is_table_or_command else spaced(text)


def spaced(text: str) -> str:
    """ "64 MiB"."""
    return _SIZE.sub(r"\1 \2", text)
