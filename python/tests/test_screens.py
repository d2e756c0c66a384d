"""What the page looks like, against pictures of how it did: 8 nodes and 256 CPUs, light and dark, and an
unreliable run on a phone.

NUMATLAS_UPDATE_GOLDEN=1 makes the pictures anew."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from commands import redrawn
from made_results import survey
from PIL import Image, ImageFilter
from test_report_browser import chromium

import numatlas
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


def unreliable(folder):
    """As a run beside a busy program."""
    (path,) = one(folder, packages=1, nodes=1, cores=4)
    data = json.loads(path.read_text())
    data |= {"trust": "unreliable", "doubt": "other processes used 1.2 of 4 CPUs"}
    path.write_text(json.dumps(redrawn(data)))
    return [path]


SCREENS = {
    "eight-nodes": (one, 1400, False),
    "eight-nodes-dark": (one, 1400, True),
    "unreliable-phone": (unreliable, 390, False),
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
    path.write_text(page([numatlas.load(file) for file in make(tmp_path)]), encoding="utf-8")
    check(shot(path, width, dark), name)


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
