"""What a picture shows, before it is drawn: the same for the page and for the plots.

Every figure says what its spread is, where the memory was seen to lie, and what to be wary of. Absent
values are None. Quantities are in the unit that the figure names.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from numatlas.units import number_text


def absent_as_none(values: Iterable[Any]) -> list[float | None]:
    return [None if value is None or pd.isna(value) else float(value) for value in values]


@dataclass
class Figure:
    """What all figures have."""

    key: str  #: of letters, digits and dashes; the same for the same figure of another run
    title: str
    spread: str = ""  #: what low and high are, in words
    placement: str = ""  #: where the memory was seen to lie
    notes: list[str] = field(default_factory=list)  #: how it was measured, what was skipped
    warnings: list[str] = field(default_factory=list)
    data: pd.DataFrame = field(default_factory=pd.DataFrame)  #: the numbers shown, and more, to be copied


@dataclass
class Series:
    """A line of a Curves figure; `low` and `high` as long as `y`, or empty."""

    name: str
    x: list[float]
    y: list[float | None]
    low: list[float | None] = field(default_factory=list)
    high: list[float | None] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)  #: of each point, beside its numbers

    def __post_init__(self) -> None:
        self.y, self.low, self.high = (absent_as_none(line) for line in (self.y, self.low, self.high))


@dataclass
class Axis:
    """What an axis shows."""

    label: str  #: "size of the memory"
    unit: str = ""  #: "ns", "GB/s"; "bytes" is shown as KiB, MiB, ...
    log2: bool = False


@dataclass
class Mark:
    """A line across the picture at `x` (the size of a cache)."""

    x: float
    text: str


@dataclass
class Curves(Figure):
    """Lines over a common axis."""

    x: Axis = field(default_factory=lambda: Axis(""))
    y: Axis = field(default_factory=lambda: Axis(""))
    series: list[Series] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)


@dataclass
class Matrix(Figure):
    """A heat map: `values[row][column]`, with `low` and `high` of the same shape."""

    row_label: str = ""
    column_label: str = ""
    rows: list[str] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    unit: str = ""
    less_is_better: bool = True
    values: list[list[float | None]] = field(default_factory=list)
    low: list[list[float | None]] = field(default_factory=list)
    high: list[list[float | None]] = field(default_factory=list)
    whys: list[list[str]] = field(default_factory=list)  #: of an empty cell: why; else "" or []

    def __post_init__(self) -> None:
        for name in ("values", "low", "high"):
            setattr(self, name, [absent_as_none(line) for line in getattr(self, name)])

    def widest(self) -> str | None:
        """The widest spread of a cell in words, for pictures without room for each: "1.2 to 1.9 (row 0,
        column 1)"; None where no cell has one."""
        parts = [
            ((high - low) / abs(value), low, high, row, column)
            for row, cells in zip(
                self.rows, zip(self.values, self.low, self.high, strict=False), strict=False
            )
            for column, value, low, high in zip(self.columns, *cells, strict=True)
            if value and low is not None and high is not None
        ]
        if not parts:
            return None
        _, low, high, row, column = max(parts, key=lambda part: part[0])
        where = f"{self.row_label} {row}, {self.column_label} {column}"
        return f"{number_text(low)} to {number_text(high)} {self.unit} ({where})"


@dataclass
class Bars(Figure):
    """Values by name; `groups` names the bars that stand together at each name."""

    unit: str = ""
    less_is_better: bool = True
    names: list[str] = field(default_factory=list)
    groups: list[Series] = field(default_factory=list)  #: x counts the names


@dataclass
class Fleet(Figure):
    """Many hosts: one value, interval and verdict each, by kernel."""

    unit: str = "GB/s"
    kernels: list[str] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    values: list[list[float | None]] = field(default_factory=list)  #: [kernel][host]
    low: list[list[float | None]] = field(default_factory=list)
    high: list[list[float | None]] = field(default_factory=list)
    least: list[list[float | None]] = field(default_factory=list)  #: worst round
    most: list[list[float | None]] = field(default_factory=list)  #: best round
    rounds: list[list[list[float]]] = field(default_factory=list)  #: [kernel][host][round], or []
    kinds: list[int] = field(default_factory=list)  #: of each host: hosts of one kind are compared
    kind_names: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)  #: of each host: its placement and warnings
    suspects: list["Suspect"] = field(default_factory=list)  #: the worst first
    judged: bool = True  #: whether somebody looked for slow hosts


@dataclass
class Suspect:
    """A host that was found slow in a kernel."""

    host: str
    kernel: str
    value: float
    drop: float  #: part below the median of its kind, 0..1
    mads: float | None
    words: str


@dataclass
class MachinePicture(Figure):
    """Packages > nodes > caches and CPUs; nodes without CPUs; GPUs and persistent memory at their nodes."""

    machine: dict[str, Any] = field(default_factory=dict)  #: the snapshot
    facts: list[tuple[str, str]] = field(default_factory=list)  #: name, value
