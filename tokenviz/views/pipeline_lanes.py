"""Columns for the parts of one block: chains keep theirs until they join, edges that run past rows get narrow ones.

    plan(parts) -> Plan

A chain is a run of transforms, each fed by the one before; the longest chain stands right beside the residual stream.
A strand is an edge (or several from one bubble) that has to pass rows on its way down. Chains and strands take lanes
from left to right; their order is the one with the least crossing and the shortest lines that small changes find.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from tokenviz.views.pipeline_parts import Part, Parts

SPINE, MAIN = -1, 0


@dataclass(slots=True, eq=False)
class Chain:
    """Parts of one column, top to bottom, and the rows in which the column is taken."""

    members: tuple[str, ...]
    first: int
    last: int
    lane: int = 0
    rail: float = 0.0  # where its line runs, from the left of its lane


@dataclass(slots=True, eq=False)
class Strand:
    """What runs from one bubble to consumers: in the column of its own chain, or (wire) in a lane of its own."""

    value: str
    holder: str
    of_state: bool
    consumers: tuple[str, ...]
    wire: bool
    first: int  # rows that it passes; first > last when it only crosses one channel
    last: int
    lane: int = 0


@dataclass(frozen=True, eq=False)
class Plan:
    """Chains and strands with their lanes."""

    parts: Parts
    chains: tuple[Chain, ...]
    strands: tuple[Strand, ...]
    chain_of: Mapping[str, Chain]
    rows: int


def plan(parts: Parts) -> Plan:
    """Chains, strands, and a lane for each. Deterministic."""
    chains = _chains(parts)
    chain_of = {m: c for c in chains for m in c.members}
    strands = tuple(s for v in parts.sources for s in _strands(parts, chain_of, v))
    for strand in strands:
        if not strand.wire and strand.first <= strand.last:
            chain = chain_of[strand.holder]
            chain.last = max(chain.last, strand.last)
    rows = max((p.rank for p in parts.parts.values()), default=-1) + 1
    made = Plan(parts, chains, strands, chain_of, rows)
    for chain in chains[:2]:
        chain.lane = SPINE if chain is chains[0] else MAIN
    _order(made)
    return made


# ------------------------------------------------------------------------------------------------ chains and strands


def _chains(parts: Parts) -> tuple[Chain, ...]:
    """The spine, the main chain, then the longest chains of what is left."""
    taken = {*parts.spine, *parts.main}
    chains = [_chain(parts, parts.spine), _chain(parts, parts.main)]
    while rest := [p for p in parts.parts if p not in taken]:
        members = _longest(parts, rest)
        taken |= set(members)
        chains.append(_chain(parts, members))
    return tuple(chains)


def _chain(parts: Parts, members: tuple[str, ...]) -> Chain:
    ranks = [parts.parts[m].rank for m in members]
    return Chain(members, min(ranks, default=0), max(ranks, default=-2))


def _longest(parts: Parts, free: list[str]) -> tuple[str, ...]:
    """The longest run of free parts that feed each other, in operations; the first drawn on a tie."""
    best: dict[str, tuple[int, tuple[str, ...]]] = {}
    for name in free:
        part = parts.parts[name]
        feeders = [f for f in parts.block.feeds.get(name, ()) if f in best]
        length, run = max((best[f] for f in feeders), key=lambda b: b[0], default=(0, ()))
        cells = len(parts.block.transform_by_id[name].ops) if part.box else 1
        best[name] = (length + cells, (*run, name))
    return max(best.values(), key=lambda b: b[0])[1]


def _strands(parts: Parts, chain_of: Mapping[str, Chain], value: str) -> Iterator[Strand]:
    """A value's ways to its consumers: down its own column as far as that is free, else through a lane of its own."""
    holder, kind = parts.sources[value]
    of_state = kind == "state"
    rank = parts.parts[holder].rank
    ranks = {t: parts.parts[t].rank for t, values in parts.needs.items() if value in values}
    members = chain_of[holder].members
    after = members[members.index(holder) + 1 :]
    free_to = rank if of_state else parts.parts[after[0]].rank if after else 10**6
    near = tuple(t for t, r in ranks.items() if r <= free_to)
    far = tuple(t for t in ranks if t not in near)
    if near:
        yield Strand(value, holder, of_state, near, False, rank + 1, max(ranks[t] for t in near) - 1)
    if far:
        first = rank if of_state else rank + 1
        yield Strand(value, holder, of_state, far, True, first, max(ranks[t] for t in far) - 1)


# ------------------------------------------------------------------------------------------------ order of lanes

Movable = Chain | Strand


@dataclass(slots=True)
class _Net:
    """A strand's (or several strands') verticals in one channel: from above and to below, by who gives their lane."""

    above: list[Movable] = field(default_factory=list)
    below: list[Movable] = field(default_factory=list)


def _order(plan: Plan) -> None:
    """Give lanes to chains beyond the main one and to wires: better orders by moving one at a time."""
    items: list[Movable] = [*plan.chains[2:], *(s for s in plan.strands if s.wire)]
    items.sort(key=lambda i: (i.last, i.first))
    channels = _channels(plan)
    _pack(items)
    best, improved = _cost(channels), True
    while improved:
        improved = False
        for i in range(len(items)):
            for j in range(len(items)):
                trial = items[:i] + items[i + 1 :]
                trial.insert(j, items[i])
                _pack(trial)
                cost = _cost(channels)
                if cost < best - 1e-9:
                    items, best, improved = trial, cost, True
    _pack(items)


def _pack(items: list[Movable]) -> None:
    """Lanes from left to right: each as far left as those before it leave its rows free."""
    free: dict[int, int] = {}
    for item in items:
        rows = range(item.first, max(item.first, item.last) + 1)
        item.lane = max((free.get(r, 0) for r in rows), default=0) + 1
        for r in rows:
            free[r] = item.lane


def _channels(plan: Plan) -> list[list[_Net]]:
    """For the channel above each row, the nets that use it."""
    found: list[dict[tuple[str, bool], _Net]] = [{} for _ in range(plan.rows)]
    ranks = {p.id: p.rank for p in plan.parts.parts.values()}
    for s in plan.strands:
        own = s if s.wire else plan.chain_of[s.holder]
        start = ranks[s.holder] + (0 if s.of_state else 1)
        for r in range(start, max(ranks[t] for t in s.consumers) + 1):
            net = found[r].setdefault((s.value, s.wire and r > start), _Net())
            entry = plan.chain_of[s.holder] if r == start else own
            (net.below if s.of_state and r == start else net.above).append(entry)
            net.below += [plan.chain_of[t] for t in s.consumers if ranks[t] == r]
            if r <= s.last:
                net.below.append(own)
    return [list(nets.values()) for nets in found]


def _cost(channels: list[list[_Net]]) -> float:
    """Crossings count most, then the length of horizontal lines."""
    total = 0.0
    for nets in channels:
        spans = []
        for net in nets:
            above, below = [i.lane for i in net.above], [i.lane for i in net.below]
            low, high = min(above + below), max(above + below)
            total += high - low
            spans.append((low, high, above, below))
        for i, a in enumerate(spans):
            total += 4.0 * sum(min(_crossings(a, b), _crossings(b, a)) for b in spans[i + 1 :])
    return total


_Span = tuple[int, int, list[int], list[int]]


def _crossings(upper: _Span, lower: _Span) -> int:
    """Lines that cross when `upper` runs above `lower`: its ways down, and the other's ways from above."""
    down = sum(lower[0] < x < lower[1] for x in upper[3])
    return down + sum(upper[0] < x < upper[1] for x in lower[2])


# ------------------------------------------------------------------------------------------------ widths

GAP_PARTS, GAP_LINES, GAP_MIXED = 20.0, 12.0, 14.0
WIRE_RAIL = 8.0


@dataclass(frozen=True, slots=True)
class Entity:
    """What takes room in a row: extents from the left of its lane. A line has no width."""

    lane: int
    left: float
    right: float
    line: bool


def lane_starts(plan: Plan, spine: float) -> dict[int, float]:
    """x of the left of each lane; the spine's own line runs at `spine`."""
    starts = {SPINE: spine}
    before: dict[int, list[tuple[int, float]]] = {}
    for row in range(-1, plan.rows):
        for a, b in pairwise(entities(plan, row)):
            gap = GAP_LINES if a.line and b.line else GAP_MIXED if a.line or b.line else GAP_PARTS
            before.setdefault(b.lane, []).append((a.lane, a.right + gap - b.left))
    lanes = sorted({c.lane for c in plan.chains} | {s.lane for s in plan.strands if s.wire})
    for lane in lanes[1:] if lanes[:1] == [SPINE] else lanes:
        least = [starts[a] + distance for a, distance in before.get(lane, ()) if a in starts]
        starts[lane] = max(least, default=spine + 2 * GAP_PARTS)
    return starts


def entities(plan: Plan, row: int) -> list[Entity]:
    """Parts and passing lines of a row, from left to right."""
    found = [
        Entity(plan.chain_of[p.id].lane, p.left, p.right, False) for p in plan.parts.parts.values() if p.rank == row
    ]
    for s in plan.strands:
        if s.first <= row <= s.last:
            rail = WIRE_RAIL if s.wire else exit_of(plan, s)
            found.append(Entity(s.lane if s.wire else plan.chain_of[s.holder].lane, rail, rail, True))
    return sorted(found, key=lambda e: (e.lane, e.left))


def exit_of(plan: Plan, strand: Strand) -> float:
    """Where a strand leaves its bubble, from the left of the bubble's lane."""
    part: Part = plan.parts.parts[strand.holder]
    if strand.of_state:
        state = next(s for s in plan.parts.block.states if s.read == strand.value)
        return part.reads[state.id].rect.cx
    return part.results[strand.value].rect.cx
