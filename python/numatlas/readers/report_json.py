"""JSON of every command but `stream` (docs/results.md of the program), topology, surveys, GPU sweeps."""

from pathlib import Path
from typing import Any

import pandas as pd

from numatlas.file_error import FileError
from numatlas.readers.placement import main_node, page_counts, residency_text
from numatlas.result import Result

#: Columns of a point, in the order of a reader's interest.
POINT_FIELDS = ("name", "size", "pages", "order", "stride", "kernel", "stores", "status", "reason")

#: A sum's spread comes from this many equal parts of the common time, and Student's t for them.
PARTS_OF_A_SUM = 20
STUDENT_T = 2.093  # 97.5 % of 19 degrees of freedom

#: Commands whose JSON is of other files' results.
VERDICTS = ("compare", "check")

SUMMARY_FIELDS = ("n", "p5", "p25", "p75", "p95", "p99", "min", "max", "mean", "stddev", "mad", "outliers")


def read(path: Path, data: dict[str, Any]) -> Result:
    """Whatever command wrote it; see numatlas.load."""
    if data.get("command") == "survey":
        return _survey(path, data)
    if data.get("program") == "numa_gpu_xfer_sweep":
        return _sweep(path, data)
    if "scenarios" in data:
        return _report(path, data)
    if data.get("command") in VERDICTS:
        raise FileError(path, f"of `numatlas {data['command']}`: it holds verdicts, not results")
    if "nodes" in data:
        return _topology(path, data)
    raise FileError(path, "JSON of numatlas, but neither results nor a machine")


def _topology(path: Path, data: dict[str, Any]) -> Result:
    meta = {key: data[key] for key in ("schema_version", "source") if key in data}
    return Result(path, "topology", meta, machines=[data], warnings=_setting_warnings(data))


def _setting_warnings(machine: dict[str, Any]) -> list[str]:
    return [
        f"{setting['name']} = {setting['value']}: {setting['warning']}"
        for setting in machine.get("settings", [])
        if setting.get("warning")
    ]


def _survey(path: Path, data: dict[str, Any]) -> Result:
    parts = []
    for report in data["results"]:
        if not report.get("machines"):
            report = {**report, "machines": [data["machine"]]}
        parts.append(_report(path, report))
    meta = {key: value for key, value in data.items() if key not in ("results", "machine", "skipped")}
    skipped = pd.DataFrame(
        [{"name": skip["benchmark"], "reason": skip["reason"]} for skip in data.get("skipped", [])]
    )
    return Result(
        path,
        "survey",
        meta,
        skipped=skipped,
        machines=[data["machine"]] if data.get("machine") else [],
        warnings=data.get("warnings", []),
        parts=parts,
    )


def _sweep(path: Path, data: dict[str, Any]) -> Result:
    rows = []
    for row in data["rows"]:
        asked = {
            key: row.get(key) for key in ("ngpus", "numa_nodes", "numa_weight", "access_size_bytes", "error")
        }
        flows = _report(path, row["report"]).flows if row.get("report") else pd.DataFrame()
        for direction, letter in (("h2d", "read"), ("d2h", "write")):
            for metric, column in (("copy_time", "latency"), ("bandwidth", "bw")):
                if flows.empty:
                    asked[f"{letter}_{column}"] = None
                    continue
                mine = flows[(flows.metric == metric) & (flows.gpu_direction == direction)].value.dropna()
                asked[f"{letter}_{column}"] = mine.mean() if len(mine) else None
        rows.append(asked)
    meta = {key: value for key, value in data.items() if key != "rows"}
    return Result(path, "gpu sweep", meta, rows=pd.DataFrame(rows))


def _report(path: Path, data: dict[str, Any]) -> Result:
    flows: list[dict[str, Any]] = []
    totals: list[dict[str, Any]] = []
    host_totals: list[dict[str, Any]] = []
    samples: list[pd.DataFrame] = []
    skipped: list[dict[str, Any]] = []
    workers = data.get("workers", [])
    hosts = data.get("hosts", [])
    for index, scenario in enumerate(data["scenarios"]):
        point = {
            "point": index,
            **{key: scenario.get(key) for key in POINT_FIELDS},
            **scenario.get("labels", {}),
        }
        point["workers"] = len(scenario["flows"])
        if scenario["status"] != "ok":
            skipped.append(
                {"name": scenario["name"], "status": scenario["status"], "reason": scenario.get("reason")}
            )
        for total in scenario.get("totals", []):
            totals.append({**point, **_total(total)})
        for mine in scenario.get("host_totals", []):
            count = sum(workers[flow["worker"]]["host"] == mine["host"] for flow in scenario["flows"])
            of_host = {**point, "workers": count, "host": _host(mine["host"], hosts)}
            host_totals += [{**of_host, **_total(total)} for total in mine["totals"]]
        for number, flow in enumerate(scenario["flows"]):
            row = {**point, "flow": number, **_flow(flow, workers, hosts)}
            for metric in flow["metrics"]:
                flows.append({**row, **_metric(metric, flow)})
            if flow.get("samples"):
                samples.append(pd.DataFrame({"point": index, "flow": number, "value": flow["samples"]}))
    meta = {
        key: value
        for key, value in data.items()
        if key not in ("scenarios", "machines", "workers", "warnings")
    }
    return Result(
        path,
        data["command"],
        meta,
        flows=pd.DataFrame(flows),
        totals=pd.DataFrame(totals),
        host_totals=pd.DataFrame(host_totals),
        samples=pd.concat(samples, ignore_index=True) if samples else pd.DataFrame(),
        skipped=pd.DataFrame(skipped),
        machines=data.get("machines", []),
        warnings=list(data.get("warnings", [])),
    )


def _host(index: int, hosts: list[str]) -> str:
    return hosts[index] if index < len(hosts) else str(index)


def _flow(flow: dict[str, Any], workers: list[dict[str, Any]], hosts: list[str]) -> dict[str, Any]:
    """What is the same for all metrics of a flow. Its own size, order and so on go before the point's."""
    worker = workers[flow["worker"]]
    own = {
        key: flow[key] for key in ("size", "order", "stride", "kernel", "stores") if flow.get(key) is not None
    }
    if flow.get("mix"):
        own["kernel"] = f"{flow['kernel']} {flow['mix']}" if isinstance(flow["mix"], str) else flow["kernel"]
    gpu = flow.get("gpu") or {}
    # A copy to a GPU: what lies somewhere on the host is its source.
    of_host = "source_" if str(flow.get("memory")).startswith("gpu:") and flow.get("source_memory") else ""
    residency = flow.get(f"{of_host}residency")
    # What was told as the memory is not told once more as its source.
    source, source_residency = (
        (None, None) if of_host else (flow.get("source_memory"), flow.get("source_residency"))
    )
    device = {
        f"gpu_{key}": gpu.get(key) for key in ("gpu", "name", "direction", "pinning", "link_limit", "route")
    }
    return {
        **own,
        **(device if gpu else {}),
        "host": _host(worker["host"], hosts),
        "rank": worker["rank"],
        "thread": worker["thread"],
        "cpu": flow.get("cpu_after"),
        "cpu_node": worker.get("cpu_node"),
        "memory": flow.get(f"{of_host}memory"),
        "memory_node": main_node(residency),
        "placement": residency_text(residency),
        "page_size": (residency or {}).get("page_text"),
        **page_counts(residency, flow.get(f"{of_host}memory")),
        "source_memory": source,
        "source_placement": residency_text(source_residency),
        **{f"source_{name}": count for name, count in page_counts(source_residency, source).items()},
        "level": flow.get("level"),
        "role": flow.get("role"),
        "rate": flow.get("rate"),
        "overlap": flow.get("overlap"),
        "stop": flow.get("stop"),
        "half_width": flow.get("half_width"),
        "flow_warnings": "; ".join(flow.get("warnings", [])),
    }


def _metric(metric: dict[str, Any], flow: dict[str, Any]) -> dict[str, Any]:
    """Value and spread. The stop rule's interval is that of the first metric: it is the one it watches."""
    summary = metric.get("summary") or {}
    value = metric["value"]
    low, high = summary.get("ci95_low"), summary.get("ci95_high")
    first = metric is flow["metrics"][0]
    if first and value is not None and flow.get("half_width") is not None:
        half = flow["half_width"] * abs(value)
        low = value - half if low is None else min(low, value - half)
        high = value + half if high is None else max(high, value + half)
    return {
        "metric": metric["name"],
        "unit": metric["unit"],
        "value": value,
        "low": low,
        "high": high,
        **{key: summary.get(key) for key in SUMMARY_FIELDS},
    }


def _total(total: dict[str, Any]) -> dict[str, Any]:
    summary = total.get("summary") or {}
    low, high = summary.get("ci95_low"), summary.get("ci95_high")
    if (
        summary.get("n") == PARTS_OF_A_SUM
        and summary.get("stddev") is not None
        and total["value"] is not None
    ):
        half = STUDENT_T * summary["stddev"] / PARTS_OF_A_SUM**0.5
        low, high = total["value"] - half, total["value"] + half
    return {
        "metric": total["name"],
        "unit": total["unit"],
        "value": total["value"],
        "low": low,
        "high": high,
        **{key: summary.get(key) for key in SUMMARY_FIELDS},
    }
