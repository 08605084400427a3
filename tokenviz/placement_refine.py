"""Annealing: from a start on the grid to placements that keep heavy hand-offs short.

The cost is W = sum over pairs of flow x distance, a quadratic assignment problem. Several boards are annealed side by
side so that one numpy call serves all of them. `reach[i, s]` is what node i would pay on site s with all
others where they are; one row of it prices every exchange and relocation of node i at once, and an accepted
move updates only the rows of the moved nodes' neighbours. Letters here: r boards, n nodes, m sites; node n
stands for "nobody".
"""

from dataclasses import dataclass

import numpy as np

from tokenviz.placement_sites import Array, Index

FEWEST_BOARDS, MOST_BOARDS, BOARD_NODES = 12, 32, 960
"""Boards: 960 / n within these limits. On small graphs many short runs beat a few long ones."""

SWEEPS = 80
"""Visits per node and board."""

HOT, COLD = 1.0, 0.1
"""Temperature at the start and the end, in pitches times the flow that is being settled."""

SCHEDULE_POWER = 0.5
"""Time given to an arrow's scale grows with flow ** 0.5: heavy arrows decide W, and few nodes take part at
their scale."""

AWAKE = 0.2
"""A node is visited once its heaviest arrow over one pitch costs this share of the temperature; before, it
only drifts."""

SELECTIONS = 20
"""How often, until the last tenth of the schedule, the best board replaces the worst."""

REFRESH = 20
"""Sweeps between two full computations of `reach`. Rounding gathers meanwhile, some 1e-14 of the heaviest cost."""

NOISE_POOL = 1 << 16
"""Gumbel draws made once and read from random offsets: fresh ones would take most of the time."""


@dataclass(frozen=True, slots=True)
class Boards:
    """Who sits where on r boards. `site` [r, n + 1], `occupant` [r, m] and `reach` [r, n + 1, m] change in place.

    `flow` [n + 1, n + 1] is symmetric with a zero row for nobody, `distance` is [m, m]. Row i of `near` [n + 1, k]
    and `weight` [n + 1, k, 1] lists the neighbours of node i and their flows, filled up with nobody at no flow.
    """

    flow: Array
    distance: Array
    site: Index
    occupant: Index
    reach: Array
    near: Index
    weight: Array


def make_boards(flow: Array, distance: Array, start: Index, count: int) -> Boards:
    """`count` equal boards for a symmetric flow [n, n] with zero diagonal and a start site for every node."""
    n, m = len(flow), len(distance)
    padded = np.zeros((n + 1, n + 1))
    padded[:n, :n] = flow
    occupant = np.full(m, n, dtype=np.intp)
    occupant[start] = np.arange(n)
    near = np.full((n + 1, max(1, int((flow > 0).sum(axis=1).max(initial=0)))), n, dtype=np.intp)
    for node, row in enumerate(flow):
        linked = np.flatnonzero(row)
        near[node, : len(linked)] = linked
    boards = Boards(
        padded,
        distance,
        np.tile(np.append(start, 0), (count, 1)),
        np.tile(occupant, (count, 1)),
        np.zeros((count, n + 1, m)),
        near,
        np.take_along_axis(padded, near, axis=1)[:, :, None],
    )
    recompute(boards)
    return boards


def recompute(boards: Boards) -> None:
    """Fills `reach` afresh, so that rounding of incremental updates never builds up."""
    n = len(boards.flow) - 1
    for reach, site in zip(boards.reach, boards.site, strict=True):
        reach[:n] = weighted_rows(boards.flow[:n, :n], boards.distance[site[:n]])


def weighted_rows(flow: Array, rows: Array) -> Array:
    """The product flow [n, n] x rows [n, m] over the flows that are not zero, always summed in the same order.

    Not a matrix product: flows are sparse, and the threads of a BLAS stall on a busy machine and reorder sums.
    """
    result = np.zeros_like(rows)
    source, target = np.nonzero(flow)
    if len(source):
        fans, first = np.unique(source, return_index=True)
        result[fans] = np.add.reduceat(flow[source, target][:, None] * rows[target], first, axis=0)
    return result


def totals(boards: Boards) -> Array:
    """W of every board [r], from `reach` as it stands."""
    n = len(boards.flow) - 1
    own = np.take_along_axis(boards.reach[:, :n], boards.site[:, :n, None], axis=2)
    return 0.5 * np.asarray(own.sum(axis=(1, 2)))


def schedule(flow: Array, pitch: float) -> list[tuple[float, Index]]:
    """The temperature of every sweep and the nodes that it visits, heaviest scale first.

    Flows span nine decades: one geometric cooling would leave either the heavy arrows frozen or the light
    ones boiling. So progress walks down the sorted flows, and a factor from `HOT` to `COLD` cools each scale.
    """
    n = len(flow)
    weights = np.sort(flow[np.triu_indices(n, 1)])[::-1]
    weights = weights[weights > 0]
    if not len(weights):
        return []
    share = np.cumsum(weights**SCHEDULE_POWER) - weights[0] ** SCHEDULE_POWER
    strongest = flow.max(axis=1)

    def temperature(sweeps: int) -> Array:
        progress = np.linspace(0.0, 1.0, sweeps)
        scale = np.interp(progress * share[-1], share, np.log(weights))
        return np.asarray(np.exp(scale) * HOT * (COLD / HOT) ** progress)

    awake = np.mean([(strongest >= AWAKE * t).sum() for t in temperature(SWEEPS)])
    sweeps = int(n * SWEEPS / max(float(awake), 1.0))
    return [(float(t) * pitch, np.flatnonzero(strongest >= AWAKE * t)) for t in temperature(sweeps)]


def anneal(flow: Array, distance: Array, start: Index, pitch: float, rng: np.random.Generator) -> Index:
    """Sites [r, n] after annealing every board from `start`, the best board replacing the worst now and then."""
    count = min(MOST_BOARDS, max(FEWEST_BOARDS, BOARD_NODES // len(flow)))
    boards = make_boards(flow, distance, start, count)
    pool = rng.gumbel(size=NOISE_POOL)
    plan = schedule(flow, pitch)
    every = max(1, int(0.9 * len(plan)) // SELECTIONS)
    for done, (temperature, awake) in enumerate(plan, start=1):
        order = rng.permutation(awake).tolist()
        offsets = rng.integers(0, NOISE_POOL - count * len(distance), len(order)).tolist()
        sweep(boards, temperature, pool, order, offsets)
        if done % REFRESH == 0:
            recompute(boards)
        if done % every == 0 and done <= 0.9 * len(plan):
            _select(boards)
    return boards.site[:, : len(flow)]


def sweep(boards: Boards, temperature: float, noise: Array, order: list[int], offsets: list[int]) -> None:
    """Lets each node of `order` draw a site on every board, with probability ~ exp(-change of W / temperature).

    The draw is exact over all m sites at once: the least of (change + Gumbel noise x temperature) follows
    that law. An exchange with the neighbour j is charged flow x distance twice too little by `reach`, where
    each finds the other already gone from where it arrives; hence the term 2 f d.
    """
    flow, reach, site, occupant = boards.flow, boards.reach, boards.site, boards.occupant
    count, nodes, m = reach.shape
    board = np.arange(count)
    seat = board[:, None] * (nodes * m) + np.arange(nodes)[None, :] * m
    row_start = board[:, None] * nodes
    twice, flat = 2.0 * boards.distance, reach.reshape(-1)
    for node, offset in zip(order, offsets, strict=True):
        here = site[:, node]
        leave = reach[board, :, here] - flat.take(seat + site)
        draw = leave.reshape(-1).take(occupant + row_start)
        draw += flow[node].take(occupant) * twice[here]
        draw += reach[:, node]
        draw -= temperature * noise[offset : offset + count * m].reshape(count, m)
        target = draw.argmin(axis=1)
        moved = np.flatnonzero(target != here)
        if len(moved):
            move(boards, moved, node, target[moved])


def move(boards: Boards, which: Index, node: int, target: Index) -> None:
    """Puts a node on site `target[k]` of board `which[k]`; whoever sits there takes its old one."""
    site, occupant = boards.site, boards.occupant
    count, nodes, m = boards.reach.shape
    rows = boards.reach.reshape(count * nodes, m)
    source, other = site[which, node], occupant[which, target]
    change = (boards.distance[target] - boards.distance[source])[:, None, :]
    first = which[:, None] * nodes
    rows[first + boards.near[node]] += boards.weight[node] * change
    rows[first + boards.near[other]] -= boards.weight[other] * change
    site[which, node], site[which, other] = target, source
    occupant[which, target], occupant[which, source] = node, other


def _select(boards: Boards) -> None:
    """The best board replaces the worst."""
    worth = totals(boards)
    best, worst = int(worth.argmin()), int(worth.argmax())
    for part in (boards.site, boards.occupant, boards.reach):
        part[worst] = part[best]
