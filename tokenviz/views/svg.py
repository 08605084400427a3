"""A scene as vector graphics with real text: one self-contained SVG document, opened by any browser or editor.

    to_svg(scene, theme="light", region=None) -> str

Drawn from the same scene as the canvas, with the same colours and marks. Text that would leave its frame in another
font is squeezed into it. Nothing is loaded from outside.
"""

import math
from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise

from tokenviz.views.measure import BODY, BOX_HEAD, LINE, SMALL, TITLE, text_width
from tokenviz.views.palette import INK_ON_OP, OP_FILL, THEMES, Theme
from tokenviz.views.scene import Box, Bubble, Cell, Edge, Node, Note, Panel, Point, Rect, Scene, SceneError

FONT = "'Source Sans 3', 'Source Sans Pro', 'Source Sans', Helvetica, Arial, sans-serif"
_MARGIN = 16.0
_WIDER = 1.12  # Arial is about so much wider than the font that boxes are measured for


def to_svg(scene: Scene, theme: str = "light", region: Rect | None = None) -> str:
    """The whole scene, or what lies in `region`, as an SVG document.

    Raises:
        SceneError: the theme is unknown.
    """
    if theme not in THEMES:
        raise SceneError(f"theme is {theme!r}; choose one of {', '.join(THEMES)}")
    colours = THEMES[theme]
    view = region if region is not None else Rect(0, 0, scene.width, scene.height).grown(_MARGIN)
    box = f"{_n(view.x)} {_n(view.y)} {_n(view.width)} {_n(view.height)}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" width="{_n(view.width)}" '
        f'height="{_n(view.height)}" font-family="{FONT}" text-anchor="middle">',
        f"<title>{_safe(scene.id)}</title>",
        _rect(view, colours.background, radius=0),
        *_parts(scene, colours, view),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _parts(scene: Scene, colours: Theme, view: Rect) -> Iterator[str]:
    for panel in scene.panels:
        if panel.rect.overlaps(view):
            yield from _panel(panel, colours)
    yield from (_note(note, colours) for note in scene.notes if not note.far)
    for edge in scene.edges:
        yield from _edge(edge, scene, colours)
    yield from (_edge_label(edge, scene, colours) for edge in scene.edges if edge.label)
    items: tuple[Box | Bubble | Node, ...] = (*scene.boxes, *scene.bubbles, *scene.nodes)
    for item in items:
        if item.rect.overlaps(view):
            yield from _item(item, colours)


def _item(item: Box | Bubble | Node, colours: Theme) -> Iterator[str]:
    if isinstance(item, Box):
        return _box(item, colours)
    return _bubble(item, colours) if isinstance(item, Bubble) else _node(item, colours)


def _panel(panel: Panel, colours: Theme) -> Iterator[str]:
    x, y = panel.rect.x + panel.indent, panel.rect.y + 24
    yield _rect(panel.rect, colours.panel, colours.border, 14, 1)
    yield _text(panel.heading, x, y, 18, colours.text, bold=True, anchor="start")
    if panel.subheading:
        along = text_width(panel.heading, 18, bold=True) * _WIDER + 12
        yield _text(panel.subheading, x + along, y, 13, colours.muted, anchor="start")


def _note(note: Note, colours: Theme) -> str:
    ink = colours.text if note.strong else colours.muted
    return _text(note.text, note.x, note.y, note.size, ink, bold=note.strong, anchor=note.anchor)


def _box(box: Box, colours: Theme) -> Iterator[str]:
    rect = box.rect
    middle = rect.y + BOX_HEAD / 2 + 1 if box.cells else rect.cy
    note = text_width(box.note, SMALL) * _WIDER + 10 if box.note else 0.0
    yield f'<g id="{_safe(box.id)}">{_hint(box.hint)}'
    yield _rect(rect, colours.gold_fill, colours.gold, 7, 1.4)
    room = rect.width - 20 - note
    yield _text(box.title, rect.x + 10, middle, TITLE, colours.text, bold=True, anchor="start", room=room)
    if box.note:
        yield _text(box.note, rect.right - 10, middle, SMALL, colours.muted, anchor="end")
    for cell in box.cells:
        yield from _cell(cell)
    yield "</g>"


def _cell(cell: Cell) -> Iterator[str]:
    lines = cell.text.split("\n")
    yield f'<g id="{_safe(cell.id)}">{_hint(cell.hint)}'
    yield _rect(cell.rect, OP_FILL[cell.op_class], radius=4)
    for at, line in enumerate(lines):
        y = cell.rect.cy + (at - (len(lines) - 1) / 2) * 13
        yield _text(line, cell.rect.cx, y, BODY, INK_ON_OP, room=cell.rect.width - 6)
    yield "</g>"


def _bubble(bubble: Bubble, colours: Theme) -> Iterator[str]:
    rect, swatch = bubble.rect, colours.lifetimes[bubble.lifetime]
    radius = min(rect.height / 2, 18)
    yield f'<g id="{_safe(bubble.id)}">{_hint(bubble.hint)}'
    yield _rect(rect, swatch.fill, swatch.outline, radius, 1.6)
    if bubble.lifetime == "state":
        yield _rect(rect.grown(-3.5), "none", swatch.outline, radius - 3.5, 1)
    lines = [line for line in (*bubble.shape.split("\n"), bubble.size) if line]
    first = rect.cy - len(lines) * LINE / 2
    mark = 0.0 if bubble.lifetime == "ephemeral" else LINE
    room = rect.width - 18 - mark
    name = min(room, text_width(bubble.name, TITLE, bold=True))
    yield _text(bubble.name, rect.cx + mark / 2, first, TITLE, colours.text, bold=True, room=room)
    if mark:
        yield _mark(bubble.lifetime, rect.cx - name / 2 - mark / 2 + 3, first, swatch.outline)
    for at, line in enumerate(lines):
        yield _text(line, rect.cx, first + (at + 1) * LINE, SMALL, colours.text, room=rect.width - 16)
    yield "</g>"


def _mark(lifetime: str, x: float, y: float, colour: str) -> str:
    """A lock for what never changes, a loop for what goes round with the tokens."""
    move = f'transform="translate({_n(x)} {_n(y)})"'
    if lifetime == "static":
        shackle = f'<path d="M-2.8-1.2a2.8 2.8 0 0 1 5.6 0" fill="none" stroke="{colour}" stroke-width="1.4"/>'
        return f'<g {move}><rect x="-4.5" y="-1" width="9" height="6.5" rx="1.2" fill="{colour}"/>{shackle}</g>'
    ring = f'<path d="M2.5-3.4A4.2 4.2 0 1 1-1.9-3.7" fill="none" stroke="{colour}" stroke-width="1.5"/>'
    return f'<g {move}>{ring}<path d="M-.4-6.4 4.6-4.6.8-1.2z" fill="{colour}"/></g>'


def _node(node: Node, colours: Theme) -> Iterator[str]:
    rect = node.rect
    fill = OP_FILL[node.op_class] if node.op_class else colours.panel
    ink = INK_ON_OP if node.op_class else colours.text
    labels = node.label.split("\n")
    first = rect.cy - (len(labels) - 1 + bool(node.number)) * LINE / 2
    yield f'<g id="{_safe(node.id)}">{_hint(node.hint)}'
    yield _rect(rect, fill, colours.muted, 8, 1.2)
    for at, line in enumerate(labels):
        yield _text(line, rect.cx, first + at * LINE, TITLE, ink, bold=True, room=rect.width - 12)
    if node.number:
        yield _text(node.number, rect.cx, first + len(labels) * LINE, SMALL, ink, room=rect.width - 12)
    yield "</g>"


# ---- edges


def _edge(edge: Edge, scene: Scene, colours: Theme) -> Iterator[str]:
    path, end, angle, _ = _line(edge, scene)
    colour, strength = {
        "data": (colours.edge, 1.0),
        "residual": (colours.muted, 1.0),
        "static": (colours.lifetimes["static"].outline, 0.6),
        "state": (colours.lifetimes["state"].outline, 0.9),
        "retained": (colours.lifetimes["state"].outline, 0.75),
    }[edge.kind]
    dash = f' stroke-dasharray="{_n(5 + edge.width)} {_n(3 + edge.width)}"' if edge.dashed else ""
    yield f'<g id="{_safe(edge.id)}" opacity="{_n(strength)}">{_hint(edge.hint)}'
    yield f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{_n(edge.width)}"{dash}/>'
    if edge.arrow:
        length = 6 + edge.width
        half = length * 0.42
        turn = f"translate({_n(end[0])} {_n(end[1])}) rotate({_n(math.degrees(angle))})"
        head = f"M0 0L{_n(-length)} {_n(-half)}L{_n(-length)} {_n(half)}z"
        yield f'<path d="{head}" transform="{turn}" fill="{colour}"/>'
    yield "</g>"


def _edge_label(edge: Edge, scene: Scene, colours: Theme) -> str:
    middle = _line(edge, scene)[3]
    halo = f' stroke="{colours.background}" stroke-width="4" stroke-linejoin="round" paint-order="stroke"'
    return _text(edge.label, middle[0], middle[1], SMALL, colours.muted, more=halo)


def _line(edge: Edge, scene: Scene) -> tuple[str, Point, float, Point]:
    """Path data stopped short of the arrowhead, the tip, the angle at the tip, and a place for the label."""
    short = (6 + edge.width) * 0.8 if edge.arrow else 0.0
    a, b = scene.items[edge.source].rect, scene.items[edge.target].rect
    if len(edge.points) >= 2:
        return _polyline(edge.points, short)
    if edge.source == edge.target:
        return _loop(a)
    if not edge.curve:
        return _polyline((_border(a, (b.cx, b.cy)), _border(b, (a.cx, a.cy))), short)
    bend = ((a.cx + b.cx - (b.cy - a.cy) * 2 * edge.curve) / 2, (a.cy + b.cy + (b.cx - a.cx) * 2 * edge.curve) / 2)
    start, stop = _border(a, bend), _border(b, bend)
    angle = math.atan2(stop[1] - bend[1], stop[0] - bend[0])
    tail = _back(stop, angle, short)
    middle = (start[0] / 4 + bend[0] / 2 + stop[0] / 4, start[1] / 4 + bend[1] / 2 + stop[1] / 4)
    return f"M{_p(start)}Q{_p(bend)} {_p(tail)}", stop, angle, middle


def _polyline(points: Sequence[Point], short: float) -> tuple[str, Point, float, Point]:
    last, before = points[-1], points[-2]
    angle = math.atan2(last[1] - before[1], last[0] - before[0])
    path = [f"M{_p(points[0])}"]
    for a, b, c in zip(points, points[1:], points[2:], strict=False):
        radius = min(8.0, math.dist(a, b) / 2, math.dist(b, c) / 2)
        path.append(f"L{_p(_towards(b, a, radius))}Q{_p(b)} {_p(_towards(b, c, radius))}")
    path.append(f"L{_p(_back(last, angle, short))}")
    a, b = max(pairwise(points), key=lambda pair: math.dist(*pair))
    return "".join(path), last, angle, ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)


def _loop(rect: Rect) -> tuple[str, Point, float, Point]:
    x, y = rect.right + 2, rect.cy
    path = f"M{_p((x, y - 8))}C{_p((x + 34, y - 18))} {_p((x + 34, y + 18))} {_p((x + 6, y + 10))}"
    return path, (x, y + 8), math.atan2(-0.36, -0.93), (x + 40, y)


def _border(rect: Rect, point: Point) -> Point:
    """Where the ray from the centre towards `point` leaves the rectangle, 2 units outside."""
    dx, dy = point[0] - rect.cx, point[1] - rect.cy
    across = (rect.width / 2 + 2) / abs(dx) if dx else math.inf
    down = (rect.height / 2 + 2) / abs(dy) if dy else math.inf
    share = min(across, down)
    return (rect.cx + dx * share, rect.cy + dy * share) if share < math.inf else (rect.cx, rect.cy)


def _towards(a: Point, b: Point, by: float) -> Point:
    length = math.dist(a, b) or 1.0
    return a[0] + (b[0] - a[0]) * by / length, a[1] + (b[1] - a[1]) * by / length


def _back(point: Point, angle: float, by: float) -> Point:
    return point[0] - math.cos(angle) * by, point[1] - math.sin(angle) * by


# ---- elements


def _rect(rect: Rect, fill: str, stroke: str = "", radius: float = 8, width: float = 1) -> str:
    place = f'x="{_n(rect.x)}" y="{_n(rect.y)}" width="{_n(rect.width)}" height="{_n(rect.height)}"'
    line = f' stroke="{stroke}" stroke-width="{_n(width)}"' if stroke else ""
    return f'<rect {place} rx="{_n(radius)}" fill="{fill}"{line}/>'


def _text(
    text: str,
    x: float,
    y: float,
    size: float,
    fill: str,
    *,
    bold: bool = False,
    anchor: str = "middle",
    room: float = math.inf,
    more: str = "",
) -> str:
    """One line of text whose middle is at height `y`, squeezed where another font would not fit into `room`."""
    weight = ' font-weight="600"' if bold else ""
    side = "" if anchor == "middle" else f' text-anchor="{anchor}"'
    tight = text_width(text, size, bold) * _WIDER > room
    fit = (
        f' textLength="{_n(min(room, text_width(text, size, bold)))}" lengthAdjust="spacingAndGlyphs"' if tight else ""
    )
    place = f'x="{_n(x)}" y="{_n(y + size * 0.35)}" font-size="{_n(size)}"'
    return f'<text {place} fill="{fill}"{weight}{side}{fit}{more}>{_safe(text)}</text>'


def _hint(text: str) -> str:
    return f"<title>{_safe(text)}</title>" if text else ""


def _safe(text: str) -> str:
    """Escaped, without the control characters that XML forbids."""
    return escape("".join(char for char in text if char >= " " or char in "\t\n"), quote=True)


def _p(point: Point) -> str:
    return f"{_n(point[0])} {_n(point[1])}"


def _n(value: float) -> str:
    """A number to two decimals, without a trailing zero."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
