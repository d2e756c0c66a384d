"""The page in a browser: drawn at any width, light and dark; lists, buttons and raw numbers."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from report_pages import EVIL, evil_fleet, fleet_of
from results import load, value

import numatlas
from numatlas.report.page import page


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
  if (!root.dataset.ready && !root.dataset.error) return;
  {act}
  if (!({until})) return;
  clearInterval(look);
  document.querySelector("pre").textContent = JSON.stringify({{...root.dataset, wide: root.scrollWidth,
    plots: [...shown.querySelectorAll(".drawn")].map((one) => one.querySelectorAll("path, rect").length),
    colour: frames[0].getComputedStyle(shown.body).backgroundColor,
    hosts: [...shown.querySelectorAll(".hosts tbody tr:not([hidden]) th")].map((one) => one.textContent),
    rounds: [...shown.querySelectorAll(".hosts tbody tr:first-child td[title]")].map((one) => one.title),
    words: [...shown.querySelectorAll(".drawn svg text")].map((one) => one.textContent),
    told: [...shown.querySelectorAll(".drawn svg title")].map((one) => one.textContent),
    saved: document.documentElement.dataset.saved ?? null}});
}}, 50);
</script>"""


def browse(path: Path, width: int = 1280, dark: bool = False, act: str = "", until: str = "true") -> dict:
    """What the page says of itself, and what it looks like from outside."""
    frame = path.with_name(f"frame-{width}-{path.name}")
    frame.write_text(FRAME.format(address=path.name, width=width, act=act, until=until))
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
def test_a_browser_draws_all_of_a_survey(made_survey, tmp_path, width, dark):
    chromium()
    path = tmp_path / "page.html"
    path.write_text(page([numatlas.load(made_survey)], ""))
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
    assert any(words.startswith("<b>x") for words in told["words"])  # as much of it as has room
    assert any(words.startswith(f"{EVIL}: ") for words in told["told"])


def test_all_hosts_of_a_large_fleet_are_listed(tmp_path):
    chromium()
    path = tmp_path / "page.html"
    path.write_text(page([numatlas.load(fleet_of(2500, tmp_path / "fleet.json"))], ""))
    told = browse(path)
    assert "error" not in told and told["hosts"] == [f"cn{index:05}" for index in range(2500)]


def test_hosts_are_sorted_found_and_told_of(tmp_path):
    chromium()
    source = fleet_of(250, tmp_path / "fleet.json")
    result = numatlas.load(source)
    path = tmp_path / "page.html"
    path.write_text(page([result], ""))
    by_verdict = "[...shown.querySelectorAll('.hosts thead button')].at(-1).click();"
    told = browse(path, act=by_verdict)
    assert "error" not in told and told["hosts"][0] == "cn00003"
    rounds = result.rounds[(result.rounds["host"] == "cn00003") & result.rounds["counted"]]
    for number, kernel in enumerate(("copy", "triad")):
        wanted = rounds[rounds["kernel"] == kernel]["bandwidth"] * 1e-9
        shown = told["rounds"][number].split("rounds ")[1].split(";")[0]
        assert [float(word) for word in shown.split()] == pytest.approx(list(wanted), rel=1e-3)
    search = "const box = shown.querySelector('.hosts-bar input'); box.value = 'N0024';"
    told = browse(path, act=f"{search} box.dispatchEvent(new frames[0].Event('input'));")
    assert told["hosts"] == [f"cn0024{digit}" for digit in range(10)]


def test_the_csv_of_the_page_is_the_file(made_survey, tmp_path):
    """What its button saves."""
    chromium()
    path = tmp_path / "page.html"
    path.write_text(page([numatlas.load(made_survey)], ""))
    button = "#latency-latency-thp button.download"
    keep = "frames[0].URL.createObjectURL = (blob) => { blob.text().then((text) => {"
    keep += " document.documentElement.dataset.saved = text; }); return ''; };"
    keep += " frames[0].HTMLAnchorElement.prototype.click = () => {};"  # no file is saved
    click = f"root.dataset.asked = 1; {keep} shown.querySelector('{button}').click();"
    act = f"if (!root.dataset.asked) {{ {click} }}"
    told = browse(path, act=act, until="document.documentElement.dataset.saved")
    assert "error" not in told
    rows = list(csv.DictReader(io.StringIO(told["saved"])))
    plain = [
        (case["size"], value(flow, "latency"))
        for part in load(made_survey / "survey.json")["results"]
        if part["command"] == "latency"
        for case in part["cases"]
        for flow in case["flows"]
    ]
    assert len(plain) == 3
    assert [(float(row["size"]), float(row["value"])) for row in rows] == [
        (size, value * 1e9) for size, value in plain
    ]
    assert {row["unit"] for row in rows} == {"ns"}
