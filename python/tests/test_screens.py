"""What the page looks like, against pictures of how it did: one node, four nodes, CXL and GPUs, 8 nodes and
256 CPUs, an unreliable run, a family of loads, two and ten runs, a fleet, a gallery; light, dark, on a phone,
on paper.

NUMATLAS_UPDATE_GOLDEN=1 makes the pictures anew."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from made_results import survey
from PIL import Image, ImageFilter
from report_pages import fleet_of
from test_report_browser import chromium

import numatlas
from numatlas.report.gallery import write_gallery
from numatlas.report.page import page

GOLDEN = Path(__file__).parent / "golden" / "screens"
#: Pixels of a stored picture; fonts, whose edges differ between machines, are a blur in it.
STORED = (350, 225)
#: Browsers have no narrower window.
NARROWEST = 500
#: Of 255: how far the mean of a screen, and the mean of one of its 7 x 5 fields, may be from the stored one.
#: An empty card, a missing curve or another colour is further off; other fonts are not.
WHOLE, FIELD = 3.0, 14.0
FIELDS = (5, 7)


def one(folder, name="a", **shape):
    return [survey(folder / f"{name}.json", **shape)]


def runs(folder, count):
    return [
        survey(folder / f"{at}.json", 1, 2, 4, 1, day=at + 1, slower=1 + at % 4 / 20) for at in range(count)
    ]


def unreliable(folder):
    """As a run beside a busy program."""
    (path,) = one(folder, packages=1, nodes=1, cores=4)
    data = json.loads(path.read_text())
    data |= {"trust": "unreliable", "doubt": "other processes used 1.2 of 4 CPUs"}
    path.write_text(json.dumps(data))
    return [path]


def family(folder):
    """Of loads: two shares of reads."""
    (path,) = one(folder, packages=1, nodes=1, cores=4)
    data = json.loads(path.read_text())
    (part,) = [part for part in data["results"] if part["command"] == "loaded"]
    copy = json.loads(json.dumps(part).replace('"read"', '"mix 2:1"'))
    for case in copy["cases"]:
        for figure in (figure for flow in case["flows"] for figure in flow["figures"]):
            if figure["key"] == "latency":
                figure["estimate"] |= {end: 1.2 * figure["estimate"][end] for end in ("value", "low", "high")}
    part |= {"cases": part["cases"] + copy["cases"], "views": part["views"] + copy["views"]}
    path.write_text(json.dumps(data))
    return [path]


SCREENS = {
    "one-node": (lambda folder: one(folder, packages=1, nodes=1, cores=4), 1400, False),
    "four-nodes": (lambda folder: one(folder, packages=4, nodes=1, cores=8), 1400, False),
    "cxl-and-gpus": (lambda folder: one(folder, nodes=1, far=True, gpus=2), 1400, False),
    "eight-nodes": (one, 1400, False),
    "eight-nodes-dark": (one, 1400, True),
    "eight-nodes-phone": (one, 390, False),
    "eight-nodes-paper": (one, 1400, False),
    "unreliable": (unreliable, 1400, False),
    "unreliable-phone": (unreliable, 390, False),
    "loads": (family, 1400, False),
    "null-engine": (lambda folder: one(folder, engine="null"), 1400, False),
    "two-runs": (lambda folder: runs(folder, 2), 1400, False),
    "ten-runs": (lambda folder: runs(folder, 10), 1400, False),
    "fleet": (lambda folder: [fleet_of(10_000, folder / "fleet.json")], 1400, False),
}


def shot(path: Path, width: int, dark: bool) -> Image.Image:
    """The first 900 pixels of a page of this width; in a frame where browsers have no window so narrow."""
    picture = path.with_suffix(".png")
    if width < NARROWEST:
        look = f"border:0;width:{width}px;height:900px"
        frame = f'<body style="margin:0"><iframe src="{path.name}" style="{look}"></iframe>'
        path = path.with_name("frame.html")
        path.write_text(frame)
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--screenshot={picture}"]
    flags += [
        f"--blink-settings=preferredColorScheme={0 if dark else 1}",
        f"--window-size={max(width, NARROWEST)},900",
    ]
    done = subprocess.run([chromium(), *flags, path.as_uri()], capture_output=True, text=True, timeout=180)
    assert picture.exists(), done.stderr[-500:]
    with Image.open(picture) as opened:
        shown = opened.convert("RGB").crop((0, 0, width, 900)).filter(ImageFilter.GaussianBlur(2))
    return shown.resize((STORED[0] * min(width, 700) // 700, STORED[1]))


def apart(one: Image.Image, other: Image.Image) -> tuple[float, float]:
    """Of 255: the mean difference of the whole, and of the field where it is largest."""
    difference = np.abs(np.asarray(one, float) - np.asarray(other, float)).mean(axis=2)
    rows, columns = FIELDS
    tall, wide = difference.shape[0] // rows, difference.shape[1] // columns
    fields = difference[: rows * tall, : columns * wide].reshape(rows, tall, columns, wide)
    return float(difference.mean()), float(fields.mean(axis=(1, 3)).max())


@pytest.mark.parametrize("name", SCREENS)
def test_the_first_screen_looks_as_it_did(name, tmp_path):
    make, width, dark = SCREENS[name]
    path = tmp_path / "page.html"
    text = page([numatlas.load(file) for file in make(tmp_path)])
    path.write_text(text.replace("@media print", "@media all") if "paper" in name else text, encoding="utf-8")
    check(shot(path, width, dark), name)


def test_the_gallery_looks_as_it_did(tmp_path):
    made = tmp_path / "in"
    made.mkdir()
    one(made, "a", packages=1, nodes=1, cores=4)
    one(made, "b", packages=4, nodes=1, cores=8)
    write_gallery(made, tmp_path / "out")
    check(shot(tmp_path / "out" / "index.html", 1400, False), "gallery")


def check(found: Image.Image, name: str) -> None:
    """Within the tolerance of the stored picture, or stored where that is asked for."""
    golden = GOLDEN / f"{name}.png"
    if os.environ.get("NUMATLAS_UPDATE_GOLDEN"):
        GOLDEN.mkdir(exist_ok=True)
        found.quantize(64).save(golden, optimize=True)
    with Image.open(golden) as stored:
        whole, field = apart(found, stored.convert("RGB"))
    assert whole <= WHOLE and field <= FIELD, (whole, field)


def test_a_missing_card_is_seen(tmp_path):
    """The tolerance lets no such change through."""
    path = tmp_path / "page.html"
    text = page([numatlas.load(file) for file in one(tmp_path)])
    path.write_text(text.replace('class="half"', 'class="half" hidden style="visibility:hidden"', 1))
    with Image.open(GOLDEN / "eight-nodes.png") as stored:
        whole, field = apart(shot(path, 1400, False), stored.convert("RGB"))
    assert whole > WHOLE or field > FIELD


def test_firefox_shows_it_too(tmp_path):
    """Against a picture of its own: it lays lines out a pixel or two apart."""
    firefox = shutil.which("firefox-esr") or shutil.which("firefox")
    if not firefox:
        pytest.skip("no firefox-esr and no firefox is installed")
    path, picture, home = tmp_path / "page.html", tmp_path / "fox.png", tmp_path / "home"
    path.write_text(page([numatlas.load(file) for file in one(tmp_path)]), encoding="utf-8")
    home.mkdir()
    words = [firefox, "--headless", "--screenshot", str(picture), "--window-size=1400,900", path.as_uri()]
    environment = {**os.environ, "HOME": str(home)}
    done = subprocess.run(words, capture_output=True, text=True, timeout=180, env=environment, check=False)
    assert picture.exists(), done.stderr[-500:]
    with Image.open(picture) as opened:
        shown = opened.convert("RGB").crop((0, 0, 1400, 900)).filter(ImageFilter.GaussianBlur(2))
    check(shown.resize(STORED), "eight-nodes-firefox")
