"""Where a placement starts: nodes in an order that does not depend on their names, then springs and repulsion."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tokenviz.placement_sites import Array

START_POWER = 0.25
"""Springs pull with flow ** 0.25: counts span nine decades, and raw ones would leave the light arrows limp."""

SPRING_STEPS = 80


def canonical_order(labels: Sequence[str], sizes: Sequence[tuple[float, float]], flow: Array) -> list[int]:
    """Node indices in an order fixed by structure: size and directed flows first, the label only between equals.

    Colours start from the label size and are refined by the coloured flows in and out until nothing splits.
    While two nodes share a colour the first by label gets one of its own, and refinement goes on; so nodes
    that the structure cannot tell apart come in label order and all that hangs on them follows. `flow` is [n,
    n], source by target.
    """
    n = len(labels)
    arrows = [
        [(int(j), flow[i, j], flow[j, i]) for j in np.flatnonzero((flow[i] != 0) | (flow[:, i] != 0))] for i in range(n)
    ]
    colour = _refine(_ranks([tuple(size) for size in sizes]), arrows)
    while len(set(colour)) < n:
        shared = min(c for c in colour if colour.count(c) > 1)
        first = min((labels[i], i) for i in range(n) if colour[i] == shared)[1]
        colour = _refine(_ranks([(c, i != first) for i, c in enumerate(colour)]), arrows)
    return sorted(range(n), key=colour.__getitem__)


def _refine(colour: list[int], arrows: list[list[tuple[int, float, float]]]) -> list[int]:
    """Splits colours by the flows to and from each colour until a round splits nothing."""
    while True:
        keys = [(c, sorted((colour[j], out, back) for j, out, back in arrows[i])) for i, c in enumerate(colour)]
        finer = _ranks(keys)
        if len(set(finer)) == len(set(colour)):
            return finer
        colour = finer


def _ranks(keys: Sequence[Any]) -> list[int]:
    """The rank of each key among the distinct sorted keys."""
    order = sorted(range(len(keys)), key=keys.__getitem__)
    rank, ranks = -1, [0] * len(keys)
    for place, node in enumerate(order):
        if place == 0 or keys[node] != keys[order[place - 1]]:
            rank += 1
        ranks[node] = rank
    return ranks


def springs(flow: Array, cell: tuple[float, float], rng: np.random.Generator) -> Array:
    """Points [n, 2] where weighted springs and repulsion settle, in units of one label's area.

    Heights begin at the potential whose steps along the arrows are closest to one, so that flow tends
    downward; the rest is Fruchterman and Reingold's balance (attraction d², repulsion 1/d) under a falling
    step length.
    """
    n = len(flow)
    directed = flow**START_POWER
    pull = directed + directed.T
    pull /= max(float(pull.max(initial=0.0)), 1.0)
    unit = np.sqrt(np.array(cell) / np.sqrt(cell[0] * cell[1]))
    points = np.column_stack((rng.normal(0.0, np.sqrt(n) / 4, n), _potential(flow))) * unit
    for step in range(SPRING_STEPS):
        gap = points[:, None, :] - points[None, :, :]
        length = np.maximum(np.sqrt((gap * gap).sum(axis=2)), 0.05)
        force = (gap * (1.0 / length**2 - pull * length)[:, :, None]).sum(axis=1)
        size = np.maximum(np.sqrt((force * force).sum(axis=1)), 1e-9)
        limit = np.sqrt(n) * 0.1 * (1.0 - step / SPRING_STEPS)
        points = points + force * (np.minimum(size, limit) / size)[:, None]
    return np.asarray(points)


def _potential(flow: Array) -> Array:
    """Heights [n] with y[target] - y[source] as close to 1 as least squares can make it over all arrows.

    The normal equations are a graph Laplacian; conjugate gradients solve them in at most n steps.
    """
    arrow = (flow > 0).astype(float)
    link = arrow + arrow.T
    laplacian = np.diag(link.sum(axis=1)) - link
    height, rest = np.zeros(len(flow)), arrow.sum(axis=0) - arrow.sum(axis=1)
    along, left = rest, float((rest * rest).sum())
    for _ in range(len(flow)):
        if left < 1e-12:
            break
        bent = (laplacian * along).sum(axis=1)
        step = left / float((along * bent).sum())
        height, rest = height + step * along, rest - step * bent
        before, left = left, float((rest * rest).sum())
        along = rest + left / before * along
    return height
