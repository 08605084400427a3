"""The last steps on one board: steepest descent to where no exchange helps, then the tidiest of equally cheap
drawings."""

from dataclasses import dataclass

import numpy as np

from tokenviz.placement_refine import Boards, make_boards, move, recompute, totals, weighted_rows
from tokenviz.placement_sites import ASPECT, Array, Index, Sites
from tokenviz.placement_start import START_POWER

ROUNDING = 1e-12
"""A change below this share of the terms it is a difference of counts as none (float64 keeps 1e-16 of a term)."""

COMPACT = 0.01
"""Weight of a node's squared distance from the centre against arrows that point up, both in rows."""


FIRST = np.array([0])
"""Here there is only one board."""


@dataclass(frozen=True, slots=True)
class Taste:
    """What makes one of two equally cheap placements look better. `arrow` [n + 1, n + 1] source by target, weakened.

    `climb[s, t]` [m, m] is how many rows an arrow from site s to site t climbs; `far` [m] how far a site is
    out.
    """

    arrow: Array
    climb: Array
    far: Array


def make_taste(flow: Array, sites: Sites) -> Taste:
    """Arrows should point down and the drawing should be compact at 4:3. `flow` is [n, n], source by target."""
    arrow = np.zeros((len(flow) + 1, len(flow) + 1))
    arrow[:-1, :-1] = (flow / max(float(flow.max(initial=0.0)), 1.0)) ** START_POWER
    x, y = sites.points.T / sites.pitch[1]
    return Taste(arrow, np.maximum(0.0, y[:, None] - y[None, :]), COMPACT * ((x / ASPECT) ** 2 + y**2))


def change_table(boards: Boards) -> tuple[Array, Array]:
    """The change of W [n, m] on board 0 if node i goes to site s and its occupant to i's; and the terms behind it.

    Relocation to an empty site is an exchange with nobody. The second array is the sum of what is paid before
    and after, the scale of the rounding.
    """
    n = len(boards.flow) - 1
    reach, site, occupant = boards.reach[0], boards.site[0], boards.occupant[0]
    table = _exchange(reach, boards.flow, 2.0 * boards.distance, site, occupant)
    own = reach[np.arange(n + 1), site]
    return table, table + 2.0 * (own[:n, None] + own[occupant][None, :])


def _exchange(reach: Array, flow: Array, between: Array, site: Index, occupant: Index) -> Array:
    """Change [n, m] of a pairwise cost when node i and the occupant of site s change places."""
    n = len(flow) - 1
    here = site[:n]
    leave = reach - reach[np.arange(n + 1), site][:, None]
    table = leave[:n] + leave[:, here].T[:, occupant] + flow[:n][:, occupant] * between[here]
    table[np.arange(n), here] = 0.0
    return table


def descend(flow: Array, distance: Array, site: Index) -> tuple[Index, float]:
    """Takes the best exchange or relocation of all n·m until none lowers W; the sites [n] and W. A pass is n·m."""
    boards = make_boards(flow, distance, site, 1)
    n = len(flow)
    while True:
        table, terms = change_table(boards)
        table[table > -ROUNDING * terms] = 0.0
        node, target = divmod(int(table.argmin()), table.shape[1])
        if table[node, target] >= 0.0:
            return np.array(boards.site[0, :n]), float(totals(boards)[0])
        move(boards, FIRST, node, np.array([target]))
        recompute(boards)


def tidy(flow: Array, distance: Array, site: Index, taste: Taste) -> Index:
    """Exchanges and relocations that leave W as it is and turn arrows downward or draw the picture together."""
    boards = make_boards(flow, distance, site, 1)
    n = len(flow)
    both, arch = taste.arrow + taste.arrow.T, taste.climb + taste.climb.T
    for _ in range(n):
        table, terms = change_table(boards)
        now = boards.site[0]
        down = weighted_rows(taste.arrow, np.ascontiguousarray(taste.climb[:, now].T))
        reach = down + weighted_rows(taste.arrow.T, taste.climb[now]) + taste.far
        reach[n] = 0.0
        better = _exchange(reach, both, arch, now, boards.occupant[0])
        better[np.abs(table) > ROUNDING * terms] = 0.0
        node, target = divmod(int(better.argmin()), better.shape[1])
        if better[node, target] >= -1e-9:
            break
        move(boards, FIRST, node, np.array([target]))
        recompute(boards)
    return np.array(boards.site[0][:n])


def upright(flow: Array, site: Index, start: Index, sites: Sites) -> tuple[Index, Index]:
    """Mirrors placement and start alike so that flow points down and earlier nodes lie left; W does not change."""
    x, y = sites.points[site].T
    weak = flow**START_POWER
    row, column = np.divmod(np.arange(len(sites.points)), sites.columns)
    if float((weak * (y[None, :] - y[:, None])).sum()) < 0.0:
        row = sites.rows - 1 - row
    if float(((len(site) - 1) / 2 - np.arange(len(site))) @ x) > 0.0:
        column = sites.columns - 1 - column
    mirror = row * sites.columns + column
    return mirror[site], mirror[start]
