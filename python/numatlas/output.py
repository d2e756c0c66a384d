"""Writing as the program does, for every command: files whole or not at all, and standard output."""

import errno
import io
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

from numatlas import exit_codes
from numatlas.file_error import FileError


@contextmanager
def standard_output() -> Iterator[None]:
    """Around a command: what it prints goes out at its end. Raises FileError where nobody takes it, also of
    what argparse prints, which by itself ends in other ways."""
    held = io.StringIO()
    try:
        with redirect_stdout(held):
            yield
    finally:
        if held.getvalue():
            _print(held.getvalue())


def _print(text: str) -> None:
    try:
        if sys.stdout is None:  # closed before Python began
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        print(text, end="", flush=True)
    except OSError as error:
        if sys.stdout is not None:  # else Python tries once more at its end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise FileError("standard output", f"write: {error.strerror}", exit_codes.IO) from None


def write_whole(path: Path, make: Callable[[Path], object], option: str = "", hint: str = "") -> None:
    """Writes what `make` writes to the file that it is given, whose name ends as that of `path`.

    A link is followed and stays. What exists and is no regular file (a pipe, a device) is written to, never
    replaced. Else the file appears whole, by renaming; on any failure nothing is left behind and what was
    there stays. Raises FileError, and whatever `make` raises.
    """
    try:
        _write(path, make)
    except OSError as error:
        why = error.strerror or str(error)
        raise FileError(f"{option}{path}", why, exit_codes.of_file(error), hint) from error


def _write(path: Path, make: Callable[[Path], object]) -> None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if mode is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    if mode is not None and not stat.S_ISREG(mode):
        _write_direct(path, make)
        return
    target = path.resolve()
    part = target.with_name(f".{target.name}.{os.getpid()}{path.suffix}")
    try:
        make(part)
        with part.open("rb") as written:
            os.fsync(written.fileno())  # some file systems tell only now that there is no room
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _write_direct(path: Path, make: Callable[[Path], object]) -> None:
    """Into what is there. Made elsewhere first: pictures need a file that they can go back in."""
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / f"part{path.suffix}"
        make(part)
        content = part.read_bytes()
    with open(os.open(path, os.O_WRONLY), "wb") as device:
        device.write(content)
