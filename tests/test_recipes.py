"""The recipe table of the published study: operations of each transform, in order, and their depth."""

from dataclasses import astuple

import pytest

from tokenviz import trace as tracing
from tokenviz.catalog import bundled_models, load_model
from tokenviz.graph import Block
from tokenviz.notation import ConfigError
from tokenviz.recipes import recipe_of
from tokenviz.schedule import schedule_block
from tokenviz.trace import trace, trace_section


def blocks(name: str, **changes: object) -> dict[str, Block]:
    """The model's blocks that compute their norm, by kind."""
    model = load_model(name)
    step = trace(model.architecture, model.scenario(**changes))
    return {b.kind: b for b in step.blocks.values() if "normalised" not in b.inputs}


def counts(block: Block) -> list[tuple[str, int]]:
    return [(t.id, len(t.ops)) for t in block.transforms]


PROJECTION = 2
NORM = 6


def test_deltanet() -> None:
    block = blocks("qwen3.8-2.4t-a95b")["deltanet"]
    assert counts(block) == [
        ("norm", NORM), ("qkv", PROJECTION), ("z", PROJECTION), ("b", PROJECTION), ("a", PROJECTION), ("conv", 9),
        ("q_norm", 6), ("k_norm", 5), ("beta", 4), ("decay", 5), ("delta", 10), ("gated_norm", 12),
        ("out", PROJECTION), ("residual", 1),
    ]  # fmt: skip
    assert (len(block.ops), schedule_block(block).depth) == (68, 48)


@pytest.mark.parametrize(("gate", "gate_ops", "total"), [("implemented", 4, 52), ("study", 5, 53)])
def test_attention(gate: str, gate_ops: int, total: int) -> None:
    block = blocks("qwen3.8-2.4t-a95b", gate=gate)["attention"]
    assert counts(block) == [
        ("norm", NORM), ("q", PROJECTION), ("gate", PROJECTION), ("k", PROJECTION), ("v", PROJECTION),
        ("q_norm", NORM), ("k_norm", NORM), ("q_rope", 3), ("k_rope", 3), ("K_append", 1), ("V_append", 1),
        ("scores", 3), ("softmax", 5), ("mix", 2), ("gate_act", gate_ops), ("gate_mul", 1), ("out", PROJECTION),
        ("residual", 1),
    ]  # fmt: skip
    assert (len(block.ops), schedule_block(block).depth) == (total, 31)


def test_dense_feed_forward() -> None:
    block = blocks("qwen3.8-27b")["ffn"]
    assert counts(block) == [("norm", NORM), ("gate", 2), ("up", 2), ("act", 6), ("down", 2), ("residual", 1)]
    assert (len(block.ops), schedule_block(block).depth) == (19, 17)


def test_experts() -> None:
    block = blocks("qwen3.8-2.4t-a95b")["moe"]
    assert dict(counts(block)) == {
        "norm": NORM, "router": 2, "shared_score": 2, "shared_gate": 2, "shared_up": 2, "router_softmax": 5, "top_k": 3,
        "gate": 2, "up": 2, "act": 6, "down": 2, "shared_act": 6, "shared_down": 2, "shared_sigmoid": 4, "combine": 4,
        "residual": 1,
    }  # fmt: skip
    assert (len(block.ops), schedule_block(block).depth) == (51, 31)


def test_the_cache_append_runs_beside_the_scores() -> None:
    block = blocks("qwen3.8-2.4t-a95b")["attention"]
    assert "K_append" not in block.feeds["scores"]
    # the quarter of each head that RoPE turns comes from there, the rest straight from the norms
    assert block.feeds["scores"] == ("q_norm", "k_norm", "q_rope", "k_rope")


def test_nothing_routed_starts_before_the_router_has_chosen() -> None:
    block = blocks("qwen3.8-2.4t-a95b")["moe"]
    assert block.feeds["gate"] == ("norm", "top_k") == block.feeds["up"]


def test_partial_rope_counts_only_the_rotated_part() -> None:
    block = blocks("qwen3.8-2.4t-a95b")["attention"]
    q_cos = block.transform_by_id["q_rope"].ops[0]
    # 64 query heads, a quarter of 256 coordinates each
    assert q_cos.counts == {"multiply": 64 * 64}


def test_equal_layers_share_one_trace() -> None:
    model = load_model("qwen3.8-2.4t-a95b")
    step = trace(model.architecture, model.scenario())
    assert sorted(step.multiplicity.values()) == [1, 1, 1, 23, 68, 92]
    assert sum(step.multiplicity.values()) == 2 + 2 * 92


@pytest.mark.parametrize("name", bundled_models())
def test_a_recipe_sees_the_context_in_the_extents_of_its_letters_alone(name: str) -> None:
    """One block stands for all contexts with the same letters: traced with its own context, it is the same."""
    try:
        model = load_model(name)
    except ConfigError:
        assert name == "deepseek-v4-flash"
        return
    for context in (0, 1, 300, 1_000_000):
        scenario = model.scenario(context=context).structure
        for section in {section for layer in model.architecture.layers for section in layer.sections}:
            letters = tuple(recipe_of(section.body).sizes(section.body, scenario).items())
            d_model = model.architecture.d_model
            own = tracing._section.__wrapped__(section, scenario, letters, d_model, False, 0)
            found = trace_section(section, scenario, d_model=d_model, looked_up=False, number=0)
            assert [astuple(v) for v in found.values.values()] == [astuple(v) for v in own.values.values()]
            assert [op.id for op in found.ops] == [op.id for op in own.ops]
            assert found.sizes == own.sizes
            assert [astuple(state) for state in found.states] == [astuple(state) for state in own.states]
