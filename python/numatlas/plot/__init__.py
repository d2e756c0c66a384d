"""Figures as pictures for papers: png, svg, pdf, with a title above and the small print below. The same
figure gives the same bytes."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from numatlas.drawing import Ends, drawn
from numatlas.drawing.shapes import POINTS, TITLE, Drawing, Group, Shape, Words, small_print, stacked, wrapped
from numatlas.figures.fleet import NONE_JUDGED, judged_hosts
from numatlas.figures.model import Beside, Figure, Fleet, Matrix
from numatlas.figures.overlay import can_stand_beside
from numatlas.figures.scales import common_ends
from numatlas.figures.told import GRAVE
from numatlas.file_error import FileError

#: Of each: what keeps dates and versions out of the file.
FORMATS = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
#: For png; a page's width of 7 inches is then 1400 pixels.
DPI = 200
#: Inches: the text width of most papers; of a map that stands beside another, at least.
WIDTH, NARROWEST = 7.0, 3.3
#: Units around a picture.
MARGIN = 9.0
MOST_NOTES, MOST_WARNINGS = 2, 1


@dataclass(frozen=True)
class Frame:
    """What stands around a picture; its width in inches."""

    width: float = WIDTH
    title: bool = True
    footer: bool = True


PAPER = Frame()


def check_form(path: Path, hint: str = "") -> None:
    """Raises FileError where a picture cannot have this name."""
    if path.suffix.lstrip(".").lower() not in FORMATS:
        raise FileError("--output", f"{path}: ends in none of {', '.join(FORMATS)}", hint=hint)


def build(figure: Figure, frame: Frame = PAPER, mode: str = "", ends: Ends = None) -> Drawing:
    """The picture. `mode`: what an atlas shows; `ends`: of the colours of a map, where several have one
    scale.

    Maps of several files: as many in a row as there is room for, on one scale of colours where they have one
    unit; other figures one below the other. The small print that is of all stands below."""
    wide = frame.width * 72 / POINTS - 2 * MARGIN
    if isinstance(figure, Beside):
        body = _beside(figure.figures, frame, wide, mode)
        body.append(small_print([(note, "label") for note in figure.notes if frame.footer], wide))
    else:
        body = _framed(figure, frame, wide, mode, ends)
    inner = stacked(figure.title, wide, body)
    moved: list[Shape] = [Group(inner.parts, x=MARGIN, y=MARGIN)]
    return Drawing(figure.title, wide + 2 * MARGIN, inner.tall + 2 * MARGIN, moved)


def _framed(
    figure: Figure, frame: Frame, wide: float, mode: str, ends: Ends
) -> list[tuple[list[Shape], float]]:
    """Blocks: title, picture, small print."""
    lines = wrapped(figure.title, wide, TITLE, True) if frame.title else []
    title: list[Shape] = [
        Words(line, 0.0, 1.35 * TITLE * (at + 0.5), kind="bold", size=TITLE) for at, line in enumerate(lines)
    ]
    picture = drawn(figure, wide, ends, mode)
    small = small_print(_told(figure), wide) if frame.footer else ([], 0.0)
    return [(title, 1.35 * TITLE * len(lines) + 4), (picture.parts, picture.tall + 4), small]


def _beside(figures: list[Figure], frame: Frame, wide: float, mode: str) -> list[tuple[list[Shape], float]]:
    """A block a row of figures."""
    columns = max(1, min(len(figures), int(frame.width / NARROWEST))) if can_stand_beside(figures) else 1
    part = (wide - 2 * MARGIN * (columns - 1)) / columns
    maps = [one for one in figures if isinstance(one, Matrix)]
    ends = {unit: common_ends(one for one in maps if one.unit == unit) for unit in {one.unit for one in maps}}
    blocks = [_framed(one, frame, part, mode, ends.get(getattr(one, "unit", None))) for one in figures]
    made = [stacked(one.title, part, mine) for one, mine in zip(figures, blocks, strict=True)]
    rows = [made[at : at + columns] for at in range(0, len(made), columns)]
    return [
        (
            [Group(one.parts, x=at * (part + 2 * MARGIN)) for at, one in enumerate(row)],
            max(one.tall for one in row) + MARGIN,
        )
        for row in rows
    ]


def _told(figure: Figure) -> Iterable[tuple[str, str]]:
    """Sentences and their looks. That nothing was measured, or that the run is unreliable, is always told."""
    spread = "; ".join(filter(None, (figure.spread and f"spread: {figure.spread}", figure.placement)))
    notes = _first(figure.notes, MOST_NOTES)
    others = [str(one) for one in figure.warnings if one.code not in GRAVE]
    warnings = _first(others, MOST_WARNINGS)
    yield from ((text, "label") for text in [*_of_hosts(figure), spread, *notes] if text)
    yield from ((f"! {one}", "alarm bold") for one in figure.warnings if one.code in GRAVE)
    yield from ((f"! {text}", "alarm") for text in warnings)
    left = {"warning": len(others) - len(warnings), "note": len(figure.notes) - len(notes)}
    words = [f"{count} more {word}{'s' * (count > 1)}" for word, count in left.items() if count > 0]
    if words:
        yield f"and {' and '.join(words)}: `numatlas report` has them all", "label"


def _first(texts: list[str], most: int) -> list[str]:
    """The first ones; all of them where the line that counts the rest would take as much room."""
    return texts if len(texts) <= most + 1 else texts[:most]


def _of_hosts(figure: Figure) -> list[str]:
    """The worst hosts in words."""
    if not isinstance(figure, Fleet):
        return []
    axis, suspects = "the value axes do not begin at 0", list(figure.suspects()["words"])
    if suspects:
        more = [f"and {len(suspects) - 2} more slow hosts and kernels"] if len(suspects) > 2 else []
        return [axis, *(f"slow: {words}" for words in suspects[:2]), *more]
    if not figure.judged:
        return [axis, "nobody looked for slow hosts in this run (`numatlas check` does)"]
    return [axis, "no slow hosts by the run's rule" if judged_hosts(figure) else NONE_JUDGED]


def save(drawing: Drawing, path: str | Path, dpi: int = DPI) -> None:
    """Writes a picture in the form that the file's name ends in, one of FORMATS. Raises OSError where the
    file cannot be written."""
    from numatlas.plot import paint  # matplotlib takes longer than all else

    form = Path(path).suffix.lstrip(".").lower()
    paint.save(drawing, path, form, dpi, FORMATS[form])


def draw(
    figure: Figure,
    path: str | Path,
    dpi: int = DPI,
    frame: Frame = PAPER,
    mode: str = "",
) -> None:
    """Builds and saves; see there."""
    save(build(figure, frame, mode), path, dpi)
