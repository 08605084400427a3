"""The edges of a placed block: from a bubble to the boxes that read it, and between a box and its own bubbles.

edges_of(placed, right) -> Edge, ...        `right` is where state leaves the block, towards another token
"""

from collections.abc import Iterator
from dataclasses import replace

from tokenviz.views.measure import BOX_HEAD, SMALL, text_width
from tokenviz.views.pipeline_elements import entering_names
from tokenviz.views.pipeline_lanes import Strand
from tokenviz.views.pipeline_parts import OVERHANG, STUB, Part
from tokenviz.views.pipeline_place import Placed, track_key
from tokenviz.views.scene import Box, Bubble, Edge, Point

LABEL_ROOM = 18.0
"""Width of a name that fits on a line beside the stored operands of its reader."""


def edges_of(placed: Placed, right: float) -> tuple[Edge, ...]:
    """All edges of a block, in drawing order."""
    parts = placed.plan.parts.parts.values()
    found = [edge for part in parts for edge in _own(part, right, placed)]
    names = entering_names(placed.plan.parts.block)
    for strand in placed.plan.strands:
        for t in strand.consumers:
            label = names.get((strand.value, t), "")
            crowded = placed.plan.parts.parts[t].statics and text_width(label, SMALL) > LABEL_ROOM
            found.append(replace(_strand(placed, strand, t), label="" if crowded else label))
    return tuple(found)


def _edge(source: str, target: str, points: list[Point], kind: str = "data", *, arrow: bool = True) -> Edge:
    dashed = kind in ("state", "retained")
    width = 2.6 if kind == "residual" else 1.5
    return Edge(f"{source} > {target}", source, target, tuple(_plain(points)), kind, width, dashed=dashed, arrow=arrow)


def _plain(points: list[Point]) -> Iterator[Point]:
    """Without points that lie on the line between their neighbours."""
    for i, (x, y) in enumerate(points):
        if 0 < i < len(points) - 1:
            (a, b), (c, d) = points[i - 1], points[i + 1]
            if (abs(a - x) < 0.01 and abs(x - c) < 0.01) or (abs(b - y) < 0.01 and abs(y - d) < 0.01):
                continue
        yield x, y


# ---------------------------------------------------------------------------------------- a part and its bubbles


def _own(part: Part, right: float, placed: Placed) -> Iterator[Edge]:
    box = part.box
    if box is None:
        return
    for i, bubble in enumerate(part.statics):
        yield _edge(bubble.id, box.id, _from_left(bubble, box) if i == 0 else _down(bubble, box), "static")
    spine = part.id in placed.plan.parts.spine
    for bubble in part.results.values():
        yield _edge(box.id, bubble.id, _below(bubble, box), "residual" if spine else "data", arrow=False)
    for i, bubble in enumerate(part.reads.values()):
        yield _edge(bubble.id, box.id, _aside(bubble, box, 17.0 - 3 * i, into=True), "state")
    for i, bubble in enumerate(part.writes.values()):
        yield _edge(box.id, bubble.id, _aside(bubble, box, 9.0 - 3 * i, into=False), "state")
    for held in (part.reads, part.writes):
        for bubble in held.values():
            yield _other_token(bubble, held is part.reads, _free_to(part, placed, right))


def _from_left(bubble: Bubble, box: Box) -> list[Point]:
    """Down beside the box, then into its left side."""
    x, y = box.rect.x - OVERHANG / 2, box.rect.y + min(box.rect.height / 2, BOX_HEAD + 14)
    return [(x, bubble.rect.bottom), (x, y), (box.rect.x, y)]


def _down(bubble: Bubble, box: Box) -> list[Point]:
    x = min(max(bubble.rect.cx, box.rect.x + 8), box.rect.right - 8)
    return [(x, bubble.rect.bottom), (x, box.rect.y)]


def _below(bubble: Bubble, box: Box) -> list[Point]:
    x = min(max(bubble.rect.cx, box.rect.x + 8), box.rect.right - 8)
    return [(x, box.rect.bottom), (x, bubble.rect.y)]


def _aside(bubble: Bubble, box: Box, gutter: float, *, into: bool) -> list[Point]:
    """Between the right side of a box and a bubble at its right, straight where their heights meet."""
    y = bubble.rect.cy
    at = min(max(y, box.rect.y + 9), box.rect.bottom - (20 if into and box.rect.height > 40 else 9))
    if not into:
        at = max(at, box.rect.cy + 4)
    x = box.rect.right + gutter
    points = [(box.rect.right, at), (x, at), (x, y), (bubble.rect.x, y)]
    return points[::-1] if into else points


def _other_token(bubble: Bubble, reads: bool, right: float) -> Edge:
    """The dashed line that comes from the previous token, or leads to the next one."""
    y = bubble.rect.cy
    points = [(right, y), (bubble.rect.right, y)] if reads else [(bubble.rect.right, y), (right, y)]
    name = f"{bubble.id} {'<' if reads else '>'} token"
    hint = "from the previous token" if reads else "to the next token"
    return Edge(name, bubble.id, bubble.id, tuple(points), "state", 1.5, dashed=True, hint=hint)


def _free_to(part: Part, placed: Placed, right: float) -> float:
    """The border of the block when nothing stands between, else a short way."""
    own = max(r.right for r in part.rects)
    others = (p for p in placed.plan.parts.parts.values() if p is not part and p.rank == part.rank)
    return right if all(max(r.right for r in p.rects) < own for p in others) else own + STUB - 4


# ------------------------------------------------------------------------------------------------ from part to part


def _strand(placed: Placed, strand: Strand, consumer: str) -> Edge:
    """From a bubble down (state: up) to a channel, through the rows between, and into the consumer's box."""
    parts = placed.plan.parts
    holder, target = parts.parts[strand.holder], parts.parts[consumer]
    bubble = _bubble(placed, strand)
    start = holder.rank + (0 if strand.of_state else 1)
    x = placed.leaving[strand.value]
    points = [(x, bubble.rect.y if strand.of_state else bubble.rect.bottom)]
    for row in range(start, target.rank + 1):
        y = placed.track_y(row, track_key(placed.plan, strand, row))
        ahead = placed.ports[consumer, strand.value] if row == target.rank else placed.passing_x(strand)
        if abs(ahead - x) > 0.5:
            points += [(x, y), (ahead, y)]
        x = ahead
    box = target.box
    assert box is not None
    points.append((x, box.rect.y))
    return _edge(bubble.id, box.id, points, _kind(placed, strand, consumer))


def _bubble(placed: Placed, strand: Strand) -> Bubble:
    part = placed.plan.parts.parts[strand.holder]
    if strand.of_state:
        state = next(s for s in placed.plan.parts.block.states if s.read == strand.value)
        return part.reads[state.id]
    return part.results[strand.value]


def _kind(placed: Placed, strand: Strand, consumer: str) -> str:
    if strand.of_state:
        return "state"
    on_spine = placed.plan.parts.spine
    return "residual" if strand.holder in on_spine and consumer in on_spine else "data"
