"""What the tests of the page read it with, and fleets for them."""

import base64
import csv
import io
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
    head, *rows = csv.reader(io.StringIO(zlib.decompress(base64.b64decode(script["text"])).decode()))
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


def host_figures(report: dict, case: dict) -> list[dict]:
    """What `numatlas stream` makes of hosts' passes: the median bandwidth and its range; B/s."""
    size = case["figures"][0]["estimate"]["value"]
    found = []
    for index, (host, totals) in enumerate(zip(report["host_rows"], case["host_figures"], strict=True)):
        seconds = totals.get("passes", {"node": []})["node"][1:]
        rates = [size * host["processes"] / one for one in seconds if one]
        ends = {"low": min(rates), "high": max(rates)} if rates else {}
        value = {"value": median(rates), **ends, "n": len(rates), "method": "samples"} if rates else None
        figure = {"key": "bandwidth", "unit": "B/s", "estimate": value, "summary": None}
        found.append({**totals, "host": index, "figures": [figure]})
    return found


def measured(report: dict) -> list[dict]:
    """Cases that hosts measured; the others are verdicts."""
    return [case for case in report["cases"] if "finding" not in case["labels"]]


def finding(host: str, case: str, change: float, deviations: float | None) -> dict:
    """A case that says who is slow."""
    labels = {"finding": "slow", "host": host, "of_command": "stream", "case": case}
    values = {"change": change, "deviations": deviations}
    none = {"low": None, "high": None, "n": 0, "method": "none"}
    figures = [
        {"key": key, "unit": "1", "estimate": {"value": value, **none} if value else None, "summary": None}
        for key, value in values.items()
    ]
    return {"name": f"{host} {case}", "labels": labels, "figures": figures}


def with_verdicts(report: dict, path: Path, slow: list[dict], not_judged: list[str] | None = None) -> Path:
    """A fleet whose hosts were changed, with their figures made anew and these verdicts."""
    cases = measured(report)
    for case in cases:
        case["host_figures"] = host_figures(report, case)
    blank = {**report["cases"][-1], "host_figures": []}
    report["cases"] = cases + [{**blank, **one} for one in [*slow, {}]]
    told = [{"code": "not-judged", "where": None, "text": f"not judged: {why}"} for why in not_judged or []]
    others = [one for one in report["warnings"] if one["code"] != "not-judged"]
    report["warnings"] = others + told
    path.write_text(json.dumps(report))
    return path


def evil_fleet(tmp_path: Path) -> Path:
    """A fleet with a suspect whose name is markup."""
    data = json.loads((FLEETS / "run1.json").read_text())
    data["hosts"][4] = EVIL
    data["warnings"] = [{"code": "placement", "where": EVIL, "text": EVIL}]
    data["machines"][1]["cpu_model"] = EVIL
    return with_verdicts(data, tmp_path / "evil.json", [finding(EVIL, "triad", -0.2, 31.5)])


def fleet_of(hosts: int, path: Path) -> Path:
    """As `numatlas stream --json`: host 3 is slow."""
    data = json.loads((FLEETS / "run1.json").read_text())
    times = ("node", "slowest", "fastest", "process_sum")
    data["hosts"] = [f"cn{index:05}" for index in range(hosts)]
    data["host_rows"] = [{**data["host_rows"][0], "first_rank": index} for index in range(hosts)]
    for case in measured(data):
        first = case["host_figures"][0]["passes"]
        case["host_figures"] = []
        for index in range(hosts):
            slower = (1.25 if index == 3 else 1) * (1 + index % 97 / 5000)
            scaled = {name: [seconds * slower for seconds in first[name]] for name in times}
            case["host_figures"].append({"passes": {**first, **scaled}})
    return with_verdicts(data, path, [finding("cn00003", "copy", -0.2, None)])
