"""What plain graph layouts give on the same sites: the yardstick for the placement.

networkx supplies the spring and circular layouts. Its Kamada-Kawai layout needs SciPy, and its spectral
layout does for large graphs, so these two are computed here: the same spring energy, sum of (distance / hops
- 1)², lowered by stress majorisation from the circular layout, and the same Laplacian eigenvectors from the
symmetric solver.
"""

import networkx as nx
import numpy as np

from tokenviz.placement_sites import Array, Index, Sites, snap
from tokenviz.placement_start import START_POWER

MAJORISATIONS = 150
"""Enough for the energy to change by less than a drawing shows."""


def snapped_layouts(flow: Array, sites: Sites, seed: int) -> dict[str, list[Index]]:
    """For each plain layout of a symmetric flow [n, n], its sites [n] by optimal assignment, in a few fits.

    A layout has no scale and no preferred axis, so each is fitted upright and turned by 90 degrees, over the
    whole grid and over the part that n nodes need; the caller keeps the best.
    """
    n = len(flow)
    plain = nx.from_numpy_array((flow > 0).astype(float))
    weak = flow**START_POWER / max(float(flow.max()) ** START_POWER, 1.0)
    circle = _points(nx.circular_layout(plain), n)
    layouts = {
        "spring": _points(nx.spring_layout(plain, seed=seed), n),
        "spring_weighted": _points(nx.spring_layout(nx.from_numpy_array(weak), seed=seed), n),
        "kamada_kawai": kamada_kawai(plain, circle),
        "spectral": spectral((flow > 0).astype(float)),
        "spectral_weighted": spectral(weak),
        "circular": circle,
    }
    tight = float(np.sqrt(n / len(sites.points)))
    return {
        name: [snap(turned, sites, fill) for turned in (points, points[:, ::-1]) for fill in (1.0, tight)]
        for name, points in layouts.items()
    }


def kamada_kawai(graph: nx.Graph, start: Array) -> Array:
    """Points [n, 2] whose distances come close to hop counts, near pairs counting most (weight 1 / hops²).

    Pairs without a path are taken one hop further apart than any pair with one.
    """
    n = len(start)
    hops = np.zeros((n, n))
    for node, reached in nx.all_pairs_shortest_path_length(graph):
        hops[node, list(reached)] = list(reached.values())
    hops[hops == 0.0] = hops.max() + 1.0
    weight = 1.0 / hops**2
    np.fill_diagonal(weight, 0.0)
    inverse = np.linalg.inv(np.diag(weight.sum(axis=1)) - weight + 1.0 / n)
    points = start * hops.max() / 2
    for _ in range(MAJORISATIONS):
        gap = points[:, None, :] - points[None, :, :]
        ratio = weight * hops / np.maximum(np.hypot(gap[:, :, 0], gap[:, :, 1]), 1e-9)
        points = inverse @ (np.diag(ratio.sum(axis=1)) - ratio) @ points
    return np.asarray(points)


def spectral(link: Array) -> Array:
    """Points [n, 2] from the Laplacian's eigenvectors with the second and third smallest eigenvalue."""
    n = len(link)
    if n < 3:
        return np.column_stack((np.arange(n), np.zeros(n)))
    _, vectors = np.linalg.eigh(np.diag(link.sum(axis=1)) - link)
    return np.asarray(vectors[:, 1:3])


def _points(layout: dict[int, Array], n: int) -> Array:
    """A layout's positions as one array [n, 2]."""
    return np.array([layout[i] for i in range(n)], dtype=float)
