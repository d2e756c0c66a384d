#!/usr/bin/env python3
"""run.py NUMATLAS CASE: files that somebody else wrote; CASES is at the end."""

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FLEET = HERE.parent / "golden" / "fleet"
MACHINES = HERE.parent / "topologies"

#: Sets the title, forges a line, turns what follows, and clears the screen by one character.
EVIL = "cn\x1b]0;title\x07\nwarning: forged\r\u202eback\u009b2J\x7f"
SHOWN = r"cn\x1b]0;title\x07\x0awarning: forged\x0d\u202eback\x9b2J\x7f"
#: All of C0 but the line end, DEL, C1, line ends and directions of Unicode.
ACTS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")

numatlas = sys.argv[1]
folder = Path(tempfile.mkdtemp(prefix="numatlas-hostile-"))


def run(*words, memory=None):
    """The program's exit code and all it said, which must not act on a terminal."""
    limit = (lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory))) if memory else None
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMATLAS_")}
    ended = subprocess.run(
        [numatlas, *map(str, words)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        preexec_fn=limit,
        timeout=100,
        check=False,
    )
    said = ended.stdout.decode("utf-8")
    found = ACTS.search(said)
    assert not found, f"{words}: {found.group()!r} in what it says:\n{said!r}"
    assert "\nwarning: forged" not in said, f"{words}: a forged line:\n{said}"
    return ended.returncode, said


def expect(code, text, *words, **how):
    got, said = run(*words, **how)
    assert got == code, f"{words}: exit code {got}, not {code}:\n{said}"
    assert text in said, f"{words}: does not say {text!r}:\n{said}"
    return said


def write(name, value):
    path = folder / name
    path.write_text(
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), encoding="utf-8"
    )
    return path


def fleet():
    return json.loads((FLEET / "run4.json").read_text())


def names_of_results():
    """check and compare show the names of hosts, of placements and of files."""
    evil = fleet()
    evil["hosts"] = [EVIL + name for name in evil["hosts"]]
    for host in evil["host_rows"]:
        host["placement"] = EVIL
    for case in evil["cases"]:
        case["labels"]["memory"] = EVIL
    evil["warnings"] = [{"code": "placement", "where": EVIL, "text": EVIL}]
    path = write(f"{EVIL}.json", evil)
    expect(1, SHOWN, "check", path)
    expect(1, "0;title", "check", path, "--format", "json")
    expect(9, SHOWN, "compare", path, path, "--all")
    metrics = folder / "metrics.prom"
    run("check", path, "--openmetrics", metrics)
    assert not ACTS.search(metrics.read_text(encoding="utf-8"))


def errors_that_quote():
    command = write("command.json", {"program": "numatlas", "command": EVIL, "schema_version": 2})
    expect(2, SHOWN, "check", command)
    expect(2, SHOWN, "compare", command, command)
    expect(6, "forged", "check", folder / EVIL)
    snapshot = json.loads((MACHINES / "guest-cxl.json").read_text())
    snapshot["nodes"][0]["distance"][EVIL] = 10
    expect(2, "forged", "topology", "--machine", write("machine.json", snapshot))
    expect(2, "forged", "run", write("key.toml", '"a\\u001b\\nwarning: forged" = 1\n'), "--dry-run")
    text = '[[scenario]]\nname = "a\\u009b"\n[[scenario.flow]]\nkernel = "read"\ncpu = 0\n'
    expect(2, "name: expected one line of text without control characters", "run", write("name.toml", text), "--dry-run")


def names_of_machines():
    snapshot = json.loads((MACHINES / "guest-cxl.json").read_text())
    snapshot["host"] = snapshot["cpu_model"] = EVIL
    expect(0, SHOWN, "topology", "--machine", write("machine.json", snapshot))
    expect(0, "0;title", "topology", "--machine", folder / "machine.json", "--format", "json")
    xml = (MACHINES / "cxl-two-sockets.xml").read_text()
    # As bytes: the reader of hwloc that is used knows few of the numbers for letters.
    evil = "a\u009b2J&#10;warning: forged\u202e"
    names = re.findall('<info name="(?:CPUModel|HostName)" value="([^"]*)"', xml)
    for name in names:
        xml = xml.replace(f'value="{name}"', f'value="{evil}"')
    if not names:
        xml = re.sub(
            '(<object type="Machine"[^>]*>)', rf'\1<info name="HostName" value="{evil}"/>', xml, count=1
        )
    expect(0, r"a\x9b2J\x0awarning: forged\u202e", "topology", "--machine", write("machine.xml", xml))


def too_large():
    """A limit that is told, and no more memory than there is."""
    large = folder / "large.json"
    with large.open("w") as file:
        file.write('{"program": "numatlas"')
        file.truncate((256 << 20) + 1)
    for words in (("check", large), ("compare", large, large), ("topology", "--machine", large)):
        expect(5, "is too large:", *words)
    deep = write("deep.json", '{"program": "numatlas", "a": ' + "[" * 100000 + "]" * 100000 + "}")
    for words in (("check", deep), ("compare", deep, deep), ("topology", "--machine", deep)):
        expect(2, "nested deeper than 64 levels", *words)


def little_memory():
    head = '{"program": "numatlas", "command": "latency", "a": ['
    many = write("many.json", head + "[0]," * 12_000_000 + "0]}")
    wide = write("wide.json", head + "0," * 24_000_000 + "0]}")
    for file in (many, wide):
        for words in (("check", file), ("compare", file, file), ("topology", "--machine", file)):
            expect(5, "not enough memory to read its 4", *words, memory=700 << 20)


def split(run_file, prefix):
    """A file a host."""
    whole = json.loads(run_file.read_text())
    files = []
    whole["cases"] = [case for case in whole["cases"] if "finding" not in case["labels"]]
    for i, (name, row) in enumerate(zip(whole["hosts"], whole["host_rows"], strict=True)):
        cases = [{**case, "host_figures": [{**case["host_figures"][i], "host": 0}]} for case in whole["cases"]]
        alone = {**whole, "hosts": [name], "host_rows": [row], "cases": cases}
        files.append(write(f"{prefix}-{i}.json", alone))
    return whole, files


def hosts_of_their_own():
    """Files of different hosts are one fleet; of the same hosts a history; both at once."""
    whole, files = split(FLEET / "run4.json", "d")
    together = expect(1, "SLOW 2 of 7: ", "check", write("whole.json", whole))
    apart = expect(1, "SLOW 2 of 7: ", "check", *files)

    def slow(said):
        return sorted(set(re.findall(r"^(\S+) +slow +stream ", said, re.MULTILINE)))

    assert slow(apart) == slow(together) != [], f"{slow(apart)} and {slow(together)}"
    history = [file for day in (1, 2, 3) for file in split(FLEET / f"run{day}.json", f"e{day}")[1]]
    assert slow(expect(1, "SLOW 2 of 7: ", "check", *history, *files)) == slow(together)
    metrics = folder / "fleet.prom"
    run("check", *files, "--openmetrics", metrics)
    text = metrics.read_text()
    assert f'numatlas_host_slow{{command="check",host="{slow(apart)[0]}"}} 1\n' in text, text
    # One of them says nothing of itself, nor two.
    said = expect(9, "not judged: ", "check", files[0])
    assert said.startswith("NOT JUDGED: 1 host (cn1)\n"), said
    expect(9, "not judged: ", "check", *files[:2], "--openmetrics", metrics)
    text = metrics.read_text()
    assert text.count("numatlas_host_judged{") == 2 and "_host_slow{" not in text, text
    machine = "numa:2(memory=34359738368) l3:1(size=16777216) l2:2(size=1048576) core:1 pu:2"
    expect(
        9,
        "not judged: ",
        "stream",
        "--check",
        "--engine",
        "null",
        "--machine",
        machine,
        "-q",
        "--dat",
        folder,
    )
    expect(0, "STREAM on 1 host", "stream", "--engine", "null", "--machine", machine, "-q", "--dat", folder)


CASES = {
    "names-of-results": names_of_results,
    "names-of-machines": names_of_machines,
    "errors-that-quote": errors_that_quote,
    "too-large": too_large,
    "little-memory": little_memory,
    "hosts-of-their-own": hosts_of_their_own,
}

try:
    CASES[sys.argv[2]]()
finally:
    subprocess.run(["rm", "-rf", str(folder)], check=True)
