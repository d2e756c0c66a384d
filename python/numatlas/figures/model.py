"""What a picture shows, before it is drawn: the same for the page and for the plots.

Every figure says what its spread is, where the memory was seen to lie, and what to be wary of. Absent
values are None. Quantities are in the unit that the figure names.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import pandas as pd

from numatlas.result import Warning
from numatlas.units import plus_minus, size_text, spread_text

Values = list[float | None]


def absent_as_none(values: Iterable[Any]) -> Values:
    return [None if value is None or pd.isna(value) else float(value) for value in values]


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


@dataclass
class Figure:
    """What all figures have."""

    key: str  #: of letters, digits and dashes; the same for the same figure of another run
    title: str
    spread: str = ""  #: what low and high are, in words
    placement: str = ""  #: where the memory was seen to lie
    notes: list[str] = field(default_factory=list)  #: how it was measured, what was skipped
    verdict: list[str] = field(default_factory=list)  #: what follows from it, in lines of text
    warnings: list[Warning] = field(default_factory=list)
    data: pd.DataFrame = field(default_factory=pd.DataFrame)  #: the numbers shown, to be copied
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)  #: for other programs, by name of a file
    kind: str = ""  #: the command that measured, or "atlas"
    family: str = ""  #: as `key`, without what the figure is of (`where`); "": no other figure is like this
    where: dict[str, str] = field(default_factory=dict)  #: labels that all of the figure has, as texts
    heads: list[str] = field(default_factory=list)  #: of its table, as the program prints it
    cells: list[list[str]] = field(default_factory=list)
    shown: ClassVar[int] = 0  #: rows of its table that a page shows unfolded


class Special(NamedTuple):
    """A place on a line that is marked."""

    x: float
    y: float
    text: str  #: "knee 150 GB/s"
    what: str  #: what such a mark is, for the legend


@dataclass
class Series:
    """A line of a Curves figure; ends of intervals are None where none is known. Where `x` or `y` is None,
    only its interval is known."""

    name: str
    x: Values
    y: Values
    low: Values = field(default_factory=list)
    high: Values = field(default_factory=list)
    texts: list[str] = field(default_factory=list)  #: of each point, all that is known
    x_low: Values = field(default_factory=list)  #: interval of `x`, where that is measured too
    x_high: Values = field(default_factory=list)
    flagged: list[bool] = field(default_factory=list)  #: points that a warning is of, drawn hollow
    special: list[Special] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in ("x", "y", "low", "high", "x_low", "x_high"):
            setattr(self, name, absent_as_none(getattr(self, name)) or [None] * len(self.x))
        self.texts = self.texts or [""] * len(self.x)
        self.flagged = self.flagged or [False] * len(self.x)

    def points(self) -> list[int]:
        """Those that have a place in the picture."""
        return [at for at, (x, y) in enumerate(zip(self.x, self.y, strict=True)) if None not in (x, y)]

    def unknown(self) -> bool:
        """Whether of some points only intervals are known."""
        pairs = [*zip(self.x, self.x_low, strict=True), *zip(self.y, self.low, strict=True)]
        return any(value is None is not low for value, low in pairs)


@dataclass
class Axis:
    """What an axis shows."""

    label: str  #: "size of the memory"
    unit: str = ""  #: "ns", "GB/s"; "bytes" is shown as KiB, MiB, ...
    log2: bool = False

    @property
    def words(self) -> str:
        """ "size of the memory", "latency (ns)"."""
        unit = "" if self.unit == "bytes" else self.unit
        if not unit or self.label.endswith(f" in {unit}"):
            return self.label
        return f"{self.label} ({unit})" if self.label else unit

    def text(self, value: float) -> str:
        """A value of the axis in words."""
        if self.unit == "bytes":
            return size_text(value)
        return f"{value:.0f}" if value >= 1000 else f"{value:.4g}"


@dataclass
class Mark:
    """A line across the picture, at `at` of its horizontal axis (the size of a cache), or of its vertical
    one (`level`: the latency when idle)."""

    at: float
    text: str
    level: bool = False
    wanted: bool = False  #: an axis that ends not far before it reaches to it


@dataclass
class Curves(Figure):
    """Lines over a common axis."""

    x: Axis = field(default_factory=lambda: Axis(""))
    y: Axis = field(default_factory=lambda: Axis(""))
    series: list[Series] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)

    def words(self) -> str:
        """ "Latency per load by buffer size"."""
        return f"{self.y.label[:1].upper()}{self.y.label[1:]} by {self.x.label}"

    def ends(self) -> list[float]:
        """All numbers that a scale has to reach."""
        return _known(end for line in self.series for end in (*line.y, *line.low, *line.high))


@dataclass
class Matrix(Figure):
    """A heat map: `values[row][column]`, with `low` and `high` of the same shape."""

    row_label: str = ""
    column_label: str = ""
    rows: list[str] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    unit: str = ""
    less_is_better: bool = True
    values: list[Values] = field(default_factory=list)
    low: list[Values] = field(default_factory=list)
    high: list[Values] = field(default_factory=list)
    texts: list[list[str]] = field(default_factory=list)  #: beside the numbers; of an empty cell: why; or []
    words: list[list[str]] = field(default_factory=list)  #: of a cell all that is known
    breaks: dict[int, int] = field(default_factory=dict)  #: before which rows (and columns) a line is drawn,
    #: and its weight: 1 between caches, 2 between nodes, 3 between sockets

    def __post_init__(self) -> None:
        shape = range(len(self.rows)), len(self.columns)
        for name in ("values", "low", "high"):
            grid = getattr(self, name) or [[None] * shape[1] for _ in shape[0]]
            setattr(self, name, [absent_as_none(line) for line in grid])
        texts = self.texts or [[""] * shape[1] for _ in shape[0]]
        self.texts = [[text if isinstance(text, str) else "" for text in line] for line in texts]

    def ends(self) -> list[float]:
        """All numbers that a scale has to reach."""
        return _known(value for row in self.values for value in row)

    def spread_of(self, row: int, column: int, *form: Any) -> str:
        """ "1.2 to 1.9", or ""."""
        return spread_text(self.low[row][column], self.high[row][column], *form)

    def widest(self) -> str | None:
        """The widest spread of a cell in words, for pictures without room for each: "1.2 to 1.9 (row 0,
        column 1)"; None where no cell has one."""
        parts = [
            ((self.high[row][column] - self.low[row][column]) / abs(value), row, column)
            for row, line in enumerate(self.values)
            for column, value in enumerate(line)
            if value and self.spread_of(row, column)
        ]
        if not parts:
            return None
        _, row, column = max(parts)
        where = f"{self.row_label} {self.rows[row]}, {self.column_label} {self.columns[column]}"
        width = plus_minus(*(grid[row][column] for grid in (self.values, self.low, self.high)))
        # Ends so close together look alike.
        spread = width if "<" in width else f"{self.spread_of(row, column)} {self.unit}"
        return f"{spread} ({where})"


@dataclass
class Bar:
    """A row of a Bars figure; bars of one name stand together, those of one group have one colour."""

    name: str
    group: str
    value: float | None
    low: float | None = None
    high: float | None = None
    text: str = ""  #: its number in words

    def __post_init__(self) -> None:
        self.value, self.low, self.high = absent_as_none((self.value, self.low, self.high))


@dataclass
class Bars(Figure):
    """A table of values with their names."""

    unit: str = ""
    less_is_better: bool = True
    rows: list[Bar] = field(default_factory=list)
    shown: ClassVar[int] = 40

    def ends(self) -> list[float]:
        """All numbers that a scale has to reach."""
        return _known(end for row in self.rows for end in (row.value, row.high))

    def best(self, most: int) -> list[Bar]:
        """At most so many, in their order."""
        if len(self.rows) <= most:
            return self.rows
        sign = 1 if self.less_is_better else -1
        known = sorted((row for row in self.rows if row.value is not None), key=lambda row: sign * row.value)
        return [row for row in self.rows if row in known[:most]]

    def most(self) -> float:
        """What the bars reach to: the largest value, and its interval by a quarter at most."""
        most = max(self.ends(), default=0.0)
        return min(most, 1.25 * max(_known(row.value for row in self.rows), default=most))


@dataclass
class Beside(Figure):
    """Maps of several files side by side."""

    figures: list[Figure] = field(default_factory=list)


@dataclass
class Listing(Figure):
    """Rows of text."""

    shown: ClassVar[int] = 12


@dataclass
class Fleet(Figure):
    """Many hosts: one value, interval and verdict each, by kernel.

    `hosts`: a row for each host and kernel: host, kernel, value, low, high, min and max (of the rounds), kind
    (hosts of one kind are compared), slow, words (of a slow one), rounds (a list), facts."""

    unit: str = "GB/s"
    hosts: pd.DataFrame = field(default_factory=pd.DataFrame)
    kind_names: list[str] = field(default_factory=list)
    judged: bool = True  #: whether somebody looked for slow hosts

    def names(self) -> list[str]:
        """Of the hosts."""
        return list(dict.fromkeys(self.hosts["host"]))

    def kernels(self) -> list[str]:
        """Each once."""
        return list(dict.fromkeys(self.hosts["kernel"]))

    def suspects(self) -> pd.DataFrame:
        """Rows of slow hosts, the worst first."""
        return self.hosts[self.hosts["slow"]].sort_values("drop", ascending=False, kind="stable")


# ---- Maps


@dataclass
class Box:
    """A rectangle in inches, from the upper left."""

    x: float
    y: float
    wide: float
    tall: float


@dataclass
class Spot:
    """A part of an atlas: a node, a GPU, a socket, a link between two sockets, a cache. By what was
    measured ("latency", "bandwidth"): `values` in SI units, `texts`, `spreads` ("±0.3 %"), and which are
    `unsteady`."""

    name: str  #: "N0"
    note: str = ""  #: CPUs and memory; of a link its latency over that of the CPUs' own node: "2.7x"
    detail: str = ""  #: what a reader may ask for, in lines
    values: dict[str, float] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    spreads: dict[str, str] = field(default_factory=dict)
    unsteady: set[str] = field(default_factory=set)
    far: bool = False  #: without CPUs: the figures are those of the CPUs that its note tells
    box: Box = field(default_factory=lambda: Box(0, 0, 0, 0))
    ends: tuple[str, str] = ("", "")  #: of a link, names of its sockets
    beside: list[str] = field(default_factory=list)  #: figures of its connection, with intervals and without
    row: str = ""  #: of a cache, the kind of its cores
    line: tuple[float, float, float, float] | None = None  #: of a link, x and y of both ends; None: not drawn


@dataclass
class Atlas(Figure):
    """The machine as a map. `modes`: what it can show: "latency", "bandwidth"."""

    places: list[Spot] = field(default_factory=list)  #: nodes, and what is attached
    links: list[Spot] = field(default_factory=list)
    sockets: list[Spot] = field(default_factory=list)
    chain: list[Spot] = field(default_factory=list)  #: from the CPU through its caches to memory
    stems: list[Spot] = field(default_factory=list)  #: lines to what is attached; `note`: its figures
    said: list[str] = field(default_factory=list)  #: below it, in sentences
    modes: list[str] = field(default_factory=list)
    height: float = 0.0  #: inches; the map is 7 inches wide
