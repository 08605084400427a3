"""Labels of hand-off graphs: their text, their size, and the placement problem that they make.

label_of(stage) -> (lines, number)         what a node says
problem_of(graph, distance, sites)         labels, sizes and flows for `tokenviz.placement`
"""

from tokenviz.handoffs import HandoffGraph, Stage
from tokenviz.placement import PlacementProblem
from tokenviz.views.format import plural
from tokenviz.views.measure import TITLE, make_node, text_width
from tokenviz.views.scene import Node

ROOM = 112.0
GAP = 48.0
LONG_TITLE = 18


def label_of(stage: Stage) -> tuple[str, str]:
    """(label of one or two lines, number line): a projection is called by its title, an operation by its own name."""
    operations = plural(stage.operations, "op")
    if stage.label == stage.id:  # a type: its name says all
        return wrapped(stage.label), operations
    if stage.label.endswith("sum each row"):
        return wrapped(stage.group), operations
    place = stage.group if len(stage.group) <= LONG_TITLE else _shortened(stage.group)
    return wrapped(stage.label), f"{place} · {operations}"


def _shortened(title: str) -> str:
    """The first words of a long title: up to a preposition, a sign, or the room there is."""
    words: list[str] = []
    for word in title.split():
        if word in ("and", "+", "of", "with") or len(" ".join([*words, word])) > LONG_TITLE:
            break
        words.append(word)
    return " ".join(words) or title[:LONG_TITLE]


def wrapped(text: str, room: float = ROOM) -> str:
    """The text in as few lines as fit; a dot between two operations is the best place to break."""
    if text_width(text, TITLE, bold=True) <= room:
        return text
    if " · " in text:
        return "\n".join(text.split(" · ", 1))
    words, lines = text.split(" "), [""]
    for word in words:
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width(longer, TITLE, bold=True) > room:
            lines.append(word)
        else:
            lines[-1] = longer
    return "\n".join(lines)


def node_of(stage: Stage, x: float = 0.0, y: float = 0.0, hint: str = "") -> Node:
    """A stage as a node of a drawing, centred on (x, y)."""
    label, number = label_of(stage)
    return make_node(stage.id, label, number, x, y, str(stage.op_class), hint)


def problem_of(graph: HandoffGraph, distance: str = "euclidean", sites: str = "grid") -> PlacementProblem:
    """The placement problem of a graph: one label for each node, one flow for each arrow, current or retained."""
    at = {stage.id: i for i, stage in enumerate(graph.nodes)}
    rects = [node_of(stage).rect for stage in graph.nodes]
    return PlacementProblem(
        labels=tuple(stage.id for stage in graph.nodes),
        sizes=tuple((r.width, r.height) for r in rects),
        flows=tuple((at[a.source], at[a.target], a.values) for a in graph.arrows),
        gap=GAP,
        distance=distance,
        sites=sites,
    )
