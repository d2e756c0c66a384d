"""What a run says in sum: the facts that its benchmarks state (src/record/fact.h), as frames and as headline
figures. Knows no benchmark but by the keys of facts."""

from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from numatlas.units import estimate_spread, estimate_text, poorly_known, quantity_text, range_text

#: What a run, or a benchmark of a survey, calls itself that was disturbed.
UNRELIABLE = "unreliable"
#: Unit of a number of hosts.
COUNT = "hosts"
#: Facts that are cards, in the order in which they are read; other benchmarks follow with their first one.
CARDS = {
    "peak_bandwidth": "best bandwidth",
    "loaded_latency_80": "at 80 % of the peak",
    "gpu_copy_rate": "host to GPU",
    "core_to_core_nearest": "core to core",
}
#: Facts that no other heading may stand over: of an idle machine, by a benchmark of loaded ones.
IDLE = ("loaded_latency_idle",)
#: Who tells what the memory can carry.
DIMMS = "theoretical peak"
KNEE, LOAD_PEAK = "loaded_latency_80", "loaded_bandwidth_peak"
#: Methods of estimates (docs/results.md) whose interval lies within a visit, or a few of them.
FEW_VISITS = ("within", "samples", "stretches")
QUANTITIES = {"s": "latency", "B/s": "bandwidth"}
LABELS = ("cpu_node", "memory_node", "gpu", "direction", "level", "size", "stride", "pages", "workers")
PAIR = ["command", "what", "cpu_node", "memory_node", "value", "low", "high", "method", "unit", "words"]
FIELDS = ("key", "words", "unit", "heading", "line", "where")


@dataclass(frozen=True)
class Metric:
    """A headline figure in SI units; absent ends: no interval is known."""

    key: str  #: "local_latency"
    words: str  #: "local latency"
    value: float
    low: float | None
    high: float | None
    unit: str  #: "s", "B/s"
    beside: str = ""  #: what it is compared with: "2.7x local"
    where: str = ""  #: of which places, and by what
    few_visits: bool = False  #: the interval does not cover changes between visits
    doubted: bool = False  #: of a run that calls itself unreliable, or hardly known

    @property
    def text(self) -> str:
        """ "122 ns"; of a count "10,000"; of a ratio "2.1x"; "unknown: 20.0 to 150 ns"."""
        return f"{self.value:,.0f}" if self.unit == COUNT else estimate_text(self)

    @property
    def spread(self) -> str:
        """ "±0.3 %", of few visits "±0.3 %*", or ""."""
        spread = estimate_spread(self)
        return f"{spread}*" if spread and self.few_visits else spread


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
    ends = ["value", "low", "high", "size", "workers"]
    return frame.assign(**{name: pd.to_numeric(frame[name]) for name in ends})


def pairs(result: Any) -> pd.DataFrame:
    """The facts of pairs of nodes, once each: `what` ("latency" of one CPU alone, "bandwidth" of a read by
    all CPUs of a node), cpu_node and memory_node as integers, value, low, high, words."""
    every = facts(result)
    nodes = every[["cpu_node", "memory_node"]].apply(pd.to_numeric, errors="coerce")
    # Those that a survey shows as cells of a matrix.
    cells = every["heading"].notna() & every["line"].isna() & nodes.notna().all(axis=1)
    found = every.assign(**nodes, what=every["unit"].map(QUANTITIES))[cells].dropna(subset=["what"])
    if found.empty:
        found = _of_memory(result)
    found = found.drop_duplicates(["what", "cpu_node", "memory_node"])
    return found.astype({"cpu_node": int, "memory_node": int})


def _of_memory(result: Any) -> pd.DataFrame:
    """Where no pair of nodes was measured: loads of workers from memory, of the largest buffer."""
    frames = [
        part.flows.assign(words="a worker, " + part.flows["name"], what="latency", command=part.kind)
        for part in result.all()
        if any(fact["key"] == "memory_latency" for fact in part.meta.get("facts") or [])
    ]
    flows = pd.concat(frames) if frames else pd.DataFrame()
    if flows.empty:
        return pd.DataFrame(columns=PAIR)
    there = flows[(flows["metric"] == "latency") & (flows["level"] == "memory") & (flows["role"] != "load")]
    there = there.dropna(subset=["cpu_node", "memory_node", "value"])
    there = there[there["size"] == there["size"].max()].drop_duplicates(["cpu_node", "memory_node"])
    return there.reindex(columns=PAIR)


def gpu_rates(result: Any) -> pd.DataFrame:
    """The best copies of each GPU and direction from or to the host."""
    every = facts(result)
    copies = every[(every["key"] == "gpu_copy_rate") & every["direction"].isin(["h2d", "d2h"])]
    best = copies.sort_values("value").groupby(["gpu", "direction"]).tail(1)
    return best.sort_values(["gpu", "direction"], ascending=[True, False])


def cache_levels(result: Any) -> pd.DataFrame:
    """Latencies of the caches and of memory, once each level, the nearest first."""
    every = facts(result)
    levels = every[every["key"].isin(["cache_latency", "memory_latency"])]
    return levels.drop_duplicates("level").sort_values("value")


def nodes_with_cpus(result: Any) -> set[int]:
    """By the snapshot."""
    return {node["id"] for node in _nodes(result) if node.get("cpus")}


def _nodes(result: Any) -> list[dict[str, Any]]:
    return result.machine["nodes"] if result.machine else []


# ---- Headline figures


def summary(result: Any) -> pd.DataFrame:
    """The headline figures as a frame: a row each, in SI units; see Metric for the columns."""
    return pd.DataFrame([asdict(one) for one in metrics(result)])


def metrics(result: Any) -> list[Metric]:
    """In the order in which they are read."""
    if len(result.hosts):
        return _fleet(result)
    every, cells, levels = facts(result), pairs(result), cache_levels(result)
    found = _latencies(result, cells)
    # The latencies of caches stand in the atlas.
    commands = {*cells["command"], *levels["command"]}
    for key, words in CARDS.items():
        mine = every[every["key"] == key]
        if key == "gpu_copy_rate":
            mine = mine[mine["direction"] == "h2d"].sort_values("value", ascending=False)
        for row in mine.head(1).itertuples():
            found.append(_metric(key, words, row, _beside(result, every, row)))
            commands.add(row.command)
    if "peak_bandwidth" not in set(every["key"]):
        best = cells[cells["what"] == "bandwidth"].sort_values("value").tail(1)
        found += [_metric("node_bandwidth", "bandwidth of a node", row) for row in best.itertuples()]
    others = every[~every["command"].isin(commands) & every["line"].notna() & ~every["key"].isin(IDLE)]
    others = others.drop_duplicates("command")
    found += [_metric(row.key, row.heading.lower(), row) for row in others.itertuples()]
    names = [(row, f"{row.level} latency") for row in levels.itertuples()] if len(found) < 2 else []
    return found + [_metric(words.lower().replace(" ", "_"), words, row) for row, words in names]


def loads(result: Any) -> pd.DataFrame:
    """The facts of a loaded machine: those that cards show stand in its pictures too."""
    every = facts(result)
    return every[every["key"].str.startswith("loaded_")]


def _metric(key: str, words: str, row: Any, beside: str = "") -> Metric:
    low, high = (None if pd.isna(end) else float(end) for end in (row.low, row.high))
    few = getattr(row, "method", None) in FEW_VISITS
    doubted = bool(getattr(row, "unreliable", False)) or _is_unknown(row)
    return Metric(key, words, float(row.value), low, high, row.unit, beside, row.words, few, doubted)


def _latencies(result: Any, cells: pd.DataFrame) -> list[Metric]:
    """Of a node's own memory the median (of two in the middle the better), of other nodes with CPUs the
    worst, of memory without CPUs the nearest; these over the first. Beside them the span of all, which is
    what the terminal has."""
    cells = cells[cells["what"] == "latency"].sort_values("value", kind="stable")
    known = cells[[not _is_unknown(row) for row in cells.itertuples()]]
    cells = known if len(known) else cells
    own = cells[cells["cpu_node"] == cells["memory_node"]]
    with_cpus = cells["memory_node"].isin(nodes_with_cpus(result) or set(cells["cpu_node"]))
    other, far = cells[with_cpus].drop(own.index), cells[~with_cpus]
    middle = max(len(own) - 1, 0) // 2
    found = []
    for key, words, rows, at in (
        ("local_latency", "local latency", own, middle),
        ("remote_latency", "remote latency", other, -1),
        ("far_latency", _far_words(result, far), far, 0),
    ):
        for row in rows.iloc[[at]].itertuples() if len(rows) else []:
            what = "nodes" if rows is own else "pairs"
            span = range_text(rows["value"].min(), rows["value"].max(), "s")
            several = len(rows) > 1 and (rows is own or " to " in span)
            beside = f"{span}, {len(rows)} {what}" if several else ""
            if rows is not own and len(own):
                times = f"{row.value / own['value'].iloc[middle]:.1f}x local" if len(known) else ""
                beside = "; ".join(filter(None, [beside, times]))
            elif not beside:
                heading = getattr(row, "heading", None)
                how = heading.partition(", ")[2] if isinstance(heading, str) else ""
                beside = f"node {row.cpu_node}, {how or 'one CPU alone'}"
            found.append(_metric(key, words, row, beside))
    return found


def _is_unknown(row: Any) -> bool:
    return poorly_known(row.value, row.low, row.high)


def _far_words(result: Any, cells: pd.DataFrame) -> str:
    """Of memory without CPUs, by its kind."""
    mine = [node.get("kind") for node in _nodes(result) if node["id"] in set(cells["memory_node"])]
    kind = next((kind.upper() for kind in mine if kind and kind != "dram"), "")
    return f"{kind} latency" if kind else "memory without CPUs"


def _beside(result: Any, every: pd.DataFrame, row: Any) -> str:
    if row.key == "peak_bandwidth":
        return _part_of_claim(result, row)
    if row.key == "loaded_latency_80":
        same = (every["cpu_node"] == row.cpu_node) & (every["memory_node"] == row.memory_node)
        idle = every[same & (every["key"] == "loaded_latency_idle")]
        if idle.empty or _is_unknown(row) or _is_unknown(idle.iloc[0]):
            return ""
        high, low = (
            end if pd.notna(end) else value
            for end, value in ((row.high, row.value), (idle["low"].iloc[0], idle["value"].iloc[0]))
        )
        less = ": less than idle, which cannot be" if high < low else ""
        return f"{row.value / idle['value'].iloc[0]:.2g}x idle{less}"
    far = every[every["key"] == "core_to_core_farthest"] if row.key == "core_to_core_nearest" else every[:0]
    return next((f"up to {estimate_text(one)}" for one in far.itertuples()), "")


def _part_of_claim(result: Any, row: Any) -> str:
    """Of what all memory modules can carry, where they tell it, else of what the firmware claims for reads of
    all nodes with CPUs; "" where too few CPUs read for that."""
    if not 2 * row.workers >= len(result.machine.get("cpus", [])):
        return ""
    peak = peak_of(result)
    if not peak:
        return ""
    of = f"the DIMMs' {quantity_text(peak[0], 'B/s')}" if peak[1] == DIMMS else "the firmware's claim"
    return f"{100 * row.value / peak[0]:.0f} % of {of}"


def peak_of(result: Any, nodes: set[int] | None = None) -> tuple[float, str] | None:
    """What the memory of these nodes can carry in theory, B/s, and who says so: the modules, of all nodes
    with CPUs (`nodes` absent, or the only one), or the firmware, for reads. Not the modules of a virtual
    machine's host, of which it gets a part."""
    machine = result.machine
    every = {node["id"] for node in machine.get("nodes", []) if node.get("cpus")}
    peak = (machine.get("memory_slots") or {}).get("peak_bandwidth")
    if peak and machine.get("hypervisor") == "" and nodes in (None, every) and every:
        return peak, DIMMS
    asked = every if nodes is None else nodes
    claims = [
        (node.get("hmat") or {}).get("read_bandwidth") for node in _nodes(result) if node["id"] in asked
    ]
    return (sum(claims), "firmware's claim") if claims and all(claims) else None


def _fleet(result: Any) -> list[Metric]:
    """Of the kernel that was measured last: triad, mostly."""
    hosts = result.hosts
    rows = hosts[hosts["kernel"] == hosts["kernel"].iloc[-1]].dropna(subset=["value"])
    count = hosts["host"].nunique()
    found = [Metric("hosts", "hosts", count, None, None, COUNT, f"{len(rows):,} with values")]
    if len(rows):
        kernel, middle = rows["kernel"].iloc[0], rows["value"].median()
        quarters = [quantity_text(rows["value"].quantile(part), "B/s") for part in (0.25, 0.75)]
        beside = f"half of the hosts: {quarters[0]} to {quarters[1]}"
        found.append(Metric("median_host", f"median host, {kernel}", middle, None, None, "B/s", beside))
        worst = next(rows.sort_values("value").assign(words="").head(1).itertuples())
        beside = f"{worst.host}: {100 * (worst.value / middle - 1):+.1f} % of the median"
        found.append(_metric("slowest_host", f"slowest host, {kernel}", worst, beside))
    if result.meta.get("judged"):
        slow = hosts["host"][hosts["slow"].astype(bool)].nunique()
        found.append(Metric("slow_hosts", "slow hosts", slow, None, None, COUNT, "by the run's rule"))
    return found
