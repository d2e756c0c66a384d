"""Observed placement as words and numbers."""

from typing import Any

#: What is told of the memory that a flow reads, where that is apart.
OF_SOURCE = ("memory", "placement", "pages_total", "pages_checked", "pages_observed", "pages_elsewhere")


def residency(flow: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Of a flow's memory the placement asked for (`memory`), the node that most pages were seen on, all nodes
    (`seen`), in words, and pages in all, those that the kernel was asked about, those whose node it told, and
    of memory bound to one node those that lie elsewhere. None where there is nothing to tell."""
    asked, told = flow.get(f"{prefix}memory"), flow.get(f"{prefix}residency") or {}
    pages = {int(node): count for node, count in (told.get("pages_by_node") or {}).items()}
    every, node = sum(pages.values()), str(asked).removeprefix("bind:")
    bound = every and str(asked).startswith("bind:") and node.isdigit()
    shares = [f"node {node}: {_percent(pages[node], every)} %" for node in sorted(pages) if every]
    words = ", ".join([*shares, told.get("page_text") or ""]).removesuffix(", ") if every else None
    return {
        "memory": asked,
        "memory_node": max(pages, key=pages.__getitem__) if pages else None,
        "seen": [node for node, count in pages.items() if count],
        "page_size": told.get("page_text"),
        "placement": f"not observed: {told['problem']}" if told.get("problem") else words,
        "pages_total": told.get("pages_total"),
        "pages_checked": told.get("pages_asked"),
        "pages_observed": every if told else None,
        "pages_elsewhere": every - pages.get(int(node), 0) if bound else None,
    }


def _percent(pages: int, seen: int) -> str:
    """100 only where it is all of them."""
    for digits in (3, 4, 5):
        text = f"{100 * pages / seen:.{digits}g}"
        if text != "100" or pages == seen:
            return text
    return "over 99.99"
