"""A block's parts in their places: bubbles around their boxes, columns, rows, and where edges enter.

    place(parts, spine) -> Placed         x and y of everything, in canvas units from the top of the block

Rows follow the dependencies downward. Between two rows lies a channel in which horizontal lines run, each on its own
track; the tracks are ordered so that few lines cross.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import permutations

from tokenviz.views.pipeline_lanes import MAIN, WIRE_RAIL, Chain, Plan, Strand, exit_of, lane_starts, plan
from tokenviz.views.pipeline_parts import GAP_RESULT, GAP_STATE, GAP_STATIC, OVERHANG, PORT_GAP, Part, Parts
from tokenviz.views.scene import Bubble, Rect

TRACK_GAP, CHANNEL_PAD, CHANNEL_LEAST = 9.0, 13.0, 18.0
GAP_BUBBLES, GAP_STACK = 10.0, 8.0


@dataclass(slots=True)
class Track:
    """One value's horizontal line in a channel: x of its verticals from above and to below, and its height."""

    above: set[float] = field(default_factory=set)
    below: set[float] = field(default_factory=set)
    level: int = 0

    @property
    def low(self) -> float:
        """Left end."""
        return min(self.above | self.below)

    @property
    def high(self) -> float:
        """Right end."""
        return max(self.above | self.below)

    @property
    def straight(self) -> bool:
        """Whether the line only passes, without a horizontal piece."""
        return self.high - self.low < 0.5


@dataclass(frozen=True, eq=False)
class Placed:
    """A placed block: parts moved to their places, lanes, channels and ports."""

    plan: Plan
    x: Mapping[int, float]  # lane -> left
    leaving: Mapping[str, float]  # value id -> x at which it leaves its bubble
    ports: Mapping[tuple[str, str], float]  # (part, value) -> x at which the value enters the part's box
    tracks: tuple[Mapping[tuple[str, bool], Track], ...]  # channel above row r -> value -> track
    channel_tops: tuple[float, ...]
    height: float

    def track_y(self, row: int, key: tuple[str, bool]) -> float:
        """Height of a value's line in the channel above a row."""
        return self.channel_tops[row] + CHANNEL_PAD + TRACK_GAP * self.tracks[row][key].level

    def passing_x(self, strand: Strand) -> float:
        """x at which a strand passes rows."""
        if strand.wire:
            return self.x[strand.lane] + WIRE_RAIL
        return self.leaving[strand.value]


def place(parts: Parts, spine: float) -> Placed:
    """Give every part its place; the residual stream runs down at x = `spine`."""
    made = plan(parts)
    for i, chain in enumerate(made.chains):
        _arrange_chain(made, chain, on_spine=i == 0)
    starts = lane_starts(made, spine)
    starts.setdefault(MAIN, spine)
    leaving = {s.value: starts[made.chain_of[s.holder].lane] + exit_of(made, s) for s in made.strands}
    bare = Placed(made, starts, leaving, {}, (), (), 0.0)
    ports = _ports(bare)
    tracks = tuple(_tracks(replace(bare, ports=ports), row) for row in range(made.rows))
    tops, boxes, height = _rows(made, tracks)
    placed = Placed(made, starts, leaving, ports, tracks, tops, height)
    for part in parts.parts.values():
        y = boxes[part.rank] if part.rank >= 0 else 0.0
        _move(part, starts[made.chain_of[part.id].lane], y)
    return placed


# ------------------------------------------------------------------------------------------------ inside a part


def _arrange_chain(made: Plan, chain: Chain, *, on_spine: bool) -> None:
    members = [made.parts.parts[m] for m in chain.members]
    for part in members:
        _arrange_statics(part)
    if not on_spine:
        half = max((b.rect.width / 2 for p in members for b in list(p.results.values())[:1]), default=0.0)
        beside = max((p.statics_right + GAP_STATIC for p in members), default=0.0)
        chain.rail = max(beside, half - OVERHANG, 40.0)
    for i, part in enumerate(members):
        after = members[i + 1].id if i + 1 < len(members) else ""
        _arrange_results(part, chain.rail, made.parts.needs.get(after, ()), on_spine)
        _arrange_states(part)


def _arrange_statics(part: Part) -> None:
    """Stored operands stand above the box, from its left corner on, their lower sides in line."""
    x = -OVERHANG
    for i, bubble in enumerate(part.statics):
        part.statics[i] = _at(bubble, x, -bubble.rect.height - GAP_STATIC)
        x += bubble.rect.width + GAP_BUBBLES


def _arrange_results(part: Part, rail: float, first: Iterable[str], on_spine: bool) -> None:
    """The box is wide enough for its ports; results hang below it, the one that goes on in this column on the rail."""
    if part.box:
        hung = [part.results[v].rect.width for v in _hanging(part, first)]
        middles = sum(hung) - (hung[0] + hung[-1]) / 2 + GAP_BUBBLES * (len(hung) - 1) if hung else 0.0
        least = rail + max(PORT_GAP * (part.ports - 1), middles) + 14
        width = max(part.box.rect.width, 2 * PORT_GAP * part.ports if on_spine else least)
        left = -width / 2 if on_spine else 0.0
        part.box = replace(part.box, rect=replace(part.box.rect, width=width)).moved(left, 0)
    y = part.box.rect.height + GAP_RESULT if part.box else 0.0
    x: float | None = None
    for value in _hanging(part, first):
        bubble = part.results[value]
        x = rail - bubble.rect.width / 2 if x is None else x
        part.results[value] = _at(bubble, x, y)
        x += bubble.rect.width + GAP_BUBBLES


def _hanging(part: Part, first: Iterable[str]) -> list[str]:
    """Results from left to right: what goes on in this column comes first."""
    wanted = set(first)
    return sorted(part.results, key=lambda value: value not in wanted)


def _arrange_states(part: Part) -> None:
    """State stands at the right: what was kept above what is left for the next token."""
    inner = [bubble.rect.right for bubble in part.results.values()]
    x = max([*inner, part.box.rect.right if part.box else 0.0]) + GAP_STATE
    y = 0.0
    for state in dict.fromkeys((*part.reads, *part.writes)):
        for held in (part.reads, part.writes):
            if state in held:
                held[state] = _at(held[state], x, y)
                y += held[state].rect.height + GAP_STACK


def _at(bubble: Bubble, x: float, y: float) -> Bubble:
    return replace(bubble, rect=Rect(x, y, bubble.rect.width, bubble.rect.height))


def _move(part: Part, dx: float, dy: float) -> None:
    part.box = part.box.moved(dx, dy) if part.box else None
    part.statics = [replace(b, rect=b.rect.moved(dx, dy)) for b in part.statics]
    for held in (part.results, part.reads, part.writes):
        for key, bubble in held.items():
            held[key] = replace(bubble, rect=bubble.rect.moved(dx, dy))


# ------------------------------------------------------------------------------------------------ ports


def _ports(placed: Placed) -> dict[tuple[str, str], float]:
    """Where each value enters a box: straight from above on the rail, the others beside it in the order they come."""
    found: dict[tuple[str, str], float] = {}
    coming: dict[str, list[tuple[float, str]]] = {}
    for strand in placed.plan.strands:
        for t in strand.consumers:
            coming.setdefault(t, []).append((placed.passing_x(strand), strand.value))
    for t, arrivals in coming.items():
        part, chain = placed.plan.parts.parts[t], placed.plan.chain_of[t]
        left = placed.x[chain.lane]
        slots = _slots(part, chain.rail, left, sorted(arrivals))
        found.update({(t, value): x for x, (_, value) in zip(slots, sorted(arrivals), strict=True)})
    return found


def _slots(part: Part, rail: float, left: float, arrivals: list[tuple[float, str]]) -> list[float]:
    """x of the ports for arrivals sorted by where they come from."""
    straight = next((i for i, (x, _) in enumerate(arrivals) if abs(x - left - rail) < 0.5), 0)
    box = part.box
    least = max(part.statics_right + 8, (box.rect.x if box else 0) + 12)
    room = int((rail - least) // PORT_GAP)
    shift = min(straight, max(0, room))
    if shift < straight:  # no room at the left of the rail: what comes from there enters at its right
        order = [rail, *(rail + PORT_GAP * (i + 1) for i in range(len(arrivals) - 1))]
        taken = order[1:]
        return [left + (rail if i == straight else taken[i - (i > straight)]) for i in range(len(arrivals))]
    return [left + rail + PORT_GAP * (i - straight) for i in range(len(arrivals))]


# ------------------------------------------------------------------------------------------------ channels


def _tracks(placed: Placed, row: int) -> dict[tuple[str, bool], Track]:
    """The lines in the channel above a row, each on a level; two that overlap never share one."""
    found: dict[tuple[str, bool], Track] = {}
    ranks = {p.id: p.rank for p in placed.plan.parts.parts.values()}
    for s in placed.plan.strands:
        start = ranks[s.holder] + (0 if s.of_state else 1)
        if not start <= row <= max(ranks[t] for t in s.consumers):
            continue
        track = found.setdefault(track_key(placed.plan, s, row), Track())
        leaves = row == start
        (track.below if s.of_state and leaves else track.above).add(
            placed.leaving[s.value] if leaves else placed.passing_x(s)
        )
        track.below |= {placed.ports[t, s.value] for t in s.consumers if ranks[t] == row}
        if row <= s.last:
            track.below.add(placed.passing_x(s))
    _levels([t for t in found.values() if not t.straight], [t for t in found.values() if t.straight])
    return found


def track_key(made: Plan, strand: Strand, row: int) -> tuple[str, bool]:
    """Strands of one value share a line where they leave its bubble and have their own further down."""
    start = made.parts.parts[strand.holder].rank + (0 if strand.of_state else 1)
    return strand.value, strand.wire and row > start


def _levels(tracks: list[Track], passing: list[Track]) -> None:
    """Levels from the top: the order with the fewest crossings, then as few levels as it allows."""
    if len(tracks) <= 6:
        order = min(permutations(tracks), key=_order_cost, default=())
    else:
        order = tuple(_better(sorted(tracks, key=lambda t: (t.low, t.high))))
    placed: list[Track] = []
    for track in order:
        over = [p.level for p in placed if p.low - 10 < track.high and track.low < p.high + 10]
        track.level = max(over, default=-1) + 1
        placed.append(track)


def _better(order: list[Track]) -> list[Track]:
    best, improved = _order_cost(order), True
    while improved:
        improved = False
        for i in range(len(order) - 1):
            trial = [*order[:i], order[i + 1], order[i], *order[i + 2 :]]
            if (cost := _order_cost(trial)) < best:
                order, best, improved = trial, cost, True
    return order


def _order_cost(order: Iterable[Track]) -> float:
    """Crossings, and far worse: a vertical from above that would lie on one to below."""
    total, seen = 0.0, list(order)
    for i, upper in enumerate(seen):
        for lower in seen[i + 1 :]:
            total += sum(lower.low < x < lower.high for x in upper.below)
            total += sum(upper.low < x < upper.high for x in lower.above)
            total += 100 * sum(abs(x - y) < 4 for x in upper.below for y in lower.above)
    return total


def _rows(
    made: Plan, tracks: tuple[Mapping[tuple[str, bool], Track], ...]
) -> tuple[tuple[float, ...], tuple[float, ...], float]:
    """y of each channel and of each row's boxes, and the height of all."""
    heads = [p.below for p in made.parts.parts.values() if p.rank < 0]
    y = max(heads, default=0.0)
    tops, boxes = [], []
    for row, channel in enumerate(tracks):
        tops.append(y)
        levels = max((t.level for t in channel.values() if not t.straight), default=-1) + 1
        y += 2 * CHANNEL_PAD + TRACK_GAP * (levels - 1) if levels else CHANNEL_LEAST
        in_row = [p for p in made.parts.parts.values() if p.rank == row]
        y += max((p.above for p in in_row), default=0.0)
        boxes.append(y)
        y += max((p.below for p in in_row), default=0.0)
    return tuple(tops), tuple(boxes), y
