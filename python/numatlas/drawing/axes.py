"""A frame with named values at both sides."""

from numatlas.drawing.shapes import Point, Shape, Words, line, shorten
from numatlas.figures.model import Box
from numatlas.figures.scales import Scale

Named = list[tuple[float, str]]  #: values, and how they are called


class Axes:
    """Gives values their places, and collects what is drawn."""

    def __init__(self, box: Box, across: Scale, upright: Scale) -> None:
        self.box, self.across, self.upright = box, across, upright
        self.parts: list[Shape] = []

    @property
    def bottom(self) -> float:
        """Of the frame."""
        return self.box.y + self.box.tall

    def x(self, value: float) -> float:
        """Place of a value of the horizontal axis."""
        return self.box.x + self.box.wide * self.across.part(value)

    def y(self, value: float) -> float:
        """Of the vertical one."""
        return self.box.y + self.box.tall * (1 - self.upright.part(value))

    def at(self, x: float, y: float) -> Point:
        """Of a pair of values."""
        return self.x(x), self.y(y)

    def name(self, xs: Named, ys: Named, labels: tuple[str, str]) -> None:
        """Values and labels of the horizontal and the vertical axis."""
        box = self.box
        across = shorten(labels[0], box.wide + 20)
        for value, text in ys:
            self.parts.append(line(box.x, self.y(value), box.x + box.wide, self.y(value), "grid"))
            self.parts.append(Words(text, box.x - 5, self.y(value), "end"))
        for value, text in xs:
            self.parts.append(line(self.x(value), self.bottom, self.x(value), self.bottom + 3, "axis"))
            self.parts.append(Words(text, self.x(value), self.bottom + 11, "middle"))
        self.parts.append(line(box.x, self.bottom, box.x + box.wide, self.bottom, "axis"))
        self.parts.append(Words(across, box.x + box.wide / 2, self.bottom + 27, "middle", "label"))
        self.parts.append(Words(labels[1], 10.0, box.y + box.tall / 2, "middle", "label", upright=True))
