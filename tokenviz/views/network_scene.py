"""The prediction map as a drawing: one column per region, the flow runs downward, the residual stream on the left.

Rows follow from the longest path to a node inside its region, lanes from what a node is: what adds to the stream stands
on it, what is kept stands on the right, all else below the mean of its parents.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from tokenviz.decoder.stations import Connection, MapNode, PredictionMap
from tokenviz.views.measure import make_bubble, make_node
from tokenviz.views.network_text import LABELS, caption, dims, heading, label, lesson
from tokenviz.views.scene import Bubble, Edge, Node, Note, Panel, Point, Rect, Scene

ROW, HEAD, FOOT = 43.0, 66.0, 34.0
WIDTH, GAP, TOP = 308.0, 32.0, 64.0
SPINE, MIDDLE, LANE, RIGHT = 42.0, 172.0, 58.0, 248.0
NARROW, NARROW_MIDDLE = 224.0, 74.0
ENTRY = 46.0  # where a column is entered, below its upper border
START = "Play goes through the recorded steps in their order; it does not show what could run at the same time."
SECTIONS = {"mixer": "attention", "ffn": "feed-forward"}
REBUILT = "cache rebuilt"
LIFETIMES = {"cache": "state", "weights": "static", "text": "ephemeral"}

Placed = Node | Bubble
Spots = dict[str, Point]


def panel_id(region: str) -> str:
    """Id of a region's panel."""
    return f"region {region}"


@lru_cache(maxsize=4)
def scene(found: PredictionMap) -> Scene:
    """All nodes and connections, with one panel for each region."""
    panels, left = [], 0.0
    spots: Spots = {}
    for region in found.regions:
        width = WIDTH if region.startswith("block") else NARROW
        panels.append((region, left, width))
        spots |= _spots(found, region, left, width)
        left += width + GAP
    items = {name: _item(node, spots[name], len(found.steps)) for name, node in found.nodes.items()}
    bottom = max(item.rect.bottom for item in items.values()) + FOOT
    drawn = tuple(_panel(found, region, x, width, bottom) for region, x, width in panels)
    edges = tuple(_edge(found, items, drawn, connection) for connection in found.connections)
    back = items["return"].rect
    note = Note("note return", "back to the context", back.cx, back.bottom + 14, 11, "middle")
    return Scene(
        "network", left - GAP, bottom, drawn,
        bubbles=tuple(i for i in items.values() if isinstance(i, Bubble)),
        nodes=tuple(i for i in items.values() if isinstance(i, Node)), edges=edges, notes=(note, *_sections(items)),
    )  # fmt: skip


@lru_cache(maxsize=4)
def play(found: PredictionMap, advance_id: str, rebuilt: str = "") -> dict[str, Any]:
    """The recorded steps for the canvas's player: a frame, a sentence each, and a mark where a region begins.

    `rebuilt` says that the cache was rebuilt first: an event of its own before the steps, at the four caches.
    """
    regions = [found.nodes[step].region for step in found.steps]
    firsts = {region: regions.index(region) for region in found.regions if regions.count(region) > 1}
    marks = [[number, short(region), region.capitalize()] for region, number in firsts.items()]
    captions = [caption(found.nodes[step], len(found.steps)) for step in found.steps]
    event = {"name": REBUILT, "words": f"Before step 1 · {rebuilt}", "lit": [n.id for n in found.of_kind("cache")]}
    return {
        **({"before": event} if rebuilt else {}),
        "id": advance_id,
        "once": True,
        "frames": [[step] for step in found.steps],
        "captions": captions,
        "marks": marks,
        "start": START,
    }


def short(region: str) -> str:
    """``block 2`` -> ``2``."""
    return region.removeprefix("block ") if region.startswith("block") else region.capitalize()


def _sections(items: Mapping[str, Placed]) -> list[Note]:
    """A name for each section of a block, seen from afar: over the middle of its nodes."""
    groups: dict[str, list[Rect]] = {}
    for name, item in items.items():
        if name.count(".") == 3:  # layers.0.mixer.q
            groups.setdefault(name.rpartition(".")[0], []).append(item.rect)
    notes = []
    for name, rects in groups.items():
        x = (min(r.x for r in rects) + max(r.right for r in rects)) / 2
        y = (min(r.y for r in rects) + max(r.bottom for r in rects)) / 2
        notes.append(Note(f"note {name}", SECTIONS[name.rpartition(".")[2]], x, y, 12, "middle", far=True))
    return notes


# ------------------------------------------------------------------------------------------------ places


def rows(found: PredictionMap, region: str) -> dict[str, int]:
    """Node -> row: the longest way to it inside its region; a weight stands one row above its first reader."""
    inside = [n.id for n in found.nodes.values() if n.region == region]
    row: dict[str, int] = {}
    for name in inside:
        parents = [c.source for c in found.connections if c.target == name and c.source in row]
        row[name] = max((row[p] + 1 for p in parents if found.nodes[p].role != "weights"), default=0)
    for name in inside:
        if found.nodes[name].role == "weights":
            row[name] = min(row[c.target] for c in found.connections if c.source == name and c.target in row) - 1
    return row


def _spots(found: PredictionMap, region: str, left: float, width: float) -> Spots:
    """Node -> centre."""
    row = rows(found, region)
    spots: Spots = {}
    middle = MIDDLE if width == WIDTH else NARROW_MIDDLE
    for name, number in row.items():
        node = found.nodes[name]
        beside = [o for o in row if row[o] == number and _lane(found.nodes[o]) == "flow"]
        if _lane(node) == "spine":
            x = SPINE
        elif _lane(node) == "right":
            x = RIGHT if width == WIDTH else width - 56
        elif len(beside) > 1:
            x = middle + LANE * (beside.index(name) - (len(beside) - 1) / 2)
        else:
            x = _under_parents(found, name, spots, left, middle)
        spots[name] = (left + x, TOP + HEAD + number * ROW)
    return spots


def _under_parents(found: PredictionMap, id: str, spots: Spots, left: float, middle: float) -> float:
    parents = [c.source for c in found.connections if c.target == id and c.source in spots]
    flow = [spots[p][0] - left for p in parents if _lane(found.nodes[p]) == "flow"]
    return sum(flow) / len(flow) if flow else middle


def _lane(node: MapNode) -> str:
    return {"residual": "spine", "cache": "right", "weights": "right"}.get(node.role, "flow")


def _item(node: MapNode, spot: Point, steps: int) -> Placed:
    hint = f"{heading(node)}\n{lesson(node)}"
    if node.outputs:
        hint += "\n" + ", ".join(f"{p.name}: {dims(p.dims)}" for p in node.outputs)
    if node.event is not None:
        hint += f"\nstep {node.event + 1} of {steps}"
    if node.role in LIFETIMES:
        bubble = make_bubble(node.id, label(node), LIFETIMES[node.role], 0, 0, hint=hint)
        size = bubble.rect
        return replace(bubble, rect=Rect(spot[0] - size.width / 2, spot[1] - size.height / 2, size.width, size.height))
    made = make_node(node.id, LABELS[node.kind] if node.title != "Final RMSNorm" else label(node), "", *spot, hint=hint)
    return replace(made, look=node.role) if node.role == "residual" else made


def _panel(found: PredictionMap, region: str, x: float, width: float, bottom: float) -> Panel:
    count = sum(found.nodes[s].region == region for s in found.steps)
    tab = region.capitalize()
    return Panel(
        panel_id(region), region.capitalize(), Rect(x, TOP, width, bottom - TOP), f"{count} steps" if count > 1 else "",
        tab,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------ lines


def _edge(found: PredictionMap, items: Mapping[str, Placed], panels: tuple[Panel, ...], c: Connection) -> Edge:
    a, b = items[c.source].rect, items[c.target].rect
    source, target = found.nodes[c.source], found.nodes[c.target]
    spine = c.kind == "residual"
    return Edge(
        f"{c.source} > {c.target}", c.source, c.target, _points(a, b, source, target, panels), c.kind,
        3.6 if spine else 1.5, dashed=c.kind == "state",
    )  # fmt: skip


def _points(a: Rect, b: Rect, source: MapNode, target: MapNode, panels: tuple[Panel, ...]) -> tuple[Point, ...]:
    if source.region != target.region:
        return _across(a, b, source, target, panels)
    if abs(a.cx - b.cx) < 1:
        return (a.cx, a.bottom), (a.cx, b.y)
    lanes = _lane(source), _lane(target)
    if lanes[1] == "spine":
        return (a.cx, a.bottom), (a.cx, b.cy), (b.right, b.cy)
    if lanes == ("flow", "right"):
        return (a.right, a.cy), (b.cx - 18, a.cy), (b.cx - 18, b.y)
    if lanes == ("right", "flow") and source.role == "cache":
        if b.y - a.bottom < ROW:
            return (a.x, a.cy), (b.cx + 18, a.cy), (b.cx + 18, b.y)
        return (a.cx, a.bottom), (a.cx, b.cy), (b.right, b.cy)
    middle = (a.bottom + b.y) / 2
    return (a.cx, a.bottom), (a.cx, middle), (b.cx, middle), (b.cx, b.y)


def _across(a: Rect, b: Rect, source: MapNode, target: MapNode, panels: tuple[Panel, ...]) -> tuple[Point, ...]:
    """Into the next column: down, through the gap, up, and in from above. A weight goes over all columns."""
    column = next(p.rect for p in panels if p.id == panel_id(target.region))
    if source.role == "weights":
        over, side = TOP - 26, column.right - 16
        return (a.right, a.cy), (a.right + 14, a.cy), (a.right + 14, over), (side, over), (side, b.cy), (b.right, b.cy)
    gap, entry = column.x - GAP / 2, column.y + ENTRY
    low = a.bottom + 12
    return (a.cx, a.bottom), (a.cx, low), (gap, low), (gap, entry), (b.cx, entry), (b.cx, b.y)
