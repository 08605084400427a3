"""The Pipeline drawing's geometry: nothing overlaps, lines can be followed, kinds are counted, places are stable."""

from collections import Counter
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokenviz.builder import Builder
from tokenviz.catalog import PROFILES, Model, bundled_models, load_model
from tokenviz.graph import Block, StateKind
from tokenviz.notation import ConfigError
from tokenviz.recipes.linear import residual_add
from tokenviz.schedule import schedule_block
from tokenviz.trace import traced
from tokenviz.views import pipeline
from tokenviz.views.measure import SMALL, TITLE, text_width
from tokenviz.views.pipeline_edges import edges_of
from tokenviz.views.pipeline_groups import (
    box_id,
    bubble_id,
    cell_id,
    groups,
    layer_kinds,
    layer_strip,
    letter,
    panel_id,
    rhythm,
    transitions,
)
from tokenviz.views.pipeline_layout import layout
from tokenviz.views.pipeline_parts import parts_of
from tokenviz.views.pipeline_place import place
from tokenviz.views.scene import Box, Bubble, Edge, Scene, edges_through, overlaps

from .strategies import models

BIG = "qwen3.8-2.4t-a95b"


def has_recipe(name: str) -> bool:
    """A bundled config may be there to show how an unknown mechanism is refused; such a model has no drawing."""
    try:
        load_model(name)
    except ConfigError:
        return False
    return True


NAMES = [name for name in bundled_models() if has_recipe(name)]


def test_nearly_all_bundled_models_are_drawn() -> None:
    assert set(PROFILES) <= set(NAMES)
    assert len(NAMES) >= len(bundled_models()) - 1


@lru_cache(maxsize=256)
def drawn(name: str, opened: bool = True) -> Scene:
    model = load_model(name)
    scenario = model.scenario()
    return layout(traced(model.architecture, scenario), scenario, opened)


def step_of(name: str):
    model = load_model(name)
    return traced(model.architecture, model.scenario())


# ------------------------------------------------------------------------------------------------ nothing overlaps


@pytest.mark.parametrize("opened", [True, False], ids=["open", "closed"])
@pytest.mark.parametrize("name", NAMES)
def test_nothing_overlaps_and_no_line_crosses_a_box(name: str, opened: bool) -> None:
    scene = drawn(name, opened)
    assert overlaps(scene) == ()
    assert edges_through(scene) == ()


@settings(max_examples=40, deadline=None)
@given(models(), st.booleans())
def test_random_models_draw_without_overlap(model: Model, opened: bool) -> None:
    scenario = model.scenario(context=100)
    scene = layout(traced(model.architecture, scenario), scenario, opened)
    assert overlaps(scene) == ()
    assert edges_through(scene) == ()


@st.composite
def tangles(draw: st.DrawFn) -> Block:
    """A block of transforms that read any earlier results, with weights, caches and fixed state here and there."""
    b = Builder({"T": 1, "D": 8, "S": 9, "cached": 8, "next": 9})
    x = b.input("residual", "T D", name="x")
    values = [x]
    for i in range(draw(st.integers(1, 14))):
        first, second = draw(st.sampled_from(values)), draw(st.sampled_from(values))
        kind = draw(st.sampled_from(["join", "join", "keep", "store"]))
        if kind == "keep":
            values.append(_keep(b, i, first))
        elif kind == "store":
            values.append(_store(b, i, first))
        else:
            values.append(_join(b, i, first, second))
    return b.build(key="tangle", kind="t", title="Tangle", says="", spec=None,
                   outputs={"residual": residual_add(b, x, values[-1])})  # fmt: skip


def _join(b: Builder, i: int, first, second):
    gain = b.weight(f"g{i}", "D", name=f"g{i}")
    with b.transform(f"j{i}", "join", f"Join {i}", equation="", says=""):
        return b.multiply(b.add(first, second), gain, out=f"j{i}")


def _keep(b: Builder, i: int, first):
    held = b.state(f"s{i}", "T D", name=f"s{i}", dtype="recurrent")
    with b.transform(f"k{i}", "keep", f"Keep {i}", equation="", says=""):
        made = b.add(held, first, out=f"k{i}")
        b.save(held, made, StateKind.RECURRENT, name="kept", label="save")
        return made


def _store(b: Builder, i: int, first):
    held = b.state(f"c{i}", "cached D", name=f"c{i}", dtype="kv")
    with b.transform(f"a{i}", "append", f"Append {i}", equation="", says=""):
        b.store(held, first, "cached", name="cache", label="store", window=None)
    every = b.concat((held, first), "S D", "S", "all")
    with b.transform(f"r{i}", "read", f"Read {i}", equation="", says=""):
        products = b.contract("T D, S D -> T S", first, every)
        return b.contract("T S, S D -> T D", products, every, out=f"r{i}")


@settings(max_examples=150, deadline=None)
@given(tangles())
def test_any_dependencies_draw_without_overlap(block: Block) -> None:
    placed = place(parts_of(block, load_model(BIG).scenario(), True), 90.0)
    parts = placed.plan.parts.parts.values()
    right = max(r.right for p in parts for r in p.rects) + 30
    scene = Scene(
        "tangle", right, placed.height, boxes=tuple(p.box for p in parts if p.box),
        bubbles=tuple(b for p in parts for b in p.bubbles), edges=edges_of(placed, right),
    )  # fmt: skip
    assert overlaps(scene) == ()
    assert edges_through(scene) == ()
    assert lying_on_each_other(scene.edges) == []


# ------------------------------------------------------------------------------------------------ lines


def on_border(item: Box | Bubble, point: tuple[float, float]) -> bool:
    (x, y), rect = point, item.rect
    inside = rect.x - 0.01 <= x <= rect.right + 0.01 and rect.y - 0.01 <= y <= rect.bottom + 0.01
    sides = (x - rect.x, x - rect.right, y - rect.y, y - rect.bottom)
    return inside and min(abs(s) for s in sides) < 0.01


@pytest.mark.parametrize("name", NAMES)
def test_lines_are_orthogonal_and_run_from_border_to_border(name: str) -> None:
    scene = drawn(name)
    for edge in scene.edges:
        for (a, b), (c, d) in zip(edge.points, edge.points[1:], strict=False):
            assert abs(a - c) < 0.01 or abs(b - d) < 0.01, edge.id
        if edge.source != edge.target:  # to or from another token: one end is the border of the sheet
            assert on_border(scene.items[edge.source], edge.points[0]), edge.id
            assert on_border(scene.items[edge.target], edge.points[-1]), edge.id


def pieces(edge: Edge, across: int) -> list[tuple[float, float, float]]:
    """Pieces of a line in one direction: where they run (x of verticals, y of horizontals), from, to."""
    found = []
    for first, second in pairwise(edge.points):
        if abs(first[across] - second[across]) < 0.01:
            ends = sorted((first[1 - across], second[1 - across]))
            found.append((round(first[across], 1), *ends))
    return [piece for piece in found if piece[2] - piece[1] > 0.01]


def lying_on_each_other(edges: tuple[Edge, ...]) -> list[tuple[str, str]]:
    """Pairs of edges from different items that share more than a point of a line."""
    found = []
    for across in (0, 1):
        at: dict[float, list[tuple[float, float, Edge]]] = {}
        for edge in edges:
            for where, low, high in pieces(edge, across):
                for other_low, other_high, other in at.get(where, []):
                    if other.source != edge.source and low < other_high - 0.01 and other_low < high - 0.01:
                        found.append((edge.id, other.id))
                at.setdefault(where, []).append((low, high, edge))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_lines_of_different_values_never_lie_on_each_other(name: str) -> None:
    assert lying_on_each_other(tuple(e for e in drawn(name).edges if not e.bridge)) == []


@pytest.mark.parametrize("name", NAMES)
def test_the_residual_stream_is_one_straight_line(name: str) -> None:
    """Every piece of it after the lookup has one x, down to the output's first bubble."""
    scene = drawn(name)
    stream = [e for e in scene.edges if e.kind == "residual" and not e.hint and not e.source.startswith("lookup/")]
    assert len(stream) >= 2 * len(layer_kinds(step_of(name)))
    assert len({round(x, 3) for e in stream for x, _ in e.points}) == 1


@pytest.mark.parametrize("name", NAMES)
def test_the_longest_chain_keeps_its_column(name: str) -> None:
    scene, step = drawn(name), step_of(name)
    for group in groups(step):
        chain = [t for t in schedule_block(group.block).critical if t != "residual"]
        assert len({scene.items[box_id(group.key, t)].rect.x for t in chain}) == 1
        tops = [scene.items[box_id(group.key, t)].rect.y for t in chain]
        assert tops == sorted(set(tops))


# ------------------------------------------------------------------------------------------------ what is drawn


@pytest.mark.parametrize("name", NAMES)
def test_every_transform_and_operation_is_drawn_once_and_wires_are_not(name: str) -> None:
    scene, step = drawn(name), step_of(name)
    stubs = [b for b in scene.boxes if "/s:" in b.id]
    boxes = Counter(b.id for b in scene.boxes if b not in stubs)
    assert boxes == Counter(box_id(g.key, t.id) for g in groups(step) for t in g.block.transforms)
    cells = [c.id for b in scene.boxes for c in b.cells]
    assert cells == [cell_id(g.key, op.id) for g in groups(step) for t in g.block.transforms for op in t.ops]


@pytest.mark.parametrize("name", NAMES)
def test_every_edge_of_the_graph_is_drawn(name: str) -> None:
    """A transform that waits for another has a line from one of its bubbles."""
    scene, step = drawn(name), step_of(name)
    lines = {(e.source, e.target) for e in scene.edges}
    for group in groups(step):
        block = group.block
        for t in block.transforms:
            for feeder in block.feeds[t.id]:
                made = [bubble_id(block.key, r) for op in block.transform_by_id[feeder].ops for r in op.results]
                assert any((bubble, box_id(block.key, t.id)) in lines for bubble in made), (t.id, feeder)


@pytest.mark.parametrize("name", NAMES)
def test_multiplicities_add_up_to_the_layers(name: str) -> None:
    model, step = load_model(name), step_of(name)
    assert sum(g.count for g in groups(step)) == len(step.sequence)
    assert sum(k.count for k in layer_kinds(step)) == len(model.architecture.layers) == len(layer_strip(step))
    assert sum(transitions(step).values()) == len(model.architecture.layers) - 1
    for place_ in range(len(model.architecture.layers[0].sections)):
        own = {k.sections[place_]: 0 for k in layer_kinds(step)}
        for kind in layer_kinds(step):
            own[kind.sections[place_]] += kind.count
        assert sum(own.values()) == len(model.architecture.layers)


@pytest.mark.parametrize("name", NAMES)
def test_unlike_blocks_are_never_folded(name: str) -> None:
    step = step_of(name)
    for group in groups(step):
        assert len({step.blocks[k].spec for k in group.keys}) == 1


def test_headings_of_the_largest_model() -> None:
    """69 DeltaNet and 23 attention layers, each with one of 92 expert networks: 69 + 23 = 92."""
    scene = drawn(BIG)
    headings = [p.heading for p in scene.panels]
    assert headings == ["Lookup", "DeltaNet ×69", "Experts ×92", "Attention ×23", "Output scores"]
    assert "in layer 0 the norm is looked up" in scene.panels[1].subheading
    assert [b.title for b in scene.boxes if "/s:" in b.id] == ["Experts, as drawn above"]
    assert rhythm(step_of(BIG)) == "3 × A, B; 23 times"
    assert {e.label for e in scene.edges if e.hint and e.bridge} == {"×46", "×22"}


def test_panels_stand_under_each_other_in_the_order_of_the_layers() -> None:
    for name in NAMES:
        panels = drawn(name).panels
        assert all(a.rect.bottom < b.rect.y for a, b in pairwise(panels))
        assert [p.id for p in panels] == [panel_id(g.key) for g in groups(step_of(name))]


def test_state_leaves_at_the_right_and_weights_stand_at_the_left() -> None:
    scene = drawn(BIG)
    for block, transform, state in (("deltanet", "delta", "S"), ("attention", "scores", "K_cache")):
        key = next(g.key for g in groups(step_of(BIG)) if g.block.kind == block)
        box = scene.items[box_id(key, transform)]
        assert scene.items[bubble_id(key, state)].rect.x > box.rect.right
        edge = next(e for e in scene.edges if e.source == bubble_id(key, state) and e.target == box.id)
        assert edge.dashed
        assert edge.kind == "state"
        weight = scene.items[bubble_id(key, "out.weight", "out")]
        assert weight.rect.x < scene.items[box_id(key, "out")].rect.x


def test_letters_of_layer_kinds() -> None:
    assert [letter(i) for i in (0, 1, 25, 26, 27, 51, 52)] == ["A", "B", "Z", "AA", "AB", "AZ", "BA"]


# ------------------------------------------------------------------------------------------------ stability, legibility


def test_equal_questions_give_equal_drawings() -> None:
    model = load_model(BIG)
    step = traced(model.architecture, model.scenario())
    assert layout(step, model.scenario()) == layout(step, model.scenario())


@pytest.mark.parametrize("name", [BIG, "llama-2-7b-hf"])
def test_the_context_changes_texts_and_no_place(name: str) -> None:
    model = load_model(name)
    scenes = [pipeline.scene(model.architecture, model.scenario(context=c)) for c in (0, 1_000, 100_000_000)]
    assert len({s.id for s in scenes}) == 1
    for other in scenes[1:]:
        assert {i: x.rect for i, x in other.items.items()} == {i: x.rect for i, x in scenes[0].items.items()}
        assert other.edges == scenes[0].edges
    caches = [b.size for b in scenes[0].bubbles if b.id.endswith("v:K_cache")]
    assert caches == ["0 B kept"] * len(caches)
    assert all(b.shape for s in scenes for b in s.bubbles)


@pytest.mark.parametrize("name", NAMES)
def test_texts_fit_their_frames(name: str) -> None:
    model = load_model(name)
    scene = pipeline.scene(model.architecture, model.scenario())
    for bubble in scene.bubbles:
        widest = max(
            text_width(bubble.name, TITLE, bold=True), text_width(bubble.shape, SMALL), text_width(bubble.size, SMALL)
        )
        assert widest <= bubble.rect.width - 8, bubble.id
    for box in scene.boxes:
        assert text_width(box.title, TITLE, bold=True) <= box.rect.width - 16, box.id


@pytest.mark.parametrize("name", PROFILES)
def test_a_block_is_legible_where_it_fills_the_view(name: str) -> None:
    """On a page 1,440 px wide the canvas has 1,074 px inside its frame; a title of 13 units shall have 11 px there."""
    for panel in drawn(name).panels:
        assert TITLE * 1_074 / panel.rect.width >= 11


def test_one_block_alone() -> None:
    model = load_model(BIG)
    key = next(g.key for g in groups(step_of(BIG)) if g.block.kind == "attention")
    scene = pipeline.scene(model.architecture, model.scenario(), True, key)
    assert [p.heading for p in scene.panels] == ["Attention ×23"]
    assert overlaps(scene) == ()
    whole = drawn(BIG)
    here, there = scene.items[box_id(key, "norm")].rect, whole.items[box_id(key, "norm")].rect
    moved = replace(here, x=there.x, y=there.y)
    assert moved == there
