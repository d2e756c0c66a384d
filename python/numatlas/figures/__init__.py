"""Figures of a result: one module a kind, found by its name. A kind is what `numatlas plot KIND` draws."""

from importlib import import_module

from numatlas.figures.model import Figure
from numatlas.result import Result

#: In the order of a page. Each has `figures(result) -> list[Figure]`, empty where the result has none.
KINDS = (
    "machine",
    "latency",
    "matrix",
    "loaded",
    "bandwidth",
    "scaling",
    "cores",
    "copy",
    "touch",
    "weights",
    "transfer",
    "stream",
    "flows",
)


def figures_of(result: Result, kind: str | None = None) -> list[Figure]:
    """All figures of a result (a survey's benchmarks included), or those of one kind."""
    found: list[Figure] = []
    for name in KINDS if kind is None else (kind,):
        module = import_module(f"numatlas.figures.{name}")
        parts = [result] if name == "machine" else result.all()
        for part in parts:
            found += module.figures(part)
    return found
