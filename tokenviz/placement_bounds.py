"""Numbers that no placement can beat: how far W could at most still fall."""

from math import floor, fsum, inf, pi

import numpy as np

from tokenviz.placement_sites import Array, Sites, assign

SAFETY = 1.0 - 1e-9
"""Bounds are sums of thousands of float64 terms; this margin is far above their rounding and far below any gap."""


def grid_bound(flow: Array, sites: Sites) -> float:
    """The best of the bounds below for a symmetric flow [n, n] on these sites."""
    if not flow.any():
        return 0.0
    return SAFETY * max(star_bound(flow, sites.distance), forest_bound(flow, sites.distance))


def star_bound(flow: Array, distance: Array) -> float:
    """Gilmore and Lawler's bound: each node's heaviest flows go to the sites nearest to it, whatever site it has.

    A node on site s pays at least its flows sorted downward times the distances from s sorted upward; the
    cheapest one-to-one choice of sites over all nodes, halved because every pair is seen from both ends,
    bounds W from below.
    """
    n = len(flow)
    most = int((flow > 0).sum(axis=1).max())
    heaviest = -np.sort(-flow, axis=1)[:, :most]
    nearest = np.sort(distance, axis=1)[:, 1 : most + 1]
    cost = heaviest @ nearest.T
    scale = float(cost.max())
    chosen = assign(cost / scale)
    return 0.5 * fsum(cost[np.arange(n), chosen].tolist())


def forest_bound(flow: Array, distance: Array) -> float:
    """The shortest steps of an oblong grid form columns (or rows), which hold no cycle.

    So the pairs at the least distance carry at most the heaviest forest of the flow graph, and all others pay
    at least the second distance. On a square grid the shortest steps do close cycles, and the bound is not
    used.
    """
    steps = np.unique(distance.round(9))
    shortest = np.abs(distance - steps[1]) < 1e-6
    if len(steps) < 3 or int(shortest.sum(axis=1).max()) > 2:
        return 0.0
    forest = _heaviest_forest(flow)
    return float(steps[1]) * forest + float(steps[2]) * (0.5 * float(flow.sum()) - forest)


def _heaviest_forest(flow: Array) -> float:
    """Weight of the heaviest spanning forest (Kruskal)."""
    root = list(range(len(flow)))

    def find(node: int) -> int:
        while root[node] != node:
            node = root[node]
        return node

    weight = 0.0
    source, target = np.nonzero(np.triu(flow, 1))
    for edge in np.argsort(-flow[source, target], kind="stable"):
        a, b = find(int(source[edge])), find(int(target[edge]))
        if a != b:
            root[a] = b
            weight += float(flow[source[edge], target[edge]])
    return weight


def free_bound(flow: Array, clearance: tuple[float, float]) -> float:
    """The star bound where labels may sit anywhere: the k-th neighbour of a node is at least so far away."""
    n = len(flow)
    if n < 2:
        return 0.0
    nearest = np.array([_kth_nearest(k, *clearance) for k in range(1, n)])
    return SAFETY * 0.5 * fsum((-np.sort(-flow, axis=1)[:, : n - 1] @ nearest).tolist())


def _kth_nearest(k: int, width: float, height: float) -> float:
    """A distance within which k labels cannot all be, around another one, when no two are closer than the clearance.

    Found by bisection on the capacity of a disk, which is the least of three counts (see `_capacity`).
    """
    low, high = 0.0, (k + 1) * max(width, height)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if _capacity(middle, width, height) >= k else (middle, high)
    return max(low, min(width, height))


def _capacity(radius: float, width: float, height: float) -> float:
    """How many further labels can be within `radius` of a label's centre, counted generously.

    Area: the labels are disjoint boxes inside the disk widened by one box. Cells: no two centres share a
    box-sized cell. Columns: in a disk narrower than a box, labels can only be stacked above and below.
    """
    area = (pi * radius**2 + 2 * (width + height) * radius) / (width * height)
    cells = (floor(2 * radius / width) + 1) * (floor(2 * radius / height) + 1) - 1
    column = 2 * floor(radius / height) if 2 * radius < width else inf
    row = 2 * floor(radius / width) if 2 * radius < height else inf
    return float(min(area, cells, column, row))
