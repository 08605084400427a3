"""Where stages would sit: labels placed so that heavy hand-offs are short.

The cost is W = sum over pairs of (values handed over, both directions) x (centre-to-centre distance), in values x
canvas units. Springs and repulsion set the start, annealed exchanges and relocations refine it, and a lower
bound says how far W could at most still fall. A heuristic for a quadratic assignment problem, deterministic
for a seed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, fsum, hypot, isfinite

import numpy as np

from tokenviz.notation import GraphError, ScenarioError
from tokenviz.placement_baselines import snapped_layouts
from tokenviz.placement_bounds import free_bound, grid_bound
from tokenviz.placement_free import free_positions
from tokenviz.placement_polish import descend, make_taste, tidy, upright
from tokenviz.placement_refine import anneal
from tokenviz.placement_sites import Array, Index, Sites, make_sites, snap
from tokenviz.placement_start import canonical_order, springs

DISTANCES = ("euclidean", "manhattan")
SITES = ("grid", "free")
POLISHED = 3
"""How many of the annealed boards are carried to a local optimum."""

COSTLIEST = 10
"""How many arrows a placement lists with their part of W."""

STEP = 1024
"""Clearances are rounded up to 1/1024 unit, so that multiples of them are exact in float64."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementProblem:
    """What is to be placed. Sizes and gap are canvas units; a flow is (source, target, values), by index of the label.

    Flows between the same two nodes add up, in either direction; a flow from a node to itself costs nothing.
    """

    labels: tuple[str, ...]
    sizes: tuple[Point, ...]
    flows: tuple[tuple[int, int, int], ...]
    gap: float
    distance: str = "euclidean"
    sites: str = "grid"

    def __post_init__(self) -> None:
        _check(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class CostlyArrow:
    """One arrow's part of W: cost = values x distance."""

    source: int
    target: int
    values: int
    distance: float
    cost: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Centres of all labels before and after refinement, y downward, and what they cost.

    No two centres are closer than `clearance`: they differ by its width across or by its height down.
    """

    positions: tuple[Point, ...]
    start_positions: tuple[Point, ...]
    objective: float
    start_objective: float
    lower_bound: float
    clearance: Point
    costliest: tuple[CostlyArrow, ...]


def objective(positions: Sequence[Point], flows: Sequence[tuple[int, int, int]], distance: str = "euclidean") -> float:
    """W from scratch, in values x canvas units, correctly rounded over all arrows."""
    return fsum(values * _length(positions[a], positions[b], distance) for a, b, values in flows if a != b)


def place(problem: PlacementProblem, seed: int = 0) -> Placement:
    """Places the labels; same problem and seed, same placement, whatever order the nodes are listed in."""
    flow, order = _canonical_flow(problem)
    spot = clearance(problem)
    sites = make_sites(len(order), spot, problem.distance)
    if not order:
        return Placement(
            positions=(), start_positions=(), objective=0.0, start_objective=0.0, lower_bound=0.0, clearance=spot,
            costliest=(),
        )  # fmt: skip
    start, site = _on_grid(flow, sites, np.random.default_rng(seed))
    both, points = flow + flow.T, sites.points[site]
    if problem.sites == "free":
        points = free_positions(both, points, spot, problem.distance)
    bound = free_bound(both, spot) if problem.sites == "free" else grid_bound(both, sites)
    positions, begin = _in_problem_order(points, order), _in_problem_order(sites.points[start], order)
    return Placement(
        positions=positions,
        start_positions=begin,
        objective=objective(positions, problem.flows, problem.distance),
        start_objective=objective(begin, problem.flows, problem.distance),
        lower_bound=bound,
        clearance=spot,
        costliest=_costliest(problem, positions),
    )


def baselines(problem: PlacementProblem, seed: int = 0) -> dict[str, float]:
    """W of plain layouts snapped to the grid of `site_points` by optimal assignment, each in its best of four fits."""
    flow, order = _canonical_flow(problem)
    if len(order) < 2:
        return {}
    sites = make_sites(len(order), clearance(problem), problem.distance)
    worth = {}
    for name, fits in snapped_layouts(flow + flow.T, sites, seed).items():
        drawings = (_in_problem_order(sites.points[site], order) for site in fits)
        worth[name] = min(objective(drawing, problem.flows, problem.distance) for drawing in drawings)
    return worth


def clearance(problem: PlacementProblem) -> Point:
    """The largest label's width and height plus the gap: one site of the grid."""
    width = max((size[0] for size in problem.sizes), default=0.0) + problem.gap
    height = max((size[1] for size in problem.sizes), default=0.0) + problem.gap
    return ceil(width * STEP) / STEP, ceil(height * STEP) / STEP


def site_points(problem: PlacementProblem) -> tuple[Point, ...]:
    """Centres of all sites that a grid placement of this problem chooses from, row by row."""
    sites = make_sites(len(problem.labels), clearance(problem), problem.distance)
    return tuple((x, y) for x, y in sites.points.tolist())


def _on_grid(flow: Array, sites: Sites, rng: np.random.Generator) -> tuple[Index, Index]:
    """Start and refined sites [n]; W of the refined ones is never above that of the start."""
    both = flow + flow.T
    start = snap(springs(flow, sites.pitch, rng), sites)
    boards = anneal(both, sites.distance, start, min(sites.pitch), rng)
    cost = [float((both * sites.distance[np.ix_(board, board)]).sum()) for board in boards]
    likely = [boards[r] for r in np.argsort(cost, kind="stable")[:POLISHED]]
    ends = [descend(both, sites.distance, board) for board in (*likely, start)]
    site, _ = min(ends, key=lambda end: end[1])
    site, start = upright(flow, site, start, sites)
    return start, tidy(both, sites.distance, site, make_taste(flow, sites))


def _canonical_flow(problem: PlacementProblem) -> tuple[Array, list[int]]:
    """Flows [n, n], source by target, self-loops dropped, with nodes in an order that renaming does not change."""
    n = len(problem.labels)
    flow = np.zeros((n, n))
    for source, target, values in problem.flows:
        if source != target:
            flow[source, target] += values
    order = canonical_order(problem.labels, problem.sizes, flow)
    return flow[np.ix_(order, order)], order


def _in_problem_order(points: Array, order: list[int]) -> tuple[Point, ...]:
    """Points listed canonically, back in the order of the problem's labels."""
    placed = dict(zip(order, points.tolist(), strict=True))
    return tuple((placed[i][0], placed[i][1]) for i in range(len(order)))


def _costliest(problem: PlacementProblem, positions: Sequence[Point]) -> tuple[CostlyArrow, ...]:
    """The ten arrows with the largest part of W; equal ones in label order."""
    values: dict[tuple[int, int], int] = {}
    for source, target, count in problem.flows:
        if source != target:
            values[source, target] = values.get((source, target), 0) + count
    arrows = []
    for (source, target), count in values.items():
        far = _length(positions[source], positions[target], problem.distance)
        arrows.append(CostlyArrow(source=source, target=target, values=count, distance=far, cost=count * far))
    names = problem.labels
    arrows.sort(key=lambda arrow: (-arrow.cost, names[arrow.source], names[arrow.target]))
    return tuple(arrows[:COSTLIEST])


def _length(a: Point, b: Point, distance: str) -> float:
    """Centre-to-centre distance."""
    across, down = a[0] - b[0], a[1] - b[1]
    return hypot(across, down) if distance == "euclidean" else abs(across) + abs(down)


def _check(problem: PlacementProblem) -> None:
    """Refuses options that do not exist and problems that do not fit together."""
    for name, value, known in (("distance", problem.distance, DISTANCES), ("sites", problem.sites, SITES)):
        if value not in known:
            raise ScenarioError(f"{name} is {value!r}; choose one of {', '.join(known)}")
    n = len(problem.labels)
    if len(problem.sizes) != n:
        raise GraphError(f"placement has {n} labels but {len(problem.sizes)} sizes; give one size a label")
    extents = [length for size in problem.sizes for length in size]
    if not all(isfinite(length) and length > 0 for length in extents) or not 0 <= problem.gap < float("inf"):
        raise GraphError("label sizes must be positive and the gap at least zero, all finite")
    for flow in problem.flows:
        if not (0 <= flow[0] < n and 0 <= flow[1] < n) or flow[2] < 0:
            raise GraphError(f"flow {flow} must join two of the {n} nodes by index and carry 0 or more values")
