"""How wide text is, and items that are large enough for theirs.

The advance widths are those of Source Sans 3, the app's font, in thousandths of the font size (regular and semibold).
A drawing's text has these sizes, in canvas units:

    TITLE 13 semibold   box titles and names of bubbles and nodes
    BODY  12            cells
    SMALL 11            shapes, sizes, numbers, notes

    text_width(text, size, bold=False) -> float
    make_box(id, title, cells, x, y, max_width=..., note="", hint="") -> Box     cells: (id, text, op class[, hint])
    make_bubble(id, name, lifetime, x, y, shape="", size="", hint="") -> Bubble
    make_node(id, label, number, x, y, op_class="", hint="") -> Node             centred on (x, y)
"""

from collections.abc import Sequence

from tokenviz.views.scene import Box, Bubble, Cell, Node, Rect

TITLE, BODY, SMALL = 13.0, 12.0, 11.0
LINE = 15.0

CELL_HEIGHT, CELL_PAD, CELL_GAP, CELL_MIN = 28.0, 8.0, 4.0, 34.0
BOX_PAD, BOX_HEAD = 8.0, 24.0
BUBBLE_PAD, BUBBLE_MARK = 12.0, 15.0
NODE_PAD = 12.0

_WIDTHS = (
    (168, "ᵢ"), (200, " "), (250, "|ij',.:;·l"), (265, "I"), (292, "!f()[]{}-"), (340, "t/\\rₖᵀ²³₀₁₂"), (422, "*s?z\""),
    (452, "xεcτ"), (478, "vyYJ–γ"), (497, "LFλke0123456789#$+<=>^~×−≤≥_"), (510, "agXV"), (533, "EδSTΣZ"),
    (546, "`oAhuσn"), (558, "bdpq√αμ"), (570, "βPRCKπB"), (615, "&DG→←"), (650, "UNHOQφψ"), (722, "ωwM"),
    (790, "∞W—½"), (830, "%m@"), (948, "…"),
)  # fmt: skip
_WIDTH_OF = {char: width for width, chars in _WIDTHS for char in chars}
_UNKNOWN = 640
_BOLD = 1.035


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Width in canvas units of the longest line of `text` at font size `size`, to about 2 %."""
    longest = max(sum(_WIDTH_OF.get(char, _UNKNOWN) for char in line) for line in text.split("\n"))
    return longest / 1000 * size * (_BOLD if bold else 1.0)


def make_box(
    id: str,
    title: str,
    cells: Sequence[tuple[str, ...]],
    x: float,
    y: float,
    max_width: float = 10_000.0,
    note: str = "",
    hint: str = "",
) -> Box:
    """A box with its left upper corner at (x, y): title above, cells in one row, wrapped beyond `max_width`.

    `cells` are (id, text, op class) or (id, text, op class, hint). Without cells the box is the collapsed form.
    """
    heading = text_width(title, TITLE, bold=True) + (text_width(note, SMALL) + 14 if note else 0)
    rows = _rows(cells, max_width - 2 * BOX_PAD)
    widest = max((sum(width for _, width in row) + CELL_GAP * (len(row) - 1) for row in rows), default=0.0)
    width = max(heading + 2 * BOX_PAD + 4, widest + 2 * BOX_PAD)
    placed = []
    for line, row in enumerate(rows):
        left = x + BOX_PAD
        top = y + BOX_HEAD + line * (CELL_HEIGHT + CELL_GAP)
        for cell, cell_width in row:
            rect = Rect(left, top, cell_width, CELL_HEIGHT)
            placed.append(Cell(cell[0], cell[1], cell[2], rect, cell[3] if len(cell) > 3 else ""))
            left += cell_width + CELL_GAP
    body = len(rows) * (CELL_HEIGHT + CELL_GAP) - CELL_GAP + BOX_PAD if rows else 6.0
    return Box(id, title, Rect(x, y, width, BOX_HEAD + body), tuple(placed), note, hint)


def make_bubble(
    id: str, name: str, lifetime: str, x: float, y: float, shape: str = "", size: str = "", hint: str = ""
) -> Bubble:
    """A bubble with its left upper corner at (x, y), wide enough for its lines and its lifetime's mark."""
    mark = 0.0 if lifetime == "ephemeral" else BUBBLE_MARK
    lines = [text_width(name, TITLE, bold=True) + mark, *(text_width(line, SMALL) for line in (shape, size) if line)]
    height = 12.0 + LINE * (len(lines) + shape.count("\n"))
    return Bubble(id, name, lifetime, Rect(x, y, max(lines) + 2 * BUBBLE_PAD, height), shape, size, hint)


def make_node(id: str, label: str, number: str, x: float, y: float, op_class: str = "", hint: str = "") -> Node:
    """A node centred on (x, y), large enough for its label (lines split at "\\n") and its number."""
    width = max(text_width(label, TITLE, bold=True), text_width(number, SMALL)) + 2 * NODE_PAD
    height = 12.0 + LINE * (label.count("\n") + 1 + bool(number))
    return Node(id, label, number, Rect(x - width / 2, y - height / 2, width, height), op_class, hint)


def _rows(cells: Sequence[tuple[str, ...]], room: float) -> list[list[tuple[tuple[str, ...], float]]]:
    """Cells with their widths, in as few rows of at most `room` as their order allows."""
    rows: list[list[tuple[tuple[str, ...], float]]] = []
    used = 0.0
    for cell in cells:
        width = max(CELL_MIN, text_width(cell[1], BODY) + 2 * CELL_PAD)
        if not rows or used + CELL_GAP + width > room:
            rows.append([])
            used = -CELL_GAP
        rows[-1].append((cell, width))
        used += CELL_GAP + width
    return rows
