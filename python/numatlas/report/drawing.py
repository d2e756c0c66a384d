"""Pictures of the page: those of the plots, as SVG in the page's colours, with tooltips."""

import io
import re
import xml.etree.ElementTree as ElementTree

from markupsafe import Markup
from matplotlib.artist import Artist
from matplotlib.figure import Figure as Picture

from numatlas.plot import write_svg
from numatlas.plot.style import ALARM, COLOURS, GRID, QUIET, texts_of

SVG = "{http://www.w3.org/2000/svg}"
LINK = "{http://www.w3.org/1999/xlink}href"
#: Colours of the plots, and what the page has for them: light or dark.
_NAMES = {colour.lower(): f"var(--c{index})" for index, colour in enumerate(COLOURS)} | {
    "#000000": "var(--ink)",
    "#ffffff": "var(--card)",
    "#f2f2f2": "var(--soft)",
    "#777777": "var(--edge)",
    ALARM.lower(): "var(--bad)",
    QUIET.lower(): "var(--quiet)",
    GRID.lower(): "var(--grid)",
}
_COLOUR = re.compile("#[0-9a-fA-F]{6}")


def inline(picture: Picture, identity: str, words: str) -> Markup:
    """An svg element; the names of its pieces are made with `identity`, so that no other picture of the page
    has them; `words` are for those who cannot see it. What `describe` told of a part is its tooltip."""
    told = _named_parts(picture)
    with io.BytesIO() as file:
        write_svg(picture, file, identity)
        root = ElementTree.fromstring(file.getvalue())
    for element in root.findall(f"{SVG}metadata"):
        root.remove(element)
    defined = {one.get("id") for place in root.iter(f"{SVG}defs") for one in place.iter()} - {None}
    for element in list(root.iter()):
        name = element.attrib.pop("id", None)
        if name in told:
            _explain(element, told[name])
        _restyle(element)
        if name in defined:
            element.set("id", name)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.set("role", "img")
    root.set("aria-label", words)
    text = ElementTree.tostring(root, encoding="unicode")
    return Markup(re.sub(r"<(/?)ns\d+:", r"<\1", re.sub(r' xmlns:ns\d+="[^"]*"', "", text)))


def _named_parts(picture: Picture) -> dict[str, list[str]]:
    """Gives each part that has something to tell a name of its own."""
    told = {}
    for artist in picture.findobj(lambda one: texts_of(one) is not None):
        assert isinstance(artist, Artist)
        name = f"told-{len(told)}"
        artist.set_gid(name)
        told[name] = texts_of(artist)
    return told


def _restyle(element: ElementTree.Element) -> None:
    style = element.get("style")
    if style:
        style = _COLOUR.sub(lambda found: _NAMES.get(found[0].lower(), found[0]), style)
        element.set("style", style)
    target = element.attrib.pop(LINK, None)
    if target is not None:
        element.set("href", target)


def _explain(group: ElementTree.Element, texts: list[str]) -> None:
    """A tooltip for each marker, or one for all of it."""
    marks = list(group.iter(f"{SVG}use"))
    for place, text in zip(marks, texts, strict=True) if len(marks) == len(texts) else [(group, texts[0])]:
        title = ElementTree.Element(f"{SVG}title")
        title.text = text
        place.insert(0, title)
