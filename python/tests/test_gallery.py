"""A gallery: the table of machines, what stands behind its rows, and that --anonymous names nobody."""

import json

from commands import SURVEYS, command, one_line
from made_results import survey
from report_pages import Tree
from test_report_browser import browse

import numatlas
from numatlas.report.gallery import without_names


def made(folder, *options, source=SURVEYS):
    done = command("report", "--gallery", source, "-o", "out", *options, folder=folder)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "out/index.html\n")
    return folder / "out"


def test_each_result_has_a_row_a_page_and_its_numbers(tmp_path):
    out = made(tmp_path)
    tree = Tree((out / "index.html").read_text())
    rows = tree.find("tr", within=tree.find("tbody")[0])
    assert len(rows) == len(list(SURVEYS.glob("*.json")))
    for row in rows:
        page, file = (out / link["href"] for link in tree.find("a", within=row))
        assert page.stem == file.stem and Tree(page.read_text()).find("section", id="first")
        assert numatlas.load(file).kind == "survey"
    titles = [one["text"] for one in tree.find("h4")]
    assert "Latency by buffer size: Intel Xeon Processor" in titles and len(titles) == len(set(titles))
    assert any("QEMU" in title for title in titles)  # each kind by itself
    heads = [one["text"] for one in tree.find("th", scope="col")]
    assert heads[:6] == ["run", "machine", "measured", "trust", "latency, one CPU", "read, all CPUs"]
    words = [tree.find("a", within=row)[0]["text"] for row in rows]
    assert words == sorted(words)


def test_rows_are_sorted_by_a_click(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for at, slower in enumerate((1.2, 1.0, 1.1)):
        survey(folder / f"{at}.json", 1, 1, 4, slower=slower)
    out = made(tmp_path, source=folder)
    path = out / "index.html"
    click = """for (const one of shown.querySelectorAll('.sortable button'))
        if (one.textContent === 'latency, one CPU') one.click();"""
    letters = """root.dataset.letters = [...shown.querySelectorAll('.sortable tbody td:first-child')]
        .map((one) => one.textContent).join('');"""
    assert browse(path, act=click + letters)["letters"] == "BCA"
    assert browse(path, act=click + click + letters)["letters"] == "ACB"


def test_an_anonymous_gallery_names_nobody(tmp_path):
    source = tmp_path / "in"
    source.mkdir()
    survey(source / "node042.json")
    data = json.loads((source / "node042.json").read_text())
    data["machine"]["host"] = "node042"
    data["machine"]["identity"] = {"installation": "ada5eed"}
    data["arguments"] = ["survey", "-o", "/home/adalovelace/node042"]
    data["results"][0]["warnings"].append(
        {"code": "setting", "where": "node042", "text": "node042, node0421"}
    )
    (source / "node042.json").write_text(json.dumps(data))
    out = made(tmp_path, "--anonymous", source=source)
    assert sorted(path.name for path in out.iterdir()) == ["index.html", "machine-1.html", "machine-1.json"]
    for path in out.iterdir():
        text = path.read_text().replace("node0421", "")
        assert "node042" not in text and "ada5eed" not in text
    told = json.loads((out / "machine-1.json").read_text())
    assert told["machine"]["host"] == "host-1" and told["arguments"] == ["survey", "-o", "FILE"]
    assert told["results"][0]["cases"] == data["results"][0]["cases"]


def test_an_anonymous_gallery_refuses_a_folder_with_names(tmp_path):
    survey(tmp_path / "a.json", 1, 1, 4)
    made(tmp_path, source=tmp_path)
    before = sorted(path.name for path in (tmp_path / "out").iterdir())
    done = command("report", "--gallery", tmp_path, "-o", "out", "--anonymous", folder=tmp_path)
    one_line(done, 2, "--output: out: has a.html of another gallery, with its name")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == before


def test_files_that_are_no_results_are_left_out_and_named(tmp_path):
    source = tmp_path / "in"
    source.mkdir()
    survey(source / "b.json")
    (source / "a.json").write_text('{"program": "numatlas", "command": "audit", "schema_version": 1}')
    cut = (source / "b.json").read_text()[:1000]
    (source / "c.json").write_text(cut)
    done = command("report", "--gallery", source, "-o", "out", folder=tmp_path)
    told = done.stderr.splitlines()
    assert done.returncode == 0 and len(told) == 2, done.stderr
    for line, name in zip(told, ("a.json: ", "c.json: "), strict=True):
        assert line.startswith("numatlas: warning: left out: ") and f"{source}/{name}" in line
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["b.html", "b.json", "index.html"]
    (source / "b.json").write_text(cut)
    done = command("report", "--gallery", source, "-o", "out", folder=tmp_path)
    one_line(done, 2, "a.json: ")
    assert "b.html" in [path.name for path in (tmp_path / "out").iterdir()], "what was there stays"


def test_longer_names_are_replaced_first():
    told = without_names({"hosts": ["cn1", "cn1-ib"], "text": "cn1-ib and cn1, not cn12"})
    assert told == {"hosts": ["host-1", "host-2"], "text": "host-2 and host-1, not cn12"}


def test_what_cannot_be_a_gallery_is_told_in_one_line(tmp_path):
    for words, told in (
        (["--gallery", tmp_path], "no results are there"),
        (["--gallery", SURVEYS, "-o", SURVEYS], "has the files to read"),
        (["--gallery", SURVEYS, SURVEYS / "h100.json"], "--gallery takes all results from its folder"),
        (["--anonymous", SURVEYS / "h100.json"], "of a gallery only"),
    ):
        one_line(command("report", *words, folder=tmp_path), 2, told)
