"""What the README claims: its figures are those of the survey that it names, sizes those of the pages that
are made, first lines those that the documents beside it show."""

import os
import re
import subprocess

import pytest
from commands import ROOT, SURVEYS, program

import numatlas
from numatlas.facts import facts
from numatlas.report.page import page

README = (ROOT / "README.md").read_text(encoding="utf-8")
FIGURE = re.compile(r"\d[\d.]* (?:ns|GB/s)(?: ±[\d.]+ %)?")
SIZES = re.compile(r"(\d\.\d+) to (\d\.\d+) MB")
#: Documents that say how large a page is.
DOCUMENTS = ("README.md", "python/README.md", "docs/performance.md")


def test_its_figures_are_those_of_the_survey():
    every = facts(numatlas.load(SURVEYS / "h100.json")).itertuples()
    told = {f"{one.text} {one.spread.removesuffix('*')}" for one in every}
    table = README[README.index("| survey of the machine above") : README.index("The page opens")]
    found = FIGURE.findall(table)
    assert len(found) == 17
    assert [one for one in found if one not in told] == []
    picture = FIGURE.findall(README[: README.index("## Install")])
    assert len(picture) == 4 and all(any(text.startswith(one.split()[0]) for text in told) for one in picture)


@pytest.mark.parametrize("name", sorted(path.name for path in SURVEYS.glob("*.json")))
def test_a_page_is_as_large_as_it_says(name):
    size = len(page([numatlas.load(SURVEYS / name)]).encode()) / 1e6
    for document in DOCUMENTS:
        ends = SIZES.search((ROOT / document).read_text(encoding="utf-8"))
        assert ends and float(ends[1]) <= size <= float(ends[2]), document


def test_its_answers_are_shown_by_the_documents():
    blocks = re.findall(r"```\n(SLOW.*?|thp: .*?)```", README, re.DOTALL)
    assert len(blocks) == 2
    documents = [(ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("operators.md", "advise.md")]
    for block, document in zip(blocks, documents, strict=True):
        assert all(line in document for line in block.splitlines())


def test_its_commands_are_there():
    told = subprocess.run([program(), "--help-all"], capture_output=True, text=True, check=True).stdout
    listed = set(re.findall(r"^  (\w[\w-]*)", told, re.MULTILINE))
    code = re.findall(r"```\n.*?```|`[^`]+`", README, re.DOTALL)
    named = {name for text in code for name in re.findall(r"numatlas\s+(\w+)", text)}
    assert len(named) >= 10 and named <= listed
    assert (
        set(re.findall(r"`(\w+)`", README[README.index("one question at a time") :].split("(")[0])) <= listed
    )


def test_the_first_screen_has_both_scripts():
    """As typed, with what each does and how long it takes."""
    lines = README.splitlines()[:25]
    for script in ("scripts/run", "scripts/test"):
        (told,) = [line for line in lines if line.startswith(f"{script} ")]
        assert re.search(r"# .*: \d+ minutes on ", told)
        assert os.access(ROOT / script, os.X_OK)


def test_it_is_short():
    assert len(README.splitlines()) <= 110
