"""What a run says in sum: the facts that its benchmarks state (src/record/view.h), as frames, and their
headings as headline figures, as in the program's own summary. Knows no benchmark but by the keys of facts."""

import re
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from numatlas.units import estimate_spread, estimate_text, is_unknown, range_text

#: What a run, or a benchmark of a survey, calls itself that was disturbed.
UNRELIABLE = "unreliable"
#: Unit of a number of hosts.
COUNT = "hosts"
#: Methods of estimates (docs/results.md) whose interval lies within a visit, or a few of them.
FEW_VISITS = ("within", "samples", "stretches")
QUANTITIES = {"s": "latency", "B/s": "bandwidth"}
LABELS = ("cpu_node", "memory_node", "gpu", "direction", "level", "size", "pages", "kind", "place")
#: Labels that tell headings of one key apart.
TELLING = ("gpu", "level")
#: Of a heading the figure that stands in front, by its key, where the program does not tell it first.
IN_FRONT = ("memory_latency", "loaded_latency_peak")
FIELDS = ("key", "words", "unit", "heading", "line", "where")


@dataclass(frozen=True)
class Metric:
    """The first figure of a heading, in SI units, with the others in words; absent ends: no interval is
    known."""

    key: str  #: "peak_bandwidth"
    words: str  #: the heading
    value: float
    low: float | None
    high: float | None
    unit: str  #: "s", "B/s"
    name: str  #: what it is in any run: "gpu copy rate, gpu 0"
    line: str = "{}"  #: with the figure in place of {}: "best {} (triad)"
    beside: str = ""  #: the other figures of the heading
    where: str = ""  #: of which places, and by what
    few_visits: bool = False  #: the interval does not cover changes between visits
    doubted: bool = False  #: of a run that calls itself unreliable, or hardly known

    @property
    def text(self) -> str:
        """ "122 ns"; of a count "10,000"; of a ratio "2.1x"; "0 to 150 ns"."""
        return f"{self.value:,.0f}" if self.unit == COUNT else estimate_text(self)

    @property
    def head(self) -> str:
        """The heading without sizes and pages: "Read bandwidth, all CPUs of the node"."""
        return re.split(r", (?=\d)", self.words)[0]

    @property
    def spread(self) -> str:
        """ "±0.3 %", of few visits "±0.3 %*", or ""."""
        spread = estimate_spread(self)
        return f"{spread}*" if spread and self.few_visits else spread

    @property
    def short(self) -> str:
        """One line beside the figure: what it is of, and whether there is a knee; or the ends of each class
        of nodes."""
        line = re.sub(r"(?<=[\w:]) \{\} (?=\w)", f" {self.text} ", self.line).replace("{}", " ")
        own = re.sub(r",[^()]*\)", ")", " ".join(line.split()))
        own = own[1:-1] if re.fullmatch(r"\([^()]*\)", own) else own
        knee = [part for part in self.beside.split("; ") if "knee" in part]
        return self.beside if not own or self.beside.startswith(f"{own} ") else "; ".join([own, *knee])


def facts(result: Any) -> pd.DataFrame:
    """A row for each fact of the result's benchmarks, with its command, its estimate, its labels (`cpu_node`,
    `gpu`, ...; absent where it has none) and all of these in `where`."""
    whole = result.meta.get("trust")
    rows = [
        {
            **{"command": part.command, "unreliable": UNRELIABLE in (part.meta.get("trust"), whole)},
            **{name: fact[name] for name in FIELDS},
            **{name: fact["where"].get(name) for name in LABELS},
            **{name: fact["estimate"].get(name) for name in ("value", "low", "high", "method")},
        }
        for part in result.all()
        for fact in part.meta.get("facts") or []
    ]
    columns = ["command", "unreliable", *FIELDS, *LABELS, "value", "low", "high", "method"]
    frame = pd.DataFrame(rows, columns=columns, dtype=object)
    return frame.assign(**{name: pd.to_numeric(frame[name]) for name in ("value", "low", "high", "size")})


def pairs(result: Any) -> pd.DataFrame:
    """The facts of pairs of nodes, which a survey shows as cells of a matrix, once each: `what` ("latency" of
    one CPU alone, "bandwidth" of a read by all CPUs of a node), cpu_node and memory_node as integers, value,
    low, high, words."""
    every = facts(result)
    nodes = every[["cpu_node", "memory_node"]].apply(pd.to_numeric, errors="coerce")
    cells = every["heading"].notna() & every["line"].isna() & nodes.notna().all(axis=1)
    found = every.assign(**nodes, what=every["unit"].map(QUANTITIES))[cells].dropna(subset=["what"])
    found = found.drop_duplicates(["what", "cpu_node", "memory_node"])
    return found.astype({"cpu_node": int, "memory_node": int})


def gpu_rates(result: Any) -> pd.DataFrame:
    """The best copies of each GPU and direction from or to the host."""
    every = facts(result)
    copies = every[(every["key"] == "gpu_copy_rate") & every["direction"].isin(["h2d", "d2h"])]
    best = copies.sort_values("value").groupby(["gpu", "direction"]).tail(1)
    return best.sort_values(["gpu", "direction"], ascending=[True, False])


def cache_levels(result: Any) -> pd.DataFrame:
    """Latencies of the caches and of memory, once each level and kind of core, the nearest first. `lowest`:
    of a cache without a plateau, whose value is the highest of its sizes."""
    every = facts(result)
    one = ["level", "kind"]
    found = every["key"].isin(["cache_latency", "cache_latency_highest", "memory_latency"])
    levels = every[found].drop_duplicates(one)
    lowest = every[every["key"] == "cache_latency_lowest"].drop_duplicates(one)
    levels = levels.merge(lowest[[*one, "value"]].rename(columns={"value": "lowest"}), "left", one)
    return levels.sort_values(["kind", "value"], na_position="first", ignore_index=True)


# ---- Headline figures


def summary(result: Any) -> pd.DataFrame:
    """The headline figures as a frame: a row each, in SI units; see Metric for the columns."""
    return pd.DataFrame([asdict(one) for one in metrics(result)])


def metrics(result: Any) -> list[Metric]:
    """One for each heading, in the order of the file."""
    if len(result.hosts):
        return _fleet(result)
    every = facts(result).dropna(subset=["heading"]).groupby("heading", sort=False)
    return [_headline(result, list(mine.itertuples())) for _, mine in every]


def headline_of(result: Any, key: str) -> Metric | None:
    """Of the facts of this key."""
    every = facts(result)
    rows = list(every[every["key"] == key].itertuples())
    return _headline(result, rows) if rows else None


def _headline(result: Any, rows: list[Any]) -> Metric:
    """As in the summary, without figures that are unknown where others are known."""
    known = [row for row in rows if not is_unknown(row.value, row.low, row.high)]
    doubted = rows[0].unreliable or not known
    rows = sorted(known or rows, key=lambda row: row.key not in IN_FRONT)
    first, line, others = rows[0], rows[0].line, [row for row in rows[1:] if isinstance(row.line, str)]
    beside = [row.line.format(" ".join(filter(None, _texts(row)))) for row in others]
    if not isinstance(line, str):
        first, line, beside = _of_cells(result, rows)
    labels = [f"{name} {getattr(first, name)}" for name in TELLING if getattr(first, name)]
    name = ", ".join([first.key.replace("_", " "), *labels])
    ends = (None if pd.isna(end) else float(end) for end in (first.low, first.high))
    told = (first.key, first.heading, float(first.value), *ends, first.unit, name, line, "; ".join(beside))
    return Metric(*told, first.words, first.method in FEW_VISITS, doubted)


def _texts(row: Any) -> tuple[str, str]:
    spread = estimate_spread(row)
    return estimate_text(row), spread + "*" * bool(spread and row.method in FEW_VISITS)


def _of_cells(result: Any, rows: list[Any]) -> tuple[Any, str, list[str]]:
    """Of the nodes' own memory, or else of the first class, the middle cell; its line; the ends of each
    class."""
    classes: dict[str, list[Any]] = {"local": [], "remote": []}
    for row in sorted(rows, key=lambda row: row.value):
        classes.setdefault(_class_of(result, row), []).append(row)
    classes = {name: mine for name, mine in classes.items() if mine}
    name, mine = next(iter(classes.items()))
    spans = [
        f"{name} {range_text(mine[0].value, mine[-1].value, mine[0].unit)}" for name, mine in classes.items()
    ]
    middle = mine[(len(mine) - 1) // 2]
    return (middle, f"{name} {{}}", spans) if len(rows) > 1 else (middle, "{}", [])


def _class_of(result: Any, row: Any) -> str:
    """ "local", "remote" or, of memory without CPUs, its kind: "CXL"."""
    if row.cpu_node == row.memory_node:
        return "local"
    nodes = [node for node in result.machine.get("nodes", []) if str(node["id"]) == row.memory_node]
    if not nodes or nodes[0].get("cpus"):
        return "remote"
    kind = nodes[0].get("kind") or "dram"
    return kind.upper() if kind != "dram" else "without CPUs"


def _fleet(result: Any) -> list[Metric]:
    """Hosts, and the median one of the kernel that was measured last: triad, mostly."""
    hosts = result.hosts
    kernel = hosts["kernel"].iloc[-1]
    values = pd.to_numeric(hosts["value"][hosts["kernel"] == kernel]).dropna()

    def count(words: str, number: int, beside: str) -> Metric:
        return Metric(words.replace(" ", "_"), words, number, None, None, COUNT, words, beside=beside)

    found = [count("hosts", hosts["host"].nunique(), f"{len(values):,} with values")]
    if len(values):
        low, middle, high = values.quantile([0.25, 0.5, 0.75])
        beside, name = f"half of the hosts: {range_text(low, high, 'B/s')}", f"median host, {kernel}"
        found.append(Metric("median_host", name, middle, None, None, "B/s", name, beside=beside))
    if result.meta.get("judged"):
        slow = hosts["host"][hosts["slow"].astype(bool)].nunique()
        found.append(count("slow hosts", slow, "by the run's rule"))
    return found
