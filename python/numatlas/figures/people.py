"""The program's words as a page has them: its text tables are for terminals."""

import re

from numatlas.result import View
from numatlas.units import number_text

#: Of a text table only, and of a map.
OF_ROWS = ("one row per", "one column per", "rows: ", "columns: ", "rows and columns: ")
#: Signs that a text table explains.
SIGNS = ("+-", "±", "-")
_HEAD = re.compile(r"([^:()]{1,20}): ")
_RATE = re.compile(r"\b(us|ns|ms|s|faults) an? (\w+)")
_SIZE = re.compile(r"(\d)([KMGT]iB)\b")
#: A number without a unit.
_BARE = re.compile(r"(?<![\w.±+-])\d+\.\d+(?![\w.]| ?(?:[nuµm]?s|[kMGT]?B|%|x)\b| ?%)")


def signs(text: str) -> str:
    """ "±" and "x"."""
    return re.sub(r"(\d) times( as long|,)", r"\1x\2", text.replace("+-", "±"))


def words(text: str) -> str:
    """With units as people write them; what may be a command stays as it is."""
    text = signs(_RATE.sub(r"\1 per \2", text))
    text = re.sub(r"\bus\b", "µs", text)
    is_table_or_command = "   " in text or " --" in text
    return text if is_table_or_command else spaced(text)


def spaced(text: str) -> str:
    """ "64 MiB"."""
    return _SIZE.sub(r"\1 \2", text)


def notes(view: View, head: str, as_map: bool, as_table: bool) -> list[str]:
    """Those that a picture needs: a map has rows and columns, a table the columns that are explained, curves
    nothing but the figure with this head."""
    others = {cell["head"] for cell in view["cells"] if cell["head"] != head}
    found = []
    for note in view["notes"]:
        kept, leave = [], False
        for part in note.split("; "):
            named = _HEAD.match(part)
            if part.startswith(OF_ROWS):
                leave = False
                if not as_map:
                    continue
            elif named:
                leave = not (as_map or as_table) and (named[1] in others or named[1] in SIGNS)
            if not leave:
                kept.append(part)
        found += ["; ".join(kept)] if kept else []
    return found


def without_rows(texts: list[str]) -> list[str]:
    """Notes without what they say of rows and columns."""
    parts = [[part for part in text.split("; ") if not part.startswith(OF_ROWS)] for text in texts]
    return ["; ".join(kept) for kept in parts if kept]


def rescaled(lines: list[str], factor: float, unit: str) -> list[str]:
    """A text table of numbers in ns in the unit of its picture, its columns as wide as they were."""

    def fit(found: re.Match) -> str:
        return number_text(float(found[0]) * factor).rjust(len(found[0]))

    return [*(_BARE.sub(fit, line) for line in lines), f"in {unit}"]
