"""The page of results: what stands in it, what must not, and, where there is a chromium, what it does."""

import base64
import csv
import io
import json
import os
import re
import shutil
import subprocess
import zlib
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

import numatlas
from numatlas.figures import figures_of
from numatlas.report.colours import LEAST_RANGE, STOPS, colour, ink_on, scale_of
from numatlas.report.markup import el, identifier
from numatlas.report.page import page
from numatlas.report.ranges import numbers_of, ranges_of

FLEETS = Path(__file__).resolve().parents[2] / "tests" / "golden" / "fleet"
VOID = {"img", "input", "br", "meta"}
#: Markup in a name or reason: shown as it is, never obeyed.
EVIL = '<script>document.documentElement.dataset.error="obeyed"</script>&"\'</script><!--'


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
    """Rows of the raw numbers, read as page.js reads them."""
    (script,) = tree.find("script", id=identity)
    packed = "data-packed" in script
    table = json.loads(zlib.decompress(base64.b64decode(script["text"])) if packed else script["text"])
    columns = {}
    for column in table["columns"]:
        if "same" in column:
            values = [column["same"]] * table["rows"]
        else:
            words = column.get("words")
            values = [words[code] for code in column["codes"]] if words else column["values"]
        assert len(values) == table["rows"]
        columns[column["name"]] = values
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


@pytest.fixture(scope="module")
def survey(measure: Callable, plain: Callable, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the results of several commands in one file."""
    words = {
        "latency": ["--size", "32KiB,1MiB,64MiB"],
        "matrix": [],
        "loaded": [],
        "cores": [],
        "touch": [],
        "weights": [],
    }
    parts = [
        plain(measure(name, "guest-tiers.json", *options, "--no-samples")) for name, options in words.items()
    ]
    folder = tmp_path_factory.mktemp("a-folder-nobody-tells")
    data = {
        "schema_version": 1,
        "program": "numatlas",
        "version": "0.1.0",
        "command": "survey",
        "arguments": ["survey"],
        "started": "2026-11-01T10:01:05Z",
        "seconds": 12.5,
        "summary": [
            {
                "key": "a",
                "words": "Idle latency",
                "value": 8.125e-8,
                "unit": "s",
                "low": 8e-8,
                "high": 8.2e-8,
            },
            {"key": "b", "words": "Copies to a GPU", "value": None, "unit": "B/s"},
        ],
        "warnings": parts[0]["warnings"],
        "skipped": [{"benchmark": "transfer", "reason": f"no GPU {EVIL}"}],
        "machine": parts[0]["machines"][0],
        "results": [{**part, "machines": []} for part in parts],
    }
    (folder / "survey.json").write_text(json.dumps(data))
    return folder


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


# ---- What stands in the page


def test_every_figure_tells_spread_placement_warnings_and_numbers(survey):
    result = numatlas.load(survey)
    tree = Tree(page([result], ""))
    wanted = figures_of(result)
    articles = tree.find("article")
    assert [tree.find("h4", within=one)[0]["text"] for one in articles] == [f"{one.title}#" for one in wanted]
    for article, figure in zip(articles, wanted, strict=True):
        assert tree.find(within=article, class_="warnings"), figure.key
        if article["data-kind"] == "MachinePicture":
            continue
        (spread,) = tree.find("dd", within=article, class_="spread")
        (placement,) = tree.find("dd", within=article, class_="placement")
        assert spread["text"] == figure.spread
        assert placement["text"] == figure.placement
        for name in ("copy", "download"):
            assert tree.find("button", within=article, class_=name, data_table=f"numbers-{article['id']}")
        rows = table_of(tree, f"numbers-{article['id']}")
        assert [row["value"] for row in rows] == list(figure.data["value"])


def test_anchors_lead_somewhere_and_identities_are_unique(survey):
    tree = Tree(page([numatlas.load(survey), numatlas.load(survey)], ""))
    identities = [element["id"] for element in tree.all if element.get("id")]
    assert len(identities) == len(set(identities))
    targets = {link["href"] for link in tree.find("a")}
    assert "#warning-1" in targets
    assert targets <= {f"#{identity}" for identity in identities}


def test_head_tells_run_summary_and_what_was_skipped(survey):
    tree = Tree(page([numatlas.load(survey)], ""))
    (runs,) = tree.find("section", id="runs")
    for words in ("numatlas survey", "2026-11-01 10:01:05 UTC, 12.5 s", "survey.json", "0.1.0"):
        assert words in runs["text"]
    facts = [element["text"] for element in tree.find(class_="fact")]
    assert facts == ["Idle latency81.25 ns80.00 ns to 82.00 ns", "Copies to a GPUnot measured"]
    (skipped,) = tree.find("section", id="skipped")
    assert "transfer: no GPU" in skipped["text"]


def test_a_survey_with_pieces_missing_is_a_page_all_the_same(survey, tmp_path):
    data = json.loads((survey / "survey.json").read_text())
    for name in ("summary", "warnings", "skipped", "arguments", "started", "seconds", "version"):
        del data[name]
    data["machine"] = {"nodes": [{"id": 0}], "gpus": [{}], "cpus": [{"id": 0}]}
    (tmp_path / "survey.json").write_text(json.dumps(data))
    tree = Tree(page([numatlas.load(tmp_path)], ""))
    assert not tree.find("section", id="summary")
    assert len(tree.find("article")) == len(figures_of(numatlas.load(survey)))


def test_warnings_of_all_figures_stand_once(survey):
    result = numatlas.load(survey)
    text = page([result], "")
    tree = Tree(text)
    (section,) = tree.find("section", id="warnings")
    assert section["text"].count("no measurement") == 1
    assert section["text"].index("no measurement") < section["text"].index("numa_balancing")
    for article in tree.find("article"):
        if article["data-kind"] != "MachinePicture":
            assert "no measurement" not in article["text"]
            links = [link["href"] for link in tree.find("a", within=article)]
            assert "#warning-1" in links


def test_nothing_is_loaded_and_no_folder_is_told(survey):
    text = page([numatlas.load(survey)], "")
    tree = Tree(text)
    for element in tree.all:
        for name in ("src", "srcset", "data", "action", "poster"):
            assert not element.get(name) or element[name].startswith("data:"), element
        assert element["tag"] not in ("link", "iframe", "object", "base")
        if element.get("href"):
            assert element["href"].startswith("#")
    styles = "".join(element["text"] for element in tree.find("style"))
    assert "@import" not in styles and "url(" not in styles
    assert survey.name not in text and str(survey.parent) not in text


def test_markup_in_data_is_text(tmp_path):
    text = page([numatlas.load(evil_fleet(tmp_path))], f"of {EVIL}")
    tree = Tree(text)
    assert not [one for one in tree.find("script") if "obeyed" in one["text"] and not one.get("type")]
    # Where it stands as text, it is whole.
    assert tree.find("h1")[0]["text"] == f"of {EVIL}"
    (suspects,) = tree.find("ol", class_="suspects")
    assert suspects["text"].startswith(f"{EVIL}: triad 20.0 % below the median of its kind, 31.5 MADs")
    rows = table_of(tree, "numbers-stream")
    assert EVIL in {row["host"] for row in rows}
    assert "<script>document" not in text


def test_matrix_cells_have_the_numbers_and_the_better_end(measure):
    result = numatlas.load(measure("matrix", "guest-tiers.json", "--no-samples"))
    (figure,) = [one for one in figures_of(result, "matrix") if one.key.startswith("matrix-latency")]
    tree = Tree(page([result], ""))
    (article,) = tree.find("article", id=identifier(figure.key))
    cells = [cell for cell in tree.find("td", within=article) if cell.get("style")]
    values = [value for row in figure.values for value in row]
    for cell, value in zip(cells, values, strict=True):
        assert abs(float(re.match(r"[\d.]+", cell["title"].split(": ")[1])[0]) - value) < 0.001 * value
        assert " to " in cell["text"]
    best = cells[values.index(min(values))]["style"]
    assert best == "background:#{:02x}{:02x}{:02x};color:#000".format(*STOPS[-1])
    (legend,) = tree.find(class_="scale-line", within=article)
    assert "less is better" in legend["text"]


def test_an_empty_cell_says_why(measure):
    result = numatlas.load(measure("matrix", "guest-tiers.json", "--no-samples"))
    (figure,) = [one for one in figures_of(result, "matrix") if one.key.startswith("matrix-latency")]
    from numatlas.report.matrix import common_scale, matrix

    scale = common_scale([figure])
    figure.values[0][1] = None
    figure.whys = [["" for _ in row] for row in figure.values]
    figure.whys[0][1] = "too little memory"
    tree = Tree(matrix(figure, "one", scale, shared=False))
    (absent,) = tree.find("td", class_="absent")
    assert absent["title"] == "too little memory"


def test_large_maps_are_an_image_of_as_many_cells():
    from numatlas.figures.model import Matrix
    from numatlas.report.matrix import common_scale, matrix

    names = [str(index) for index in range(40)]
    values = [[10.0 + row + column for column in range(40)] for row in range(40)]
    figure = Matrix("m", "m", rows=names, columns=names, unit="ns", values=values, low=values, high=values)
    tree = Tree(matrix(figure, "m", common_scale([figure]), shared=False))
    (image,) = tree.find("img")
    raw = base64.b64decode(image["src"].partition(",")[2])
    assert raw[:8] == b"\x89PNG\r\n\x1a\n" and raw[16:24] == bytes([0, 0, 0, 40, 0, 0, 0, 40])
    pixels = zlib.decompress(raw[raw.index(b"IDAT") + 4 : -16])
    assert tuple(pixels[1:4]) == STOPS[-1] and tuple(pixels[-4:-1]) == STOPS[0]
    assert not tree.find("td")


def test_small_differences_do_not_get_the_whole_scale():
    low, high = scale_of([100.0, 100.5])
    assert high - low == pytest.approx(LEAST_RANGE * 100.25)
    assert scale_of([50.0, 100.0]) == (50.0, 100.0)
    assert colour(100.0, (50.0, 100.0), less_is_better=True) == STOPS[0]
    assert ink_on(STOPS[0]) == "#fff" and ink_on(STOPS[-1]) == "#000"


# ---- Several files


def test_several_files_stand_side_by_side_on_one_scale(measure):
    paths = [
        measure("matrix", name, "--no-samples") for name in ("guest-four-nodes.json", "guest-tiers.json")
    ]
    results = [numatlas.load(path) for path in paths]
    tree = Tree(page(results, ""))
    names = [row["text"] for row in tree.find("th", scope="row", within=tree.find("table", class_="runs")[0])]
    assert len(set(names)) == 2
    keys = [{one.key for one in figures_of(result, "matrix")} for result in results]
    both = keys[0] & keys[1]
    assert both
    groups = tree.find(class_="several")
    assert len(groups) == len(both)
    for group in groups:
        labels = [one["text"] for one in tree.find("p", within=group, class_="file")]
        assert labels == names
        first, second = (one["text"] for one in tree.find(class_="scale-line", within=group))
        assert first == second and "one scale for all files" in first
    wanted = sum(len(figures_of(result)) for result in results)
    assert len(tree.find("article")) == wanted  # two machines, and all matrices


def test_the_same_machine_is_drawn_once(survey, measure):
    paths = [measure(name, "guest-tiers.json", "--no-samples") for name in ("matrix", "cores")]
    tree = Tree(page([numatlas.load(path) for path in paths], ""))
    (machine,) = tree.find("article", data_kind="MachinePicture")
    for path in paths:
        assert path.name in tree.find("p", within=machine, class_="file")[0]["text"]


def test_machine_has_its_nodes_gpus_and_memory_without_cpus(measure):
    result = numatlas.load(measure("matrix", "two-sockets-four-gpus.json", "--no-samples"))
    tree = Tree(page([result], ""))
    (article,) = tree.find("article", data_kind="MachinePicture")
    nodes = tree.find(class_="node", within=article)
    assert [node["text"][:6] for node in nodes] == ["Node 0", "Node 1", "Node 2"]
    assert "CXL" in nodes[2]["text"] and "no CPUs; nearest: node 0" in nodes[2]["text"]
    memory = [row["memory_total"] for row in table_of(tree, "numbers-machine")]
    assert memory == [node["memory_total"] for node in result.machines[0]["nodes"]]
    assert [len(tree.find(class_="gpu", within=node)) for node in nodes] == [2, 2, 0]
    assert [len(tree.find(class_="cpu", within=node)) for node in nodes] == [8, 8, 0]


# ---- Fleets


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


def test_a_fleet_is_told_in_sum_first(tmp_path):
    result = numatlas.load(fleet_of(500, tmp_path / "fleet.json"))
    tree = Tree(page([result], ""))
    (sums,) = tree.find("table", class_="sums")
    rows = [row for row in tree.find("tr", within=sums) if row["text"].startswith(("copy", "triad"))]
    assert [len(tree.find("svg", within=row)) for row in rows] == [1, 1]
    (article,) = tree.find("article")
    assert article["text"].index("Suspects: 1 of 500 hosts") < article["text"].index("cn00003")
    assert "cn00003: copy 20.0 % below the median of its kind" in article["text"]
    assert not tree.find(class_="plain-hosts")
    values = [row["value"] for row in table_of(tree, "numbers-stream")]
    assert values == list(result.hosts["value"])


def test_ten_thousand_hosts_stay_below_20_mb(tmp_path):
    text = page([numatlas.load(fleet_of(10_000, tmp_path / "fleet.json"))], "")
    assert 1_000_000 < len(text.encode()) < 20_000_000


def test_a_file_without_machine_and_spread_says_so(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("size (MB), 0, 1\n1, 12.5, 12.25\n64, 80.0, 90.5\n")
    tree = Tree(page([numatlas.load(path)], ""))
    assert "the file has no spread" in tree.find("dd", class_="spread")[0]["text"]
    assert "90.50" in tree.find("details", class_="numbers")[0]["text"]


def test_no_verdict_is_not_called_a_good_one():
    tree = Tree(page([numatlas.load(FLEETS / "run1.json")], ""))
    assert "Nobody looked for slow hosts" in tree.find("article")[0]["text"]
    assert "No suspects" not in tree.find("article")[0]["text"]


# ---- Pieces


def test_markup_escapes_all_but_its_own():
    made = el("p", "<b>", el("i", "&"), None, ["x", el("br")], title='"<', class_="a", hidden=True, id=None)
    assert made == '<p title="&quot;&lt;" class="a" hidden>&lt;b&gt;<i>&amp;</i>x<br></p>'


def test_lists_of_numbers():
    assert numbers_of("0-2,8, 10-11") == [0, 1, 2, 8, 10, 11]
    assert ranges_of([8, 0, 1, 2, 11, 10]) == "0-2,8,10-11"
    assert numbers_of("") == [] and ranges_of([]) == ""


# ---- In a browser


def chromium() -> str:
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not found:
        pytest.skip("no chromium and no google-chrome is installed, and CHROMIUM names none")
    return found


#: A frame has any width; a window of a browser without a screen is at least 500 pixels wide.
FRAME = """<iframe src="{address}" style="border:0;width:{width}px;height:3000px"></iframe><pre></pre>
<script>
const look = setInterval(() => {{
  const shown = frames[0].document, root = shown.documentElement;
  if (!root.dataset.all && !root.dataset.error) return;
  clearInterval(look);
  {act}
  document.querySelector("pre").textContent = JSON.stringify({{...root.dataset, wide: root.scrollWidth,
    plots: [...shown.querySelectorAll(".plot")].map((one) => one.querySelectorAll(".main-svg").length),
    colour: frames[0].getComputedStyle(shown.body).backgroundColor,
    hosts: [...shown.querySelectorAll(".hosts tbody th")].map((one) => one.textContent),
    details: [...shown.querySelectorAll(".details td")].map((one) => one.textContent),
    under: shown.querySelector(".under-pointer")?.textContent ?? null,
    raw: shown.querySelector("details.raw[open] pre")?.textContent ?? null}});
}}, 50);
</script>"""


def browse(path: Path, width: int = 1280, dark: bool = False, anchor: str = "", act: str = "") -> dict:
    """What the page says of itself, and what it looks like from outside."""
    frame = path.with_name(f"frame-{width}-{path.name}")
    frame.write_text(FRAME.format(address=f"{path.name}{anchor}", width=width, act=act))
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"]
    flags += [f"--blink-settings=preferredColorScheme={0 if dark else 1}", "--virtual-time-budget=60000"]
    shown = subprocess.run(
        [chromium(), *flags, "--window-size=1400,3200", "--dump-dom", frame.as_uri()],
        capture_output=True,
        text=True,
        timeout=180,
    )
    found = re.search(r"<pre>({.*?})</pre>", shown.stdout, re.DOTALL)
    assert found, shown.stdout[:300] + shown.stderr[-300:]
    return json.loads(found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_a_browser_draws_all_of_a_survey(survey, tmp_path, width, dark):
    chromium()
    path = tmp_path / "page.html"
    path.write_text(page([numatlas.load(survey)], ""))
    told = browse(path, width, dark)
    assert "error" not in told
    assert told["ready"] == "yes"
    assert told["wide"] <= width
    assert told["plots"] and all(told["plots"])
    brightness = sum(int(part) for part in re.findall(r"\d+", told["colour"])[:3])
    assert brightness < 200 if dark else brightness > 600


@pytest.mark.parametrize("width", [1280, 360])
def test_a_browser_draws_a_fleet_whose_names_are_markup(tmp_path, width):
    chromium()
    path = tmp_path / "page.html"
    path.write_text(page([numatlas.load(evil_fleet(tmp_path))], ""))
    told = browse(path, width)
    assert "error" not in told
    assert len(told["hosts"]) == 7 and EVIL in told["hosts"]
    assert told["wide"] <= width and all(told["plots"])


def test_a_large_fleet_fills_a_page_of_its_list(tmp_path):
    chromium()
    path = tmp_path / "page.html"
    path.write_text(page([numatlas.load(fleet_of(2500, tmp_path / "fleet.json"))], ""))
    told = browse(path)
    assert "error" not in told and told["hosts"] == [f"cn{index:05}" for index in range(100)]


def test_hosts_are_sorted_found_and_told_of(tmp_path):
    chromium()
    source = fleet_of(250, tmp_path / "fleet.json")
    result = numatlas.load(source)
    path = tmp_path / "page.html"
    path.write_text(page([result], ""))
    by_verdict = "[...shown.querySelectorAll('.hosts thead button')].at(-1).click();"
    told = browse(path, act=f"{by_verdict} shown.querySelector('.hosts tbody tr').click();")
    assert "error" not in told and told["hosts"][0] == "cn00003"
    rounds = result.rounds[(result.rounds["host"] == "cn00003") & result.rounds["counted"]]
    for number, kernel in enumerate(("copy", "triad")):
        wanted = rounds[rounds["kernel"] == kernel]["bandwidth"] * 1e-9
        value, _, _, shown = told["details"][4 * number : 4 * number + 4]
        assert [float(word) for word in shown.split()] == pytest.approx(list(wanted), rel=1e-3)
        assert float(value) == pytest.approx(wanted.median(), rel=1e-3)
    search = "const box = shown.querySelector('.hosts-bar input'); box.value = 'N0024';"
    told = browse(path, act=f"{search} box.dispatchEvent(new frames[0].Event('input'));")
    assert told["hosts"] == [f"cn0024{digit}" for digit in range(10)]


def test_the_button_turns_the_light_and_the_buttons_of_a_figure_answer(survey, tmp_path):
    chromium()
    path = tmp_path / "page.html"
    path.write_text(page([numatlas.load(survey)], ""))
    every = "for (const one of shown.querySelectorAll('button:not(.download)')) one.click();"
    told = browse(path, act=every)
    assert "error" not in told
    assert told["theme"] == "dark" and told["colour"] == "rgb(20, 23, 26)"
    assert all(told["plots"])


@pytest.mark.parametrize("key", ["latency-ladder", "machine-none"])
def test_the_csv_of_the_page_is_the_file(survey, tmp_path, key):
    chromium()
    result = numatlas.load(survey)
    path = tmp_path / "page.html"
    path.write_text(page([result], ""))
    told = browse(path, anchor=f"#raw-{key}")
    if key == "machine-none":  # nothing is opened by an anchor that is not there
        assert told["raw"] is None and "error" not in told
        return
    rows = list(csv.DictReader(io.StringIO(told["raw"])))
    plain = [
        (scenario["size"], metric["value"])
        for part in json.loads((survey / "survey.json").read_text())["results"]
        if part["command"] == "latency"
        for scenario in part["scenarios"]
        for flow in scenario["flows"]
        for metric in flow["metrics"]
        if metric["name"] == "latency"
    ]
    assert len(plain) == 3
    assert [(float(row["size"]), float(row["value"])) for row in rows] == [
        (size, value * 1e9) for size, value in plain
    ]
    assert {row["unit"] for row in rows} == {"ns"}
