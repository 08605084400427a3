"""Drawings and tables of the Layout page: nothing overlaps, every arrow is there, words and numbers are the graph's."""

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import models
from tokenviz.arrangements import RULES, arrangements
from tokenviz.catalog import PROFILES, load_model
from tokenviz.handoffs import GROUPINGS, HandoffGraph, chains, handoffs
from tokenviz.placement import place
from tokenviz.trace import trace, traced
from tokenviz.views import layout_tables as tables
from tokenviz.views.format import si
from tokenviz.views.layers import layered
from tokenviz.views.layout import centres_of, downward, line_width, neighbours, placed
from tokenviz.views.layout_nodes import label_of, problem_of, wrapped
from tokenviz.views.layout_plan import Request, plan
from tokenviz.views.layout_sketches import sketch
from tokenviz.views.layout_types import PROPOSALS, cards, type_table
from tokenviz.views.measure import TITLE, text_width
from tokenviz.views.scene import edges_through, overlaps
from tokenviz.views.svg import to_svg

MODEL = load_model("qwen3.5-0.8b")
STEP = traced(MODEL.architecture, MODEL.scenario())
EVERY = [
    (name, chain.name, grouping)
    for name in PROFILES
    for chain in chains(traced(load_model(name).architecture, load_model(name).scenario()))
    for grouping in GROUPINGS
]


def graph_of(name: str, chain: str, grouping: str) -> HandoffGraph:
    model = load_model(name)
    return handoffs(traced(model.architecture, model.scenario()), chain, grouping)


# ------------------------------------------------------------------------------------------------ drawings


@pytest.mark.parametrize(("name", "chain", "grouping"), EVERY)
def test_downward_drawings_are_whole_and_clear(name: str, chain: str, grouping: str) -> None:
    graph = graph_of(name, chain, grouping)
    scene = downward(graph, "x")
    assert {n.id for n in scene.nodes} == {s.id for s in graph.nodes}
    assert {(e.source, e.target, e.dashed) for e in scene.edges} == {
        (a.source, a.target, a.retained) for a in graph.arrows
    }
    assert overlaps(scene) == ()
    assert edges_through(scene) == ()


def test_a_stage_stands_below_all_that_feed_it_and_feedback_points_up() -> None:
    graph = graph_of("qwen3.5-0.8b", "deltanet", "stages")
    at = centres_of(downward(graph, "x"))
    for a in graph.arrows:
        if not a.retained:
            assert at[a.source][1] < at[a.target][1], a
    up = [(a.source, a.target) for a in graph.arrows if a.retained and at[a.source][1] > at[a.target][1]]
    assert up == [("deltanet/delta.save", "deltanet/delta.multiply"), ("deltanet/conv.save", "deltanet/conv.products")]


def test_what_keeps_a_state_stands_below_what_makes_it() -> None:
    at = centres_of(downward(graph_of("qwen3.5-0.8b", "deltanet", "stages"), "x"))
    assert at["deltanet/delta.save"][1] > at["deltanet/delta.outer"][1]


def test_routes_leave_at_the_lower_side_and_arrive_at_the_upper_side() -> None:
    scene = downward(graph_of("qwen3.5-0.8b", "attention", "stages"), "x")
    for edge in scene.edges:
        source, target = scene.items[edge.source].rect, scene.items[edge.target].rect
        (x0, y0), (x1, y1) = edge.points[0], edge.points[-1]
        assert (y0, y1) == (pytest.approx(source.bottom), pytest.approx(target.y)), edge.id
        assert source.x < x0 < source.right
        assert target.x < x1 < target.right
        assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(edge.points))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 14).flatmap(lambda n: st.tuples(
    st.lists(st.tuples(st.floats(20, 160), st.floats(20, 70)), min_size=n, max_size=n),
    st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda a: a[0] != a[1]), max_size=24)
    if n > 1 else st.just([]),
)))  # fmt: skip
def test_layers_of_any_graph_keep_nodes_apart_and_lines_orthogonal(drawn) -> None:
    sizes, arrows = drawn
    plan_ = layered(sizes, arrows)
    boxes = [(x - w / 2, y - h / 2, x + w / 2, y + h / 2) for (x, y), (w, h) in zip(plan_.centres, sizes, strict=True)]
    for k, a in enumerate(boxes):
        for b in boxes[k + 1 :]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
    for (source, target), route in zip(arrows, plan_.routes, strict=True):
        assert all(a[0] == b[0] or (a[1] == b[1] and abs(a[0] - b[0]) > 0.5) for a, b in pairwise(route))
        down = plan_.centres[target][1] - plan_.centres[source][1]
        assert down > 0 if target > source else down < 0
    assert all(x0 >= -1e-6 and x1 <= plan_.width + 1e-6 for x0, _, x1, _ in boxes)


@pytest.mark.parametrize("grouping", GROUPINGS)
@pytest.mark.parametrize("sites", ["grid", "free"])
def test_placed_drawings_do_not_overlap_and_keep_the_distances(grouping: str, sites: str) -> None:
    graph = graph_of("qwen3.5-0.8b", "attention", grouping)
    placement = place(problem_of(graph, sites=sites))
    scene = placed(graph, placement.positions, "x")
    assert overlaps(scene) == ()
    at = centres_of(scene)
    first, second = graph.nodes[0].id, graph.nodes[1].id
    moved = tuple(placement.positions[1][k] - placement.positions[0][k] for k in (0, 1))
    assert (at[second][0] - at[first][0], at[second][1] - at[first][1]) == pytest.approx(moved)


def test_widths_are_a_compressed_power_of_the_values() -> None:
    assert line_width(16, 16) - line_width(0, 16) == pytest.approx(
        2 * (line_width(1, 16) - line_width(0, 16)), abs=0.02
    )
    graph = graph_of("qwen3.5-0.8b", "token", "types")
    by_id = {e.id: e for e in placed(graph, place(problem_of(graph)).positions, "x").edges}
    widths = [by_id[f"{a.source}→{a.target}{'~' if a.retained else ''}"].width for a in graph.arrows]
    assert widths == sorted(widths, reverse=True)
    assert min(widths) >= 0.8


def test_node_and_arrow_numbers_are_those_of_the_graph() -> None:
    graph = graph_of("qwen3.5-0.8b", "deltanet", "stages")
    scene = downward(graph, "x")
    numbers = {n.id: n.number for n in scene.nodes}
    assert numbers["deltanet/delta.multiply"] == "Delta update · 18 ops"
    assert numbers["deltanet/qkv.products"] == "36 ops"
    labels = {e.id: e.label for e in scene.edges}
    assert labels["deltanet/delta.save→deltanet/delta.multiply~"] == "4.72 M"


def test_neighbours_are_the_arrows_in_and_out() -> None:
    graph = graph_of("qwen3.5-0.8b", "ffn", "stages")
    came, went = neighbours(graph, "ffn/gate.products")
    assert [a.source for a in came] == ["ffn/norm.multiply3"]
    assert {a.target for a in went} == {"ffn/act.negate", "ffn/act.multiply"}


def test_the_drawing_is_valid_vector_graphics() -> None:
    text = to_svg(downward(graph_of("qwen3.5-0.8b", "output", "types"), "x"))
    assert text.startswith("<svg ")
    assert text.count("<svg") == text.count("</svg>") == 1


# ------------------------------------------------------------------------------------------------ words and tables


@pytest.mark.parametrize(
    ("n", "text"),
    [(0, "0"), (999, "999"), (1000, "1.00 k"), (9996, "10.0 k"), (36864, "36.9 k"), (999_600, "1.00 M"),
     (4_718_592, "4.72 M"), (3_072_000_000, "3.07 G"), (2 * 10**15, "2.00 P")],
)  # fmt: skip
def test_three_significant_digits(n: int, text: str) -> None:
    assert si(n) == text


def test_long_labels_are_broken_and_lose_nothing() -> None:
    for grouping in GROUPINGS:
        for stage in graph_of("qwen3.8-2.4t-a95b", "token", grouping).nodes:
            label, number = label_of(stage)
            assert label.count("\n") <= 1
            assert text_width(label, TITLE, bold=True) < 170
            assert number.endswith(("op", "ops"))
    assert wrapped("products · sum each row") == "products\nsum each row"
    assert wrapped("Output gate projection").replace("\n", " ") == "Output gate projection"


def test_the_ranked_table_adds_up_and_opens_into_stages() -> None:
    scenario = MODEL.scenario()
    types, stages = handoffs(STEP, "token", "types"), handoffs(STEP, "token")
    table = tables.handoff_table(types, scenario)
    assert list(table.columns) == list(tables.ARROW_COLUMNS)
    assert table["values/token"].sum() == types.values
    assert table["share"].sum() == pytest.approx(1.0)
    assert table["values/token"].is_monotonic_decreasing
    assert set(table["kind"]) == {"current", "retained"}
    names = {**tables.names_of(types), **tables.names_of(stages)}
    for k, arrow in enumerate(types.arrows):
        assert tables.part_table(arrow, names, scenario)["values/token"].sum() == table["values/token"][k]


def test_the_node_table_lists_every_operation() -> None:
    table = tables.node_table(handoffs(STEP, "token"))
    assert table["operations/token"].sum() == 2_001
    assert table["values in"].sum() == table["values out"].sum()


def test_costly_arrows_follow_the_nodes() -> None:
    graph = handoffs(STEP, "ffn")
    spots = [(0.0, 100.0 * k) for k in range(len(graph.nodes))]
    table = tables.costly_table(graph, spots, "euclidean")
    cost = table["values"] * table["distance"]
    assert len(table) == 10
    assert cost.is_monotonic_decreasing
    far = [(0.0, 100.0 * k if k else 1e9) for k in range(len(graph.nodes))]
    assert tables.costly_table(graph, far, "manhattan")["from"][0] == "RMSNorm: square"


def test_a_plan_ignores_the_token_rate_and_is_remembered() -> None:
    request = Request("output", "types")
    slow = plan(MODEL.architecture, MODEL.scenario(tokens_per_s=1.0), request)
    assert plan(MODEL.architecture, MODEL.scenario(tokens_per_s=900.0), request) is slow
    other = plan(MODEL.architecture, MODEL.scenario(output="greedy"), request)
    assert {s.id for s in other.graph.nodes} != {s.id for s in slow.graph.nodes}


def test_bytes_change_the_weights_of_the_placement() -> None:
    request = Request("deltanet", "stages", measure="bytes")
    found = plan(MODEL.architecture, MODEL.scenario(), request)
    heaviest = found.graph.arrows[0]
    assert heaviest.values == 4 * next(
        a.values for a in found.values.arrows if (a.source, a.target) == (heaviest.source, heaviest.target)
    )  # the state is fp32


# ------------------------------------------------------------------------------------------------ layout types


def test_every_group_has_a_proposal_and_a_drawing_of_its_own() -> None:
    assert set(PROPOSALS) == set(RULES)
    drawings = {sketch(key) for key in RULES}
    assert len(drawings) == len(RULES)
    for key in RULES:
        assert "script" not in sketch(key)
        assert re.fullmatch(r"<svg .*</svg>", sketch(key), flags=re.DOTALL)
        assert PROPOSALS[key].question.endswith("?")


def test_the_type_table_has_this_models_numbers() -> None:
    found = arrangements(STEP, MODEL.scenario())
    table = type_table(found, 100.0)
    assert table["operations/token"].sum() == 2_001
    state = table[table["arrangement"] == "In-place memory bank with local multiply"].iloc[0]
    assert state["bytes rewritten/token"] == 18 * 16 * 128 * 128 * 4  # layers · U · P · Q · fp32
    assert state["bytes rewritten/s"] == 100 * state["bytes rewritten/token"]
    html = cards(found, 100.0)
    assert html.count("<section") == len(found)
    assert "18.9 MB a token" in html
    assert "1.89 GB/s" in html


@settings(max_examples=10, deadline=None)
@given(models())
def test_any_model_can_be_drawn_and_explained(model) -> None:
    scenario = model.scenario(context=2)
    step = trace(model.architecture, scenario)
    for chain in chains(step):
        for grouping in GROUPINGS:
            scene = downward(handoffs(step, chain, grouping), "x")
            assert overlaps(scene) == ()
            assert edges_through(scene) == ()
    assert cards(arrangements(step, scenario), 100.0)
