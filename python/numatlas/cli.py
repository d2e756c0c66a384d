"""`numatlas report` and `numatlas plot`: the program runs these as git runs its commands."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from numatlas import exit_codes
from numatlas.exit_codes import UNAVAILABLE, USAGE
from numatlas.figures import KINDS, figures_of
from numatlas.file_error import FileError, intact
from numatlas.files import check_output, load, named
from numatlas.output import standard_output, write_whole
from numatlas.result import Result
from numatlas.text import printable

Files = Annotated[list[str], typer.Argument(metavar="FILE...", help="results, or the folder of a survey")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="do not say what was written")]


def _output(value: str) -> Path:
    return named("--output", value)


def _fail(code: int, message: str, hint: str = "") -> NoReturn:
    print(f"numatlas: error: {printable(message)}", file=sys.stderr)
    if hint:
        print(f"numatlas: hint: {printable(hint)}", file=sys.stderr)
    raise SystemExit(code)


def _write(path: Path, option: str, write: Callable[[Path], None]) -> None:
    """Whole or not at all."""
    try:
        write_whole(path, write)
    except OSError as error:
        _fail(
            exit_codes.of_file(error),
            f"{option}: {path}: {error.strerror or error}",
            "name a file in a folder that can be written to",
        )


def _page(results: list[Result], title: str) -> str:
    """The page, or FileError that names the file that it cannot be made of."""
    from numatlas.report.page import page

    try:
        with intact(", ".join(str(result.path) for result in results)):
            return page(results, title)
    except FileError as error:
        if len(results) > 1 and not isinstance(error.__cause__, MemoryError):
            for result in results:
                _page([result], title)  # it fails again, of the one that is damaged
        raise


def _report(
    files: Files,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", parser=_output, help="the page")
    ] = Path("report.html"),
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="of the page")] = "",
    quiet: Quiet = False,
) -> None:
    """One page of all figures of results: opens without a network, to look at, print and pass on."""
    check_output(output, files)
    text = _page([load(file) for file in files], title)
    _write(output, "--output", lambda path: _write_text(path, text))
    if not quiet:
        print(printable(str(output)))


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _plot(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=", ".join(KINDS))],
    file: Annotated[str, typer.Argument(metavar="FILE", help="a result, or the folder of a survey")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            parser=_output,
            help="png, svg or pdf by its end [default: KIND.png]",
        ),
    ] = None,
    figure: Annotated[
        str, typer.Option("--figure", metavar="KEY", help="one of the kind's figures; `list` names them")
    ] = "",
    quiet: Quiet = False,
) -> None:
    """Draws a figure, fit for print. Of several figures of a kind each goes to a file of its own."""
    from numatlas.plot import FORMATS

    if kind not in KINDS:
        _fail(USAGE, f"KIND: no such kind: {kind}", f"one of {', '.join(KINDS)}")
    target = output or Path(f"{kind}.png")
    if target.suffix.lstrip(".").lower() not in FORMATS:
        _fail(USAGE, f"--output: {target}: ends in none of {', '.join(FORMATS)}", f"such as {kind}.png")
    check_output(target, [file])
    result = load(file)
    with intact(result.path):
        _draw(result, kind, target, figure, quiet)


def _draw(result: Result, kind: str, target: Path, figure: str, quiet: bool) -> None:
    """The figures of a kind, or one of them, to files named after `target`."""
    from numatlas.plot import draw

    found = figures_of(result, kind)
    if figure == "list":
        print("\n".join(printable(f"{one.key}  {one.title}") for one in found))
        return
    if not found:
        kinds = [name for name in KINDS if figures_of(result, name)]
        _fail(
            UNAVAILABLE,
            f"{result.path}: has nothing of {kind}",
            f"it has {', '.join(kinds)}" if kinds else "",
        )
    chosen = [one for one in found if not figure or one.key == figure]
    if not chosen:
        _fail(USAGE, f"--figure: no such figure: {figure}", f"one of {', '.join(one.key for one in found)}")
    paths = [target]
    if len(chosen) > 1:
        paths = [target.with_name(f"{target.stem}-{one.key}{target.suffix}") for one in chosen]
    for path in paths:
        check_output(path, [result.path])
    for one, path in zip(chosen, paths, strict=True):
        _write(path, "--output", lambda part, one=one: draw(one, part))
        if not quiet:
            print(printable(str(path)))


def _run(command: Callable[..., None], name: str) -> None:
    """A program of one command; errors in the form of the program."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command()(command)
    usage_error = typer.BadParameter.__base__  # typer has no name for it
    try:
        with standard_output():
            code = app(prog_name=f"numatlas {name}", standalone_mode=False)
    except usage_error as error:
        _fail(USAGE, error.format_message(), f"see `numatlas {name} --help`")
    except FileError as error:
        _fail(error.code, str(error))
    except (KeyboardInterrupt, typer.Abort):
        raise SystemExit(130) from None
    raise SystemExit(code or 0)


def report() -> None:
    """The program numatlas-report."""
    _run(_report, "report")


def plot() -> None:
    """The program numatlas-plot."""
    _run(_plot, "plot")
