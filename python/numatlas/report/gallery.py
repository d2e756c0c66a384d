"""Many machines on static pages: a table of their headline figures, their curves in common pictures, and
each machine's own page behind its row."""

import json
import re
import tempfile
from pathlib import Path
from typing import Any

from markupsafe import Markup

from numatlas import exit_codes
from numatlas.facts import headline_of
from numatlas.figures import figures_of
from numatlas.figures.model import Curves, Figure
from numatlas.figures.overlay import can_overlay, letters, overlaid
from numatlas.figures.told import is_of_the_null_engine, model_words
from numatlas.file_error import FileError
from numatlas.files import load
from numatlas.report.first import machine_words, started_at, when
from numatlas.report.page import page, render
from numatlas.report.pictures import drawing_of
from numatlas.report.verdict import verdict
from numatlas.result import Result

#: Headline figures of a machine by the keys of their facts, and what they are called.
HEADS = {
    "matrix_latency": "latency, one CPU",
    "matrix_bandwidth": "read, all CPUs",
    "peak_bandwidth": "best bandwidth",
    "loaded_latency_80": "latency at 80 % of the load",
    "core_to_core_nearest": "core to core, nearest",
    "gpu_copy_rate": "copies to the GPU",
}
#: Whose curves stand in a picture of all machines of a kind, and its title.
OVERLAID = {"latency": "Latency by buffer size", "loaded": "Loaded latency"}


def results_of(folder: Path) -> list[Path]:
    """Files of results in a folder, and the surveys of the folders in it. Raises FileError for none."""
    if not folder.is_dir():
        raise FileError("--gallery", f"{folder}: no such folder", exit_codes.IO)
    found = sorted([*folder.glob("*.json"), *folder.glob("*/survey.json")])
    if not found:
        hint = "name a folder with results (*.json), or with folders that `numatlas survey` wrote"
        raise FileError("--gallery", f"{folder}: no results are there", hint=hint)
    return found


def write_gallery(folder: Path, output: Path, title: str = "", anonymous: bool = False) -> list[FileError]:
    """To `output`: index.html, and of each machine its page and its result; `anonymous`: no host names.

    All of it appears at the end. Returns what is left out because it is no result, and why; where that is
    all, it is raised.
    """
    if output.resolve() == folder.resolve():
        raise FileError("--output", f"{output}: has the files to read", hint="name another folder")
    paths = results_of(folder)
    if anonymous:
        _check_nameless(output)
    output.mkdir(parents=True, exist_ok=True)
    results: list[Result] = []
    names: list[str] = []
    left_out = []
    with tempfile.TemporaryDirectory(dir=output, prefix=".part-") as made:
        for path in paths:
            name = path.parent.name if path.name == "survey.json" and path.parent != folder else path.stem
            copy = path
            try:
                load(path)  # a file that is none is told by its own name
                text = path.read_text(encoding="utf-8")
                if anonymous:
                    name, text = f"machine-{len(names) + 1}", json.dumps(without_names(json.loads(text)))
                name += f"-{len(names) + 1}" * (name in names or name == "index")
                copy = Path(made) / f"{name}.json"
                copy.write_text(text, encoding="utf-8")
                result = load(copy)
                copy.with_suffix(".html").write_text(page([result]), encoding="utf-8")
            except FileError as error:
                left_out.append(FileError(path, str(error).removeprefix(f"{copy}: "), error.code))
                if copy != path:
                    copy.unlink()
                continue
            names.append(name)
            results.append(result)
        if not results:
            raise left_out[0]
        index = Path(made) / "index.html"
        index.write_text(_index(results, names, title), encoding="utf-8")
        for file in sorted(Path(made).iterdir(), key=lambda file: file == index):
            file.replace(output / file.name)
    return left_out


def _check_nameless(output: Path) -> None:
    """Raises FileError where a folder has pages or results whose names tell of whom they are."""
    nameless = re.compile(r"(machine-\d+|index)\.(html|json)")
    files = [path.name for path in output.glob("*") if path.suffix in (".html", ".json")]
    named = sorted(name for name in files if not nameless.fullmatch(name))
    if named:
        hint = "name another folder, or remove these files"
        raise FileError("--output", f"{output}: has {named[0]} of another gallery, with its name", hint=hint)


def _index(results: list[Result], names: list[str], title: str) -> str:
    order = sorted(
        range(len(results)), key=lambda at: (machine_words(results[at].machine, gpus=True), names[at])
    )
    results, names = [results[at] for at in order], [names[at] for at in order]
    short = letters(len(results))
    columns = {words: [headline_of(one, key) for one in results] for key, words in HEADS.items()}
    columns = {words: cells for words, cells in columns.items() if any(cells)}
    rows = [
        {
            **{"letter": letter, "name": name, "words": machine_words(result.machine, gpus=True)},
            **{"simulated": is_of_the_null_engine(result)},
            **{"host": result.machine.get("host") or "", "when": when(result), "started": started_at(result)},
            **{"verdict": verdict(result), "cells": [cells[at] for cells in columns.values()]},
        }
        for at, (letter, name, result) in enumerate(zip(short, names, results, strict=True))
    ]
    title = title or f"{len(results)} machines"
    curves = _curves(results, short)
    return render("gallery.html", title=title, rows=rows, heads=list(columns), curves=curves)


def _curves(results: list[Result], short: list[str]) -> list[tuple[str, Markup]]:
    """Titles and pictures, one for each kind of machine: others would flatten its curves."""
    found = []
    for kind in dict.fromkeys(_kind(result) for result in results):
        alike = [pair for pair in zip(short, results, strict=True) if _kind(pair[1]) == kind]
        for command, title in OVERLAID.items():
            firsts: dict[str, Figure] = {}
            for letter, result in alike:
                mine = next((one for one in figures_of(result, command) if isinstance(one, Curves)), None)
                firsts |= {letter: mine} if mine else {}
            if firsts and can_overlay(list(firsts.values())):
                one = overlaid(list(firsts.values()), list(firsts))
                one.title = f"{title}: {kind}"
                found.append((one.title, drawing_of(one)))
    return found


def _kind(result: Result) -> str:
    return model_words(result.machine) + ", simulated" * is_of_the_null_engine(result)


def without_names(data: Any) -> Any:
    """A result without what its machine, its users and its jobs are called, and what tells machines apart."""
    hosts: dict[str, str] = {}
    _collect(data, hosts)
    names = "|".join(re.escape(name) for name in sorted(hosts, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w.-])(?:{names})(?![\w-])") if hosts else None

    def clean(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: clean(one, name) for name, one in value.items() if name != "identity"}
        if isinstance(value, list):
            return [clean(one, key) for one in value]
        if not isinstance(value, str):
            return value
        if key == "arguments" and "/" in value:
            return "FILE"
        value = re.sub(r"/sys/fs/cgroup/.*/", "/sys/fs/cgroup/.../", value)
        return pattern.sub(lambda found: hosts[found[0]], value) if pattern else value

    return clean(data)


def _collect(value: Any, hosts: dict[str, str]) -> None:
    """Names of hosts, and what they become."""
    if isinstance(value, dict):
        told = (
            [value.get("host"), *(value.get("hosts") or [])] if isinstance(value.get("hosts"), list) else []
        )
        for name in [value.get("host"), *told]:
            if isinstance(name, str) and name:
                hosts.setdefault(name, f"host-{len(hosts) + 1}")
        for one in value.values():
            _collect(one, hosts)
    elif isinstance(value, list):
        for one in value:
            _collect(one, hosts)
