"""Observed placement as words and numbers."""

from typing import Any


def main_node(residency: dict[str, Any] | None) -> int | None:
    """The node that most pages were seen on; None where nobody saw them."""
    pages = (residency or {}).get("pages_by_node") or {}
    return int(max(pages, key=lambda node: pages[node])) if pages else None


def residency_text(residency: dict[str, Any] | None) -> str | None:
    """ "node 0: 100 %, 4 KiB"; None where there is nothing to tell."""
    if not residency:
        return None
    if residency.get("problem"):
        return f"not observed: {residency['problem']}"
    pages = residency.get("pages_by_node") or {}
    seen = sum(pages.values())
    if not seen:
        return None
    nodes = ", ".join(f"node {node}: {_percent(pages[node], seen)} %" for node in sorted(pages, key=int))
    return f"{nodes}, {residency['page_text']}" if residency.get("page_text") else nodes


def _percent(pages: int, seen: int) -> str:
    """100 only where it is all of them."""
    for digits in (3, 4, 5):
        text = f"{100 * pages / seen:.{digits}g}"
        if text != "100" or pages == seen:
            return text
    return "over 99.99"


def page_counts(residency: dict[str, Any] | None, memory: Any) -> dict[str, int | None]:
    """Pages in all, those that the kernel was asked about, those whose node it told, and of memory bound to
    one node those that lie elsewhere. None where there is nothing to tell."""
    told = residency or {}
    pages = told.get("pages_by_node") or {}
    seen = sum(pages.values())
    elsewhere = None
    if seen and str(memory).startswith("bind:") and str(memory)[5:].isdigit():
        elsewhere = seen - pages.get(str(memory)[5:], 0)
    return {
        "pages_total": told.get("pages_total"),
        "pages_checked": told.get("pages_asked"),
        "pages_observed": seen if residency else None,
        "pages_elsewhere": elsewhere,
    }
