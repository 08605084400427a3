"""The drawing as a sheet to hand on: with a title, and with what the colours mean.

sheet(scene, title, subtitle) -> (Scene, Rect)      the scene with its head, and the region that shows it all
"""

from dataclasses import replace

from tokenviz.views.measure import make_box, make_bubble
from tokenviz.views.palette import OP_CLASSES
from tokenviz.views.scene import Note, Rect, Scene

_LIFETIMES = (
    ("static", "static", "known before", "the token"),
    ("ephemeral", "ephemeral", "made and used", "within this token"),
    ("state", "state", "kept from", "token to token"),
)
_MARGIN, _GAP, _HEAD = 16.0, 18.0, 190.0


def sheet(scene: Scene, title: str, subtitle: str) -> tuple[Scene, Rect]:
    """Put a title and a legend above a drawing. The legend is made of the drawing's own bubbles and cells."""
    x, y = 84.0, -_HEAD
    notes = (
        Note("sheet title", title, x, y + 18, 26.0, strong=True),
        Note("sheet subtitle", subtitle, x, y + 46, 14.0),
    )
    bubbles = []
    for lifetime, name, first, second in _LIFETIMES:
        bubble = make_bubble(f"legend {lifetime}", name, lifetime, x, y + 74, first, second)
        bubbles.append(bubble)
        x = bubble.rect.right + _GAP
    cells = [(f"legend {name}", name, name) for name in OP_CLASSES]
    box = make_box("legend transform", "transform: its operations run one after the other", cells, x, y + 74, 560.0)
    whole = replace(scene, notes=(*scene.notes, *notes), bubbles=(*scene.bubbles, *bubbles), boxes=(*scene.boxes, box))
    width = max(scene.width, box.rect.right + _MARGIN)
    return whole, Rect(-_MARGIN, -_HEAD - _MARGIN, width + 2 * _MARGIN, scene.height + _HEAD + 2 * _MARGIN)
