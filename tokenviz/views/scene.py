"""A drawing as pure data: what is where, in canvas units, before anything draws it.

The Pipeline page composes panels, boxes of cells, and bubbles; the Layout page composes nodes and weighted edges.
`tokenviz.views.canvas` draws a scene on the interactive canvas, `tokenviz.views.svg` writes it as vector graphics.

    Rect(x, y, width, height)                                      left, top, size; y grows downward
    Cell(id, text, op_class, rect, hint="")                        one operation, inside a box
    Box(id, title, rect, cells=(), note="", hint="")               one transform; no cells = drawn collapsed
    Bubble(id, name, lifetime, rect, shape="", size="", hint="")   data: up to three lines of text
    Node(id, label, number, rect, op_class="", hint="")            a plain labelled node with a number
    Panel(id, heading, rect, subheading="", tab="", indent=16)     a block's background; `tab` names its zoom button
    Edge(id, source, target, points=(), kind="data", ...)          from one item to another
    Note(id, text, x, y, size=12, anchor="start", strong=False)    free text
    Scene(id, width, height, panels, boxes, bubbles, nodes, edges, notes)

Every id is a string and is used once in a scene. Sizes of text in canvas units: see `tokenviz.views.measure`, which
also makes boxes, bubbles and nodes that are large enough for their text.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from tokenviz.views.palette import LIFETIMES, OP_CLASSES

EDGE_KINDS = ("data", "residual", "static", "state", "retained")
"""data: made for this token; residual: the spine; static: from a weight; state: to or from another token;
retained: handed on from an earlier invocation."""

Point = tuple[float, float]


class SceneError(ValueError):
    """A drawing that contradicts itself."""


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle: left, top, width, height."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """x of the right side."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """y of the lower side."""
        return self.y + self.height

    @property
    def cx(self) -> float:
        """x of the centre."""
        return self.x + self.width / 2

    @property
    def cy(self) -> float:
        """y of the centre."""
        return self.y + self.height / 2

    def grown(self, by: float) -> "Rect":
        """The same centre, `by` more on each side."""
        return Rect(self.x - by, self.y - by, self.width + 2 * by, self.height + 2 * by)

    def moved(self, dx: float, dy: float) -> "Rect":
        """Shifted by (dx, dy)."""
        return Rect(self.x + dx, self.y + dy, self.width, self.height)

    def overlaps(self, other: "Rect") -> bool:
        """Whether the two share more than a border."""
        across = self.x < other.right and other.x < self.right
        return across and self.y < other.bottom and other.y < self.bottom


@dataclass(frozen=True, slots=True)
class Cell:
    """One operation inside a transform's box, coloured by its class."""

    id: str
    text: str
    op_class: str
    rect: Rect
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Box:
    """One transform: a gold box with a title and its operations in order. Without cells it is drawn collapsed."""

    id: str
    title: str
    rect: Rect
    cells: tuple[Cell, ...] = ()
    note: str = ""
    hint: str = ""

    def moved(self, dx: float, dy: float) -> "Box":
        """Shifted by (dx, dy), cells included."""
        cells = tuple(replace(cell, rect=cell.rect.moved(dx, dy)) for cell in self.cells)
        return replace(self, rect=self.rect.moved(dx, dy), cells=cells)


@dataclass(frozen=True, slots=True)
class Bubble:
    """Data: a rounded bubble coloured by lifetime, with a name, a shape (lines split at "\\n") and a size in bytes."""

    id: str
    name: str
    lifetime: str
    rect: Rect
    shape: str = ""
    size: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    """A labelled node with a number, for dependency graphs. `op_class` gives its fill; "" is neutral.

    The look "residual" draws it as a station of the residual stream: round ends and a strong outline.
    """

    id: str
    label: str
    number: str
    rect: Rect
    op_class: str = ""
    hint: str = ""
    look: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """The quiet background of a block, with a heading. `tab` is the short name of its zoom button ("" = none).

    `indent` is where the heading starts, from the left.
    """

    id: str
    heading: str
    rect: Rect
    subheading: str = ""
    tab: str = ""
    indent: float = 16.0


@dataclass(frozen=True, slots=True)
class Edge:
    """A line from item `source` to item `target`.

    `points` are orthogonal waypoints from border to border, corners are rounded when drawn. Without points the line is
    straight between the two rectangles, or bent sideways by `curve` (a share of its length; the sign is the side).
    A `bridge` leads from one panel to another: tracing all that comes before or after something stops at it.
    """

    id: str
    source: str
    target: str
    points: tuple[Point, ...] = ()
    kind: str = "data"
    width: float = 1.5
    label: str = ""
    dashed: bool = False
    curve: float = 0.0
    arrow: bool = True
    hint: str = ""
    bridge: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """Free text. `anchor` is start, middle or end; `y` is the middle of the line.

    One for `far` views names a group of nodes as long as their own names are too small to be read.
    """

    id: str
    text: str
    x: float
    y: float
    size: float = 12.0
    anchor: str = "start"
    strong: bool = False
    far: bool = False


Item = Box | Cell | Bubble | Node
Part = Item | Panel | Edge | Note


@dataclass(frozen=True)
class Scene:
    """A whole drawing, `width` x `height` canvas units from (0, 0). A new `id` makes the canvas fit the view again.

    Where there is `room` beside every node, names and heavy arrows keep a readable size from afar, and nodes may become
    wider by as much.
    """

    id: str
    width: float
    height: float
    panels: tuple[Panel, ...] = ()
    boxes: tuple[Box, ...] = ()
    bubbles: tuple[Bubble, ...] = ()
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    notes: tuple[Note, ...] = ()
    room: float = 0.0

    def __post_init__(self) -> None:
        _check_ids(self)
        _check_names(self)

    @cached_property
    def items(self) -> Mapping[str, Item]:
        """Everything that can be selected, by id: boxes, each followed by its cells, then bubbles and nodes."""
        return {item.id: item for item in _in_order(self)}

    def region(self, id: str) -> Rect:
        """Rectangle of a panel or an item.

        Raises:
            SceneError: nothing has this id.
        """
        if id in self.items:
            return self.items[id].rect
        for panel in self.panels:
            if panel.id == id:
                return panel.rect
        raise SceneError(f"no panel or item is named {id!r}; ask for one of the ids of the scene")

    def placed(self, centres: Mapping[str, Point]) -> "Scene":
        """The same scene with nodes moved to these centres; nodes that are not named stay."""
        nodes = tuple(_centred(node, centres[node.id]) if node.id in centres else node for node in self.nodes)
        return replace(self, nodes=nodes)


def overlaps(scene: Scene) -> tuple[tuple[str, str], ...]:
    """Pairs of boxes, bubbles and nodes that cover each other, and cells that leave their box or cover each other."""
    outer: tuple[Item, ...] = (*scene.boxes, *scene.bubbles, *scene.nodes)
    pairs = list(_covering(outer))
    for box in scene.boxes:
        pairs += _covering(box.cells)
        pairs += [(box.id, cell.id) for cell in box.cells if not _inside(cell.rect, box.rect)]
    return tuple(pairs)


def edges_through(scene: Scene) -> tuple[tuple[str, str], ...]:
    """Pairs (edge, item) where an edge with points crosses a box, bubble or node that it does not join."""
    outer: tuple[Item, ...] = (*scene.boxes, *scene.bubbles, *scene.nodes)
    owner = {cell.id: box.id for box in scene.boxes for cell in box.cells}
    found = []
    for edge in scene.edges:
        ends = {owner.get(end, end) for end in (edge.source, edge.target)}
        strips = [_strip(a, b) for a, b in zip(edge.points, edge.points[1:], strict=False)]
        found += [
            (edge.id, item.id)
            for item in outer
            if item.id not in ends and any(strip.overlaps(item.rect) for strip in strips)
        ]
    return tuple(found)


def _in_order(scene: Scene) -> Iterator[Item]:
    for box in scene.boxes:
        yield box
        yield from box.cells
    yield from scene.bubbles
    yield from scene.nodes


def _strip(a: Point, b: Point) -> Rect:
    """The rectangle around a segment, a hair wide."""
    return Rect(min(a[0], b[0]), min(a[1], b[1]), abs(a[0] - b[0]), abs(a[1] - b[1])).grown(0.01)


def _covering(items: tuple[Item, ...]) -> Iterator[tuple[str, str]]:
    ordered = sorted(items, key=lambda item: (item.rect.y, item.id))
    for i, upper in enumerate(ordered):
        for lower in ordered[i + 1 :]:
            if lower.rect.y >= upper.rect.bottom:
                break
            if upper.rect.overlaps(lower.rect):
                yield upper.id, lower.id


def _inside(inner: Rect, outer: Rect) -> bool:
    across = outer.x <= inner.x and inner.right <= outer.right
    return across and outer.y <= inner.y and inner.bottom <= outer.bottom


def _centred(node: Node, centre: Point) -> Node:
    return replace(node, rect=node.rect.moved(centre[0] - node.rect.cx, centre[1] - node.rect.cy))


def _check_ids(scene: Scene) -> None:
    seen: set[str] = set()
    parts: tuple[Part, ...] = (*_in_order(scene), *scene.panels, *scene.edges, *scene.notes)
    for part in parts:
        if not isinstance(part.id, str) or not part.id:
            raise SceneError(f"id {part.id!r} of a {type(part).__name__} is not a non-empty string; give it one")
        if part.id in seen:
            raise SceneError(f"id {part.id!r} is used twice; give every part of a scene its own id")
        seen.add(part.id)


def _check_names(scene: Scene) -> None:
    for item in scene.items.values():
        if isinstance(item, Bubble):
            _one_of(item.id, "lifetime", item.lifetime, LIFETIMES)
        elif isinstance(item, Cell):
            _one_of(item.id, "op_class", item.op_class, OP_CLASSES)
        elif isinstance(item, Node):
            _one_of(item.id, "op_class", item.op_class, ("", *OP_CLASSES))
    for edge in scene.edges:
        _one_of(edge.id, "kind", edge.kind, EDGE_KINDS)
        for end in (edge.source, edge.target):
            if end not in scene.items:
                raise SceneError(f"edge {edge.id!r} joins {end!r}, which is not in the scene; add it or drop the edge")


def _one_of(id: str, field: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise SceneError(f"{field} of {id!r} is {value!r}; choose one of {', '.join(repr(name) for name in allowed)}")
