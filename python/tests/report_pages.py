"""What the tests of the page read it with, and fleets for them."""

import base64
import json
import zlib
from html.parser import HTMLParser
from pathlib import Path
from statistics import median

from commands import ROOT

FLEETS = ROOT / "tests" / "golden" / "fleet"
VOID = {"img", "input", "br", "meta"}
#: Markup in a name or reason: shown as it is, never obeyed.
EVIL = '<b>x</b><script>document.documentElement.dataset.error="obeyed"</script>&"\'</script><!--'


class Tree(HTMLParser):
    """Every element with its attributes, its text and the elements that it stands in; closes must fit."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[dict] = []
        self.all: list[dict] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list) -> None:
        element = {"tag": tag, "text": "", "within": [*self.open], **dict(attrs)}
        self.all.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()["tag"] == tag

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element["text"] += data

    def find(self, tag: str = "", within: dict | None = None, **attributes: str) -> list[dict]:
        """Elements with these attributes (`class_`: one of its words)."""

        def fits(element: dict) -> bool:
            words = (element.get("class") or "").split()
            return (
                (not tag or element["tag"] == tag)
                and (within is None or any(outer is within for outer in element["within"]))
                and all(
                    value in words if key == "class_" else element.get(key.replace("_", "-")) == value
                    for key, value in attributes.items()
                )
            )

        return [element for element in self.all if fits(element)]


def table_of(tree: Tree, identity: str) -> list[dict]:
    """Rows of the raw numbers, read as page.js reads them; numbers as such."""
    (script,) = tree.find("script", id=identity)
    assert "data-packed" in script
    lines = zlib.decompress(base64.b64decode(script["text"])).decode().removesuffix("\n").split("\n")
    head, *rows = (line.split("\t") for line in lines)
    return [dict(zip(head, map(_value, row), strict=True)) for row in rows]


def _value(text: str) -> str | float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return text


def fact(
    key: str, words: str, value: float, where: dict | None = None, unit: str = "1", ends: tuple = (None, None)
) -> dict:
    """One of those that a survey shows in short."""
    estimate = {"value": value, "low": ends[0], "high": ends[1], "n": 1, "method": "none"}
    shown = {"heading": None, "line": None}
    return {"key": key, "where": where or {}, "words": words, "unit": unit, "estimate": estimate, **shown}


def host_figure(fleet: dict, host: int, kernel: int) -> list[dict]:
    """What `numatlas stream` makes of a host's rounds: the median bandwidth and its range; B/s."""
    one = fleet["hosts"][host]
    moved = fleet["kernels"][kernel]["bytes"] * fleet["kinds"][one["kind"]]["processes"]
    rates = [moved / seconds for seconds in one["rounds"][kernel]["node"][1:] if seconds]
    if not rates:
        return []
    value = {
        "value": median(rates),
        "low": min(rates),
        "high": max(rates),
        "n": len(rates),
        "method": "samples",
    }
    figure = {"key": "bandwidth", "unit": "B/s", "estimate": value, "summary": None}
    return [{"host": host, "figures": [figure]}]


def with_verdicts(report: dict, path: Path, slow: list[dict], not_judged: list[str] | None = None) -> Path:
    """A fleet whose hosts were changed, with their figures made anew and these verdicts."""
    fleet = report["fleet"]
    names = report["hosts"] = [host["name"] for host in fleet["hosts"]]
    for kernel, case in enumerate(report["cases"]):
        case["host_figures"] = [one for host in range(len(names)) for one in host_figure(fleet, host, kernel)]
    found = [{**one, "host": names.index(one["host"])} for one in slow]
    fleet["slow"] |= {"hosts": found, "not_judged": not_judged or [], "unjudged": []}
    path.write_text(json.dumps(report))
    return path


def evil_fleet(tmp_path: Path) -> Path:
    """A fleet with a suspect whose name is markup."""
    data = json.loads((FLEETS / "run1.json").read_text())
    data["fleet"]["hosts"][4]["name"] = EVIL
    data["warnings"] = [{"code": "placement", "where": EVIL, "text": EVIL}]
    data["fleet"]["kinds"][1]["cpu_model"] = EVIL
    slow = [{"host": EVIL, "kernels": [{"kernel": 1, "drop": 0.2, "mads": 31.5}]}]
    return with_verdicts(data, tmp_path / "evil.json", slow)


def fleet_of(hosts: int, path: Path) -> Path:
    """As `numatlas stream --json`: host 3 is slow."""
    data = json.loads((FLEETS / "run1.json").read_text())
    first = data["fleet"]["hosts"][0]
    times = ("node", "slowest", "fastest", "process_sum")
    data["fleet"]["hosts"] = []
    for index in range(hosts):
        slower = (1.25 if index == 3 else 1) * (1 + index % 97 / 5000)
        rounds = [
            {**one, **{name: [seconds * slower for seconds in one[name]] for name in times}}
            for one in first["rounds"]
        ]
        data["fleet"]["hosts"].append(
            {**first, "name": f"cn{index:05}", "first_rank": index, "rounds": rounds}
        )
    slow = [{"host": "cn00003", "kernels": [{"kernel": 0, "drop": 0.2, "mads": None}]}]
    return with_verdicts(data, path, slow)
