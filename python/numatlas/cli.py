"""`numatlas report` and `numatlas plot`: the program runs these as git runs its commands."""

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NoReturn

from numatlas.exit_codes import UNAVAILABLE, USAGE
from numatlas.figures import figures_of
from numatlas.file_error import FileError, intact
from numatlas.files import check_output, load, named
from numatlas.output import standard_output, write_whole
from numatlas.result import Result
from numatlas.text import printable

#: What the figures of some commands were called.
KINDS = {"scaling": "bandwidth", "flows": "run"}


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
    parser.add_argument("files", metavar="FILE", nargs="+", help="a result, or the folder of a survey")
    options = parser.parse_args()
    output = options.output or Path("report.html")
    check_output(output, options.files)
    text = page([load(file) for file in options.files], options.title)
    _write(output, lambda path: path.write_text(text, encoding="utf-8"), options.quiet)


def _plot() -> None:
    """Draws a figure, fit for print. Of several figures of a kind each goes to a file of its own."""
    from numatlas.plot import check_form

    parser = _parser("plot", _plot.__doc__, "KIND.png; png, svg or pdf by its end")
    parser.add_argument(
        "--figure", metavar="KEY", default="", help="one of the kind's figures; `list` names them"
    )
    parser.add_argument("kind", metavar="KIND", help="machine, or the command that measured")
    parser.add_argument("file", metavar="FILE", help="a result, or the folder of a survey")
    options = parser.parse_args()
    target = options.output or Path(f"{options.kind}.png")
    check_form(target, f"such as {options.kind}.png")
    check_output(target, [options.file])
    result = load(options.file)
    with intact(result.path):
        _draw(result, options.kind, target, options.figure, options.quiet)


def _draw(result: Result, kind: str, target: Path, figure: str, quiet: bool) -> None:
    """The figures of a kind, or one of them, to files named after `target`."""
    from numatlas.plot import draw

    every = figures_of(result)
    found = [one for one in every if one.kind == KINDS.get(kind, kind)]
    if figure == "list":
        print("\n".join(printable(f"{one.key}  {one.title}") for one in found))
        return
    if not found:
        kinds = ", ".join(dict.fromkeys(one.kind for one in every))
        raise FileError(
            result.path, f"has nothing of {kind}", UNAVAILABLE, f"it has {kinds}" if kinds else ""
        )
    chosen = [one for one in found if figure in ("", one.key)]
    if not chosen:
        keys = ", ".join(one.key for one in found)
        raise FileError("--figure", f"no such figure: {figure}", hint=f"one of {keys}")
    paths = [target]
    if len(chosen) > 1:
        paths = [target.with_name(f"{target.stem}-{one.key}{target.suffix}") for one in chosen]
    for path in paths:
        check_output(path, [result.path])
    for one, path in zip(chosen, paths, strict=True):
        _write(path, lambda part, one=one: draw(one, part), quiet)


def run(command: Callable[[], None], program: str = "numatlas") -> None:
    """A program of one command: FileError ends it with a line or two on standard error."""
    try:
        with standard_output():
            command()
    except FileError as error:
        _fail(program, str(error), error.code, error.hint)
    except KeyboardInterrupt:
        raise SystemExit(130) from None


#: The programs numatlas-report and numatlas-plot.
report, plot = partial(run, _report), partial(run, _plot)
