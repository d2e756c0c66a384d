"""A run of a program that has ended, and what the tests ask of it. Needs nothing but Python."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn


class Failed(Exception):
    """What is not as it has to be."""


class Skipped(Exception):
    """What is not here."""


@dataclass
class Run:
    """Each check raises Failed with all that was said."""

    words: list[str]
    code: int
    out: str
    err: str

    def fail(self, what: str) -> NoReturn:
        raise Failed(f"{what}\n$ {' '.join(self.words)}\n--- exit code {self.code}, standard output ---\n"
                     f"{self.out[-4000:]}--- standard error ---\n{self.err[-4000:]}")

    def ends_with(self, *codes: int) -> Run:
        if self.code not in codes:
            self.fail(f"the exit code is none of {codes}")
        return self

    def fails(self) -> Run:
        if self.code == 0:
            self.fail("the exit code is 0")
        return self

    def out_says(self, pattern: str) -> Run:
        if not re.search(pattern, self.out, re.MULTILINE):
            self.fail(f"standard output does not say {pattern!r}")
        return self

    def out_lacks(self, pattern: str) -> Run:
        if re.search(pattern, self.out, re.MULTILINE):
            self.fail(f"standard output says {pattern!r}")
        return self

    def out_is_empty(self) -> Run:
        if self.out:
            self.fail("something on standard output")
        return self

    def err_says(self, pattern: str, times: int | None = None) -> Run:
        found = len(re.findall(pattern, self.err, re.MULTILINE))
        if found == 0 or (times is not None and found != times):
            self.fail(f"standard error says {found} times: {pattern}")
        return self

    def says_once(self, pattern: str) -> Run:
        """On either output: launchers differ in what they pass on where."""
        found = len(re.findall(pattern, self.out + self.err, re.MULTILINE))
        if found != 1:
            self.fail(f"says {found} times, not once: {pattern!r}")
        return self

    def equal(self, found: object, wanted: object, what: str) -> Run:
        if found != wanted:
            self.fail(f"{what}: {found!r}, not {wanted!r}")
        return self

    def lines(self) -> list[str]:
        return self.out.splitlines()
