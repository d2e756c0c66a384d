"""JSON of every command but `stream` (docs/results.md of the program), topology, surveys, GPU sweeps."""

from pathlib import Path
from typing import Any

import pandas as pd

from numatlas.file_error import FileError
from numatlas.readers.placement import main_node, page_counts, residency_text
from numatlas.result import Result

#: Columns of a case, in the order of a reader's interest.
POINT_FIELDS = ("name", "size", "pages", "order", "stride", "kernel", "stores", "status", "reason")

#: Commands whose JSON is of other files' results.
VERDICTS = ("compare", "check")

SUMMARY_FIELDS = ("n", "p5", "p25", "p75", "p95", "p99", "min", "max", "mean", "stddev", "mad", "outliers")


def read(path: Path, data: dict[str, Any]) -> Result:
    """Whatever command wrote it; see numatlas.load."""
    if data.get("command") == "survey":
        return _survey(path, data)
    if data.get("program") == "numa_gpu_xfer_sweep":
        return _sweep(path, data)
    if data.get("command") in VERDICTS:
        raise FileError(path, f"of `numatlas {data['command']}`: it holds verdicts, not results")
    if "cases" in data:
        return _report(path, data)
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
    skipped: list[dict[str, Any]] = []
    workers = data.get("workers", [])
    hosts = data.get("hosts", [])
    for index, case in enumerate(data["cases"]):
        point = {
            "point": index,
            **{key: case.get(key) for key in POINT_FIELDS},
            **case.get("labels", {}),
        }
        # What all flows of a case have alike stands there once.
        all_flows = [{**case["flow_common"], **flow} for flow in case["flows"]]
        point["workers"] = len(all_flows)
        if case["status"] != "ok":
            skipped.append({"name": case["name"], "status": case["status"], "reason": case.get("reason")})
        totals += [{**point, **_figure(figure)} for figure in case["figures"]]
        for mine in case["host_figures"]:
            count = sum(workers[flow["worker"]]["host"] == mine["host"] for flow in all_flows)
            of_host = {**point, "workers": count, "host": _host(mine["host"], hosts)}
            host_totals += [{**of_host, **_figure(figure)} for figure in mine["figures"]]
        for number, flow in enumerate(all_flows):
            row = {**point, "flow": number, **_flow(flow, workers, hosts)}
            flows += [{**row, **_figure(figure)} for figure in flow["figures"]]
    meta = {
        key: value
        for key, value in data.items()
        if key not in ("cases", "views", "machines", "workers", "warnings")
    }
    return Result(
        path,
        data["command"],
        meta,
        flows=pd.DataFrame(flows),
        totals=pd.DataFrame(totals),
        host_totals=pd.DataFrame(host_totals),
        skipped=pd.DataFrame(skipped),
        machines=data.get("machines", []),
        warnings=[_warning(warning) for warning in data["warnings"]],
    )


def _warning(warning: dict[str, Any]) -> str:
    return f"{warning['where']}: {warning['text']}" if warning["where"] else warning["text"]


def _host(index: int, hosts: list[str]) -> str:
    return hosts[index] if index < len(hosts) else str(index)


def _flow(flow: dict[str, Any], workers: list[dict[str, Any]], hosts: list[str]) -> dict[str, Any]:
    """What is the same for all figures of a flow. Its own size, order and so on go before the point's."""
    worker = workers[flow["worker"]]
    own = {
        key: flow[key] for key in ("size", "order", "stride", "kernel", "stores") if flow.get(key) is not None
    }
    if flow.get("mix"):
        own["kernel"] = f"{flow['kernel']} {flow['mix']}"
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
        "role": "load" if flow.get("load") else "measured",
        "rate": flow.get("rate"),
        "overlap": flow.get("overlap"),
        "stop": flow.get("stop"),
        "half_width": _half_width(flow["figures"]),
        "flow_warnings": "; ".join(warning["text"] for warning in flow.get("warnings", [])),
    }


def _half_width(figures: list[dict[str, Any]]) -> float | None:
    """The larger side of the first figure's interval over its value."""
    estimate = figures[0]["estimate"] if figures else None
    if not estimate or estimate["low"] is None or not estimate["value"]:
        return None
    value = estimate["value"]
    return max(value - estimate["low"], estimate["high"] - value) / abs(value)


def _figure(figure: dict[str, Any]) -> dict[str, Any]:
    """Value, interval and spread, as they stand in the file."""
    estimate = figure["estimate"] or {}
    summary = figure["summary"] or {}
    return {
        "metric": figure["key"],
        "unit": figure["unit"],
        "value": estimate.get("value"),
        "low": estimate.get("low"),
        "high": estimate.get("high"),
        **{key: summary.get(key) for key in SUMMARY_FIELDS},
    }
