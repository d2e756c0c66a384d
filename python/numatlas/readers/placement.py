"""Observed placement as words and numbers."""

from typing import Any


class Residency:
    """Where the pages of a flow's memory were seen; `prefix` None: of no memory at all."""

    def __init__(self, flow: dict[str, Any], prefix: str | None) -> None:
        known = prefix is not None
        self.asked = flow.get(f"{prefix}memory") if known else None  #: the placement asked for
        self.told = (flow.get(f"{prefix}residency") if known else None) or {}
        self.pages = self.told.get("pages_by_node") or {}
        self.seen = sum(self.pages.values())

    def nodes(self) -> list[int]:
        """Those with pages."""
        return [int(node) for node, pages in self.pages.items() if pages]

    def main_node(self) -> int | None:
        """The node that most pages were seen on; None where nobody saw them."""
        return int(max(self.pages, key=lambda node: self.pages[node])) if self.pages else None

    def text(self) -> str | None:
        """ "node 0: 100 %, 4 KiB"; None where there is nothing to tell."""
        if self.told.get("problem"):
            return f"not observed: {self.told['problem']}"
        if not self.seen:
            return None
        nodes = (
            f"node {node}: {_percent(self.pages[node], self.seen)} %" for node in sorted(self.pages, key=int)
        )
        return ", ".join([*nodes, *filter(None, [self.told.get("page_text")])])

    def columns(self, prefix: str) -> dict[str, Any]:
        """Words, and pages in all, those that the kernel was asked about, those whose node it told, and of
        memory bound to one node those that lie elsewhere. None where there is nothing to tell."""
        elsewhere, node = None, str(self.asked).removeprefix("bind:")
        if self.seen and str(self.asked).startswith("bind:") and node.isdigit():
            elsewhere = self.seen - self.pages.get(node, 0)
        return {
            f"{prefix}placement": self.text(),
            f"{prefix}pages_total": self.told.get("pages_total"),
            f"{prefix}pages_checked": self.told.get("pages_asked"),
            f"{prefix}pages_observed": self.seen if self.told else None,
            f"{prefix}pages_elsewhere": elsewhere,
        }


def _percent(pages: int, seen: int) -> str:
    """100 only where it is all of them."""
    for digits in (3, 4, 5):
        text = f"{100 * pages / seen:.{digits}g}"
        if text != "100" or pages == seen:
            return text
    return "over 99.99"
