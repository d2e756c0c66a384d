"""Pictures of the page: SVG in the page's colours, with tooltips, light or dark as the page is."""

import base64
import struct
import zlib
from typing import Any

from markupsafe import Markup, escape

from numatlas.drawing.shapes import COLOURS, LOOKS, SIZE, Drawing, Group, Image, Path, Shape, Words


def svg(drawing: Drawing) -> Markup:
    """An element."""
    box = f"0 0 {_text(drawing.wide)} {_text(drawing.tall)}"
    look = {"viewBox": box, "style": f"max-width:{1.3 * drawing.wide:.0f}px", "font-size": SIZE}
    parts = [_element(shape) for shape in drawing.parts]
    return Markup(_tag("svg", *parts, role="img", **look, **{"aria-label": drawing.title}))


def style() -> str:
    """CSS of the colours, and of how the kinds of shapes look."""
    colours = "".join(f"--{name}:light-dark({','.join(pair)});" for name, pair in COLOURS.items())
    rules = "".join(
        f"svg .{kind}{{{';'.join(f'{name}:{_css(value)}' for name, value in look.items())}}}"
        for kind, look in LOOKS.items()
    )
    return f":root{{{colours}}}svg path{{fill:none}}{rules}"


def _css(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return f"var(--{value})" if value in COLOURS else str(value)


def _tag(name: str, *inside: str, **attributes: Any) -> str:
    words = [f' {key}="{_text(value)}"' for key, value in attributes.items() if value != ""]
    return f"<{name}{''.join(words)}>{''.join(inside)}</{name}>"


def _text(value: Any) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(escape(value))


def _element(shape: Shape) -> str:
    match shape:
        case Path():
            end = "Z" if shape.closed else ""
            runs = ["L".join(f"{x:.1f} {y:.1f}" for x, y in run) + end for run in shape.runs]
            told = _tag("title", str(escape(shape.told))) if shape.told else ""
            return _tag("path", told, d="M" + "M".join(runs), **_looks(shape.kind, shape.look))
        case Words():
            place: dict[str, Any] = {"x": shape.x, "y": shape.y + 0.36 * shape.size}
            if shape.upright:
                turn = f"translate({_text(shape.x)} {_text(shape.y)}) rotate(-90)"
                place = {"y": 0.36 * shape.size, "transform": turn}
            size = {"font-size": shape.size} if shape.size != SIZE else {}
            look = _looks(shape.kind, {"fill": shape.fill} if shape.fill else {})
            anchor = "" if shape.side == "start" else shape.side
            return _tag("text", str(escape(shape.text)), **place, **size, **look, **{"text-anchor": anchor})
        case Image():
            box = {"x": shape.box.x, "y": shape.box.y, "width": shape.box.wide, "height": shape.box.tall}
            return _tag("image", href=_png(shape.pixels), preserveAspectRatio="none", **box)
        case Group():
            look = {"class": shape.name}
            if shape.colour:
                colour = shape.colour if shape.colour[0] == "#" else f"var(--{shape.colour})"
                look["style"] = f"color:{colour}"
            if shape.x or shape.y:
                look["transform"] = f"translate({_text(shape.x)} {_text(shape.y)})"
            return _tag("g", *map(_element, shape.parts), **look)


def _looks(kind: str, look: dict[str, Any]) -> dict[str, str]:
    """Looks of its own stand in a style, which goes before those of its kind."""
    own = ";".join(f"{name}:{_css(value)}" for name, value in look.items())
    return {"class": kind, "style": own}


def _png(pixels: list[list[str]]) -> str:
    """A pixel a cell; empty ones are clear."""
    lines = [
        b"\0" + b"".join(bytes.fromhex(one[1:]) + b"\xff" if one else bytes(4) for one in line)
        for line in pixels
    ]
    size = struct.pack(">IIBBBBB", len(pixels[0]), len(pixels), 8, 6, 0, 0, 0)
    chunks = ((b"IHDR", size), (b"IDAT", zlib.compress(b"".join(lines), 9)), (b"IEND", b""))
    made = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )
    return "data:image/png;base64," + base64.b64encode(made).decode()
