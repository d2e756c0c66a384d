#!/usr/bin/env python3
"""kills.py NUMATLAS COUNT: ends commands that write files by SIGKILL at random moments. Whatever the
moment, a file is whole: the old one, none where there was none, or the new one. Nothing else is left
in the folder, but for what was to take the place of a file at that moment, under a name of its own.

The moments come from the clock, so that each run tries others; a failure prints the command, the
moment and what the file holds."""

import json
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree

NUMATLAS, COUNT = str(Path(sys.argv[1]).resolve()), int(sys.argv[2])
OLD = "old content\n"


def is_json(text: bytes) -> bool:
    json.loads(text)
    return True


def is_csv(text: bytes) -> bool:
    lines = text.decode().splitlines()
    return len(lines) > 1 and len({line.count(",") for line in lines}) == 1


def is_xml(text: bytes) -> bool:
    ElementTree.fromstring(text)
    return True


#: Words of a command, and the files that it writes with what a whole one is like.
COMMANDS = [
    (["latency", "--size", "16KiB,32KiB,64KiB", "--time", "60ms", "--json", "a.json", "--csv", "b.csv"],
     {"a.json": is_json, "b.csv": is_csv}),
    (["bandwidth", "--size", "64KiB", "--kernels", "read,copy", "--time", "60ms", "--json", "a.json"],
     {"a.json": is_json}),
    (["stream", "--elements", "10000", "--repeats", "6", "--json", "a.json"], {"a.json": is_json}),
    (["matrix", "--size", "64KiB", "--time", "60ms", "--kernels", "read", "--json", "a.json"], {"a.json": is_json}),
    (["advise", "--runs", "5", "--try", "cpus", "--json", "a.json", "-q", "--", "true"], {"a.json": is_json}),
    (["audit", "--only", "settings,slit", "--for", "latency", "--time", "2s", "-q", "--json", "a.json"],
     {"a.json": is_json}),
    (["survey", "--only", "latency,cores", "--time", "3s", "-q", "--no-report", "--output", "folder"],
     {"folder/survey.json": is_json, "folder/topology.json": is_json, "folder/topology.xml": is_xml}),
]  # fmt: skip
#: A new file that was to take the place of another.
TEMPORARY = re.compile(r"(.*)\.numatlas-[0-9A-Za-z]{6}$")


def whole_length(words: list[str]) -> float:
    """Seconds of a run that nobody disturbs."""
    with tempfile.TemporaryDirectory() as folder:
        begin = time.monotonic()
        run = subprocess.run([NUMATLAS, *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if run.returncode not in (0, 1, 3, 9):  # 9: on a busy machine `advise` finds no answer
            sys.exit(f"FAILED: {' '.join(words)}: exit code {run.returncode}\n{run.stderr.decode()}")
        return time.monotonic() - begin


def kill_once(words: list[str], files: dict, delay: float, old: bool) -> str:
    """What was wrong; "" when nothing was."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in files:
            (folder / file).parent.mkdir(exist_ok=True)
            if old:
                (folder / file).write_text(OLD)
        process = subprocess.Popen([NUMATLAS, *words], cwd=folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        for file, is_whole in files.items():
            path = folder / file
            if not path.exists():
                # A survey takes away what an earlier one left before it writes anew; no other may.
                if old and words[0] != "survey":
                    return f"{file} is gone"
                continue
            text = path.read_bytes()
            if old and text == OLD.encode():
                continue
            try:
                good = is_whole(text)
            except (ValueError, UnicodeDecodeError, ElementTree.ParseError) as error:
                return f"{file} is not whole: {error}\n{text[:200]!r}"
            if not good:
                return f"{file} is not whole\n{text[:200]!r}"
        written = {folder / file for file in files}
        for path in folder.rglob("*"):
            if path.is_dir() or path in written:
                continue
            temporary = TEMPORARY.match(str(path.relative_to(folder)))
            if words[0] != "survey" and not (temporary and temporary[1] in files):
                return f"{path.relative_to(folder)} was left behind"
    return ""


def main() -> int:
    lengths = [whole_length(words) for words, _ in COMMANDS]
    for number in range(COUNT):
        which = number % len(COMMANDS)
        words, files = COMMANDS[which]
        delay, old = random.uniform(0, lengths[which] * 1.05), random.random() < 0.5
        if wrong := kill_once(words, files, delay, old):
            print(f"FAILED: killed after {delay * 1000:.0f} ms of {lengths[which] * 1000:.0f}"
                  f"{', with an old file' if old else ''}: numatlas {' '.join(words)}\n{wrong}")  # fmt: skip
            return 1
    print(f"{COUNT} kills over {len(COMMANDS)} commands: every file was whole, old or absent")
    return 0


if __name__ == "__main__":
    sys.exit(main())
