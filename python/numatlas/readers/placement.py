"""Observed placement as words and numbers."""

from typing import Any

from numatlas.units import numbers_of

#: What differs from what was asked for, of memory that a warning is of.
NODE, PAGE_SIZE, UNSEEN = "node", "page size", "not observed"

#: Bytes of the pages of a pool, by what was asked for.
POOLS = {"2M": 2 << 20, "1G": 1 << 30}
#: The least part of the pages that were asked for as transparent huge pages (src/engine/placement_check.cpp).
LEAST_THP = 0.99


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

    def differences(self, pages: str | None, cpu_node: int | None) -> set[str]:
        """What is seen to differ from what was asked for; `pages`: the kind that was asked for. Shares of
        interleaved memory are not judged."""
        if self.asked is None or self.asked.startswith("gpu:"):
            return set()
        if self.told.get("problem") or not self.seen:
            return {UNSEEN}
        mode, _, nodes = self.asked.partition(":")
        # Memory that a source of its own chose ("bind:0 (...)") names more than nodes.
        named = nodes if mode in ("bind", "prefer") and set(nodes) <= set("0123456789,-") else ""
        wanted = [cpu_node] if self.asked == "local" and cpu_node is not None else numbers_of(named)
        astray = wanted and set(self.nodes()) - set(wanted)
        return {what for what, wrong in ((NODE, astray), (PAGE_SIZE, self._has_others(pages))) if wrong}

    def _has_others(self, pages: str | None) -> bool:
        """Whether pages are of another size than this kind's."""
        part, size = self.told.get("thp_fraction") or 0, self.told.get("page_size")
        if pages in POOLS:
            return size is not None and size != POOLS[pages]
        return part < LEAST_THP if pages == "thp" else pages == "base" and part > 0

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
