#!/usr/bin/env python3
"""make.py FOLDER: files for the tests of `numatlas compare`, made of base.json and latency.json (as the
null engine wrote them once: later versions must still read them)."""
import copy
import json
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
folder = sys.argv[1]


def read(name):
    with open(os.path.join(here, name), encoding="utf-8") as file:
        return json.load(file)


def write(name, value):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(value if isinstance(value, str) else json.dumps(value, indent=1))


def metrics_of(point):
    for metric in point["totals"]:
        yield metric
    for flow in point["flows"]:
        yield from flow["metrics"]


def scale(point, factor):
    for metric in metrics_of(point):
        metric["value"] *= factor
        for name in metric["summary"] or {}:
            if name not in ("n", "outliers") and metric["summary"][name] is not None:
                metric["summary"][name] *= factor


def point_of(report, name):
    return next(point for point in report["scenarios"] if point["name"] == name)


base, latency = read("base.json"), read("latency.json")
write("base.json", base)
write("latency.json", latency)

new = copy.deepcopy(base)
new["started"] = "2026-02-03T04:05:06Z"
new["version"] = "0.2.0"
new["arguments"] += ["--time", "1s"]
scale(point_of(new, "read 1MiB base"), 0.9)
scale(point_of(new, "copy 1MiB base"), 1.5)
scale(point_of(new, "triad 1MiB base"), 1.01)  # intervals do not overlap, but who would care
moved = point_of(new, "read 64MiB base")["flows"][0]["residency"]
moved["pages_by_node"] = {"1": moved["pages_by_node"]["0"]}
skipped = point_of(new, "copy 64MiB base")
skipped.update(status="skipped", reason="--size: 64 MiB a worker do not fit", flows=[], totals=[])
extra = point_of(new, "triad 64MiB base")
extra["name"], extra["size"] = "triad 128MiB base", 2 * extra["size"]
for machine in new["machines"]:
    machine["os"] = "Linux 6.1.0-20"
    machine["cpu_model"] = "Another CPU"
    machine["settings"] = [
        {"name": "microcode", "value": "0x2b", "source": "", "warning": ""},
        {"name": "thp_enabled", "value": "always", "source": "", "warning": ""},
    ]
write("new.json", new)

# Where nothing can be said of single figures.
few = copy.deepcopy(base)
for metric in point_of(few, "read 1MiB base")["totals"]:
    if metric["summary"]:
        metric["summary"].update(n=5, ci95_low=None, ci95_high=None)
point_of(few, "copy 1MiB base")["flows"][0]["wrong"] = "word 3 is 4, not 5"
point_of(few, "triad 1MiB base")["flows"][0]["residency"]["page_size"] = 2097152
for metric in metrics_of(point_of(few, "read 64MiB base")):
    metric["unit"] = "GB/s"
few["complete"], few["incomplete_reason"] = False, "stopped by signal 2"
write("few.json", few)

write("survey/survey.json", {
    "schema_version": 1, "program": "numatlas", "command": "survey", "version": "0.1.0",
    "started": "2026-01-01T00:00:00Z", "seconds": 1, "complete": True,
    "machine": base["machines"][0], "results": [latency, base],
    "skipped": [{"benchmark": "transfer", "reason": "no GPU"}], "summary": []})

# Seven runs as steady as the null engine is; at the fifth the large size became slower.
for run in range(8):
    one = copy.deepcopy(base)
    one["started"] = f"2026-03-0{run + 1}T00:00:00Z"
    for point in one["scenarios"]:
        large = point["size"] > 1 << 20
        scale(point, (0.8 if large and run >= 4 else 1) * (0.9 if run == 7 and not large else 1)
              * (1 + 0.001 * (run % 3)))
    write(f"history/nightly/run{7 - run}.json", one)
write("history/run8-again.json", one)
write("history/notes.json", {"what": "no result"})
write("history/cut.json", json.dumps(base)[:1000])

write("cut.json", json.dumps(base, indent=1)[:2000])
write("empty.json", "\n")
write("words.json", "once upon a time")
write("list.json", [1, 2])
write("foreign.json", {"program": "other", "command": "latency", "schema_version": 1})
write("newer.json", dict(base, schema_version=2, version="9.0"))
write("older.json", dict(base, schema_version=0, version="0.0"))
write("no-figures.json", {"program": "numatlas", "command": "check", "schema_version": 1})
damaged = copy.deepcopy(base)
damaged["scenarios"][1]["flows"][0]["worker"] = 99
write("damaged.json", damaged)
del damaged["scenarios"][0]["totals"]
write("lacking.json", damaged)
os.makedirs(os.path.join(folder, "none"))
