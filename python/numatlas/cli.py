"""`numatlas report` and `numatlas plot`: the program runs these as git runs its commands."""

import argparse
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from numatlas import exit_codes
from numatlas.exit_codes import UNAVAILABLE, USAGE
from numatlas.figures import figures_of
from numatlas.figures.model import Beside, Figure, Listing
from numatlas.figures.overlay import can_overlay, can_stand_beside, group_keys, letters, overlaid
from numatlas.file_error import FileError, intact
from numatlas.files import check_output, load, named
from numatlas.output import standard_output, write_whole
from numatlas.result import Result
from numatlas.text import printable

if TYPE_CHECKING:
    from numatlas.plot import Frame

#: Inches that a picture may be wide.
NARROWEST, WIDEST = 2.5, 30.0


class _Parser(argparse.ArgumentParser):
    """With errors in the form of the program."""

    def error(self, message: str) -> NoReturn:
        _fail("numatlas", message.removeprefix("argument "), USAGE, f"see `{self.prog} --help`")


def _fail(program: str, message: str, code: int, hint: str) -> NoReturn:
    print(f"{program}: error: {printable(message)}", file=sys.stderr)
    if hint:
        print(f"{program}: hint: {printable(hint)}", file=sys.stderr)
    raise SystemExit(code)


def _parser(name: str, description: str, default: str) -> _Parser:
    """With the options that both have."""
    made = _Parser(f"numatlas {name}", description=description, allow_abbrev=False)
    words = f"to write [default: {default}]"
    output = {"metavar": "FILE", "type": partial(named, "--output"), "help": words}
    made.add_argument("-o", "--output", **output)
    made.add_argument("-q", "--quiet", action="store_true", help="do not say what was written")
    return made


def _write(path: Path, write: Callable[[Path], object], quiet: bool) -> None:
    """Whole or not at all."""
    write_whole(path, write, "--output: ", "name a file in a folder that can be written to")
    if not quiet:
        print(printable(str(path)))


def _report() -> None:
    """One page of all figures of results: opens without a network, to look at, print and pass on."""
    from numatlas.report.page import page

    parser = _parser("report", _report.__doc__, "report.html")
    parser.add_argument("--title", metavar="TEXT", default="", help="of the page")
    words = "pages of all results in this folder, with a table of them, in the folder that --output names"
    gallery = {
        "metavar": "FOLDER",
        "type": partial(named, "--gallery"),
        "help": f"{words} [default: gallery]",
    }
    parser.add_argument("--gallery", **gallery)
    words = "of a gallery: without names of hosts, and paths of files"
    parser.add_argument("--anonymous", action="store_true", help=words)
    parser.add_argument("files", metavar="FILE", nargs="*", help="a result, or the folder of a survey")
    options = parser.parse_args()
    if options.gallery and options.files:
        parser.error("FILE: --gallery takes all results from its folder")
    if options.gallery:
        return _gallery(options)
    if options.anonymous:
        parser.error("--anonymous: of a gallery only")
    if not options.files:
        parser.error("the following arguments are required: FILE")
    output = options.output or Path("report.html")
    check_output(output, options.files)
    text = page([load(file) for file in options.files], options.title)
    _write(output, lambda path: path.write_text(text, encoding="utf-8"), options.quiet)


def _gallery(options: argparse.Namespace) -> None:
    from numatlas.report.gallery import write_gallery

    output = options.output or Path("gallery")
    try:
        left_out = write_gallery(options.gallery, output, options.title, options.anonymous)
    except OSError as error:
        why = error.strerror or str(error)
        raise FileError("--output", f"{output}: {why}", exit_codes.of_file(error)) from error
    for error in left_out:
        print(f"numatlas: warning: left out: {printable(str(error))}", file=sys.stderr)
    if not options.quiet:
        print(printable(str(output / "index.html")))


def _plot() -> None:
    """Draws a figure, fit for print. With --output FILE.csv the curves of `loaded`, for the plots of Mess.
    Several figures of a kind share the picture that --output names; without
    it each goes to a file of its own, named by its key. Of several files curves and bars share axes, and maps
    stand side by side."""
    from numatlas.plot import PAPER, Frame, check_form

    parser = _parser("plot", _plot.__doc__, "KIND.png; png, svg, pdf or (of loaded) csv by its end")
    parser.add_argument(
        "--figure", metavar="KEY", default="", help="one of the kind's figures; `list` names them"
    )
    modes = ("latency", "bandwidth")
    parser.add_argument("--mode", choices=modes, default="", help="what an atlas shows")
    width = {"metavar": "WIDTH", "type": inches, "default": PAPER.width}
    parser.add_argument("--width", **width, help="of the picture, such as 3.3in or 84mm [default: 7in]")
    parser.add_argument("--no-title", action="store_true", help="without the line above")
    parser.add_argument("--no-footer", action="store_true", help="without the small print")
    parser.add_argument("kind", metavar="KIND", help="atlas, or the command that measured")
    parser.add_argument("files", metavar="FILE", nargs="+", help="a result, or the folder of a survey")
    options = parser.parse_args()
    target = options.output or Path(f"{options.kind}.png")
    if target.suffix == ".csv":
        return _tables([load(file) for file in options.files], options, target)
    check_form(target, f"such as {options.kind}.png")
    check_output(target, options.files)
    if options.mode and options.kind != "atlas":
        raise FileError(
            "--mode", f"{options.mode}: of an atlas only", hint=f"without it {options.kind} is drawn"
        )
    frame = Frame(options.width, not options.no_title, not options.no_footer)
    results = [load(file) for file in options.files]
    with intact(*(result.path for result in results)):
        _draw(results, options, target, frame)


def _tables(results: list[Result], options: argparse.Namespace, target: Path) -> None:
    """What other programs read of a kind, each to a file of its own; of the first result."""
    found = [table for one in _of_kind(results[0], options.kind) for table in one.tables.items()]
    if not found:
        hint = "a picture ends in png, svg or pdf; numatlas.load(FILE) in Python has all numbers"
        raise FileError("--output", f"{target}: there is no CSV of {options.kind}", hint=hint)
    for name, frame in found:
        part = name.removeprefix("memory_curves")
        path = target if len(found) == 1 else target.with_name(f"{target.stem}{part}")
        check_output(path, options.files)
        _write(path, partial(frame.to_csv, index=False), options.quiet)


def inches(text: str) -> float:
    """ "3.3in", "84mm" or "8.4cm" in inches. Raises FileError for what is none, or no width of a picture."""
    found = re.fullmatch(r"(\d+(?:\.\d*)?)(in|cm|mm)", text)
    width = float(found[1]) / {"in": 1, "cm": 2.54, "mm": 25.4}[found[2]] if found else 0
    if not NARROWEST <= width <= WIDEST:
        hint = f"a width such as 3.3in, 84mm or 8.4cm, from {NARROWEST:g} to {WIDEST:g} inches"
        raise FileError("--width", f"{text}: no such width", hint=hint)
    return width


def _draw(results: list[Result], options: argparse.Namespace, target: Path, frame: "Frame") -> None:
    """The figures of a kind, or one of them, to files named after `target`."""
    from numatlas.plot import draw

    found = _figures(results, options.kind)
    if options.figure == "list":
        print("\n".join(printable(f"{one.key}  {one.title}") for one in found))
        return
    chosen = [one for one in found if options.figure in ("", one.key)]
    if not chosen:
        keys = ", ".join(one.key for one in found)
        raise FileError("--figure", f"no such figure: {options.figure}", hint=f"one of {keys}")
    paths = [target]
    if len(chosen) > 1 and options.output:
        every = [part for one in chosen for part in (one.figures if isinstance(one, Beside) else [one])]
        chosen = [Beside(options.kind, "", kind=options.kind, figures=every)]
    if len(chosen) > 1:
        paths = [target.with_name(f"{one.key}{target.suffix}") for one in chosen]
    for path in paths:
        check_output(path, [result.path for result in results])
    for one, path in zip(chosen, paths, strict=True):
        form = {"frame": frame, "mode": options.mode}
        _write(path, lambda part, one=one, form=form: draw(one, part, **form), options.quiet)


def _figures(results: list[Result], kind: str) -> list[Figure]:
    """Those of a kind; of several files those that all of them have, in common pictures. Raises FileError
    where there are none."""
    every = [_of_kind(result, kind) for result in results]
    if len(every) == 1:
        return every[0]
    of_key = [dict(zip(*pair, strict=True)) for pair in zip(group_keys(every), every, strict=True)]
    common = [[mine[key] for mine in of_key] for key in of_key[0] if all(key in mine for mine in of_key)]
    found = [group for group in common if can_overlay(group) or can_stand_beside(group)]
    if not found:
        hint = "`numatlas report` shows all of them on one page"
        words = "figure in common" if not common else "figures that share a picture"
        raise FileError("FILE", f"these files have no {kind} {words}", UNAVAILABLE, hint)
    names = letters(len(results))
    runs = "; ".join(f"{letter}: {result.name}" for letter, result in zip(names, results, strict=True))
    shared = [(overlaid if can_overlay(group) else _beside)(group, names) for group in found]
    return [replace(one, notes=[runs, *one.notes]) for one in shared]


def _beside(figures: list[Figure], names: list[str]) -> Figure:
    """Side by side, each with its file's letter."""
    titled = [replace(one, title=f"{name}: {one.title}") for one, name in zip(figures, names, strict=True)]
    return Beside(figures[0].key, figures[0].title, kind=figures[0].kind, figures=titled)


def _of_kind(result: Result, kind: str) -> list[Figure]:
    found = _pictures(result, kind)
    if not found:
        kinds = ", ".join(dict.fromkeys(one.kind for one in _pictures(result)))
        hint = f"it has {kinds}" if kinds else ""
        raise FileError(result.path, f"nothing to plot as {kind}", UNAVAILABLE, hint)
    return found


def _pictures(result: Result, kind: str | None = None) -> list[Figure]:
    """All, or those of a kind alone: the others take most of the time to make. Words are no pictures."""
    return [one for one in figures_of(result, kind) if not isinstance(one, Listing)]


def run(command: Callable[[], None], program: str = "numatlas") -> None:
    """A program of one command: FileError ends it with a line or two on standard error."""
    try:
        with standard_output():
            command()
    except FileError as error:
        _fail(program, str(error), error.code, error.hint)
    except ModuleNotFoundError as error:
        hint = "pip install 'numatlas[report]' brings what plots and pages need"
        _fail(program, f"{error.name} is not installed", UNAVAILABLE, hint)
    except KeyboardInterrupt:
        raise SystemExit(130) from None


#: The programs numatlas-report and numatlas-plot.
report, plot = partial(run, _report), partial(run, _plot)
