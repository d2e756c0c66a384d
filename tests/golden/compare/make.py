#!/usr/bin/env python3
"""make.py FOLDER NUMATLAS: files for the tests of `numatlas compare`, made of what its null engine measures."""
import copy
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
from results import figure, whole  # noqa: E402

folder, numatlas = sys.argv[1:]


def measured(command, *words):
    done = subprocess.run(
        [numatlas, command, "--engine", "null", "-q", "--format", "json",
         "--machine", "numa:2(memory=34359738368) l2:1(size=1048576) core:1 pu:1", *words],
        stdout=subprocess.PIPE, check=True)
    return dict(json.loads(done.stdout), version="0.1.0")


def write(name, value):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(value if isinstance(value, str) else json.dumps(value, indent=1))


def figures_of(case):
    yield from case["figures"]
    for flow in case["flows"]:
        yield from flow["figures"]


def scale(case, factor):
    for one in figures_of(case):
        for part in (one["estimate"], one["summary"]):
            for name in part or {}:
                if name not in ("n", "outliers", "method") and part[name] is not None:
                    part[name] *= factor


def case_of(report, name):
    return next(case for case in report["cases"] if case["name"] == name)


def survey_of(version, *reports):
    return {"schema_version": version, "program": "numatlas", "command": "survey", "version": "0.1.0",
            "started": "2026-01-01T00:00:00Z", "seconds": 1, "complete": True,
            "machine": reports[0]["machines"][0], "results": reports,
            "skipped": [{"benchmark": "transfer", "reason": "no GPU"}]}


base = measured("bandwidth", "--size", "1,64", "--kernels", "read,copy,triad")
latency = measured("latency", "--size", "64", "--threads", "1")
write("base.json", base)
write("latency.json", latency)
write("survey/survey.json", survey_of(2, latency, base))

new = whole(copy.deepcopy(base))
new["started"] = "2026-02-03T04:05:06Z"
new["version"] = "0.2.0"
new["arguments"] += ["--time", "1s"]
scale(case_of(new, "read 1MiB base"), 0.9)
scale(case_of(new, "copy 1MiB base"), 1.5)
scale(case_of(new, "triad 1MiB base"), 1.01)  # intervals do not overlap, but who would care
moved = case_of(new, "read 64MiB base")["flows"][0]["residency"]
moved["pages_by_node"] = {"1": moved["pages_by_node"]["0"]}
skipped = case_of(new, "copy 64MiB base")
skipped.update(status="skipped", reason="--size: 64 MiB a worker do not fit", flows=[], figures=[])
extra = case_of(new, "triad 64MiB base")
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
few = whole(copy.deepcopy(base))
bandwidth = figure(case_of(few, "read 1MiB base"), "bandwidth_sum")
bandwidth["estimate"].update(n=5, low=None, high=None, method="none")
bandwidth["summary"]["n"] = 5
case_of(few, "copy 1MiB base")["flows"][0]["wrong"] = {
    "kind": "internal", "message": "word 3 is 4, not 5", "hint": None}
case_of(few, "triad 1MiB base")["flows"][0]["residency"]["page_size"] = 2097152
for one in figures_of(case_of(few, "read 64MiB base")):
    one["unit"] = "1/s"
few["complete"], few["incomplete_reason"] = False, "stopped by signal 2"
write("few.json", few)

# Seven runs as steady as the null engine is; at the fifth the large size became slower.
for run in range(8):
    one = whole(copy.deepcopy(base))
    one["started"] = f"2026-03-0{run + 1}T00:00:00Z"
    one["cases"] = [case for case in one["cases"] if "triad" not in case["name"]]
    for case in one["cases"]:
        large = case["size"] > 1 << 20
        scale(case, (0.8 if large and run >= 4 else 1) * (0.9 if run == 7 and not large else 1)
              * (1 + 0.001 * (run % 3)))
    write(f"history/nightly/run{7 - run}.json", one)
write("history/run8-again.json", one)
write("history/notes.json", {"what": "no result"})
write("history/cut.json", json.dumps(base)[:1000])

# Two nights of four hosts, and one night of a host of another kind. In the second night n3 is slow.
for night in (1, 2):
    for index, host in enumerate(("n1", "n2", "n3", "n4", "odd")):
        if night == 1 and host == "odd":
            continue
        one = whole(copy.deepcopy(base))
        one["started"] = f"2026-04-0{night}T02:00:0{index}Z"
        one["hosts"] = [host]
        if host == "odd":
            one["machines"][0]["cpu_model"] = "Another CPU"
        for case in one["cases"]:
            read = night == 2 and host == "n3" and "read" in case["name"]
            scale(case, (0.8 if read else 1) * (1 + 0.002 * ((3 * index + night) % 4)))
        write(f"fleet/night{night}/{host}.json", one)

# A night that one host did not finish, and one in which others used much of another's CPUs.
for index, host in enumerate(("n1", "n2", "n3", "n4")):
    one = whole(copy.deepcopy(base))
    one.update(hosts=[host], started=f"2026-04-03T02:00:0{index}Z")
    if host == "n2":
        one.update(complete=False, incomplete_reason="interrupted by signal 15")
    if host == "n4":
        one.update(trust="unreliable", doubt="other programs used 1.2 of 2 CPUs; run again when it is quiet")
    write(f"incomplete/{host}.json", one)

# The same command with other pages.
one = whole(copy.deepcopy(base))
one["arguments"] += ["--pages", "thp"]
for case in one["cases"]:
    case["name"], case["pages"] = case["name"].replace("base", "thp"), "thp"
write("thp.json", one)

write("cut.json", json.dumps(base, indent=1)[:2000])
write("empty.json", "\n")
write("list.json", [1, 2])
write("newer.json", dict(base, schema_version=3, version="9.0"))
write("older.json", dict(base, schema_version=0, version="0.0"))
write("no-figures.json", {"program": "numatlas", "command": "check", "schema_version": 2})
damaged = copy.deepcopy(base)
damaged["cases"][1]["flows"][0]["worker"] = 99
write("damaged.json", damaged)
del damaged["cases"][0]["figures"]
write("lacking.json", damaged)
os.makedirs(os.path.join(folder, "none"))
