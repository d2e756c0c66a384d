"""What the tests of the page read it with, and fleets for them."""

import base64
import json
import zlib
from html.parser import HTMLParser
from pathlib import Path

FLEETS = Path(__file__).resolve().parents[2] / "tests" / "golden" / "fleet"
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


def evil_fleet(tmp_path: Path) -> Path:
    """A fleet with a suspect whose name is markup."""
    data = json.loads((FLEETS / "run1.json").read_text())
    data["hosts"][4]["name"] = EVIL
    data["hosts"][4]["warnings"] = [EVIL]
    data["kinds"][1]["cpu_model"] = EVIL
    data["slow"] = [{"host": EVIL, "kernels": [{"kernel": 1, "drop": 0.2, "mads": 31.5}]}]
    path = tmp_path / "evil.json"
    path.write_text(json.dumps(data))
    return path


def fleet_of(hosts: int, path: Path) -> Path:
    """As `numatlas stream --json`: host 3 is slow."""
    data = json.loads((FLEETS / "run1.json").read_text())
    passes = data["hosts"][0]["rounds"]
    entries = []
    for index in range(hosts):
        slower = (1.25 if index == 3 else 1) * (1 + index % 97 / 5000)
        rounds = [{"node": [seconds * slower for seconds in one["node"]]} for one in passes]
        entries.append(
            {"name": f"cn{index:05}", "kind": 0, "first_rank": index, "rounds": rounds, "placement": "node 0"}
        )
    slow = [{"host": "cn00003", "kernels": [{"kernel": 0, "drop": 0.2, "mads": None}]}]
    path.write_text(json.dumps({**data, "hosts": entries, "slow": slow}))
    return path
