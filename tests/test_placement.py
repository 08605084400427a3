"""Placement: the cost, its changes, the bound and the invariances, against recomputation and brute force."""

import itertools
import math
import random

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tokenviz.notation import GraphError, ScenarioError
from tokenviz.placement import PlacementProblem, baselines, clearance, objective, place, site_points
from tokenviz.placement_baselines import kamada_kawai, snapped_layouts
from tokenviz.placement_bounds import forest_bound, grid_bound, star_bound
from tokenviz.placement_polish import change_table, descend
from tokenviz.placement_refine import make_boards, move, recompute, totals
from tokenviz.placement_sites import assign, make_sites
from tokenviz.placement_start import canonical_order

LABEL = (170.0, 44.0)
QUICK = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
MANY = settings(max_examples=60, deadline=None)


def problem(n: int, flows: list[tuple[int, int, int]], **options) -> PlacementProblem:
    given = {"labels": tuple(f"n{i}" for i in range(n)), "sizes": (LABEL,) * n, "gap": 30.0, **options}
    return PlacementProblem(flows=tuple(flows), **given)


@st.composite
def flow_lists(draw, low: int, high: int) -> tuple[int, list[tuple[int, int, int]]]:
    """A node count and up to three arrows a node, nine decades of values, loops and double arrows among them."""
    n = draw(st.integers(low, high))
    node = st.integers(0, n - 1)
    values = st.one_of(st.integers(0, 9), st.integers(1, 10**9))
    return n, draw(st.lists(st.tuples(node, node, values), min_size=1, max_size=3 * n))


def symmetric(n: int, flows: list[tuple[int, int, int]]) -> np.ndarray:
    flow = np.zeros((n, n))
    for a, b, values in flows:
        if a != b:
            flow[a, b] += values
            flow[b, a] += values
    return flow


def chain_with_branches(n: int, seed: int) -> PlacementProblem:
    """A spine with shortcuts, values from 1 to 1e9."""
    rng = random.Random(seed)
    flows = [(i, i + 1, round(10 ** rng.uniform(0, 9))) for i in range(n - 1)]
    flows += [(i, min(n - 1, i + rng.randrange(2, 7)), round(10 ** rng.uniform(0, 9))) for i in range(0, n, 4)]
    return problem(n, flows)


# --- the cost


def test_objective_by_hand():
    # 3-4-5 triangle: 10 x 5 there and 2 x 5 back, 7 x 4 down one leg, the loop costs nothing: 50 + 10 + 28.
    points = [(0.0, 0.0), (3.0, 4.0), (3.0, 0.0)]
    flows = [(0, 1, 10), (1, 0, 2), (1, 2, 7), (2, 2, 10**9)]
    assert objective(points, flows) == 88.0
    assert objective(points, flows, "manhattan") == 12 * 7.0 + 7 * 4.0


@MANY
@given(flow_lists(2, 9), st.randoms(use_true_random=False), st.sampled_from(["euclidean", "manhattan"]))
def test_every_change_in_the_table_is_the_recomputed_difference(case, rng, metric):
    # The table adds at most 2 n products of a flow < 3 n 1e9 and a distance < 1e4; each rounds to 1 in 2**53, so the
    # whole is good to 4 n ulps of the largest cost, well under 1e-13 of it.
    n, flows = case
    sites = make_sites(n, (200.0, 74.0), metric)
    site = np.array(rng.sample(range(len(sites.points)), n))
    boards = make_boards(symmetric(n, flows), sites.distance, site, 1)
    table, _ = change_table(boards)
    before = objective(sites.points[site].tolist(), flows, metric)
    for node in range(n):
        for target in range(len(sites.points)):
            after = site.copy()
            after[site == target] = site[node]
            after[node] = target
            difference = objective(sites.points[after].tolist(), flows, metric) - before
            largest = symmetric(n, flows).sum() * float(sites.distance.max())
            assert abs(table[node, target] - difference) <= 1e-13 * largest


@MANY
@given(flow_lists(2, 9), st.randoms(use_true_random=False))
def test_moves_keep_reach_and_occupancy(case, rng):
    n, flows = case
    sites = make_sites(n, (200.0, 74.0), "euclidean")
    start = np.array(rng.sample(range(len(sites.points)), n))
    boards = make_boards(symmetric(n, flows), sites.distance, start, 2)
    for _ in range(10):
        move(boards, np.array([1]), rng.randrange(n), np.array([rng.randrange(len(sites.points))]))
    carried = boards.reach.copy()
    recompute(boards)
    assert np.abs(carried - boards.reach).max() <= 1e-12 * max(1.0, float(boards.reach.max()))
    assert [int(boards.occupant[1, boards.site[1, i]]) for i in range(n)] == list(range(n))
    assert int((boards.occupant[1] < n).sum()) == n
    assert boards.site[0, :n].tolist() == start.tolist()
    exact = [objective(sites.points[boards.site[r, :n]].tolist(), flows) for r in (0, 1)]
    assert totals(boards).tolist() == pytest.approx(exact, rel=1e-13)


# --- invariances


@QUICK
@given(flow_lists(2, 10), st.randoms(use_true_random=False))
def test_listing_the_nodes_in_another_order_changes_nothing(case, rng):
    n, flows = case
    to = list(range(n))
    rng.shuffle(to)
    shuffled = [(to[a], to[b], values) for a, b, values in flows]
    rng.shuffle(shuffled)
    names = tuple(f"n{to.index(i)}" for i in range(n))
    one, other = place(problem(n, flows)), place(problem(n, shuffled, labels=names))
    assert [other.positions[to[i]] for i in range(n)] == list(one.positions)
    assert (one.objective, one.start_objective, one.lower_bound) == (
        other.objective,
        other.start_objective,
        other.lower_bound,
    )


@QUICK
@given(flow_lists(2, 10), st.randoms(use_true_random=False))
def test_renaming_the_nodes_changes_no_cost(case, rng):
    n, flows = case
    names = [f"x{i}" for i in range(n)]
    rng.shuffle(names)
    one, other = place(problem(n, flows)), place(problem(n, flows, labels=tuple(names)))
    assert (one.objective, one.start_objective, one.lower_bound) == (
        other.objective,
        other.start_objective,
        other.lower_bound,
    )


def test_equal_pairs_are_ordered_together():
    # Two equal arrows: whichever head is named first, its own tail follows, so both listings give the same matrix.
    def flow(pairs):
        matrix = np.zeros((4, 4))
        for a, b in pairs:
            matrix[a, b] = 5.0
        return matrix

    for labels in itertools.permutations("abcd"):
        arrows = flow([(0, 1), (2, 3)])
        order = canonical_order(labels, (LABEL,) * 4, arrows)
        assert arrows[np.ix_(order, order)].tolist() == arrows[np.ix_([0, 2, 1, 3], [0, 2, 1, 3])].tolist() or (
            arrows[np.ix_(order, order)].tolist() == arrows[np.ix_([1, 3, 0, 2], [1, 3, 0, 2])].tolist()
        )


@QUICK
@given(flow_lists(2, 10))
def test_self_loops_do_not_move_nodes(case):
    n, flows = case
    loops = [(i, i, 10**9 - i) for i in range(n)]
    assert place(problem(n, flows + loops)) == place(problem(n, [f for f in flows if f[0] != f[1]]))


@QUICK
@given(flow_lists(2, 10))
def test_opposite_directions_add(case):
    # Splitting every arrow's values over parallel arrows is the same problem; turning a part round costs the same W.
    n, flows = case
    split = [(a, b, part) for a, b, values in flows for part in (values // 3, values - values // 3)]
    whole = place(problem(n, flows))
    assert place(problem(n, split)).positions == whole.positions
    turned = [(b, a, v) if i % 2 else (a, b, v) for i, (a, b, v) in enumerate(split)]
    assert objective(whole.positions, turned) == pytest.approx(whole.objective, rel=1e-13)


def test_same_seed_same_placement_and_seeds_are_used():
    task = chain_with_branches(30, 1)
    assert place(task, seed=4) == place(task, seed=4)
    assert place(task, seed=4).start_positions != place(task, seed=5).start_positions


# --- what is promised of every placement


@QUICK
@given(flow_lists(2, 12), st.sampled_from(["euclidean", "manhattan"]), st.sampled_from(["grid", "free"]), st.data())
def test_bound_placement_start_and_clearance(case, metric, where, data):
    n, flows = case
    sizes = tuple(data.draw(st.tuples(st.floats(20, 170), st.floats(10, 44))) for _ in range(n))
    task = problem(n, flows, sizes=sizes, distance=metric, sites=where, gap=data.draw(st.floats(0, 40)))
    done = place(task)
    assert done.objective == objective(done.positions, flows, metric)
    assert done.start_objective == objective(done.start_positions, flows, metric)
    assert done.lower_bound <= done.objective <= done.start_objective * (1 + 1e-12)
    wide, high = done.clearance
    assert wide >= max(s[0] for s in sizes) + task.gap
    assert high >= max(s[1] for s in sizes) + task.gap
    for points in (done.positions, done.start_positions):
        for (ax, ay), (bx, by) in itertools.combinations(points, 2):
            assert abs(ax - bx) >= wide or abs(ay - by) >= high
    if where == "grid":
        assert set(done.positions) <= set(site_points(task))


def every_cost(flows, sites, n: int) -> np.ndarray:
    """W of every choice of n sites in turn, from the distance table."""
    every = np.array(list(itertools.permutations(range(len(sites.points)), n)))
    cost = np.zeros(len(every))
    for a, b, values in flows:
        cost += values * sites.distance[every[:, a], every[:, b]]
    return cost


@MANY
@given(flow_lists(2, 4), st.sampled_from(["euclidean", "manhattan"]), st.sampled_from([(200.0, 74.0), (50.0, 50.0)]))
def test_bounds_never_exceed_the_optimum(case, metric, cell):
    n, flows = case
    sites = make_sites(n, cell, metric)
    flow = symmetric(n, flows)
    least = float(every_cost(flows, sites, n).min())
    assert forest_bound(flow, sites.distance) <= least * (1 + 1e-12)
    assert grid_bound(flow, sites) <= least
    if flow.any():
        assert star_bound(flow, sites.distance) <= least * (1 + 1e-12)


@pytest.mark.parametrize(("seed", "n"), [(0, 4), (1, 5), (2, 5), (3, 5), (4, 6)])
def test_small_problems_are_solved_to_the_optimum(seed, n):
    # All 12!/(12 - n)! choices of sites are priced: 665,280 for six nodes.
    rng = random.Random(seed)
    flows = [
        (a, b, round(10 ** rng.uniform(0, 9))) for a in range(n) for b in range(n) if a != b and rng.random() < 0.4
    ]
    task = problem(n, flows, distance=("euclidean", "manhattan")[seed % 2])
    cost = every_cost(flows, make_sites(n, clearance(task), task.distance), n)
    assert place(task).objective == pytest.approx(float(cost.min()), rel=1e-12)


def test_free_positions_are_never_worse_than_the_grid_and_can_be_better():
    better = 0
    for seed in range(4):
        task = chain_with_branches(20, seed)
        tight, loose = place(task), place(problem(20, list(task.flows), sites="free"))
        assert loose.objective <= tight.objective
        better += loose.objective < tight.objective
        for (ax, ay), (bx, by) in itertools.combinations(loose.positions, 2):
            assert abs(ax - bx) >= loose.clearance[0] or abs(ay - by) >= loose.clearance[1]
    assert better > 0


def test_every_plain_layout_is_beaten_on_a_branching_chain():
    task = chain_with_branches(40, 3)
    plain = baselines(task)
    assert {"spring", "kamada_kawai", "spectral", "circular"} <= set(plain)
    assert place(task).objective < min(plain.values())


def test_a_chain_of_equal_flows_points_down():
    task = problem(4, [(0, 1, 9), (1, 2, 9), (2, 3, 9)])
    heights = [y for _, y in place(task).positions]
    assert heights == sorted(heights)
    assert place(task).objective == 3 * 9 * 74.0


def test_costliest_arrows_are_the_largest_terms():
    task = chain_with_branches(30, 2)
    done = place(task)
    values: dict[tuple[int, int], int] = {}
    for a, b, v in task.flows:
        values[a, b] = values.get((a, b), 0) + (v if a != b else 0)
    terms = sorted((v * math.dist(done.positions[a], done.positions[b]) for (a, b), v in values.items()), reverse=True)
    assert [arrow.cost for arrow in done.costliest] == pytest.approx(terms[:10], rel=1e-13)
    assert all(arrow.cost == arrow.values * arrow.distance for arrow in done.costliest)


def test_degenerate_problems():
    assert place(problem(0, [])).positions == ()
    assert baselines(problem(1, [])) == {}
    assert place(problem(1, [(0, 0, 5)])).objective == 0.0
    assert place(problem(3, [])).lower_bound == 0.0
    two = place(problem(2, [(0, 1, 3)]))
    assert two.objective == 3 * 74.0
    assert two.lower_bound == pytest.approx(3 * 74.0, rel=1e-8)
    assert set(baselines(problem(2, [(0, 1, 3)]))) == set(baselines(problem(5, [(0, 1, 3)])))


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"distance": "taxi"}, ScenarioError, "distance is 'taxi'; choose one of euclidean, manhattan"),
        ({"sites": "hexagons"}, ScenarioError, "sites is 'hexagons'; choose one of grid, free"),
        ({"sizes": (LABEL,)}, GraphError, "2 labels but 1 sizes"),
        ({"sizes": (LABEL, (0.0, 4.0))}, GraphError, "must be positive"),
        ({"gap": -1.0}, GraphError, "at least zero"),
        ({"flows": ((0, 2, 1),)}, GraphError, r"flow \(0, 2, 1\) must join two of the 2 nodes"),
        ({"flows": ((0, 1, -1),)}, GraphError, r"flow \(0, 1, -1\)"),
    ],
)
def test_errors_name_what_is_wrong(changes, error, words):
    options = {"labels": ("a", "b"), "sizes": (LABEL, LABEL), "flows": ((0, 1, 1),), "gap": 1.0, **changes}
    with pytest.raises(error, match=words):
        PlacementProblem(**options)


# --- the parts


@MANY
@given(st.integers(1, 5), st.integers(0, 2), st.data())
def test_assignment_is_the_cheapest(n, spare, data):
    m = n + spare
    cost = np.array(data.draw(st.lists(st.integers(0, 99), min_size=n * m, max_size=n * m)), dtype=float).reshape(n, m)
    chosen = assign(cost)
    assert len(set(chosen.tolist())) == n
    least = min(sum(cost[i, c] for i, c in enumerate(choice)) for choice in itertools.permutations(range(m), n))
    assert cost[np.arange(n), chosen].sum() == least


@MANY
@given(flow_lists(2, 9), st.randoms(use_true_random=False))
def test_descent_ends_where_no_exchange_helps(case, rng):
    n, flows = case
    sites = make_sites(n, (200.0, 74.0), "euclidean")
    flow = symmetric(n, flows)
    start = np.array(rng.sample(range(len(sites.points)), n))
    site, cost = descend(flow, sites.distance, start)
    assert cost == pytest.approx(objective(sites.points[site].tolist(), flows), rel=1e-13)
    table, terms = change_table(make_boards(flow, sites.distance, site, 1))
    assert (table >= -1e-11 * terms).all()


def test_kamada_kawai_of_a_path_is_a_line_of_equal_steps():
    # Hop counts 1, 2, 3 are met exactly on a line; 150 steps from an arc leave half a percent.
    start = np.array([(math.cos(a), math.sin(a)) for a in np.linspace(0, 5, 4)])
    points = kamada_kawai(nx.path_graph(4), start)
    assert [math.dist(points[i], points[i + 1]) for i in range(3)] == pytest.approx([1.0] * 3, abs=1e-2)


def test_baselines_sit_on_distinct_sites():
    flow = symmetric(9, [(i, (i * 2) % 9, 10**i) for i in range(9)])
    sites = make_sites(9, (200.0, 74.0), "euclidean")
    for fits in snapped_layouts(flow, sites, 0).values():
        assert [len(set(fit.tolist())) for fit in fits] == [9] * 4
