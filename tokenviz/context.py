"""How every count and every byte depends on the context: exact straight lines, one piece after the other.

Counts and bytes are affine in the number of cached positions, except where a window fills up: there the slope changes.
`dependence` finds the pieces by asking the graph itself, so no second formula can drift from it: two contexts fix a
line, and a bisection finds the last context for which every row still lies on it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache, lru_cache

from tokenviz.architecture import Architecture
from tokenviz.breakdown import moved
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
    """Every row as a function of the context, from 0 to `scenario.MAX_CONTEXT`.

    Attention over chunks starts anew at every chunk: then the last `period` contexts of `pieces` repeat for ever, each
    time with `drift` added.
    """

    pieces: tuple[Piece, ...]
    period: int = 0
    drift: Mapping[Row, int] = field(default_factory=dict)

    def piece(self, context: int) -> Piece:
        """The piece that a context lies in."""
        beyond = context - self.pieces[-1].stop
        again = -(-beyond // self.period) if self.period and beyond > 0 else 0
        base = next(p for p in self.pieces if context - again * self.period <= p.stop)
        return base if not again else self._repeated(base, again)

    def _repeated(self, base: Piece, again: int) -> Piece:
        shift = again * self.period
        lines = {
            row: Line(line.intercept - line.slope * shift + again * self.drift[row], line.slope)
            for row, line in base.lines.items()
        }
        return Piece(base.start + shift, base.stop + shift, lines)

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
        gaps, gained, repeats = self._gaps(tuple(above), tuple(below))
        for again in range(repeats + 1):
            for piece, gap in gaps:
                n = _first_above(piece, Line(gap.intercept + again * gained, gap.slope))
                # What lies before the part that repeats was looked at the first time.
                if n is not None and (not again or n > self._repeats_from):
                    return n + again * self.period
        return None

    def for_good(self, above: Iterable[Row], below: Iterable[Row]) -> int | None:
        """The context from which on `above` is always more than `below`; None when there is none.

        With attention over chunks that is later than `crossover`: every new chunk begins with little to read.
        """
        gaps, gained, repeats = self._gaps(tuple(above), tuple(below))
        last = -1
        for piece, gap in gaps:
            # A gap that grows with every repeat is last not above zero in a repeat that its lowest place tells.
            lowest = min(gap.at(piece.start), gap.at(piece.stop))
            latest = repeats if gained <= 0 else min(repeats, -lowest // gained)
            for again in {0, max(0, latest - 1), max(0, latest)}:
                end = min(piece.stop, MAX_CONTEXT - again * self.period)
                n = _last_not_above(piece.start, end, Line(gap.intercept + again * gained, gap.slope))
                if n is not None and (not again or n > self._repeats_from):
                    last = max(last, n + again * self.period)
        return last + 1 if last < MAX_CONTEXT else None

    @property
    def _repeats_from(self) -> int:
        return self.pieces[-1].stop - self.period

    def _gaps(self, above: tuple[Row, ...], below: tuple[Row, ...]) -> tuple[list[tuple[Piece, Line]], int, int]:
        """Each piece with what `above` is more than `below`, how that grows with a repeat, and how many there are."""
        gaps = [(p, _gap(p.line(above), p.line(below))) for p in self.pieces]
        gained = sum(self.drift.get(r, 0) for r in above) - sum(self.drift.get(r, 0) for r in below)
        return gaps, gained, (MAX_CONTEXT - self.pieces[-1].stop) // self.period + 1 if self.period else 0


def _gap(above: Line, below: Line) -> Line:
    return Line(above.intercept - below.intercept, above.slope - below.slope)


def _first_above(piece: Piece, gap: Line) -> int | None:
    """The first context of a piece at which a gap is more than zero."""
    ahead = gap.at(piece.start)
    if ahead > 0:
        return piece.start
    if gap.slope > 0 and (n := piece.start + -ahead // gap.slope + 1) <= piece.stop:
        return n
    return None


def _last_not_above(start: int, end: int, gap: Line) -> int | None:
    """The last context from `start` to `end` at which a gap is not more than zero."""
    if end < start:
        return None
    if gap.at(end) <= 0:
        return end
    return start + -gap.at(start) // gap.slope if gap.at(start) <= 0 else None


def measure(step: DecodeStep, scenario: Scenario) -> dict[Row, int]:
    """Every row of one step: scalar work by counter, transform and block kind; bytes by origin and block kind."""
    total: dict[Row, int] = {}

    def put(row: Row, n: int) -> None:
        total[row] = total.get(row, 0) + n

    bytes_of = moved(step, scenario).by_block
    for block, count in step.folded():
        for op in block.ops:
            kind = block.transform_by_id[op.transform].kind
            for counter, n in op.counts.items():
                put(Row(counter, kind, block.kind), n * count)
            put(Row("bytes", "weights", block.kind), bytes_of[block.key][op.id].weights)
        state = state_traffic(block, scenario)
        for name in STATE_FIELDS:
            put(Row("bytes", name, block.kind), getattr(state, name) * count)
    return total


def dependence(architecture: Architecture, scenario: Scenario) -> Dependence:
    """Every row of a model as straight lines in the context; the scenario's own context and rate play no part."""
    return _dependence(architecture, replace(scenario, context=0, tokens_per_s=1.0))


@lru_cache(maxsize=32)
def _dependence(architecture: Architecture, scenario: Scenario) -> Dependence:
    @cache
    def at(context: int) -> dict[Row, int]:
        here = replace(scenario, context=context)
        return measure(trace(architecture, here), here)

    pieces: list[Piece] = []
    start = 0
    while start < MAX_CONTEXT:
        lines = _lines(at(start), at(start + 1), start)
        stop = _last_on(lines, at, start + 1, MAX_CONTEXT)
        pieces.append(Piece(start, stop, lines))
        start = stop
        if period := _period(pieces):
            return _repeating(pieces, period, at)
        if len(pieces) > MAX_PIECES:
            raise GraphError(f"counts are not made of straight lines in the context: {MAX_PIECES} pieces end at {stop}")
    return Dependence(tuple(pieces))


def _period(pieces: list[Piece]) -> int:
    """Contexts after which the last two pieces have repeated the two before them; 0 when they have not."""
    if len(pieces) < 4:
        return 0
    a, b, again_a, again_b = pieces[-4:]
    same = all(
        x.stop - x.start == y.stop - y.start and _slopes(x) == _slopes(y) for x, y in ((a, again_a), (b, again_b))
    )
    return again_a.start - a.start if same else 0


def _slopes(piece: Piece) -> dict[Row, int]:
    return {row: line.slope for row, line in piece.lines.items()}


def _repeating(pieces: list[Piece], period: int, at: Callable[[int], Mapping[Row, int]]) -> Dependence:
    """A dependence whose last two pieces repeat; checked at the far end, where a wrong guess would show."""
    last = pieces[-2]
    drift = {row: n - at(last.start - period)[row] for row, n in at(last.start).items()}
    found = Dependence(tuple(pieces[:-2]), period, drift)
    for context in (MAX_CONTEXT, MAX_CONTEXT - period // 2, MAX_CONTEXT // 2):
        if {row: found.value([row], context) for row in found.rows} != at(context):
            raise GraphError(f"counts do not repeat every {period:,} positions: they differ at {context:,}")
    return found


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
