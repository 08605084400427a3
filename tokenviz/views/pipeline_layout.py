"""The Pipeline drawing's geometry: blocks under each other along one straight residual stream.

    layout(step, scenario, opened=True, only=None) -> Scene

Each kind of block is drawn once, in the order in which layers use them; a layer kind that reuses a block drawn further
up shows a small box in its place, so that the stream reads like the layers do. Lines in the left margin lead from
the end of a layer kind back to the one that follows it. Deterministic; no library decides a position.
"""

from dataclasses import dataclass, field, replace

from tokenviz.graph import DecodeStep
from tokenviz.scenario import Scenario
from tokenviz.schedule import schedule_block
from tokenviz.views.format import plural
from tokenviz.views.measure import make_box
from tokenviz.views.pipeline_edges import edges_of
from tokenviz.views.pipeline_groups import (
    Group,
    drawn_as,
    groups,
    layer_kinds,
    letter,
    panel_id,
    stub_id,
    transitions,
)
from tokenviz.views.pipeline_parts import parts_of
from tokenviz.views.pipeline_place import Placed, place
from tokenviz.views.scene import Box, Bubble, Edge, Note, Panel, Rect, Scene

MARGIN, LOOP_GAP, SPINE_IN = 20.0, 26.0, 84.0
HEADING, PADDING, BETWEEN = 52.0, 24.0, 40.0
MOST_LOOPS = 8


@dataclass(slots=True)
class _Sheet:
    """The drawing as it grows downward, and where the residual stream has been led to."""

    spine: float
    y: float = MARGIN
    panels: list[Panel] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    bubbles: list[Bubble] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    end: Bubble | Box | None = None  # what the residual stream leaves last
    heads: dict[int, Bubble | Box] = field(default_factory=dict)  # layer kind -> where the stream enters it
    tails: dict[int, Bubble | Box] = field(default_factory=dict)


def layout(step: DecodeStep, scenario: Scenario, opened: bool = True, only: str | None = None) -> Scene:
    """The drawing of a step. `opened` shows the operations in their boxes; `only` draws one block by its key."""
    loops = [] if only else _loops(step)
    sheet = _Sheet(spine=MARGIN + LOOP_GAP * len(loops) + SPINE_IN)
    if only:
        _block(sheet, step, drawn_as(step)[only], scenario, opened)
    else:
        _all(sheet, step, scenario, opened)
        _draw_loops(sheet, loops)
    width = max((p.rect.right for p in sheet.panels), default=0.0) + MARGIN
    return Scene(
        f"{'open' if opened else 'closed'} {only or 'all'} {'|'.join(step.multiplicity)}",
        width,
        sheet.y - BETWEEN + MARGIN,
        tuple(_same_width(sheet.panels)),
        tuple(sheet.boxes),
        tuple(sheet.bubbles),
        edges=tuple(sheet.edges),
        notes=tuple(sheet.notes),
    )


def _all(sheet: _Sheet, step: DecodeStep, scenario: Scenario, opened: bool) -> None:
    by_key = {g.key: g for g in groups(step)}
    _block(sheet, step, by_key[step.sequence[0].block], scenario, opened)
    seen: set[str] = set()
    for i, kind in enumerate(layer_kinds(step)):
        for j, key in enumerate(kind.sections):
            again = key in seen
            seen.add(key)
            entered = _stub(sheet, by_key[key], i) if again else _block(sheet, step, by_key[key], scenario, opened)
            if j == 0:
                sheet.heads[i] = entered
        if sheet.end is not None:
            sheet.tails[i] = sheet.end
    _block(sheet, step, by_key[step.sequence[-1].block], scenario, opened)


# ------------------------------------------------------------------------------------------------ one block


def _block(sheet: _Sheet, step: DecodeStep, group: Group, scenario: Scenario, opened: bool) -> Bubble | Box:
    """Draw a block below what is drawn; returns where the residual stream enters it."""
    placed = place(parts_of(group.block, scenario, opened), sheet.spine)
    top = sheet.y + HEADING
    parts = placed.plan.parts.parts
    right = max(r.right for p in parts.values() for r in p.rects) + PADDING
    left = sheet.spine - SPINE_IN + 12
    edges = edges_of(placed, right + 8)
    for part in parts.values():
        if part.box:
            sheet.boxes.append(part.box.moved(0, top))
        sheet.bubbles += [replace(b, rect=b.rect.moved(0, top)) for b in part.bubbles]
    sheet.edges += [replace(e, points=tuple((x, y + top) for x, y in e.points)) for e in edges]
    bottom = top + placed.height + PADDING
    rect = Rect(left, sheet.y, right - left, bottom - sheet.y)
    heading, sub, tab = titles(step, group)
    sheet.panels.append(Panel(panel_id(group.key), heading, rect, sub, tab, sheet.spine - left + 24))
    entered = _join(sheet, placed, top)
    sheet.y = bottom + BETWEEN
    return entered


def titles(step: DecodeStep, group: Group) -> tuple[str, str, str]:
    """Heading, subheading and short name of a block: what it is, how often it runs, how long it takes."""
    block = group.block
    heading = block.label + (f" ×{group.count}" if group.count > 1 else "")
    parts = [plural(len(block.ops), "operation"), f"{schedule_block(block).depth} in a row"]
    if group.looked_up is not None:
        parts.append("in layer 0 the norm is looked up, not computed")
    return heading, " · ".join(parts), block.label


def _join(sheet: _Sheet, placed: Placed, top: float) -> Bubble | Box:
    """Lead the residual stream from the last block into this one, and note where it leaves."""
    parts = placed.plan.parts
    head = parts.parts[next(iter(parts.parts))]
    entry = next(iter(head.results.values()))
    entry = replace(entry, rect=entry.rect.moved(0, top))
    if sheet.end is not None:
        sheet.edges.append(_down(sheet.end, entry, sheet.spine))
    last = parts.parts[parts.spine[-1]] if len(parts.spine) > 1 else None
    residual = parts.block.outputs.get("residual")
    if last is not None:
        bubble = next(iter(last.results.values()))
        sheet.end = replace(bubble, rect=bubble.rect.moved(0, top))
    elif residual is not None:
        roots = parts.block.values[residual].roots
        held = next(p.results[r] for p in parts.parts.values() for r in roots if r in p.results)
        sheet.end = replace(held, rect=held.rect.moved(0, top))
    else:
        sheet.end = None
    return entry


def _down(source: Bubble | Box, target: Bubble | Box, spine: float) -> Edge:
    """The residual stream between two blocks: straight down, with a step where the lookup hands it over."""
    x = source.rect.cx if isinstance(source, Bubble) else spine
    a, b = source.rect.bottom, target.rect.y
    points = [(x, a), (spine, b)] if abs(x - spine) < 0.5 else [(x, a), (x, b - 56), (spine, b - 56), (spine, b)]
    return Edge(f"{source.id} > {target.id}", source.id, target.id, tuple(points), "residual", 2.6, bridge=True)


def _stub(sheet: _Sheet, group: Group, kind: int) -> Box:
    """A block that is drawn further up, as one box on the residual stream."""
    box = make_box(stub_id(group.key, kind), f"{group.block.label}, as drawn above", (), 0, 0)
    box = box.moved(sheet.spine - 46, sheet.y)
    if sheet.end is not None:
        sheet.edges.append(
            Edge(f"{sheet.end.id} > {box.id}", sheet.end.id, box.id,
                 ((sheet.spine, sheet.end.rect.bottom), (sheet.spine, box.rect.y)), "residual", 2.6, bridge=True)
        )  # fmt: skip
    sheet.boxes.append(box)
    sheet.end = box
    sheet.y = box.rect.bottom + BETWEEN
    return box


def _same_width(panels: list[Panel]) -> list[Panel]:
    """Panels of one width: the sheet has straight margins."""
    right = max((p.rect.right for p in panels), default=0.0)
    return [replace(p, rect=replace(p.rect, width=right - p.rect.x)) for p in panels]


# ------------------------------------------------------------------------------------------------ how layers repeat


def _loops(step: DecodeStep) -> list[tuple[int, int, int]]:
    """(layer kind, the next layer's kind, how often), for all but the step from one kind to the one drawn below it."""
    found = [(a, b, n) for (a, b), n in transitions(step).items() if b != a + 1]
    found.sort(key=lambda loop: (abs(loop[0] - loop[1]), loop))
    return found if len(found) <= MOST_LOOPS else []


def _draw_loops(sheet: _Sheet, loops: list[tuple[int, int, int]]) -> None:
    """Lines in the left margin from the end of a layer kind back to the start of the next layer's kind."""
    for i, (a, b, count) in enumerate(loops):
        source, target = sheet.tails[a], sheet.heads[b]
        x = MARGIN + LOOP_GAP * (len(loops) - 1 - i) + 6
        y, to = source.rect.cy + 3 * i, target.rect.cy - 5 * i
        points = ((source.rect.x, y), (x, y), (x, to), (target.rect.x, to))
        hint = f"{plural(count, 'time')} the next layer is of kind {letter(b)}"
        sheet.edges.append(
            Edge(
                f"{source.id} >> {target.id}",
                source.id,
                target.id,
                points,
                "residual",
                1.5,
                f"×{count}",
                hint=hint,
                bridge=True,
            )
        )
