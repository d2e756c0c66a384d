"""What a result says in a line: its headline figures, taken from the cases that were measured."""

from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from numatlas.figures.pairs import nodes_with_cpus, pairs
from numatlas.figures.told import column
from numatlas.result import Result
from numatlas.units import plus_minus, quantity_text, size_text

#: Unit of a number of hosts.
COUNT = "hosts"


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

    @property
    def text(self) -> str:
        """ "122 ns"; of a count "10,000"."""
        return f"{self.value:,.0f}" if self.unit == COUNT else quantity_text(self.value, self.unit)

    @property
    def spread(self) -> str:
        """ "+-0.3 %", or ""."""
        return plus_minus(self.value, self.low, self.high)


def summary(result: Result) -> pd.DataFrame:
    """The headline figures as a frame: a row each, in SI units; see Metric for the columns."""
    return pd.DataFrame([asdict(one) for one in metrics(result)])


def metrics(result: Result) -> list[Metric]:
    """Those that the result has cases for, in the order in which they are read."""
    if len(result.hosts):
        return _fleet(result)
    found = [*_latencies(result), _peak(result), _loaded(result), _gpu(result), *_cores(result)]
    found += _caches(result) if len([one for one in found if one]) < 2 else []
    return [one for one in found if one]


def _metric(key: str, words: str, row: Any, unit: str, beside: str = "", where: str = "") -> Metric:
    low, high = (None if pd.isna(end) else float(end) for end in (row.low, row.high))
    return Metric(key, words, float(row.value), low, high, unit, beside, where)


def _latencies(result: Result) -> list[Metric]:
    cells = pairs(result)
    cells = cells[cells["what"] == "latency"].sort_values("value", kind="stable")
    own = cells[cells["cpu_node"] == cells["memory_node"]]
    with_cpus = nodes_with_cpus(result) or set(cells["cpu_node"])
    other = cells[(cells["cpu_node"] != cells["memory_node"]) & cells["memory_node"].isin(with_cpus)]
    far = cells[~cells["memory_node"].isin(with_cpus)]
    local = dict(zip(own["cpu_node"], own["value"], strict=True))
    found = []
    if len(own):
        middle = next(own.iloc[[len(own) // 2]].itertuples())
        ends = [quantity_text(one, "s") for one in (own["value"].min(), own["value"].max())]
        beside = "" if len(own) == 1 else f"{ends[0]} to {ends[1]} over {len(own)} nodes"
        words = f"node {middle.cpu_node}, one CPU alone, {size_text(middle.size)}"
        found.append(_metric("local_latency", "local latency", middle, "s", beside, words))
    for rows, end, key, words in (
        (other, -1, "remote_latency", "remote latency"),
        (far, 0, "far_latency", f"{_kind_of(result, far)} latency"),
    ):
        if rows.empty:
            continue
        row = next(rows.iloc[[end]].itertuples())
        base = local.get(row.cpu_node)
        times = f"{row.value / base:.1f}x local" if base else ""
        place = f"CPUs of node {row.cpu_node}, memory of node {row.memory_node}"
        place += ", the worst pair" if end else ", the nearest"
        found.append(_metric(key, words, row, "s", times, place))
    return found


def _kind_of(result: Result, cells: pd.DataFrame) -> str:
    """Of memory without CPUs."""
    nodes = {node["id"]: node for machine in result.machines[:1] for node in machine["nodes"]}
    kinds = [nodes.get(node, {}).get("kind") or "" for node in cells["memory_node"]]
    named = [kind.upper() for kind in kinds if kind and kind != "dram"]
    return named[0] if named else "far memory"


# ---- The others


def _peak(result: Result) -> Metric | None:
    """The most that all CPUs moved: of `bandwidth`, else of `stream`, else of a node."""
    rows = [
        part.totals[part.totals["metric"] == "bandwidth_sum"]
        for kinds in (("bandwidth",), ("matrix", "run"))
        for part in result.all()
        if part.kind in kinds and len(part.totals)
    ]
    rows = [frame[column(frame, "level").isna() | (column(frame, "level") == "memory")] for frame in rows]
    rows = [frame.dropna(subset=["value"]) for frame in rows]
    frame = next((frame for frame in rows if len(frame)), None)
    if frame is None:
        return None
    row = next(frame.sort_values("value", kind="stable").iloc[[-1]].itertuples())
    stores = f" with {row.stores} stores" if row.stores and row.stores == row.stores else ""
    words = f"{row.kernel}{stores}, {row.workers} workers"
    return _metric("peak_bandwidth", "peak bandwidth", row, "B/s", _part_of_claim(result, row), words)


def _part_of_claim(result: Result, row: Any) -> str:
    """Of what the firmware claims for reads of all nodes with CPUs."""
    nodes = [node for machine in result.machines[:1] for node in machine["nodes"] if node.get("cpus")]
    claims = [(node.get("hmat") or {}).get("read_bandwidth") for node in nodes]
    cpus = sum(len(machine.get("cpus", [])) for machine in result.machines[:1])
    if not claims or not all(claims) or 2 * row.workers < cpus:  # too few for the whole
        return ""
    return f"{100 * row.value / sum(claims):.0f} % of the firmware's claim"


def _loaded(result: Result) -> Metric | None:
    for part in (part for part in result.all() if part.kind == "loaded" and len(part.totals)):
        rows = part.totals[part.totals["metric"] == "latency_at_80_percent"].dropna(subset=["value"])
        own = rows[column(rows, "cell_cpu_node") == column(rows, "cell_memory_node")]
        rows = own if len(own) else rows
        if rows.empty:
            continue
        row = next(rows.iloc[[0]].itertuples())
        flows = part.flows[(part.flows["metric"] == "latency") & (column(part.flows, "load") == "idle")]
        idle = flows[
            (flows["cell_cpu_node"] == row.cell_cpu_node)
            & (flows["cell_memory_node"] == row.cell_memory_node)
        ]
        beside = f"{row.value / idle['value'].iloc[0]:.1f}x idle" if len(idle) else ""
        words = f"node {row.cell_cpu_node} to {row.cell_memory_node}, load: {row.load_kernel}"
        return _metric("loaded_latency", "at 80 % load", row, "s", beside, words)
    return None


def gpu_rates(result: Result) -> pd.DataFrame:
    """The best copies of each GPU and direction from or to the host: gpu, direction, value, low, high."""
    found = []
    for part in result.all():
        flows = part.flows
        if not {"gpu_gpu", "gpu_direction"} <= set(flows):
            continue
        rows = flows[(flows["metric"] == "bandwidth") & flows["gpu_direction"].isin(["h2d", "d2h"])]
        rows = rows.assign(gpu=rows["gpu_gpu"], direction=rows["gpu_direction"]).dropna(subset=["value"])
        found.append(rows.sort_values("value").groupby(["gpu", "direction"]).tail(1))
    return pd.concat(found).sort_values("gpu") if found else pd.DataFrame()


def _gpu(result: Result) -> Metric | None:
    rates = gpu_rates(result)
    rows = rates[rates["direction"] == "h2d"] if len(rates) else rates
    if rows.empty:
        return None
    row = next(rows.sort_values("value").iloc[[-1]].itertuples())
    return _metric("gpu_bandwidth", "host to GPU", row, "B/s", "", f"GPU {row.gpu}, {row.memory}")


def _cores(result: Result) -> list[Metric]:
    for part in (part for part in result.all() if part.kind == "cores" and len(part.flows)):
        flows = part.flows[part.flows["metric"] == "hand_over"].dropna(subset=["value"])
        if flows.empty:
            continue
        ordered = flows.sort_values("value", kind="stable")
        (near, far) = (next(ordered.iloc[[at]].itertuples()) for at in (0, -1))
        words = f"CPUs {near.first_cpu} and {near.second_cpu}, {near.nearness}"
        beside = f"up to {quantity_text(far.value, 's')}, {far.nearness}" if len(ordered) > 1 else ""
        return [_metric("core_to_core", "core to core", near, "s", beside, words)]
    return []


def _fleet(result: Result) -> list[Metric]:
    """Of the kernel that was measured last: triad, mostly."""
    hosts = result.hosts
    rows = hosts[hosts["kernel"] == hosts["kernel"].iloc[-1]].dropna(subset=["value"])
    slow = hosts[column(hosts, "slow").fillna(False).astype(bool)]["host"].nunique()
    count = hosts["host"].nunique()
    found = [Metric("hosts", "hosts", count, None, None, COUNT, f"{len(rows):,} with values")]
    if len(rows):
        kernel, middle = rows["kernel"].iloc[0], rows["value"].median()
        quarters = [quantity_text(rows["value"].quantile(part), "B/s") for part in (0.25, 0.75)]
        beside = f"half of the hosts: {quarters[0]} to {quarters[1]}"
        found.append(Metric("median_host", f"median host, {kernel}", middle, None, None, "B/s", beside))
        worst = next(rows.sort_values("value").head(1).itertuples())
        beside = f"{worst.host}: {100 * (worst.value / middle - 1):+.1f} % of the median"
        found.append(_metric("slowest_host", f"slowest host, {kernel}", worst, "B/s", beside))
    if result.meta.get("slow") is not None:
        found.append(Metric("slow_hosts", "slow hosts", slow, None, None, COUNT, "by the run's rule"))
    return found


def cache_levels(result: Result) -> list[tuple[str, Any]]:
    """The nearest caches and memory with the latency of the first worker: level and its row, of the largest
    buffer that the level holds."""
    for part in (part for part in result.all() if part.kind == "latency" and len(part.flows)):
        flows = part.flows[(part.flows["metric"] == "latency") & part.flows["value"].notna()]
        if flows.empty or "level" not in flows:
            continue
        one = flows[flows["worker"] == flows["worker"].iloc[0]]
        rows = {}
        for level, mine in one.groupby("level"):
            # Half of a cache and less: its edge is shared with what else is in it.
            mine = mine.sort_values(["size", "pages"], kind="stable")
            rows[level] = next(mine.iloc[[-1 if level == "memory" else (len(mine) - 1) // 2]].itertuples())
        return sorted(rows.items(), key=lambda pair: (pair[0] == "memory", pair[0]))
    return []


def _caches(result: Result) -> list[Metric]:
    return [
        _metric(
            f"{level.lower()}_latency", f"{level} latency", row, "s", "", f"{size_text(row.size)} at random"
        )
        for level, row in cache_levels(result)
    ]
