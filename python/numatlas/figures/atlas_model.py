"""What an atlas shows: places with their boxes, links between sockets, the way through the caches."""

from dataclasses import dataclass, field

from numatlas.figures.model import Figure


@dataclass
class Box:
    """A rectangle in inches, from the upper left."""

    x: float
    y: float
    wide: float
    tall: float


@dataclass
class Place:
    """A node, or a GPU, of an atlas. By what was measured ("latency", "bandwidth"): `values` in SI units,
    `texts`, `spreads` ("±0.3 %"), and which of them are `unsteady`."""

    name: str  #: "N0"
    note: str = ""  #: CPUs and memory
    detail: str = ""  #: what a reader may ask for, in lines
    values: dict[str, float] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    spreads: dict[str, str] = field(default_factory=dict)
    unsteady: set[str] = field(default_factory=set)
    claims: str = ""  #: what the firmware says of it
    far: bool = False  #: without CPUs: the figures are those of the CPUs that its name tells
    box: Box = field(default_factory=lambda: Box(0, 0, 0, 0))


@dataclass
class Link:
    """What lies between two sockets; see Place. `ends`: x and y of both; None where no line is drawn."""

    first: str
    second: str
    detail: str = ""
    values: dict[str, float] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    times: str = ""  #: latency over that of the CPUs' own node: "2.7x"
    unsteady: set[str] = field(default_factory=set)
    claims: str = ""
    ends: tuple[float, float, float, float] | None = None


@dataclass
class Hop:
    """A cache, or memory, on the way of a load: its latency in s."""

    name: str
    value: float
    text: str
    detail: str


@dataclass
class Atlas(Figure):
    """The machine as a map: sockets with their nodes, what is attached to them, links between them.

    `modes`: what it can show: "latency", "bandwidth", "claims" (of the firmware)."""

    places: list[Place] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    sockets: dict[str, tuple[Box, dict[str, str]]] = field(default_factory=dict)  #: box, and titles by mode
    stems: list[tuple[float, float, float]] = field(default_factory=list)  #: x, from y, to y
    chain: list[Hop] = field(default_factory=list)
    chain_y: float = 0.0
    modes: list[str] = field(default_factory=list)
    height: float = 0.0
