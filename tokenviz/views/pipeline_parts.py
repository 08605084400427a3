"""The parts of one block's drawing, before they have a place: each transform with what is drawn around its box.

    parts_of(block, scenario, opened) -> Parts

A part is a transform's box, its stored operands above its left corner, its results below, and the state that it is the
first to read or that it writes at its right. Everything is sized here; `pipeline_lanes` and `pipeline_route` give it
a place.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tokenviz.graph import Block, Op, Transform
from tokenviz.scenario import Scenario
from tokenviz.schedule import schedule_block
from tokenviz.views.format import plural
from tokenviz.views.measure import make_box, make_bubble
from tokenviz.views.pipeline_elements import bubbled, outside, stored
from tokenviz.views.pipeline_groups import box_id, bubble_id, cell_id
from tokenviz.views.pipeline_text import bubble_hint, bubble_lines
from tokenviz.views.scene import Box, Bubble, Rect

OVERHANG = 16.0
"""How far stored operands stand out to the left of their box, so that their edge can enter it from the left."""
WIDTHS = (470.0, 470.0, 232.0, 232.0, 232.0, 190.0)
"""Greatest width of a box by how many boxes stand in its row."""
PORT_GAP, GAP_STATIC, GAP_RESULT, GAP_STATE, STUB = 18.0, 12.0, 14.0, 26.0, 24.0


@dataclass(slots=True)
class Part:
    """A transform (or, without a box, something that enters the block) and the bubbles drawn around it.

    Rectangles are relative to the part's own left and to the top of its box.
    """

    id: str
    rank: int
    box: Box | None
    statics: list[Bubble] = field(default_factory=list)
    results: dict[str, Bubble] = field(default_factory=dict)  # value id -> bubble
    reads: dict[str, Bubble] = field(default_factory=dict)  # state id -> bubble of what was kept
    writes: dict[str, Bubble] = field(default_factory=dict)  # state id -> bubble of what is left
    ports: int = 1

    @property
    def bubbles(self) -> list[Bubble]:
        """Every bubble of the part."""
        return [*self.statics, *self.results.values(), *self.reads.values(), *self.writes.values()]

    @property
    def rects(self) -> list[Rect]:
        """Rectangles of box and bubbles."""
        around = [bubble.rect for bubble in self.bubbles]
        return [self.box.rect, *around] if self.box else around

    @property
    def statics_right(self) -> float:
        """Right end of the stored operands; data enters the box to the right of it."""
        return max((b.rect.right for b in self.statics), default=-OVERHANG)

    @property
    def left(self) -> float:
        """Leftmost extent."""
        return min(r.x for r in self.rects)

    @property
    def right(self) -> float:
        """Rightmost extent; state needs room for the stub that leads to its other token."""
        stub = STUB if self.reads or self.writes else 0.0
        return max(r.right for r in self.rects) + stub

    @property
    def above(self) -> float:
        """Height of what stands above the box."""
        return max(0.0, -min(r.y for r in self.rects))

    @property
    def below(self) -> float:
        """Height from the top of the box to the lowest bubble."""
        return max(r.bottom for r in self.rects)


@dataclass(frozen=True, eq=False)
class Parts:
    """A block's parts in program order, what each reads from others, and the chains that keep a column."""

    block: Block
    parts: Mapping[str, Part]
    sources: Mapping[str, tuple[str, str]]  # value id -> (part that holds its bubble, "result" or "state")
    needs: Mapping[str, tuple[str, ...]]  # part -> ids of values that come from the bubbles of other parts
    spine: tuple[str, ...]  # the residual input, then the transforms that add to it
    main: tuple[str, ...]  # one longest chain of the block's other transforms


def parts_of(block: Block, scenario: Scenario, opened: bool) -> Parts:
    """Size every part of a block; with `opened` the boxes show their operations."""
    spine = _spine(block)
    ranks = _ranks(block)
    parts: dict[str, Part] = {}
    for port, value_id in block.inputs.items():
        if any(value_id in needed for needed in outside(block).values()):
            parts[f"in:{port}"] = Part(f"in:{port}", -1, None, results={value_id: _bubble(block, value_id, scenario)})
    beside = [rank for t, rank in ranks.items() if t not in spine]
    for t in block.transforms:
        width = WIDTHS[min(beside.count(ranks[t.id]), len(WIDTHS) - 1)]
        parts[t.id] = Part(t.id, ranks[t.id], _box(block, t, opened, width))
    _add_bubbles(block, parts, scenario)
    sources = {v: (p.id, "result") for p in parts.values() for v in p.results}
    states = {s.id: s for s in block.states}
    sources.update({states[s].read: (p.id, "state") for p in parts.values() for s in p.reads})
    needs = {t: tuple(v for v in read if sources.get(v, (t,))[0] != t) for t, read in outside(block).items()}
    for reader, values in needs.items():
        parts[reader].ports = max(1, len(values))
    head = ("in:residual",) if "in:residual" in parts else ()
    entered = tuple(p for p in parts if p.startswith("in:") and p not in head)
    critical = tuple(t for t in schedule_block(block).critical if t not in spine)
    return Parts(block, parts, sources, needs, (*head, *spine), (*entered[:1], *critical))


def _spine(block: Block) -> tuple[str, ...]:
    """The transforms that add to the residual stream, first to last: those through which the input passes straight."""
    start, end = block.inputs.get("residual"), block.outputs.get("residual")
    if start is None or end is None:
        return ()
    makers = [block.producers[r].transform for r in block.values[end].roots if r in block.producers]
    found: list[str] = []
    while makers:
        at = makers[0]
        found.insert(0, at)
        if start in outside(block)[at]:
            return tuple(found)
        kind = block.transform_by_id[at].kind
        feeders = [f for f in block.feeds[at] if block.transform_by_id[f].kind == kind]
        makers = feeders[:1]
    return ()


def _ranks(block: Block) -> dict[str, int]:
    """Rows: one below the lowest feeder. What only stores stands beside the first reader of what it adds to."""
    ranks: dict[str, int] = {}
    for t in block.transforms:
        ranks[t.id] = max((ranks[f] for f in block.feeds[t.id]), default=-1) + 1
    fed = {f for feeders in block.feeds.values() for f in feeders}
    for state in block.states:
        writer = block.producers[state.written].transform
        readers = [ranks[t] for t in ranks if t != writer and state.read in outside(block)[t]]
        if writer not in fed and readers:
            ranks[writer] = max(ranks[writer], min(readers))
    return ranks


def _box(block: Block, transform: Transform, opened: bool, room: float) -> Box:
    cells = [(cell_id(block.key, op.id), op.label, str(op.op_class), _hint(op)) for op in transform.ops]
    hint = f"{transform.title}\n{transform.says}\n{plural(len(cells), 'operation')}, one after the other"
    name = box_id(block.key, transform.id)
    if not opened:
        return make_box(name, transform.title, (), 0, 0, note=plural(len(cells), "op"), hint=hint)
    box = make_box(name, transform.title, cells, 0, 0, room, hint=hint)
    return _even(box, lambda width: make_box(name, transform.title, cells, 0, 0, width, hint=hint))


def _even(box: Box, again: Callable[[float], Box]) -> Box:
    """The narrowest box with as few rows of cells as `box` has: rows of about equal length."""
    low, high = box.rect.width / 2, box.rect.width
    while high - low > 4:
        middle = (low + high) / 2
        if again(middle).rect.height > box.rect.height:
            low = middle
        else:
            high = middle
    return again(high)


def _hint(op: Op) -> str:
    return f"{op.label}: {op.op_class}\n{op.reason}"


def _bubble(block: Block, value_id: str, scenario: Scenario, beside: str = "") -> Bubble:
    name, shape, size = bubble_lines(block, value_id, scenario)
    lifetime = str(block.values[value_id].lifetime)
    return make_bubble(
        bubble_id(block.key, value_id, beside), name, lifetime, 0, 0, shape, size, bubble_hint(block, value_id)
    )


def _add_bubbles(block: Block, parts: dict[str, Part], scenario: Scenario) -> None:
    kept = {s.read: s for s in block.states}
    written = {s.written: s for s in block.states}
    again = {r for needed in outside(block).values() for r in needed}
    holders = _holders(block, parts)
    for t in block.transforms:
        part = parts[t.id]
        for root in outside(block)[t.id]:
            if root in kept:
                if holders[kept[root].id] == t.id:
                    part.reads[kept[root].id] = _bubble(block, root, scenario)
            elif stored(block, root):
                part.statics.append(_bubble(block, root, scenario, t.id))
        for result in (r for op in t.ops for r in op.results):
            if result in written and result not in again:
                part.writes[written[result].id] = _bubble(block, result, scenario)
            elif result in bubbled(block):
                part.results[result] = _bubble(block, result, scenario)


def _holders(block: Block, parts: Mapping[str, Part]) -> dict[str, str]:
    """State -> the part beside which it is drawn as found: its first reader, its writer only if nobody else reads."""
    found: dict[str, str] = {}
    for state in block.states:
        writer = block.producers[state.written].transform
        readers = [t for t, needed in outside(block).items() if state.read in needed]
        others = [t for t in readers if t != writer]
        found[state.id] = min(others or readers or [writer], key=lambda t: parts[t].rank)
    return found
