"""JSON of every command (docs/results.md of the program), topology and surveys."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numatlas import schema
from numatlas.file_error import FileError
from numatlas.readers.placement import OF_SOURCE, residency
from numatlas.result import FRAMES, NODES, Result, Warning, label_order, name_in_survey
from numatlas.units import half_width, ranges_of

if TYPE_CHECKING:
    import pandas as pd

#: Columns of a case, in the order of a reader's interest.
POINT_FIELDS = ("name", "size", "pages", "order", "stride", "kernel", "stores", "status", "reason")

SUMMARY_FIELDS = ("n", "p5", "p25", "p75", "p95", "p99", "min", "max", "mean", "stddev", "mad", "outliers")
GPU_FIELDS = ("gpu", "name", "direction", "pinning", "link_limit", "route")

Json = dict[str, Any]


def read(path: Path, data: Json) -> Result:
    """Whatever command wrote it; see numatlas.load."""
    if data.get("command") == "survey":
        return _survey(path, data)
    if "cases" in data:
        result = _report(path, data)
        found = [_verdict(case) for case in data["cases"] if "finding" in case.get("labels", {})]
        if data["command"] != "stream":
            return result
        from numatlas.readers.stream_json import with_hosts

        return with_hosts(result, data, found)
    if "nodes" in data:
        meta = {key: data[key] for key in ("schema_version", "source") if key in data}
        return Result(path, "topology", meta, machines=[data], warnings=settings_that_disturb(data))
    raise FileError(path, "JSON of numatlas, but neither results nor a machine")


def settings_that_disturb(machine: Json) -> list[Warning]:
    """Of a snapshot, in the words of the program."""
    return [
        Warning(f"{setting['name']} = {setting['value'] or ''}: {setting['warning']}", "setting")
        for setting in machine.get("settings", [])
        if setting.get("warning")
    ]


def _survey(path: Path, data: Json) -> Result:
    parts = []
    for index, report in enumerate(data["results"]):
        machines = report.get("machines") or [data["machine"]]
        part = _report(path, {**report, "machines": machines}, f"results[{index}]")
        part.kind = name_in_survey(part.command, report.get("arguments"))
        parts.append(part)
    told = {str(one): one for part in parts for one in part.warnings_of_survey()}
    skipped = [{"name": skip["benchmark"], "reason": skip["reason"]} for skip in data.get("skipped", [])]
    frames = {name: partial(_of_all, parts, name) for name in FRAMES}
    return Result(
        path,
        "survey",
        {key: value for key, value in data.items() if key not in ("results", "machine", "skipped")},
        {**frames, "skipped": lambda: skipped},
        machines=[data["machine"]] if data.get("machine") else [],
        # Their codes stand in the benchmarks' own.
        warnings=[told.get(text, Warning(text)) for text in data.get("warnings", [])],
        parts=parts,
    )


def _of_all(parts: list[Result], name: str) -> "pd.DataFrame":
    """That frame of all benchmarks, with their commands as its first column."""
    import pandas as pd

    found = [(part.kind, frame) for part in parts if not (frame := getattr(part, name)).empty]
    if not found:
        return pd.DataFrame()
    kinds, frames = zip(*found, strict=True)
    return pd.concat(frames, keys=kinds, names=["command"]).reset_index("command").reset_index(drop=True)


def _report(path: Path, data: Json, place: str = "") -> Result:
    schema.check(path, data, place)
    rows: dict[str, list[Json]] = {"flows": [], "totals": [], "host_totals": [], "groups": [], "skipped": []}
    workers, hosts = data.get("workers", []), data.get("hosts", [])
    labels: dict[str, None] = {}
    of_flows: dict[tuple[int, int], list[Warning]] = {}
    for index, case in enumerate(data["cases"]):
        # What all flows of a case have alike stands there once.
        whole = [{**case["flow_common"], **flow} for flow in case["flows"]]
        flows = [_flow(flow, workers, hosts) for flow in whole]
        fields = {key: case.get(key) for key in POINT_FIELDS}
        point = {"point": index, **fields, **case.get("labels", {}), "workers": len(flows)}
        labels |= dict.fromkeys(case.get("labels", {}))
        if case["status"] != "ok":
            rows["skipped"].append({key: case.get(key) for key in ("name", "status", "reason")})
        visits = case.get("visits") or {"count": 0, "figures": []}
        best = {one["key"]: one["best"] for one in visits["figures"]} if visits["count"] > 1 else {}
        rows["totals"] += [
            {**point, **_figure(figure), "best": best.get(figure["key"])} for figure in case["figures"]
        ]
        for mine in case["host_figures"]:
            of_host = {**point, "host": _host(mine["host"], hosts)}
            of_host["workers"] = sum(flow["host"] == of_host["host"] for flow in flows)
            rows["host_totals"] += [{**of_host, **_figure(figure)} for figure in mine["figures"]]
        for number, group in enumerate(case.get("groups", [])):
            told = {**point, **group["labels"], "group": number, "workers": group["workers"]}
            rows["groups"] += [{**told, **_figure(figure)} for figure in group["figures"]]
        for number, (row, flow) in enumerate(zip(flows, case["flows"], strict=True)):
            asked = {name: label for name, label in case.get("labels", {}).items() if name in NODES}
            half = _half_width(flow["figures"])
            told = {**point, "flow": number, **row, **asked, "half_width": half}
            of_flows[index, number] = [
                Warning(one["text"], one["code"]) for one in whole[number].get("warnings", [])
            ]
            rows["flows"] += [{**told, **_figure(figure)} for figure in flow["figures"]]
    if "answer" in data:
        rows = {"rows": [_verdict(case) for case in data["cases"]], "skipped": rows["skipped"]}
    apart = ("cases", "views", "machines", "workers", "warnings")
    return Result(
        path,
        data["command"],
        {key: value for key, value in data.items() if key not in apart},
        {name: partial(list, of_frame) for name, of_frame in rows.items()},
        machines=data.get("machines", []),
        warnings=[Warning(told["text"], told["code"], told["where"]) for told in data["warnings"]],
        of_flows=of_flows,
        labels=label_order(labels),
        views=[{**view, "where": _in_order(view["where"])} for view in data.get("views", [])],
    )


def _in_order(where: Json) -> Json:
    return {name: where[name] for name in label_order(where)}


def _verdict(case: Json) -> Json:
    """Labels and figures of a case of `compare` or `check`; a figure's interval and unit beside it."""
    row = dict(case["labels"])
    for figure in case["figures"]:
        ends = figure["estimate"] or {}
        # A label of the same name is the figure in words.
        key = figure["key"] if figure["key"] not in row else f"{figure['key']}_value"
        row |= {key: ends.get("value"), f"{key}_unit": figure["unit"]}
        row |= {f"{key}_{end}": ends.get(end) for end in ("low", "high")}
    return row


def _host(index: int, hosts: list[str]) -> str:
    return hosts[index] if index < len(hosts) else str(index)


def _flow(flow: Json, workers: list[Json], hosts: list[str]) -> Json:
    """What is the same for all figures of a flow. Its own size, order and so on go before the point's."""
    worker = workers[flow["worker"]]
    node = worker.get("cpu_node")
    fields = ("size", "order", "stride", "kernel", "stores")
    own = {key: flow[key] for key in fields if flow.get(key) is not None}
    if flow.get("mix"):
        own["kernel"] = f"{flow['kernel']} {flow['mix']}"
    gpu = flow.get("gpu") or {}
    # A copy to a GPU: what lies somewhere on the host is its source, which is not told once more.
    to_gpu = str(flow.get("memory")).startswith("gpu:") and flow.get("source_memory")
    memory = residency(flow, "source_" if to_gpu else "")
    source = {} if to_gpu else residency(flow, "source_")
    seen = ranges_of(memory.pop("seen"))
    codes = [warning["code"] for warning in flow.get("warnings", [])]
    past_caches = (flow.get("kernel"), flow.get("stores")) == ("write", "non-temporal")
    return {
        **own,
        **({f"gpu_{key}": gpu.get(key) for key in GPU_FIELDS} if gpu else {}),
        "host": _host(worker["host"], hosts),
        "rank": worker["rank"],
        "thread": worker["thread"],
        "worker": flow["worker"],
        "cpu": flow.get("cpu_after"),
        "cpu_node": node,
        "nodes": f"{'-' if node is None else node} -> {seen or '-'}",
        **memory,
        "observed_memory_node": memory["memory_node"],
        **{f"source_{name}": source.get(name) for name in OF_SOURCE},
        "first_touch": flow["worker"] if flow.get("first_touch") is None else flow["first_touch"],
        "level": flow.get("level"),
        "cache": flow.get("level") if str(flow.get("level"))[0] == "L" and not past_caches else None,
        "role": "load" if flow.get("load") else "measured",
        "rate": flow.get("rate"),
        "overlap": flow.get("overlap"),
        "stop": flow.get("stop"),
        "flow_warnings": "; ".join(warning["text"] for warning in flow.get("warnings", [])),
        "flow_warning_codes": "; ".join(codes),
    }


def _half_width(figures: list[Json]) -> float | None:
    """The larger side of the first figure's interval over its value."""
    estimate = figures[0]["estimate"] if figures else None
    return half_width(*(estimate[name] for name in ("value", "low", "high"))) if estimate else None


def _figure(figure: Json) -> Json:
    """Value, interval and spread, as they stand in the file."""
    estimate = figure["estimate"] or {}
    if estimate.get("low") is not None and not estimate["low"] <= estimate["value"] <= estimate["high"]:
        words = "the interval of {}, {low:g} to {high:g}, excludes its value {value:g}"
        raise ValueError(words.format(figure["key"], **estimate))
    summary = figure["summary"] or {}
    return {
        "metric": figure["key"],
        "unit": figure["unit"],
        **{key: estimate.get(key) for key in ("value", "low", "high")},
        **{key: summary.get(key) for key in SUMMARY_FIELDS},
    }
