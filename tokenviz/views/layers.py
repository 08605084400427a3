"""A downward drawing of a directed graph: rows from top to bottom, straight long lines, no line through a node.

    layered(sizes, arrows) -> Layered(centres, routes, width, height)

The nodes' order is taken as the order of the flow: an arrow to an earlier node is feedback and is drawn upward. Rows
are longest paths; a long line gets a slot of its own in every row that it passes; slots are ordered by the mean place
of their neighbours and then moved, within their order, to where their lines become straight (Sugiyama's method).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

Point = tuple[float, float]
Arrow = tuple[int, int]

SLOT, ACROSS, BESIDE, TRACK, CLEAR = 2.0, 26.0, 12.0, 9.0, 26.0
SWEEPS = 12
UNSEEN = 0.5


@dataclass(frozen=True, slots=True)
class Layered:
    """Centres of the nodes and the orthogonal route of every arrow, from (0, 0) to (width, height)."""

    centres: tuple[Point, ...]
    routes: tuple[tuple[Point, ...], ...]
    width: float
    height: float


@dataclass(slots=True)
class _Rows:
    """Slots row by row: slot i < n is node i, the others let a line pass. `down` / `up` are the slots' neighbours."""

    width: list[float]
    row: list[int]
    order: list[list[int]] = field(default_factory=list)
    down: list[list[int]] = field(default_factory=list)
    up: list[list[int]] = field(default_factory=list)


def layered(sizes: Sequence[Point], arrows: Sequence[Arrow], below: Sequence[Arrow] = ()) -> Layered:
    """Place nodes of these sizes and route these arrows, none from a node to itself.

    `below` are further pairs (upper, lower) that only say which node comes lower.
    """
    if not sizes:
        return Layered((), (), 0.0, 0.0)
    forward = [(min(a), max(a)) for a in arrows]
    rows, chains = _make_rows(sizes, forward, [(min(a), max(a)) for a in below if a[0] != a[1]])
    _sort(rows)
    x = _straighten(rows, chains)
    ports = _ports(rows, chains, x)
    tops, heights, bends = _heights(rows, sizes, chains, ports)
    centres = tuple((x[i], tops[rows.row[i]] + heights[rows.row[i]] / 2) for i in range(len(sizes)))
    routes = []
    for k, chain in enumerate(chains):
        route = _route(rows, sizes, chain, ports[k], bends[k], (tops, heights))
        routes.append(tuple(route if arrows[k] == forward[k] else reversed(route)))
    width = max(x[i] + rows.width[i] / 2 for i in range(len(x)))
    return Layered(centres, tuple(routes), width, tops[-1] + heights[-1])


# ------------------------------------------------------------------------------------------------ rows and order


def _make_rows(
    sizes: Sequence[Point], forward: Sequence[Arrow], below: Sequence[Arrow]
) -> tuple[_Rows, list[list[int]]]:
    """Rows by longest path, and each arrow's chain of slots from its upper to its lower node."""
    n = len(sizes)
    row = _longest_paths(n, [*forward, *below])
    rows = _Rows([w for w, _ in sizes], row)
    rows.down, rows.up = [[] for _ in range(n)], [[] for _ in range(n)]
    chains = []
    for a, b in forward:
        chain = [a]
        for level in range(row[a] + 1, row[b]):
            chain.append(len(rows.row))
            rows.row.append(level)
            rows.width.append(SLOT)
            rows.down.append([])
            rows.up.append([])
        chain.append(b)
        for upper, lower in pairwise(chain):
            rows.down[upper].append(lower)
            rows.up[lower].append(upper)
        chains.append(chain)
    rows.order = [[] for _ in range(max(rows.row) + 1)]
    for slot, level in enumerate(rows.row):
        rows.order[level].append(slot)
    return rows, chains


def _longest_paths(n: int, forward: Sequence[Arrow]) -> list[int]:
    """Row of each node: below all that feed it, and no higher than just above the first that it feeds."""
    before: list[list[int]] = [[] for _ in range(n)]
    after: list[list[int]] = [[] for _ in range(n)]
    for a, b in forward:
        before[b].append(a)
        after[a].append(b)
    row = [0] * n
    for i in range(n):
        row[i] = max((row[a] + 1 for a in before[i]), default=0)
    for i in reversed(range(n)):
        if after[i] and not before[i]:
            row[i] = min(row[b] for b in after[i]) - 1
    return [r - min(row) for r in row]


def _sort(rows: _Rows) -> None:
    """Order the slots of every row by the mean place of their neighbours, down and up in turn; keep the best."""
    best, least = [list(r) for r in rows.order], _crossings(rows)
    for sweep in range(SWEEPS):
        downward = sweep % 2 == 0
        levels = rows.order[1:] if downward else rows.order[-2::-1]
        place = {slot: k for row in rows.order for k, slot in enumerate(row)}
        for level in levels:
            near = rows.up if downward else rows.down
            want = {s: float(np.mean([place[t] for t in near[s]])) if near[s] else float(place[s]) for s in level}
            level.sort(key=lambda s: want[s])
            place.update((slot, k) for k, slot in enumerate(level))
        now = _crossings(rows)
        if now < least:
            best, least = [list(r) for r in rows.order], now
    rows.order = best


def _crossings(rows: _Rows) -> int:
    """Pairs of lines between neighbouring rows that cross."""
    total = 0
    for upper, lower in pairwise(rows.order):
        place = {slot: k for k, slot in enumerate(lower)}
        ends = [place[t] for s in upper for t in sorted(rows.down[s], key=place.__getitem__)]
        total += sum(1 for i, a in enumerate(ends) for b in ends[i + 1 :] if b < a)
    return total


# ------------------------------------------------------------------------------------------------ places


def _straighten(rows: _Rows, chains: list[list[int]]) -> list[float]:
    """x of every slot: as near to its neighbours as the order and the widths allow."""
    x = [0.0] * len(rows.row)
    for level in rows.order:
        for slot, place in zip(level, _spread(rows, level, [0.0] * len(level)), strict=True):
            x[slot] = place
    for sweep in range(2 * SWEEPS):
        levels = rows.order if sweep % 2 == 0 else rows.order[::-1]
        for level in levels:
            want = [_wish(rows, slot, x, sweep) for slot in level]
            for slot, place in zip(level, _spread(rows, level, want), strict=True):
                x[slot] = place
    for _ in range(4):
        _align(rows, chains, x)
    left = min(x[s] - rows.width[s] / 2 for s in range(len(x)))
    return [place - left for place in x]


def _wish(rows: _Rows, slot: int, x: list[float], sweep: int) -> float:
    """Where a slot would like to be: the median of the neighbours on the side the sweep comes from, or of both."""
    above, below = [x[t] for t in rows.up[slot]], [x[t] for t in rows.down[slot]]
    near = (above or below) if sweep % 2 == 0 else (below or above)
    if sweep >= 2 * SWEEPS - 4:
        near = above + below
    return float(np.median(near)) if near else x[slot]


def _apart(rows: _Rows, left: int, right: int) -> float:
    """Least distance between the centres of two neighbouring slots; lines may run closer than nodes."""
    gap = ACROSS if rows.width[left] > SLOT and rows.width[right] > SLOT else BESIDE
    return (rows.width[left] + rows.width[right]) / 2 + gap


def _align(rows: _Rows, chains: list[list[int]], x: list[float]) -> None:
    """Give all slots of a long line one x where the slots beside it leave room for that."""
    beside: dict[int, tuple[int | None, int | None]] = {}
    for level in rows.order:
        for k, slot in enumerate(level):
            beside[slot] = (level[k - 1] if k else None, level[k + 1] if k + 1 < len(level) else None)
    for chain in chains:
        inner = chain[1:-1]
        if not inner:
            continue
        low = max((x[a] + _apart(rows, a, s) for s in inner if (a := beside[s][0]) is not None), default=-np.inf)
        high = min((x[b] - _apart(rows, s, b) for s in inner if (b := beside[s][1]) is not None), default=np.inf)
        if low <= high:
            place = float(np.clip(np.median([x[chain[0]], *(x[s] for s in inner), x[chain[-1]]]), low, high))
            for slot in inner:
                x[slot] = place


def _spread(rows: _Rows, level: list[int], want: list[float]) -> list[float]:
    """The places nearest to `want` (least squares) that keep the order and the gaps: pool adjacent violators."""
    offsets, at = [], 0.0
    for k, slot in enumerate(level):
        if k:
            at += _apart(rows, level[k - 1], slot)
        offsets.append(at)
    pools: list[list[float]] = []  # [sum, weight, members]
    for k, slot in enumerate(level):
        weight = 1.0 if rows.width[slot] > SLOT else 4.0  # passing lines are kept straightest
        pools.append([(want[k] - offsets[k]) * weight, weight, 1])
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] > pools[-1][0] / pools[-1][1]:
            total, weight, members = pools.pop()
            pools[-1] = [pools[-1][0] + total, pools[-1][1] + weight, pools[-1][2] + members]
    places = [total / weight for total, weight, members in pools for _ in range(int(members))]
    return [place + offset for place, offset in zip(places, offsets, strict=True)]


# ------------------------------------------------------------------------------------------------ lines


def _ports(rows: _Rows, chains: list[list[int]], x: list[float]) -> list[list[float]]:
    """x at which every line leaves, passes and enters its slots; lines at one node are spread over its width."""
    ports = [[x[slot] for slot in chain] for chain in chains]
    for end in (0, -1):
        at: dict[int, list[int]] = {}
        for k, chain in enumerate(chains):
            at.setdefault(chain[end], []).append(k)
        for slot, lines in at.items():
            lines.sort(key=lambda k: x[chains[k][1 if end == 0 else -2]])
            step = min(18.0, rows.width[slot] * 0.7 / len(lines))
            for j, k in enumerate(lines):
                ports[k][end] = x[slot] + (j - (len(lines) - 1) / 2) * step
    for line in ports:  # a step that nobody would see is none
        for j in range(1, len(line)):
            if abs(line[j] - line[j - 1]) <= UNSEEN:
                line[j] = line[j - 1]
    return ports


def _heights(
    rows: _Rows, sizes: Sequence[Point], chains: list[list[int]], ports: list[list[float]]
) -> tuple[list[float], list[float], list[list[float]]]:
    """Top and height of every row, and for each line the y offset below each row at which it turns."""
    n = len(sizes)
    heights = [max((sizes[s][1] for s in level if s < n), default=0.0) for level in rows.order]
    turns: list[list[tuple[float, float, int, int]]] = [[] for _ in rows.order]
    for k, chain in enumerate(chains):
        for j in range(len(chain) - 1):
            a, b = ports[k][j], ports[k][j + 1]
            if a != b:
                turns[rows.row[chain[j]]].append((min(a, b), max(a, b), k, j))
    bends = [[0.0] * (len(chain) - 1) for chain in chains]
    gaps = []
    for found in turns:
        tracks = _tracks(found, ports)
        for (_, _, k, j), track in zip(found, tracks, strict=True):
            bends[k][j] = CLEAR / 2 + track * TRACK
        gaps.append(CLEAR + 10.0 + max(tracks, default=0) * TRACK)
    tops = [0.0]
    for height, gap in zip(heights, gaps, strict=False):
        tops.append(tops[-1] + height + gap)
    return tops[: len(heights)], heights, bends


def _tracks(turns: list[tuple[float, float, int, int]], ports: list[list[float]]) -> list[int]:
    """A track for every horizontal stretch so that none lies on another: rightward ones turn early when far right."""
    ends: list[list[tuple[float, float]]] = []
    tracks = [0] * len(turns)
    slant = [ports[k][j + 1] - ports[k][j] for _, _, k, j in turns]
    order = sorted(range(len(turns)), key=lambda i: (slant[i] > 0, -turns[i][0] if slant[i] > 0 else turns[i][1]))
    for i in order:
        low, high = turns[i][:2]
        track = next((t for t, used in enumerate(ends) if all(high + 6 < a or b + 6 < low for a, b in used)), len(ends))
        if track == len(ends):
            ends.append([])
        ends[track].append((low, high))
        tracks[i] = track
    return tracks


def _route(
    rows: _Rows, sizes: Sequence[Point], chain: list[int], ports: list[float], bends: list[float],
    levels: tuple[list[float], list[float]],
) -> list[Point]:  # fmt: skip
    """Waypoints from the lower side of the first node to the upper side of the last one."""
    tops, heights = levels
    first, last = rows.row[chain[0]], rows.row[chain[-1]]
    y = tops[first] + (heights[first] + sizes[chain[0]][1]) / 2
    route = [(ports[0], y)]
    for j, bend in enumerate(bends):
        a, b = ports[j], ports[j + 1]
        if a != b:
            level = tops[first + j] + heights[first + j] + bend
            route += [(a, level), (b, level)]
    route.append((ports[-1], tops[last] + (heights[last] - sizes[chain[-1]][1]) / 2))
    return route
