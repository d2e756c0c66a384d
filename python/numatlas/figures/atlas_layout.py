"""Where the places of an atlas stand: sockets beside each other, their nodes in them, what is attached above
or below. In inches of a picture that is WIDE."""

from numatlas.figures.atlas_model import Atlas, Box, Place

WIDE = 7.0
#: Inches around boxes; of a socket's title, a node, what is attached, its connection, the chain of caches.
PAD, TITLE, NODE, EXTRA, STEM, CHAIN = 0.08, 0.24, 0.66, 0.66, 0.16, 0.5
#: Between sockets with links drawn, and without.
GAP_X, GAP_Y, CLOSE = 1.35, 0.8, 0.16
#: More sockets than this have no lines between them.
MOST_LINKED = 4


def arrange(
    atlas: Atlas,
    sockets: dict[str, list[int]],
    titles: dict[str, dict[str, str]],
    attached: dict[str, list[Place]],
) -> None:
    """Gives places, sockets and links of the atlas their boxes and ends, and the atlas its height."""
    count = len(sockets)
    columns = count if count <= 2 else 2 if count <= MOST_LINKED else min(4, round(count**0.5 + 0.49))
    linked = 1 < count <= MOST_LINKED
    gap_x, gap_y = (GAP_X, GAP_Y) if linked else (CLOSE, CLOSE)
    wide = (WIDE - gap_x * (columns - 1)) / columns
    names = list(sockets)
    rows = [names[start : start + columns] for start in range(0, count, columns)]
    by_name = {place.name: place for place in atlas.places}
    y = 0.0
    for number, row in enumerate(rows):
        tall = max(_socket_height(len(sockets[name])) for name in row)
        extra = max(_extra_height(len(attached[name])) for name in row)
        above = extra if len(rows) > 1 and number == 0 else 0.0  # the lines go down
        for at, name in enumerate(row):
            box = Box(at * (wide + gap_x), y + above, wide, tall)
            atlas.sockets[name] = (box, titles[name])
            _nodes(box, [by_name[f"N{node}"] for node in sockets[name]])
            _extras(atlas, box, attached[name], above > 0)
        y += tall + extra + gap_y
    atlas.height = y - gap_y
    if linked:
        for link in atlas.links:
            link.ends = _ends(atlas.sockets[link.first][0], atlas.sockets[link.second][0])
    if atlas.chain:
        atlas.chain_y = atlas.height + 0.14
        atlas.height = atlas.chain_y + CHAIN


def _across(count: int) -> int:
    return min(count, 2 if count <= 8 else 4)


def _socket_height(nodes: int) -> float:
    rows = -(-nodes // _across(nodes))
    return TITLE + rows * (NODE + PAD)


def _extra_height(count: int) -> float:
    return STEM + (PAD + EXTRA) * -(-count // 2) if count else 0.0


def _nodes(socket: Box, places: list[Place]) -> None:
    across = _across(len(places))
    wide = (socket.wide - PAD) / across - PAD
    for index, place in enumerate(places):
        row, at = divmod(index, across)
        place.box = Box(socket.x + PAD + at * (wide + PAD), socket.y + TITLE + row * (NODE + PAD), wide, NODE)


def _extras(atlas: Atlas, socket: Box, every: list[Place], above: bool) -> None:
    across = min(2, len(every)) or 1
    wide = (socket.wide - PAD) / across - PAD
    for index, one in enumerate(every):
        row, at = divmod(index, across)
        x = socket.x + PAD + at * (wide + PAD)
        step = STEM + row * (PAD + EXTRA)
        y = socket.y - step - EXTRA if above else socket.y + socket.tall + step
        one.box = Box(x, y, wide, EXTRA)
        if row == 0:
            ends = (socket.y, y + EXTRA) if above else (socket.y + socket.tall, y)
            atlas.stems.append((x + wide / 2, *ends))


def _ends(first: Box, second: Box) -> tuple[float, float, float, float]:
    """Of a line from the one to the other, at the sides that face each other."""
    beside, below = second.x > first.x, second.y > first.y
    if beside and not below:
        y = first.y + min(first.tall, second.tall) / 2
        return first.x + first.wide, y, second.x, y
    if below and second.x == first.x:
        x = first.x + first.wide / 2
        return x, first.y + first.tall, x, second.y
    left, right = (first, second) if beside else (second, first)
    upper = first.y + first.tall
    lower = second.y
    ys = (upper, lower) if left is first else (lower, upper)
    return left.x + left.wide, ys[0], right.x, ys[1]
