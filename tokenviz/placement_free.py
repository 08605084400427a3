"""Free positions: a placement on the grid, pulled tighter where the grid itself was in the way.

A node may go wherever its label keeps clear of the others. Coordinates are whole steps of 1/2048 unit, so
that sums and differences of them are exact and "clear by one label" never hangs on rounding.
"""

import numpy as np

from tokenviz.placement_polish import descend
from tokenviz.placement_sites import Array, lengths

STEP = 2048
ROUNDS, PASSES = 2, 4
"""Rounds of moving and changing places; passes over all nodes in each, fewer when one moves nothing."""

NEIGHBOURS = 5
"""Candidates are built from a node's heaviest neighbours and as many nearest nodes."""


def free_positions(flow: Array, points: Array, clearance: tuple[float, float], metric: str) -> Array:
    """Positions [n, 2] with W no higher than at `points`: nodes move, change places, then move again."""
    points = on_steps(points)
    for _ in range(ROUNDS):
        for _ in range(PASSES):
            if not _pull_in(flow, points, clearance, metric):
                break
        gap = points[:, None, :] - points[None, :, :]
        site, _ = descend(flow, lengths(gap[:, :, 0], gap[:, :, 1], metric), np.arange(len(points)))
        points = points[site]
    return points


def on_steps(points: Array) -> Array:
    """The nearest coordinates that are whole steps."""
    return np.round(points * STEP) / STEP


def _pull_in(flow: Array, points: Array, clearance: tuple[float, float], metric: str) -> bool:
    """Moves each node, heaviest first, to its cheapest clear candidate; whether any moved. Changes `points`."""
    moved = False
    for node in np.argsort(-flow.sum(axis=1), kind="stable").tolist():
        near = np.flatnonzero(flow[node])
        if not len(near):
            continue
        tries = on_steps(_candidates(flow[node], points, node, clearance))
        gap = np.abs(tries[:, None, :] - np.delete(points, node, axis=0)[None, :, :])
        clear = ((gap[:, :, 0] >= clearance[0]) | (gap[:, :, 1] >= clearance[1])).all(axis=1)
        tries = np.vstack((points[node], tries[clear]))
        step = tries[:, None, :] - points[near][None, :, :]
        cost = (lengths(step[:, :, 0], step[:, :, 1], metric) * flow[node, near]).sum(axis=1)
        best = int(cost.argmin())
        if cost[best] < cost[0] * (1.0 - 1e-9):
            points[node] = tries[best]
            moved = True
    return moved


def _candidates(pull: Array, points: Array, node: int, clearance: tuple[float, float]) -> Array:
    """Places worth a try [k, 2]: touching or in line with nodes that matter, and on the way to their balance point."""
    away = np.abs(points - points[node]) / np.array(clearance)
    heavy = np.argsort(-pull, kind="stable")[:NEIGHBOURS]
    close = np.argsort(away.max(axis=1), kind="stable")[: NEIGHBOURS + 1]
    near = np.array([i for i in sorted({*heavy.tolist(), *close.tolist()}) if i != node], dtype=np.intp)
    across = np.unique((points[near, 0][:, None] + np.array([-1.0, -0.5, 0.0, 0.5, 1.0]) * clearance[0]).ravel())
    down = np.unique((points[near, 1][:, None] + np.array([-1.0, 0.0, 1.0]) * clearance[1]).ravel())
    lattice = np.array(np.meshgrid(across, down)).reshape(2, -1).T
    weight = pull / np.maximum(np.hypot(*(points - points[node]).T), 1.0)
    balance = weight @ points / weight.sum()
    slide = points[node] + np.linspace(0.1, 1.0, 10)[:, None] * (balance - points[node])
    level = np.column_stack((np.repeat(balance[0], len(down)), down))
    upright = np.column_stack((across, np.repeat(balance[1], len(across))))
    return np.vstack((lattice, slide, level, upright))
