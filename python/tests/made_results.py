"""Surveys made from formulas, as the program writes them: for tests of the page that no change of the program
should change."""

import json
from pathlib import Path

import made
from commands import SURVEYS, redrawn
from results import load

#: Of a run what no page shows.
RUN = {
    **{"arguments": [], "started": None, "seconds": None, "complete": True, "incomplete_reason": None},
    **{"comm": "self", "isa": "avx2", "ranks": 1, "serial": False, "seed": 1, "precision": None},
    **{"time_cap": None, "time_of_all": False, "cpu_use": []},
}
#: A whole one, for what no test looks at.
ANY_FLOW = load(SURVEYS / "two-cpus.json")["results"][0]["cases"][0]["flows"][0]
STARTED = "2026-11-{day:02}T10:01:05Z"


def estimate(value, part=0.01):
    """With an interval of this part to each side."""
    low, high = value * (1 - part), value * (1 + part)
    return {"value": value, "low": low, "high": high, "n": 5, "method": "visits"}


def figure(key, value, unit="s", part=0.01):
    return {"key": key, "unit": unit, "estimate": estimate(value, part), "summary": None}


def flow(worker, figures, memory="bind:0", warnings=(), **more):
    fields = {
        **{
            "worker": worker,
            "kernel": "chase",
            "load": False,
            "size": 1 << 28,
            "order": "random",
            "stride": 64,
        },
        **{"memory": memory, "stop": "converged", "level": "memory", "warnings": list(warnings)},
        "residency": {
            **{"pages_by_node": {memory[5:]: 100}, "pages_total": 100, "page_text": "4 KiB"},
            **{"pages_asked": 100, "pages_untouched": 0, "pages_unknown": 0, "page_size": 4096},
            **{"thp_fraction": None, "told_by": "", "problem": None},
        },
    }
    return {**ANY_FLOW, **fields, "figures": figures, **more}


def case(name, labels, flows, figures=(), **more):
    fields = {"name": name, "labels": labels, "kernel": "chase", "stores": None, "size": 1 << 28}
    fields |= {"pages": "base", "order": "random", "stride": 64, "status": "ok", "reason": None}
    return {
        **{**fields, **more, "flow_common": {}, "flows": flows, "figures": list(figures)},
        **{"host_figures": [], "groups": [], "visits": None},
        **{"precision": None, "time_cap": None, "distribution": {"bins": [], "counts": []}},
    }


def column(head="", label=None, figure=None, scale=1.0, part="with_interval"):
    cell = {"head": head, "label": label, "figure": figure, "scale": scale, "digits": 2}
    return {**cell, "part": "value" if label else part, "unit": None}


def view(title, kind, cells, rows=None, columns=None, **where):
    fields = {"title": title, "kind": kind, "cells": cells, "rows": rows, "columns": columns, "where": where}
    return {**fields, "level": "cases", "symmetric": False, "notes": [], "verdict": []}


def fact(key, words, value, unit, heading=None, line=None, part=0.01, **where):
    """As a benchmark states it."""
    shown = {"heading": heading, "line": line, "where": where}
    return {"key": key, "words": words, "unit": unit, "estimate": estimate(value, part), **shown}


def report(command, cases, views, workers, warnings=(), engine="real", facts=()):
    return {
        **RUN,
        **{"schema_version": 2, "program": "numatlas", "version": "0.1.0", "command": command},
        **{"engine": engine, "cases": cases, "views": views, "workers": workers, "hosts": ["cn1"]},
        **{"machines": [], "warnings": list(warnings), "facts": list(facts)},
    }


def latency_of(one, other, nodes_per_package):
    """120 ns at home, 140 ns in the socket, 330 ns in another; 250 ns of memory without CPUs."""
    if other is None:
        return 250e-9
    if one == other:
        return (120 + one % 3) * 1e-9
    return (140 if one // nodes_per_package == other // nodes_per_package else 330) * 1e-9


def matrix(machine, nodes_per_package, part, engine):
    nodes = machine["nodes"]
    with_cpus = [node["id"] for node in nodes if node["cpus"]]
    workers = [
        {"rank": 0, "thread": 0, "host": 0, "cpus": str(one), "cpu_node": one, "memory": f"bind:{one}"}
        for one in with_cpus
    ]
    cases, facts, rates = [], [], []
    for one in with_cpus:
        for node in nodes:
            other, labels = node["id"], {"cpu_node": str(one), "memory_node": str(node["id"])}
            home = other if other in with_cpus else None
            seconds, memory = latency_of(one, home, nodes_per_package), f"bind:{other}"
            unsteady = 0.2 if (one, other) == (0, len(with_cpus) - 1) else part
            chased = flow(one, [figure("latency", seconds, part=unsteady)], memory)
            cases.append(case(f"latency node {one} to {other}", labels, [chased]))
            read = flow(one, [figure("bandwidth", 4e9, "B/s")], memory, kernel="read")
            rate = figure("bandwidth_sum", 5e3 / seconds, "B/s")
            cases.append(
                case(f"read node {one} to {other}", labels, [read, read], [rate], kernel="read", size=1 << 24)
            )
            where, places = {"cpu_node": str(one), "memory_node": str(other)}, f"node {one} to {other}"
            words = f"latency of one CPU alone from {places}"
            facts.append(fact("matrix_latency", words, seconds, "s", "Latency", part=unsteady, **where))
            rates.append(
                fact("matrix_bandwidth", f"reads from {places}", 5e3 / seconds, "B/s", "Reads", **where)
            )
    names = {"rows": "cpu_node", "columns": "memory_node"}
    views = [
        view("Idle latency in ns", "matrix", [column(figure="latency", scale=1e9)], **names, kernel="chase"),
        view("Bandwidth of read in GB/s", "matrix", [column(figure="bandwidth_sum", scale=1e-9)], **names),
    ]
    views[1]["where"] = {"kernel": "read"}
    warnings = [{"code": "setting", "where": None, "text": "numa_balancing = 1: the kernel may move pages"}]
    return report("matrix", cases, views, workers, warnings, engine, facts + rates)


def ladder(part, engine):
    """From 1 ns to 120 ns; the point at 1 MiB is poorly known."""
    workers = [{"rank": 0, "thread": 0, "host": 0, "cpus": "0", "cpu_node": 0, "memory": "local"}]
    cases, facts = [], []
    for power in range(14, 31, 2):
        seconds = 1.2e-9 * 1.33 ** (power - 14)
        level = "L1" if power < 16 else "L2" if power < 20 else "L3" if power < 26 else "memory"
        known = 2.33 if power == 20 else part
        one = flow(0, [figure("latency", seconds, part=known)], size=1 << power, level=level)
        cases.append(case(f"{1 << power} base", {}, [one], size=1 << power))
        if power in (14, 16, 24, 30):
            key, where = (
                "memory_latency" if power == 30 else "cache_latency",
                {"level": level, "pages": "base"},
            )
            where["size"] = str(1 << power)
            facts.append(
                fact(key, f"latency of {level}", seconds, "s", "Idle latency", f"{level} {{}}", **where)
            )
    cells = [column("size", "size"), column("latency", figure="latency", scale=1e9)]
    views = [view("Pointer-chase latency in ns (base pages)", "curve", cells, "size", pages="base")]
    return report("latency", cases, views, workers, engine=engine, facts=facts)


def loaded(part, engine):
    workers = [{"rank": 0, "thread": 0, "host": 0, "cpus": "0", "cpu_node": 0, "memory": "bind:0"}]
    places, cases = {"cpu_node": "0", "memory_node": "0"}, []
    where_of, under = {"cpu_node": "0", "memory_node": "0"}, "Under load"
    facts = [
        fact("loaded_latency_idle", "latency while idle", 120e-9, "s", under, "{} idle", part, **where_of),
        fact("loaded_latency_80", "latency at 80 % of the peak", 170e-9, "s", part=part, **where_of),
        fact(
            "loaded_bandwidth_peak",
            "bandwidth of the others at that peak",
            40e9,
            "B/s",
            part=part,
            **where_of,
        ),
    ]
    for step in range(11):
        seconds = 120e-9 * (1 + 0.05 * step + (0.5 if step > 8 else 0))
        figures = [figure("bandwidth_sum", 4e9 * step, "B/s", part)] if step else []
        figures += [figure("latency_at_80_percent", 170e-9)] if step == 10 else []
        labels = {**places, "load": f"{10 * step}%" if step else "idle"} | (
            {"load_kernel": "read"} if step else {}
        )
        warnings = (
            [{"code": "rate-not-reached", "where": None, "text": "not the rate asked for"}]
            if step == 9
            else []
        )
        one = flow(0, [figure("latency", seconds, part=part)], warnings=warnings)
        cases.append(case(f"read {10 * step}%", labels, [one], figures))
    cells = [column("load", "load"), column("achieved", figure="bandwidth_sum", scale=1e-9, part="value")]
    cells.append(column("latency", figure="latency", scale=1e9, part="value"))
    where = {**places, "load_kernel": "read"}
    views = [view("Loaded latency in ns (read)", "curve", cells, "bandwidth_sum", **where)]
    return report("loaded", cases, views, workers, engine=engine, facts=facts)


def bandwidth(cpus, part, engine):
    """Reads by 1, 2, 4 and so on up to all CPUs: each reads 12 GB/s, all together 200 GB/s."""
    counts = sorted({*(1 << power for power in range(12) if 1 << power < cpus), cpus})
    workers = [
        {"rank": 0, "thread": one, "host": 0, "cpus": str(one), "cpu_node": 0, "memory": "local"}
        for one in range(cpus)
    ]
    cases = []
    for count in counts:
        rate = 200e9 * 12 * count / (12 * count + 200)
        flows = [
            flow(one, [figure("bandwidth", rate / count, "B/s", part)], kernel="read") for one in range(count)
        ]
        total = figure("bandwidth_sum", rate, "B/s", part)
        cases.append(case(f"read {count} threads", {}, flows, [total], kernel="read", size=1 << 26))
    cells = [column("kernel", "kernel"), column("workers", "workers")]
    cells.append(column("sum", figure="bandwidth_sum", scale=1e-9))
    words = f"read, {cpus} CPUs together, memory local to each"
    peak = fact("peak_bandwidth", words, rate, "B/s", "Bandwidth", "peak {}", part, workers=str(cpus))
    return report(
        "bandwidth", cases, [view("Bandwidth in GB/s", "table", cells)], workers, (), engine, [peak]
    )


def survey(path: Path, packages=2, nodes=4, cores=16, threads=2, day=1, slower=1.0, engine="real", **machine):
    """Writes one of so many sockets with so many nodes each, and returns its path; `slower`: factor of its
    times."""
    snapshot = made.machine(packages, nodes, cores, threads, machine.get("gpus", 0))
    if not machine.get("far"):
        snapshot["nodes"] = [node for node in snapshot["nodes"] if node["cpus"]]
        snapshot["persistent_memory"] = []
    snapshot |= {
        "host": machine.get("host", "cn1"),
        "cpu_model": "AMD EPYC 7763 64-Core Processor",
        "notes": [],
    }
    snapshot |= {"settings": [], "source": "live", "schema_version": 1}
    part = machine.get("part", 0.01)
    results = [matrix(snapshot, nodes, part, engine), ladder(part, engine), loaded(part, engine)]
    results.append(bandwidth(len(snapshot["cpus"]), part, engine))
    for one in results:
        one["machines"] = [snapshot]
        told = [figure for each in one["cases"] for figure in each["figures"]]
        told += [figure for each in one["cases"] for flow in each["flows"] for figure in flow["figures"]]
        for each in told + one["facts"]:
            for end in ("value", "low", "high"):
                each["estimate"][end] *= slower if each["unit"] == "s" else 1 / slower
    data = {
        **{"schema_version": 2, "program": "numatlas", "version": "0.1.0", "command": "survey"},
        **{"arguments": ["survey"], "started": STARTED.format(day=day), "seconds": 57.2, "machine": snapshot},
        **{"warnings": [], "results": results, "notes": []},
        "skipped": [{"benchmark": "transfer", "reason": "no GPU can be used"}],
    }
    path.write_text(json.dumps(redrawn(data)))
    return path
