"""Drawings of hand-off graphs: downward as the token flows, and placed so that heavy hand-offs are short.

    downward(graph, id) -> Scene             rows from top to bottom, feedback upward, one panel for each kind of block
    placed(graph, positions, id) -> Scene    nodes where a placement puts them, straight or bowed arrows
    centres_of(scene) -> dict                node id -> centre, to be compared with what a reader drags

Node number: operations a token. Arrow number: values (or bytes) a token. Line widths grow with the fourth root of the
number, so that arrows nine decades apart are all seen; dashed arrows carry what earlier tokens left.
"""

from collections.abc import Mapping, Sequence
from math import hypot

from tokenviz.handoffs import HandoffGraph, Stage
from tokenviz.handoffs_block import Arrow
from tokenviz.placement import Point
from tokenviz.views.format import exact, si
from tokenviz.views.layers import layered
from tokenviz.views.layout_nodes import GAP, node_of
from tokenviz.views.scene import Edge, Node, Panel, Rect, Scene

POWER = 0.25
THIN, THICK = 0.8, 7.5
MARGIN, HEADING, BETWEEN = 24.0, 56.0, 40.0
BOW, STEEP, ROUND = 0.16, 0.7, 14.0
BESIDE = 12.0
"""What stays free between placed nodes whose names have grown."""


def line_width(values: int, largest: int) -> float:
    """Width of an arrow: the fourth root of its share of the largest one."""
    share: float = (values / largest) ** POWER
    return round(THIN + (THICK - THIN) * share, 2)


def downward(graph: HandoffGraph, id: str, titles: Mapping[str, str] | None = None) -> Scene:
    """The graph from top to bottom, kinds of blocks side by side. `titles` names the kinds."""
    groups = _by_kind(graph)
    largest = max((a.values for a in graph.arrows), default=1)
    names = _names(graph)
    panels, nodes, edges, left, height = [], [], [], 0.0, 0.0
    for kind, stages in groups.items():
        drawn = [node_of(s, hint=_node_hint(s)) for s in stages]
        at = {node.id: i for i, node in enumerate(drawn)}
        arrows = [a for a in graph.arrows if a.source in at and a.target in at]
        below = [(at[maker], at[keeper]) for maker, keeper in graph.stores if maker in at and keeper in at]
        ends = [(at[a.source], at[a.target]) for a in arrows]
        plan = layered([(n.rect.width, n.rect.height) for n in drawn], ends, below)
        dx, dy = left + MARGIN, HEADING
        for node, (x, y) in zip(drawn, plan.centres, strict=True):
            nodes.append(_moved(node, x + dx, y + dy))
        for arrow, route in zip(arrows, plan.routes, strict=True):
            edges.append(_edge(arrow, names, largest, points=tuple((x + dx, y + dy) for x, y in route)))
        rect = Rect(left, 0.0, plan.width + 2 * MARGIN, plan.height + HEADING + MARGIN)
        title = (titles or {}).get(kind, graph.chain.title)
        panels.append(_panel(kind, title, rect, stages, many=len(groups) > 1))
        left, height = rect.right + BETWEEN, max(height, rect.height)
    return Scene(
        id, max(left - BETWEEN, 1.0), max(height, 1.0), panels=tuple(panels), nodes=tuple(nodes), edges=tuple(edges)
    )


def placed(graph: HandoffGraph, positions: Sequence[Point], id: str, frame: Sequence[Point] = ()) -> Scene:
    """The graph with node i centred on positions[i]. `frame` are further points that the drawing keeps in view."""
    drawn = [node_of(stage, hint=_node_hint(stage)) for stage in graph.nodes]
    reach = max((max(n.rect.width, n.rect.height) for n in drawn), default=0.0) / 2 + MARGIN
    every = [*positions, *frame] or [(0.0, 0.0)]
    left, top = min(p[0] for p in every) - reach, min(p[1] for p in every) - reach
    width, height = max(p[0] for p in every) + reach - left, max(p[1] for p in every) + reach - top
    nodes = tuple(_moved(n, p[0] - left, p[1] - top) for n, p in zip(drawn, positions, strict=True))
    largest = max((a.values for a in graph.arrows), default=1)
    rects = {node.id: node.rect for node in nodes}
    names = _names(graph)
    pairs = {(a.source, a.target) for a in graph.arrows}
    edges = tuple(_edge(a, names, largest, curve=_bow(a, rects, pairs)) for a in reversed(graph.arrows))
    return Scene(id, width, height, nodes=nodes, edges=edges, room=GAP - BESIDE)


def centres_of(scene: Scene) -> dict[str, Point]:
    """Centre of every node."""
    return {node.id: (node.rect.cx, node.rect.cy) for node in scene.nodes}


def neighbours(graph: HandoffGraph, node: str) -> tuple[tuple[Arrow, ...], tuple[Arrow, ...]]:
    """(arrows into, arrows out of) a node, largest first."""
    return tuple(a for a in graph.arrows if a.target == node), tuple(a for a in graph.arrows if a.source == node)


def _by_kind(graph: HandoffGraph) -> dict[str, list[Stage]]:
    """Stages by the kind of their block; the types of a chain are one group."""
    found: dict[str, list[Stage]] = {}
    for stage in graph.nodes:
        found.setdefault(stage.kind if graph.grouping == "stages" else "", []).append(stage)
    return found


def _panel(kind: str, title: str, rect: Rect, stages: Sequence[Stage], many: bool) -> Panel:
    operations = sum(s.operations for s in stages)
    return Panel(f"panel/{kind}", title, rect, f"{exact(operations)} operations a token", title if many else "")


def _moved(node: Node, x: float, y: float) -> Node:
    rect = node.rect.moved(x - node.rect.cx, y - node.rect.cy)
    return Node(node.id, node.label, node.number, rect, node.op_class, node.hint)


def _edge(
    arrow: Arrow, names: Mapping[str, str], largest: int, points: tuple[Point, ...] = (), curve: float = 0.0
) -> Edge:
    kind = "retained" if arrow.retained else "data"
    verb = "left by earlier tokens, read now" if arrow.retained else "made and handed on"
    hint = f"{names[arrow.source]} → {names[arrow.target]}\n{exact(arrow.values)} a token, {verb}"
    return Edge(
        f"{arrow.source}→{arrow.target}{'~' if arrow.retained else ''}", arrow.source, arrow.target, points, kind,
        line_width(arrow.values, largest), si(arrow.values), arrow.retained, curve, True, hint,
    )  # fmt: skip


def _bow(arrow: Arrow, rects: Mapping[str, Rect], pairs: set[tuple[str, str]]) -> float:
    """Bend arrows that would cover their opposite, and lead the others around the nodes between their ends."""
    a, b = rects[arrow.source], rects[arrow.target]
    length = max(hypot(b.cx - a.cx, b.cy - a.cy), 1.0)
    across = (-(b.cy - a.cy) / length, (b.cx - a.cx) / length)
    asides = [
        _asides(rect, a, across)
        for name, rect in rects.items()
        if name not in (arrow.source, arrow.target) and _crosses((a.cx, a.cy), (b.cx, b.cy), rect)
    ]
    opposite = (arrow.target, arrow.source) in pairs
    if not asides:
        return BOW if opposite else 0.0
    right, left = max(aside[0] for aside in asides), max(aside[1] for aside in asides)
    share = min(2 * min(right, left) / length, STEEP)
    return share if opposite or right <= left else -share


def _asides(rect: Rect, start: Rect, across: Point) -> tuple[float, float]:
    """How far to either side a line from `start` must step to pass a rectangle: along `across`, and against it."""
    off = (rect.cx - start.cx) * across[0] + (rect.cy - start.cy) * across[1]
    half = abs(across[0]) * rect.width / 2 + abs(across[1]) * rect.height / 2 + ROUND
    return half + off, half - off


def _crosses(a: Point, b: Point, rect: Rect) -> bool:
    """Whether the segment a b enters the rectangle (Liang and Barsky's clipping)."""
    low, high = 0.0, 1.0
    for start, step, near, far in (
        (a[0], b[0] - a[0], rect.x, rect.right),
        (a[1], b[1] - a[1], rect.y, rect.bottom),
    ):
        if step == 0.0:
            if not near < start < far:
                return False
            continue
        first, second = sorted(((near - start) / step, (far - start) / step))
        low, high = max(low, first), min(high, second)
    return low < high


def _names(graph: HandoffGraph) -> dict[str, str]:
    return {s.id: s.label if s.label == s.id else f"{s.group}: {s.label}" for s in graph.nodes}


def _node_hint(stage: Stage) -> str:
    place = "" if stage.label == stage.id else f" in {stage.group}"
    return (
        f"{stage.label}{place} ({stage.op_class})\n"
        f"{exact(stage.operations)} operations a token in {stage.layers} layers\n"
        f"in {exact(stage.values_in)} values, out {exact(stage.values_out)}, to {stage.fan_out} others"
    )
