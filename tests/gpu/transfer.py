"""transfer.py CASE NUMATLAS FAKES [LAUNCHER...]: the real program on libraries of drivers of our own. FAKES is
the folder with fake/, fake_minimal/ and fake_text/. What the fakes take is no measurement, and no case looks at it."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "stream"))
from harness import Run, Skipped, Trial, carry_out, equal, near, true  # noqa: E402
from results import figure, value  # noqa: E402

FAKES = Path(sys.argv[3])
# Far below what any machine copies, so that copies of this kind really are under way for a while.
SLOW = "200000000"


class Gpus:
    """`numatlas transfer` with a fake driver in a folder of the trial."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.log = trial.folder / "calls.log"

    def environment(self, driver: str, settings: dict[str, object]) -> dict[str, object]:
        names = {f"NUMATLAS_FAKE_CUDA_{name}": value for name, value in settings.items()}
        return {"NUMATLAS_TEST_QUIET": 1, "LD_LIBRARY_PATH": FAKES / driver, "NUMATLAS_FAKE_CUDA_LOG": self.log} | names

    def run(self, *words: object, driver: str = "fake", time: str = "40ms", command: str = "transfer", **settings: object) -> Run:
        self.log.unlink(missing_ok=True)
        (self.trial.folder / "report.json").unlink(missing_ok=True)  # one that ended would be kept
        return self.trial.run(1, self.trial.numatlas, command, "-q", "--time", time, "--json", "report.json",
                              *words, **self.environment(driver, settings))

    def start(self, *words: object, **settings: object):
        return self.trial.start(1, self.trial.numatlas, "transfer", "-q", "--json", "report.json", *words,
                                **self.environment("fake", settings))

    def points(self) -> list[dict]:
        return self.trial.report()["cases"]

    def calls(self) -> list[str]:
        return [line.split()[0].split("(")[0] for line in self.log.read_text().splitlines() if line.strip()]


def flows(points: list[dict]) -> Iterator[tuple[dict, dict]]:
    for point in points:
        for flow in point["flows"]:
            yield point, flow


def case_everything(trial: Trial) -> None:
    gpus = Gpus(trial)
    run = gpus.run("--size", "1", "--chase-size", "64KiB", "--memory", "bind:0", "--visits", "2", "--strict")
    run.ends_with(0).out_says(r"^0 +numatlas fake GPU 0 \(test only\) +0000:01:00\.0")
    points = gpus.points()
    measures = Counter(point["labels"]["measure"] for point in points)
    # Three directions, two sizes each way of latency, two GPUs; a chase a GPU; both ways between them.
    equal(measures, Counter(copies=6, latency=8, chase=2, peer=2), "points")
    for point, flow in flows(points):
        equal(point["status"], "ok", point["name"])
        gpu = flow["gpu"]
        if point["labels"]["measure"] == "peer":
            equal((gpu["direction"], gpu["route"]), ("p2p", "direct"), "between GPUs")
            continue
        host = flow["source_residency"] if gpu["direction"] == "h2d" else flow["residency"]
        pages = {"0": host["pages_total"]}
        for when in (host, gpu["residency_before_pinning"], gpu["residency_after"]):
            equal(when["pages_by_node"], pages, f"{point['name']}: pages")
        equal(host["pages_total"], -(-flow["size"] // os.sysconf("SC_PAGESIZE")), "pages of the size")


def case_figures(trial: Trial) -> None:
    gpus = Gpus(trial)
    gpus.run("--measure", "copies", "--together", "--size", "1", "--visits", "1", RATE=SLOW).ends_with(0)
    for point in gpus.points():
        both = point["labels"]["direction"] == "both"
        equal(len(point["flows"]), 4 if both else 2, "flows")
        events = count = 0
        for flow in point["flows"]:
            # JSON has seven digits.
            near(value(flow, "event_bandwidth"), flow["size"] / value(flow, "copy_time"), "rate of the median copy",
                 part=1e-5)
            events += value(flow, "event_bandwidth")
            rates = figure(flow, "bandwidth")["summary"]
            count += rates["n"]
            # Between two samples time passes that counts.
            near(value(flow, "bandwidth"), rates["mean"], "all bytes over all their time", part=0.02)
            true(value(flow, "bandwidth") < 1.0001 * rates["mean"], "no faster than its samples")
        near(value(point, "event_bandwidth_sum"), events, "by the GPUs' clocks", part=1e-6)
        true(0 < sum(point["distribution"]["counts"]) <= count, "samples in the distribution")
        true(0 < value(point, "copies_overlap") <= 1, "overlap")


def case_visits(trial: Trial) -> None:
    gpus = Gpus(trial)
    gpus.run("--measure", "copies", "--gpus", "0", "--direction", "h2d", "--size", "1").ends_with(0)
    for point in gpus.points():
        rate = figure(point, "bandwidth_sum")
        true(rate["estimate"]["method"] == "visits" and 5 <= rate["estimate"]["n"] <= 10, "interval of the aggregate")


def case_slowed(trial: Trial) -> None:
    gpus = Gpus(trial)
    words = ("--measure", "copies", "--gpus", "0", "--direction", "h2d", "--size", "1", "--visits", "5")
    gpus.run(*words, CLOCK=1980).ends_with(0).out_lacks("held down")
    visits = gpus.points()[0]["visits"]
    equal(visits["gpu_frequency"], [1.98e9] * 5, "clock at each visit")
    # The first answer is asked for before anything is measured. A visit that was slowed down is repeated.
    run = gpus.run(*words, CLOCK=1200, SLOWED="0x20", SLOWED_CALLS=2)
    run.ends_with(0)
    visits = gpus.points()[0]["visits"]
    true(visits["repeated"] >= 1, f"repeated: {visits['repeated']}")
    # Other programs may have disturbed some visits, but the slow one was not kept.
    run.out_lacks("held down")
    run = gpus.run(*words, CLOCK=1200, SLOWED="0x20")
    run.ends_with(0).out_says(r"(warning:|!) h2d .*: the clocks of GPU 0 were held down \(heat\)")
    equal(gpus.points()[0]["visits"]["disturbed"], 5, "disturbed visits that were kept")


def case_order(trial: Trial) -> None:
    gpus = Gpus(trial)
    # Of this size a step is one copy.
    gpus.run("--measure", "copies", "--gpus", "0", "--size", "4", "--memory", "bind:0").ends_with(0)
    calls = gpus.calls()
    seen = Counter(calls)
    for made, undone in (("cuMemHostRegister", "cuMemHostUnregister"), ("cuMemAlloc", "cuMemFree"),
                         ("cuStreamCreate", "cuStreamDestroy"), ("cuEventCreate", "cuEventDestroy")):
        equal(seen[made], seen[undone], f"{made} and {undone}")
        true(seen[made] > 0, made)
    pinned = False
    queued = most = 0
    for call in calls:
        if call in ("cuMemHostRegister", "cuMemHostUnregister"):
            pinned = call == "cuMemHostRegister"
            queued = 0
        elif pinned and call in ("cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync"):
            queued += 1
            most = max(most, queued)
        elif call == "cuEventSynchronize":
            queued = max(0, queued - 1)
    # Two directions at once, 16 copies ahead in each, and one just queued.
    true(2 < most <= 2 * 17, f"{most} copies under way")


def case_pinnings(trial: Trial) -> None:
    gpus = Gpus(trial)
    wanted = {"pinned": ["cuMemHostRegister"], "zero-copy": ["cuMemHostRegister", "cuLaunchKernel"], "pageable": []}
    for pinning, needed in wanted.items():
        gpus.run("--measure", "copies", "--gpus", "0", "--size", "1", "--pin", pinning, "--memory", "bind:0", "--visits",
                 "2").ends_with(0)
        seen = set(gpus.calls())
        for call in ("cuMemHostRegister", "cuLaunchKernel"):
            equal(call in seen, call in needed, f"--pin {pinning}: {call}")
        for point, flow in flows(gpus.points()):
            equal((point["status"], flow["gpu"]["pinning"]), ("ok", pinning), point["name"])
            timed = [one["key"] for one in flow["figures"] if one["key"].endswith("pin_time")]
            equal(timed, ["pin_time", "unpin_time"] if pinning in ("pinned", "zero-copy") else [], "cost of pinning")


def case_serialised(trial: Trial) -> None:
    gpus = Gpus(trial)
    run = gpus.run("--measure", "copies", "--together", "--size", "1", "--direction", "h2d", "--stats", SERIAL=1, RATE=SLOW)
    run.ends_with(0).out_says("^(!|warning:) h2d .*: the copies took turns")
    for point in gpus.points():
        true(value(point, "copies_overlap") < 0.5, "overlap")
        true(value(point, "event_bandwidth_sum") > 1.25 * value(point, "bandwidth_sum"), "two clocks")


def case_wrong_data(trial: Trial) -> None:
    gpus = Gpus(trial)
    for words in (["--measure", "copies", "--direction", "h2d"], ["--measure", "copies", "--direction", "d2h"],
                  ["--measure", "chase", "--chase-size", "64KiB"], ["--measure", "peer"]):
        run = gpus.run(*words, "--size", "1", CORRUPT=1)
        run.ends_with(70).says_once("^numatlas: error: .*(the copy is wrong from byte|the chase of the GPU ended)")
        for point, flow in flows(gpus.points()):
            equal((point["status"], point["distribution"]["counts"]), ("failed", []), point["name"])
            true(flow["wrong"]["message"], "what is wrong")
            for one in flow["figures"]:
                if not one["key"].endswith("pin_time"):
                    equal((one["estimate"], one["summary"]), (None, None), f"{point['name']}: {one['key']}")


def case_lost(trial: Trial) -> None:
    """Midway: what was measured before is kept, and what fails has no figure."""
    gpus = Gpus(trial)
    gpus.run("--measure", "copies", "--gpus", "0", "--size", "1", "--direction", "h2d,d2h", "--memory", "bind:0").ends_with(0)
    calls = Counter(gpus.calls())["cuMemcpyDtoHAsync"]
    run = gpus.run("--measure", "copies", "--gpus", "0", "--size", "1", "--direction", "h2d,d2h", "--memory", "bind:0",
                   FAIL="cuMemcpyDtoHAsync:30:719")
    run.ends_with(6).says_once("^numatlas: error: d2h .*cuMemcpyDtoHAsync").says_once("hint: .*nvidia-smi")
    true(calls > 30, "it fails while it copies")
    first, second = gpus.points()
    equal((first["status"], second["status"]), ("ok", "failed"), "points")
    true(first["distribution"]["counts"] and not second["distribution"]["counts"], "samples")


def case_pin_refused(trial: Trial) -> None:
    """A point that cannot be measured is left out with its reason; the others are not."""
    gpus = Gpus(trial)
    run = gpus.run("--measure", "copies", "--gpus", "0", "--size", "1", "--direction", "h2d,d2h", FAIL="cuMemHostRegister:1:2")
    run.ends_with(0).out_says("^h2d .*: skipped: .*cuMemHostRegister: CUDA_ERROR_OUT_OF_MEMORY")
    equal([point["status"] for point in gpus.points()], ["skipped", "ok"], "points")


def case_no_room(trial: Trial) -> None:
    gpus = Gpus(trial)
    run = gpus.run("--measure", "copies", "--gpus", "0", "--size", "4", "--memory", "bind:0", MEMORY=1 << 20)
    run.ends_with(5).says_once("^numatlas: error: --size: 4 MiB needed on GPU 0, which has 1 MiB")
    run = gpus.run("--measure", "latency", "--latency-size", "4MiB", "--gpus", "0", "--memory", "bind:0", MEMORY=1 << 20)
    run.ends_with(5).says_once("^numatlas: error: --latency-size: 4 MiB needed on GPU 0, which has 1 MiB")
    # What another process uses is known when it is asked for.
    run = gpus.run("--measure", "copies", "--gpus", "0", "--size", "4", "--memory", "bind:0", FAIL="cuMemAlloc:1:2")
    run.ends_with(5).says_once("^numatlas: error: --size: 4 MiB on GPU 0, which has 1 GiB: cuMemAlloc")


STREAMS = ("read", "write", "copy", "scale", "add", "triad")
SMALL = {"latency": ("--on", "gpu:0", "--size", "16KiB,1MiB", "--visits", "2"),
         "bandwidth": ("--on", "gpu:0", "--size", "1MiB", "--kernels", ",".join(STREAMS), "--visits", "2")}


def case_own_memory(trial: Trial) -> None:
    """Every kernel in a GPU's own memory, in another one's, in the host's; nothing stays allocated or pinned."""
    gpus = Gpus(trial)
    expected = {"latency": ["device chase"] * 2, "bandwidth": [f"gpu {name}" for name in STREAMS]}
    for memory, command in product(((), ("--memory", "gpu:1"), ("--memory", "bind:0")), SMALL):
        run = gpus.run(*SMALL[command], *memory, command=command, time="20ms")
        run.ends_with(0).out_says(r"^0 +numatlas fake GPU 0 \(test only\) +0000:01:00\.0")
        points = gpus.points()
        equal([point["kernel"] for point in points], expected[command], f"points {memory}")
        for point, flow in flows(points):
            equal(point["status"], "ok", point["name"])
            gpu = flow["gpu"]
            if point["kernel"] != "device chase":
                true(gpu["blocks"] > 0 and gpu["block_threads"] > 0, f"grid: {gpu}")
                true(value(flow, "event_bandwidth") > 0, "rate by the GPU's clock")
            elif memory != ("--memory", "bind:0"):
                true(value(flow, "cycles") > 0, "cycles of a load")
            equal(gpu["route"], "direct" if memory == ("--memory", "gpu:1") else None, "route")
        calls = Counter(gpus.calls())
        equal(calls["cuMemAlloc"], calls["cuMemFree"], "allocations")
        equal(calls["cuMemHostRegister"], calls["cuMemHostUnregister"], "pinned")
    run = gpus.run("--on", "gpu:1", "--size", "1", "--kernels", "triad", command="bandwidth", time="20ms")
    run.ends_with(0)
    equal([point["name"] for point in gpus.points()], ["gpu 1 triad 1MiB memory own"], "bandwidth --on")


def case_own_memory_wrong(trial: Trial) -> None:
    gpus = Gpus(trial)
    run = gpus.run("--on", "gpu:0", "--size", "1MiB", "--kernels", "read,triad", command="bandwidth", CORRUPT=1)
    run.ends_with(70).says_once("^numatlas: error: .*reads add up to 0x").out_lacks("GB/s ±")
    run = gpus.run(*SMALL["latency"], command="latency", FAIL="cuLaunchKernel:9")
    true(run.code != 0 and "cuLaunchKernel" in run.err, f"a lost GPU: {run.err}")
    run = gpus.run(*SMALL["latency"], "--memory", "gpu:1", command="latency", FAIL="cuCtxEnablePeerAccess:1:217")
    true("cuCtxEnablePeerAccess" in run.err, f"no peers: {run.err}")
    gpus.run("--on", "gpu:0", "--size", "2GiB", command="bandwidth").ends_with(5).says_once(
        "^numatlas: error: --size: 2 GiB needed on GPU 0, which has 1 GiB")
    gpus.run(*SMALL["latency"], command="latency", driver="fake_minimal").ends_with(3)


def case_drivers(trial: Trial) -> None:
    """What is there, and is no driver."""
    gpus = Gpus(trial)
    gpus.run(INIT=100).ends_with(3).out_is_empty().says_once("^numatlas: error: no GPU can be used: ").says_once("^numatlas: hint: ")
    for settings, said in (({}, r"yes +CUDA driver 12\.4: 1 x numatlas fake GPU 0 \(test only\) \(1 GiB\), 1 x "),
                           ({"INIT": 34}, r"no +cuInit: CUDA_ERROR_STUB_LIBRARY \(34\): ")):
        features = trial.run(1, trial.numatlas, "features", **gpus.environment("fake", settings)).ends_with(0)
        features.out_says(f"^gpu +cuda +{said}").out_says(f"^benchmark +transfer +{said[:3].strip()} ")
    gpus.run(driver="fake_text").ends_with(3).out_is_empty().says_once("^numatlas: error: no GPU can be used: ")
    gpus.run(driver="nothing_there").ends_with(3).says_once("libcuda.so.1")


def case_old_driver(trial: Trial) -> None:
    """Without the optional calls: each thing that needs one is left out with its reason."""
    gpus = Gpus(trial)
    run = gpus.run("--size", "1", "--chase-size", "64KiB", "--gpus", "0,1", "--pin", "pinned,zero-copy", driver="fake_minimal")
    run.ends_with(0)
    by_status: dict[str, set[str]] = {}
    for point in gpus.points():
        kind = f"{point['labels']['measure']} {point['labels'].get('pinning', '')}".strip()
        by_status.setdefault(kind, set()).add(point["status"])
        if point["status"] == "skipped":
            true(point["reason"], "the reason")
    equal(by_status["copies pinned"], {"ok"}, "copies")
    for kind in ("copies zero-copy", "chase", "peer"):
        equal(by_status[kind], {"skipped"}, kind)


def case_hip(trial: Trial) -> None:
    """AMD's driver: chase and zero-copy by hiprtc, and what is left out without it."""
    gpus = Gpus(trial)
    words = ("--size", "1", "--chase-size", "64KiB", "--gpus", "0,1", "--pin", "pinned,zero-copy", "--visits", "1")
    if (Path("/usr/lib/x86_64-linux-gnu/libcuda.so.1")).exists():
        raise Skipped("there is a CUDA driver, whose GPUs come first")
    gpus.run(*words, driver="fake_hip").ends_with(0)
    measures = Counter(point["labels"]["measure"] for point in gpus.points() if point["status"] == "ok")
    equal(len(gpus.points()), sum(measures.values()), "points that are ok")
    equal(measures["chase"], 2, "chases")
    calls = Counter(gpus.calls())
    equal(calls["cuModuleLoadData"], 2, "compiled once for each GPU")
    true(calls["cuLaunchKernel"] > 2, "launches")
    # What the chase reads is looked at.
    gpus.run("--measure", "chase", "--chase-size", "64KiB", "--gpus", "0", driver="fake_hip", CORRUPT=1).ends_with(
        70).says_once("^numatlas: error: .*the chase of the GPU ended at")
    for driver, settings, reason in (("fake_hip", {"RTC": 6}, "HIPRTC_ERROR_COMPILATION"),
                                     ("fake_hip_alone", {}, "libhiprtc.so.7")):
        gpus.run(*words, driver=driver, **settings).ends_with(0)
        for point in gpus.points():
            kernel = point["labels"]["measure"] == "chase" or point["labels"].get("pinning") == "zero-copy"
            equal(point["status"], "skipped" if kernel else "ok", point["name"])
            true(not kernel or reason in point["reason"], f"the reason: {point['reason']}")


def case_refused(trial: Trial) -> None:
    gpus = Gpus(trial)
    for words, code, message in (
        (["--gpus", "2"], 3, "--gpus: no GPU 2; available: 0, 1"),
        (["--gpus", "-1"], 2, "--gpus"),
        (["--memory", "bind:77"], 3, "--memory"),
        (["--memory", "gpu:7"], 3, "--memory gpu:7"),
        (["--size", "900TiB", "--measure", "copies"], 5, "--size"),
        (["--size", "0"], 2, "--size"),
        (["--measure", "everything"], 2, "--measure"),
        (["--pin", ""], 2, "--pin"),
    ):
        gpus.run(*words).ends_with(code).says_once(f"^numatlas: error: .*{re.escape(message)}")
    lost = trial.run(1, trial.numatlas, "transfer", "-q", "--json", "/proc/none/x", **gpus.environment("fake", {}))
    lost.ends_with(6).says_once("^numatlas: error: --json")
    trial.run(1, trial.numatlas, "bandwidth", "-q", "--memory", "gpu:7", "--size", "1").ends_with(3).says_once("gpu:7")


def case_stopped(trial: Trial) -> None:
    gpus = Gpus(trial)
    going = gpus.start("--measure", "copies", "--size", "1", "--time", "60s", "--precision", "0.0001%", "--gpus", "0",
                       "--direction", "h2d,d2h", RATE=SLOW)
    going.until("copies are under way", lambda: gpus.log.exists() and gpus.calls().count("cuMemcpyHtoDAsync") > 150)
    going.process.send_signal(signal.SIGINT)
    going.end(30).ends_with(130)
    report = trial.report()
    equal((report["complete"], report["cases"][0]["status"]), (False, "incomplete"), "the report")
    true(report["cases"][0]["distribution"]["counts"], "what was measured before is kept")


def case_ranks(trial: Trial) -> None:
    """Each rank its own worker; both ways at once are flows of two processes."""
    gpus = Gpus(trial)
    run = trial.run(2, trial.numatlas, "transfer", "-q", "--time", "40ms", "--size", "1", "--gpus", "0", "--measure", "copies",
                    "--memory", "bind:0", "--json", "report.json", **gpus.environment("fake", {}))
    run.ends_with(0)
    workers = trial.report()["workers"]
    for point in gpus.points():
        equal(point["status"], "ok", point["name"])
        if point["labels"]["direction"] == "both":
            equal(len(point["flows"]), 2, "flows")
    true(len({worker["rank"] for worker in workers}) == 2, "two ranks")


if __name__ == "__main__":
    name, numatlas, _, *launcher = sys.argv[1:]
    carry_out(globals()[f"case_{name}"], numatlas, launcher)
