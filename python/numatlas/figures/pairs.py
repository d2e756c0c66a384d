"""What was measured between two nodes: latency of one CPU alone, reads by all CPUs of a node."""

import pandas as pd

from numatlas.figures.told import column
from numatlas.result import Result


def pairs(result: Result) -> pd.DataFrame:
    """A row for each pair of nodes and quantity (`what`: "latency" of one CPU alone, "bandwidth" of a read
    by all CPUs of the node): cpu_node, memory_node, value, low, high, size, name, warned."""
    found = [_cells(part) for part in result.all() if part.kind == "matrix"]
    if not found:
        found = [_from_latency(part) for part in result.all() if part.kind == "latency"]
    columns = ["cpu_node", "memory_node", "what", "value", "low", "high", "size", "name", "warned"]
    frames = [frame.reindex(columns=columns) for frame in found if len(frame)]  # CSV has fewer
    if not frames:
        return pd.DataFrame(columns=columns)
    return pd.concat(frames).drop_duplicates(["what", "cpu_node", "memory_node"]).reset_index(drop=True)


def _cells(part: Result) -> pd.DataFrame:
    flows, totals = part.flows, part.totals
    if flows.empty or "cell_cpu_node" not in flows:
        return pd.DataFrame()
    told = column(flows, "flow_warnings").fillna("")
    warned = told.groupby(flows["point"]).agg(lambda texts: "; ".join(filter(None, texts)))
    latency = flows[flows["metric"] == "latency"].assign(what="latency")
    parts = [latency]
    if len(totals):
        read = (totals["metric"] == "bandwidth_sum") & (totals["kernel"] == "read")
        parts.append(totals[read].assign(what="bandwidth"))
    cells = pd.concat(parts)
    nodes = {"cpu_node": cells["cell_cpu_node"], "memory_node": cells["cell_memory_node"]}
    numbers = {name: pd.to_numeric(labels, errors="coerce") for name, labels in nodes.items()}
    cells = cells.assign(**numbers, warned=cells["point"].map(warned))
    cells = cells.dropna(subset=["cpu_node", "memory_node", "value"])
    return cells.astype({"cpu_node": int, "memory_node": int})


def _from_latency(part: Result) -> pd.DataFrame:
    """Of the largest buffer that was in memory, workers on their nodes."""
    flows = part.flows
    there = flows[(flows["metric"] == "latency") & (column(flows, "level") == "memory")]
    there = there.dropna(subset=["cpu_node", "memory_node"])
    if there.empty:
        return there
    there = there[there["size"] == there["size"].max()]
    there = there[there["pages"] == there["pages"].iloc[0]]
    return there.assign(what="latency", warned=column(there, "flow_warnings").fillna("")).astype(
        {"cpu_node": int, "memory_node": int}
    )


def nodes_with_cpus(result: Result) -> set[int]:
    """By the snapshot."""
    return {node["id"] for machine in result.machines[:1] for node in machine["nodes"] if node.get("cpus")}
