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
    nodes = ", ".join(f"node {node}: {100 * pages[node] / seen:.3g} %" for node in sorted(pages, key=int))
    return f"{nodes}, {residency['page_text']}" if residency.get("page_text") else nodes
