"""Where labels may sit: a grid whose cells are one label wide and high, and the snapping of free points onto it.

A *site* is one position of the grid. There are more sites than nodes, so that a node can move to an empty one
as well as change places with another. Lengths are canvas units, y grows downward.
"""

from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.intp]

ASPECT = 4 / 3
"""Width to height that the whole grid of sites aims at, so that the drawing fits a page."""

SITES_PER_NODE = 1.5
"""Half as many sites again as nodes: room to relocate, and still a compact drawing."""

FEWEST_SITES = 12
"""Even a few nodes may line up."""


@dataclass(frozen=True, slots=True)
class Sites:
    """A grid of m sites centred on the origin, row by row from the top left.

    `points` is [m, 2]; `distance` is [m, m], computed from whole steps so that equal offsets are exactly
    equal.
    """

    columns: int
    rows: int
    pitch: tuple[float, float]
    points: Array
    distance: Array


def make_sites(nodes: int, pitch: tuple[float, float], metric: str) -> Sites:
    """The grid for this many nodes, close to 4:3: at least 1.5 sites a node, 12 in all, two columns and two rows."""
    wanted = max(FEWEST_SITES, ceil(SITES_PER_NODE * nodes))
    columns = max(2, round(sqrt(wanted * ASPECT * pitch[1] / pitch[0])))
    rows = max(2, ceil(wanted / columns))
    row, column = np.divmod(np.arange(rows * columns), columns)
    points = np.column_stack(((column - (columns - 1) / 2) * pitch[0], (row - (rows - 1) / 2) * pitch[1]))
    across = np.abs(column[:, None] - column[None, :]) * pitch[0]
    down = np.abs(row[:, None] - row[None, :]) * pitch[1]
    return Sites(columns, rows, pitch, points, lengths(across, down, metric))


def lengths(across: Array, down: Array, metric: str) -> Array:
    """Length of every (across, down) step, straight (`euclidean`) or along the axes (`manhattan`)."""
    return np.hypot(across, down) if metric == "euclidean" else np.abs(across) + np.abs(down)


def assign(cost: Array) -> Index:
    """The column of every row in the cheapest one-to-one assignment; `cost` is [n, m] with n <= m.

    The Hungarian method with potentials, one shortest augmenting path a row: at most n²·m steps.
    """
    n, m = cost.shape
    row_price, column_price = np.zeros(n), np.zeros(m)
    row_of = np.full(m, -1, dtype=np.intp)
    for start in range(n):
        _augment(cost, row_price, column_price, row_of, start)
    taken = np.flatnonzero(row_of >= 0)
    column_of = np.empty(n, dtype=np.intp)
    column_of[row_of[taken]] = taken
    return column_of


def _augment(cost: Array, row_price: Array, column_price: Array, row_of: Index, start: int) -> None:
    """Adds one row to the assignment along the shortest path to a free column; prices stay feasible (Dijkstra)."""
    m = len(column_price)
    best, parent = np.full(m, np.inf), np.full(m, -1, dtype=np.intp)
    open_best = np.full(m, np.inf)
    row, column, reached = start, -1, 0.0
    closed: list[int] = []
    while True:
        through = cost[row] - column_price + (reached - row_price[row])
        better = through < best
        better[closed] = False
        best[better] = through[better]
        open_best[better] = through[better]
        parent[better] = column
        column = int(open_best.argmin())
        reached = float(best[column])
        open_best[column] = np.inf
        if row_of[column] < 0:
            break
        closed.append(column)
        row = int(row_of[column])
    row_price[start] += reached
    row_price[row_of[closed]] += reached - best[closed]
    column_price[closed] -= reached - best[closed]
    while column >= 0:
        before = int(parent[column])
        row_of[column] = start if before < 0 else row_of[before]
        column = before


def snap(points: Array, sites: Sites, fill: float = 1.0) -> Index:
    """The site of every point [n, 2] after the cloud is stretched over a share `fill` of the grid's width and height.

    Sites are shared out so that the summed squared displacement is least.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    extent = np.array([(sites.columns - 1) * sites.pitch[0], (sites.rows - 1) * sites.pitch[1]]) * fill
    span = np.where(high > low, high - low, 1.0)
    stretched = (points - (low + high) / 2) / span * extent
    gap = stretched[:, None, :] - sites.points[None, :, :]
    return assign((gap * gap).sum(axis=2))
