"""JSON of commands that judge: read, and shown as lists."""

import json
import os
import subprocess
import sys

from commands import ROOT, command, one_line, program
from made_results import survey
from report_pages import EVIL, FLEETS, Tree

import numatlas
from numatlas.figures import figures_of
from numatlas.figures.model import Listing
from numatlas.report.page import page


def run(folder, *words):
    done = subprocess.run(
        [program(), *words],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )
    assert done.returncode in (0, 1, 9), done.stderr
    return json.loads(done.stdout)


def stored(folder, name, *words):
    path = folder / f"{name}.json"
    path.write_text(json.dumps(run(folder, *words, "--format", "json")))
    return path


def listed(path):
    return next(one.cells for one in figures_of(numatlas.load(path)) if isinstance(one, Listing))


def compared(measure, folder):
    """A matrix against one whose first figure is a third longer."""
    base = measure("matrix", "guest-tiers.json")
    data = json.loads(base.read_text())
    for flow in data["cases"][0]["flows"]:
        for end in ("value", "low", "high"):
            flow["figures"][0]["estimate"][end] *= 1.5
    new = folder / "new.json"
    new.write_text(json.dumps(data))
    return stored(folder, "compare", "compare", str(base), str(new))


def test_what_compare_writes_is_read(measure, tmp_path):
    path = compared(measure, tmp_path)
    result = numatlas.load(path)
    rows = json.loads(path.read_text())["cases"]
    assert result.kind == "compare" and len(result.rows) == len(rows)
    listing = figures_of(result)[0]
    assert len(listing.cells) == sum(row["labels"]["shown"] == "yes" for row in rows)
    slower = next(row for row in listing.cells if row[0] == "slower")
    assert "+50.0 %" in slower and all(" ns" in text for text in slower[4:6])
    tree = Tree(page([result]))
    assert tree.find("h1")[0]["text"].startswith("SLOWER 1 of ")
    assert "Simulated: nothing was measured" in tree.find(class_="banner")[0]["text"]
    assert not tree.find(class_="metric")


def test_what_check_writes_is_read(tmp_path):
    files = [str(FLEETS / f"run{number}.json") for number in (1, 2, 3, 4)]
    result = numatlas.load(stored(tmp_path, "check", "check", *files))
    listing, hosts = figures_of(result)
    assert [row[0] for row in listing.cells] == ["cn2", "cn2", "cn5", "cn5"]
    assert [row[0] for row in hosts.cells] == [f"cn{number}" for number in range(1, 8)]
    text = page([result])
    tree = Tree(text)
    (title,) = tree.find("h1", class_="bad")
    assert title["text"].startswith("SLOW 2 of 7: cn2 (triad -20 %")
    assert text.count(title["text"]) == 2, "in the title, and in that of the window"
    assert [cell["text"] for cell in tree.find("td", class_="bad")] == ["slow"] * 4
    assert ">nan<" not in text and not tree.find(class_="metric")


def test_check_of_any_command_shows_the_slow_host(tmp_path):
    """Of each value in the unit that suits it, and of hosts that nobody could judge why."""
    make = ROOT / "tests" / "golden" / "compare" / "make.py"
    subprocess.run([sys.executable, make, tmp_path, program()], check=True)
    words = ["check", "fleet", "--expect", "bandwidth_sum=900GB/s"]
    result = numatlas.load(stored(tmp_path, "check", *words))
    slow, below, normal, hosts = figures_of(result)
    assert slow.cells[0][:2] == ["n3", "slow"] and slow.cells[0][5:8] == ["139 GB/s", "175 GB/s", "-20.2 %"]
    assert [row[1] for row in normal.cells] == ["not judged"] * 5, "they are simulated"
    assert len(below.cells) == 5 and "900 GB/s" in below.cells[0]
    assert next(row for row in hosts.cells if row[0] == "n3")[1:4] == ["1", "1", "0"]
    tree = Tree(page([result]))
    assert tree.find("h1")[0]["text"].startswith("SLOW 1 of 5: n3 (read 1MiB base -20 %")
    identities = [one["id"] for one in tree.find("article")]
    assert len(set(identities)) == 4
    text = page([numatlas.load(stored(tmp_path, "judged", "check", "fleet"))])
    assert "not judged: odd" in Tree(text).find("section", id="warnings")[0]["text"]


def test_claims_of_firmware_and_checks_of_the_program_are_read(tmp_path):
    machine = str(ROOT / "tests" / "topologies" / "cxl-tiers.json")
    words = ["audit", "--engine", "null", "-q", "--machine", machine, "--only", "slit,hmat,dimms"]
    path = stored(tmp_path, "audit", *words)
    claims = listed(path)
    assert claims[0][:3] == ["contradicted", "hmat", "node 2 latency"]
    text = page([numatlas.load(path)])
    assert "nothing is recorded of this machine" in text, "what was not judged, and why"
    tree = Tree(text)
    assert tree.find("h1")[0]["text"].startswith("numatlas audit: 6 of 18 claims contradicted: hmat ")
    assert [one["command"] for one in json.loads(path.read_text())["results"]] == ["matrix"]
    checks = listed(stored(tmp_path, "selftest", "selftest", "--only", "chain,ranks"))
    assert [row[:2] for row in checks] == [["passed", "chain"]]


def test_names_act_nowhere(tmp_path):
    data = json.loads((FLEETS / "run4.json").read_text())
    data["hosts"][1] = EVIL
    path = tmp_path / "run.json"
    path.write_text(json.dumps(data))
    assert "<b>x</b>" not in page([numatlas.load(stored(tmp_path, "check", "check", str(path)))])


def test_a_list_is_no_picture(measure, tmp_path):
    for kind in ("compare", "check"):
        done = command("plot", kind, compared(measure, tmp_path), folder=tmp_path)
        one_line(done, 3, f"nothing to plot as {kind}")


def test_files_of_verdicts_and_of_results_share_a_page(measure, tmp_path):
    result = numatlas.load(compared(measure, tmp_path))
    tree = Tree(page([result, numatlas.load(survey(tmp_path / "a.json"))]))
    kinds = [section["id"] for section in tree.find("section") if section["id"].startswith("section-")]
    assert kinds[0] == "section-compare" and "section-matrix" in kinds
