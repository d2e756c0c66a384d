"""HTML that cannot be broken by data: everything is escaped but what `el` made."""

import re
from html import escape
from typing import Any


class Markup(str):
    """HTML that is escaped already."""


def el(name: str, *children: Any, **attributes: Any) -> Markup:
    """An element. Attributes as Python words (`class_`, `data_key`); None and False leave one out."""
    words = "".join(
        f" {_attribute(key)}" if value is True else f' {_attribute(key)}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in ("img", "input", "br", "meta"):
        return Markup(f"<{name}{words}>")
    return Markup(f"<{name}{words}>{join(children)}</{name}>")


def join(children: Any) -> Markup:
    """Several after one another; None is nothing, text is escaped, lists are opened."""
    if children is None or children is False:
        return Markup("")
    if isinstance(children, Markup):
        return children
    if isinstance(children, list | tuple):
        return Markup("".join(join(child) for child in children))
    return Markup(escape(str(children)))


def _attribute(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def folded(lines: list[Markup], shown: int, class_: str) -> Markup:
    """A numbered list of which the first lines are seen, and the rest on demand."""
    rest = lines[shown:]
    more = el(
        "details",
        el("summary", f"{len(rest)} more"),
        el("ol", rest, class_=class_, start=shown + 1),
        class_="more",
    )
    return join([el("ol", lines[:shown], class_=class_), more if rest else None])


def identifier(text: str) -> str:
    """Letters, digits and dashes, for an id of an element."""
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-") or "figure"
