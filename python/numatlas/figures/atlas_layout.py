"""Where the places of an atlas stand: sockets beside each other, their nodes in them, what is attached above
or below. In inches of a picture that is WIDE."""

from numatlas.figures.model import Atlas, Box, Spot

WIDE = 7.0
#: What a map shows, and its unit.
UNITS = {"latency": "s", "bandwidth": "B/s"}
#: Inches around boxes; of a socket's title, a node, what is attached, its connection, the chain of caches.
#: LOW: of what is attached without figures of its own.
PAD, TITLE, NODE, EXTRA, STEM, CHAIN, LOW = 0.08, 0.24, 0.66, 0.66, 0.26, 0.5, 0.42
#: Between sockets with links drawn, and without.
GAP_X, GAP_Y, CLOSE = 1.35, 0.8, 0.16
#: More sockets than this have no lines between them.
MOST_LINKED = 4


def arrange(atlas: Atlas, nodes: list[list[Spot]], attached: list[list[Spot]]) -> None:
    """Gives places, sockets and links of the atlas their boxes and lines, and the atlas its height; `nodes`
    and `attached` are those of each socket."""
    count = len(atlas.sockets)
    columns = count if count <= 2 else 2 if count <= MOST_LINKED else min(4, round(count**0.5 + 0.49))
    linked = 1 < count <= MOST_LINKED
    gap_x, gap_y = (GAP_X, GAP_Y) if linked else (CLOSE, CLOSE)
    wide = (WIDE - gap_x * (columns - 1)) / columns
    low = not any(spot.texts for spots in attached for spot in spots)
    extra_box = LOW if low else EXTRA
    y = 0.0
    for start in range(0, count, columns):
        row = range(start, min(start + columns, count))
        tall = max(TITLE + _rows(nodes[at]) * (NODE + PAD) for at in row)
        extra = max(STEM + (PAD + extra_box) * _rows(attached[at]) if attached[at] else 0.0 for at in row)
        above = count > columns and start == 0  # the lines go down
        for at in row:
            x = (at - start) * (wide + gap_x)
            box = atlas.sockets[at].box = Box(x, y + extra * above, wide, tall)
            _fill(nodes[at], box, box.y + TITLE, NODE + PAD, NODE)
            step = STEM + extra_box if above else -tall - STEM
            _fill(attached[at], box, box.y - step, (PAD + extra_box) * (-1 if above else 1), extra_box)
            for spot in attached[at][: _across(attached[at])]:
                ends = (box.y, spot.box.y + extra_box) if above else (box.y + tall, spot.box.y)
                x = spot.box.x + spot.box.wide / 2
                line = (x, ends[0], x, ends[1])
                atlas.stems.append(Spot(spot.name, beside=spot.beside, box=spot.box, line=line))
            for spot in attached[at][_across(attached[at]) :]:  # no line leads to it
                spot.note = ", ".join(filter(None, [spot.note, *spot.beside[1:]]))
        y += tall + extra + gap_y
    atlas.height = y - gap_y
    boxes = {socket.name: socket.box for socket in atlas.sockets}
    for link in atlas.links:
        link.line = _line(*(boxes[name] for name in link.ends)) if linked else None
    for kind in dict.fromkeys(hop.row for hop in atlas.chain):
        hops = [hop for hop in atlas.chain if hop.row == kind]
        wide = WIDE / len(hops)
        for at, hop in enumerate(hops):
            hop.box = Box(at * wide + 0.05, atlas.height + 0.14, wide - 0.1, CHAIN - 0.1)
        atlas.height += 0.14 + CHAIN


def _across(spots: list[Spot]) -> int:
    return max(1, min(len(spots), 2 if len(spots) <= 8 else 4))


def _rows(spots: list[Spot]) -> int:
    return -(-len(spots) // _across(spots))


def _fill(spots: list[Spot], socket: Box, top: float, step: float, tall: float) -> None:
    """Rows of a socket's width, from `top` on."""
    across = _across(spots)
    wide = (socket.wide - PAD) / across - PAD
    for index, spot in enumerate(spots):
        row, at = divmod(index, across)
        spot.box = Box(socket.x + PAD + at * (wide + PAD), top + row * step, wide, tall)


def _line(first: Box, second: Box) -> tuple[float, float, float, float]:
    """From the one to the other, at the sides that face each other."""
    if second.x > first.x and second.y == first.y:
        y = first.y + min(first.tall, second.tall) / 2
        return first.x + first.wide, y, second.x, y
    if second.x == first.x:
        x = first.x + first.wide / 2
        return x, first.y + first.tall, x, second.y
    left, right = (first, second) if second.x > first.x else (second, first)
    ys = (first.y + first.tall, second.y)
    return left.x + left.wide, ys[left is not first], right.x, ys[left is first]
