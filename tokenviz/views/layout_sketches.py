"""Small drawings of physical arrangements, one for each group of `tokenviz.arrangements`: 132 x 88 vector graphics.

sketch(key) -> str     an SVG element; strokes in the page's text colour, fills by operation class and lifetime
"""

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from tokenviz.views.palette import OP_FILL, THEMES

_FIXED, _DYNAMIC, _ADD = OP_FILL["fixed linear"], OP_FILL["dynamic multiply/divide"], OP_FILL["add/subtract"]
_SUM, _FUNCTION, _POSITION = OP_FILL["reduction"], OP_FILL["nonlinear transfer"], OP_FILL["position-selected"]
_COMPARE, _ROUTE = OP_FILL["compare/select"], OP_FILL["route/store"]
_INK = THEMES["light"].edge
_STATE = THEMES["light"].lifetimes["state"].outline
_LIVE = THEMES["light"].lifetimes["ephemeral"].outline


def sketch(key: str) -> str:
    """The drawing of a group."""
    says, parts = _SKETCHES[key]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 132 88" width="132" height="88" fill="none" '
        f'stroke="{_INK}" stroke-width="1.2" stroke-linecap="round"><title>{says}</title>{"".join(parts())}</svg>'
    )


def image(key: str) -> str:
    """The drawing of a group as an <img> element; scripts and outside resources have no place in it."""
    data = b64encode(sketch(key).encode()).decode()
    return f'<img src="data:image/svg+xml;base64,{data}" alt="{_SKETCHES[key][0]}" width="132" height="88">'


def _box(x: float, y: float, w: float, h: float, fill: str = "none", stroke: str = _INK) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="2" fill="{fill}" stroke="{stroke}"/>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str = _INK, width: float = 1.2) -> str:
    return f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke="{colour}" stroke-width="{width:g}"/>'


def _arrow(x1: float, y1: float, x2: float, y2: float, colour: str = _INK, width: float = 1.6) -> str:
    """A line along one axis with a head at its end."""
    dx, dy = (x2 > x1) - (x2 < x1), (y2 > y1) - (y2 < y1)
    barbs = [(x2 - 4 * dx - side * 3 * dy, y2 - 4 * dy - side * 3 * dx) for side in (1, -1)]
    head = f"M{barbs[0][0]:g} {barbs[0][1]:g}L{x2:g} {y2:g}L{barbs[1][0]:g} {barbs[1][1]:g}"
    return f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}{head}" stroke="{colour}" stroke-width="{width:g}"/>'


def _fixed() -> Iterable[str]:
    """A grid of coefficients; the vector goes past them from the left, sums leave below."""
    yield from (_box(34 + 17 * i, 10 + 17 * j, 13, 13, _FIXED) for i in range(4) for j in range(3))
    yield from (_arrow(8, 16.5 + 17 * j, 30, 16.5 + 17 * j, _LIVE) for j in range(3))
    yield from (_arrow(40.5 + 17 * i, 62, 40.5 + 17 * i, 80) for i in range(4))


def _growing() -> Iterable[str]:
    """One query broadcast to many banks, partial sums collected."""
    yield _line(14, 16, 112, 16, _LIVE, 2)
    yield _arrow(4, 16, 16, 16, _LIVE, 2)
    for i in range(5):
        x = 18 + 20 * i
        yield _arrow(x + 7, 16, x + 7, 28, _LIVE)
        yield _box(x, 30, 14, 24, _DYNAMIC if i < 4 else "none", _STATE)
        yield _line(x + 7, 54, x + 7, 66)
    yield _line(25, 66, 105, 66)
    yield _box(58, 62, 14, 9, _SUM)
    yield _arrow(65, 71, 65, 84)
    yield '<path d="M116 42h10m-4 -3l4 3l-4 3" stroke-dasharray="none"/>'


def _recurrent() -> Iterable[str]:
    """A bank that is read and written where it stands; only short vectors come and go."""
    yield _box(34, 14, 64, 56, "none", _STATE)
    yield _box(37, 17, 58, 50, "none", _STATE)
    yield from (_box(42 + 17 * i, 22 + 15 * j, 13, 11, _DYNAMIC) for i in range(3) for j in range(3))
    yield _arrow(8, 30, 30, 30, _LIVE)
    yield _arrow(8, 52, 30, 52, _LIVE)
    yield _arrow(102, 42, 124, 42)
    yield f'<path d="M56 10a10 6 0 1 1 20 0m-4 -3l4 3l3 -4" stroke="{_STATE}" stroke-width="1.6"/>'


def _reduction() -> Iterable[str]:
    """A binary tree of adders."""
    for level, count in enumerate((8, 4, 2, 1)):
        step = 112 / count
        for i in range(count):
            x, y = 10 + step * (i + 0.5), 12 + 20 * level
            if level:
                yield _line(x - step / 4, y - 17, x, y - 4)
                yield _line(x + step / 4, y - 17, x, y - 4)
            yield f'<circle cx="{x:g}" cy="{y:g}" r="4" fill="{_SUM if level else "none"}"/>'
    yield _line(66, 76, 66, 86)


def _function() -> Iterable[str]:
    """One value in, one out, a curve between."""
    yield _box(40, 16, 52, 56, _FUNCTION)
    yield '<path d="M46 66C62 64 72 56 86 24" stroke="#1A1A1A" stroke-width="1.8"/>'
    yield _arrow(8, 44, 36, 44, _LIVE)
    yield _arrow(96, 44, 124, 44)


def _position() -> Iterable[str]:
    """A table with one row selected by the position."""
    yield from (_box(44, 8 + 12 * i, 52, 10, _POSITION if i == 3 else "none") for i in range(6))
    yield _arrow(8, 49, 40, 49, _LIVE)
    yield _arrow(98, 49, 124, 49)
    yield f'<text x="8" y="42" font-size="10" font-family="sans-serif" fill="{_INK}" stroke="none">position</text>'


def _compare() -> Iterable[str]:
    """Wires with compare-exchange bars."""
    yield from (_line(12, 16 + 18 * i, 120, 16 + 18 * i) for i in range(4))
    for x, low, high in ((32, 0, 1), (32, 2, 3), (56, 0, 2), (68, 1, 3), (94, 1, 2)):
        yield _line(x, 16 + 18 * low, x, 16 + 18 * high, _COMPARE, 3)
        yield from (
            f'<circle cx="{x}" cy="{16 + 18 * i}" r="3.4" fill="{_COMPARE}" stroke="{_INK}"/>' for i in (low, high)
        )


def _experts() -> Iterable[str]:
    """A crossbar sends one vector to two of many arrays."""
    yield _box(26, 10, 22, 66, _ROUTE)
    yield _arrow(4, 43, 23, 43, _LIVE)
    for i in range(5):
        y, used = 10 + 14 * i, i in (1, 3)
        yield _box(84, y, 30, 10, _FIXED if used else "none")
        if used:
            yield _arrow(48, y + 5, 81, y + 5, _LIVE)
            yield _arrow(115, y + 5, 128, y + 5)


def _cache() -> Iterable[str]:
    """Rows filled from the left; the new one goes to the end."""
    for j in range(3):
        for i in range(5):
            yield _box(16 + 18 * i, 12 + 22 * j, 14, 16, "none", _STATE if i < 4 else _INK)
            if i < 4:
                yield _line(19 + 18 * i, 20 + 22 * j, 27 + 18 * i, 20 + 22 * j, _STATE)
        yield _arrow(126, 20 + 22 * j, 108, 20 + 22 * j, _LIVE)


def _window() -> Iterable[str]:
    """Four places in a row that shift; a tap under each."""
    for i in range(4):
        x = 20 + 25 * i
        yield _box(x, 18, 18, 18, "none", _STATE if i else _INK)
        if i:
            yield _arrow(x - 7, 27, x - 1, 27)
        yield _arrow(x + 9, 36, x + 9, 48)
        yield _box(x + 3, 50, 12, 10, _FIXED)
    yield _line(29, 70, 104, 70)
    yield from (_line(29 + 25 * i, 60, 29 + 25 * i, 70) for i in range(4))
    yield _arrow(66, 70, 66, 84)
    yield _arrow(4, 27, 18, 27, _LIVE)


def _table() -> Iterable[str]:
    """Many rows, an address picks one."""
    yield from (_box(40, 8 + 9 * i, 56, 7, _ROUTE if i == 5 else "none") for i in range(8))
    yield _arrow(10, 56.5, 36, 56.5, _LIVE)
    yield _arrow(98, 56.5, 124, 56.5)


def _lanes() -> Iterable[str]:
    """Parallel lanes, one operation in each."""
    for i in range(4):
        y = 12 + 19 * i
        yield _arrow(8, y + 6, 52, y + 6, _LIVE)
        yield _box(56, y, 20, 12, _ADD if i % 2 else _DYNAMIC)
        yield _arrow(78, y + 6, 124, y + 6)


_Sketch = tuple[str, Callable[[], Iterable[str]]]
_SKETCHES: Mapping[str, _Sketch] = MappingProxyType(
    {
        "fixed": ("An array of fixed coefficients; a vector moves past it and sums leave", _fixed),
        "growing": ("A vector is broadcast to banks, products are summed on the way out", _growing),
        "recurrent": ("A memory bank with multipliers inside, updated in place", _recurrent),
        "reduction": ("A tree that reduces eight values to one", _reduction),
        "function": ("A unit that maps one value to one value by a curve", _function),
        "position": ("A table of coefficients with one row selected by position", _position),
        "compare": ("A network of comparators between wires", _compare),
        "experts": ("A crossbar that sends a vector to two of five arrays", _experts),
        "cache": ("Banks that are filled row by row, new rows at the end", _cache),
        "window": ("A shift register with a tap under each place", _window),
        "table": ("A table of which an address picks one row", _table),
        "lanes": ("Four parallel lanes with one operation each", _lanes),
    }
)
