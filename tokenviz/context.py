"""How every count and every byte depends on the context: exact straight lines, one piece after the other.

Counts and bytes are affine in the number of cached positions, except where a window fills up: there the slope changes.
`dependence` finds the pieces by asking the graph itself, so no second formula can drift from it: two contexts fix a
line, and a bisection finds the last context for which every row still lies on it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache

from tokenviz.architecture import Architecture
from tokenviz.breakdown import op_bytes
from tokenviz.graph import DecodeStep
from tokenviz.notation import GraphError
from tokenviz.scenario import MAX_CONTEXT, Scenario
from tokenviz.trace import trace
from tokenviz.traffic import Traffic, state_traffic

MAX_PIECES = 16
FIELDS = tuple(f.name for f in fields(Traffic))
STATE_FIELDS = tuple(name for name in FIELDS if name != "weights")


@dataclass(frozen=True, slots=True, order=True)
class Row:
    """One line of the ledger or of the traffic: what is counted, in which blocks, in which transform."""

    what: str  # a counter of `graph.COUNTERS`, or "bytes"
    of: str  # for bytes a field of `traffic.Traffic`, for counters the transform's kind
    block: str  # the block's kind


@dataclass(frozen=True, slots=True)
class Line:
    """intercept + slope × context."""

    intercept: int
    slope: int

    def at(self, context: int) -> int:
        """The value after `context` cached positions."""
        return self.intercept + self.slope * context

    def __add__(self, other: "Line") -> "Line":
        return Line(self.intercept + other.intercept, self.slope + other.slope)


@dataclass(frozen=True, eq=False)
class Piece:
    """Contexts from `start` to `stop`, both included, in which every row is one straight line."""

    start: int
    stop: int
    lines: Mapping[Row, Line]

    def line(self, rows: Iterable[Row]) -> Line:
        """The sum of some rows."""
        return sum((self.lines[r] for r in rows if r in self.lines), Line(0, 0))


@dataclass(frozen=True, eq=False)
class Dependence:
    """Every row as a function of the context, from 0 to `scenario.MAX_CONTEXT`."""

    pieces: tuple[Piece, ...]

    def piece(self, context: int) -> Piece:
        """The piece that a context lies in."""
        return next(p for p in self.pieces if context <= p.stop)

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows, sorted."""
        return tuple(sorted({r for p in self.pieces for r in p.lines}))

    def select(self, keep: Callable[[Row], bool]) -> tuple[Row, ...]:
        """The rows for which `keep` holds."""
        return tuple(r for r in self.rows if keep(r))

    def bytes_of(self, *names: str) -> tuple[Row, ...]:
        """The rows of some fields of the traffic."""
        return self.select(lambda r: r.what == "bytes" and r.of in names)

    def value(self, rows: Iterable[Row], context: int) -> int:
        """The sum of some rows after `context` cached positions."""
        return self.piece(context).line(rows).at(context)

    def crossover(self, above: Iterable[Row], below: Iterable[Row]) -> int | None:
        """The first context at which `above` is more than `below`; None when it never is."""
        above, below = tuple(above), tuple(below)
        for piece in self.pieces:
            a, b = piece.line(above), piece.line(below)
            ahead, gains = a.at(piece.start) - b.at(piece.start), a.slope - b.slope
            if ahead > 0:
                return piece.start
            if gains > 0 and (n := piece.start + -ahead // gains + 1) <= piece.stop:
                return n
        return None


def measure(step: DecodeStep, scenario: Scenario) -> dict[Row, int]:
    """Every row of one step: scalar work by counter, transform and block kind; bytes by origin and block kind."""
    total: dict[Row, int] = {}

    def put(row: Row, n: int) -> None:
        total[row] = total.get(row, 0) + n

    moved = op_bytes(step, scenario)
    for block, count in step.folded():
        for op in block.ops:
            kind = block.transform_by_id[op.transform].kind
            for counter, n in op.counts.items():
                put(Row(counter, kind, block.kind), n * count)
            put(Row("bytes", "weights", block.kind), moved[block.key][op.id].weights * count)
        state = state_traffic(block, scenario)
        for name in STATE_FIELDS:
            put(Row("bytes", name, block.kind), getattr(state, name) * count)
    return total


def dependence(architecture: Architecture, scenario: Scenario) -> Dependence:
    """Every row of a model as straight lines in the context; the scenario's own context plays no part."""
    return _dependence(architecture, replace(scenario, context=0))


@lru_cache(maxsize=32)
def _dependence(architecture: Architecture, scenario: Scenario) -> Dependence:
    last = MAX_CONTEXT

    @cache
    def at(context: int) -> dict[Row, int]:
        here = replace(scenario, context=context)
        return measure(trace(architecture, here), here)

    pieces: list[Piece] = []
    start = 0
    while start < last:
        lines = _lines(at(start), at(start + 1), start)
        stop = _last_on(lines, at, start + 1, last)
        pieces.append(Piece(start, stop, lines))
        start = stop
        if len(pieces) > MAX_PIECES:
            raise GraphError(f"counts are not made of straight lines in the context: {MAX_PIECES} pieces end at {stop}")
    return Dependence(tuple(pieces))


def _lines(first: Mapping[Row, int], second: Mapping[Row, int], start: int) -> dict[Row, Line]:
    slopes = {row: second[row] - n for row, n in first.items()}
    return {row: Line(n - slopes[row] * start, slopes[row]) for row, n in first.items()}


def _last_on(lines: Mapping[Row, Line], at: Callable[[int], Mapping[Row, int]], low: int, high: int) -> int:
    """The last context up to `high` at which every row lies on its line, given that `low` does."""

    def on(context: int) -> bool:
        return all(lines[row].at(context) == n for row, n in at(context).items())

    if on(high):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if on(middle) else (low, middle)
    return low


def log_positions(low: int, high: int, per_decade: int) -> tuple[int, ...]:
    """Whole numbers from `low` to `high`, evenly spaced on a log axis, both ends included."""
    found = {low, high}
    n = 0
    while (x := round(low * 10 ** (n / per_decade))) < high:
        found.add(x)
        n += 1
    return tuple(sorted(found))
