"""Mechanisms with state that no bundled config has: sizes and work by hand, on small configs."""

import json
from typing import Any

import pytest

from tests.test_cases_state import DEEPSEEK, NEMOTRON, analysis, mixers
from tokenviz.catalog import load_model, model_from_text
from tokenviz.notation import ConfigError
from tokenviz.prediction import prediction_heads

MINIMAX = {
    "model_type": "minimax_text_01", "hidden_size": 64, "intermediate_size": 32, "num_hidden_layers": 4,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "rotary_dim": 8, "num_local_experts": 4,
    "num_experts_per_tok": 2, "vocab_size": 256, "attn_type_list": [0, 0, 0, 1], "layernorm_mlp_alpha": 3.5,
    "tie_word_embeddings": False,
}  # fmt: skip


def test_lightning_attention_keeps_one_matrix_per_head() -> None:
    """Three layers × 4 heads × 16 × 16 × 4 bytes; one layer × 2 heads × 16 × (K and V) × 2 bytes a token."""
    a = analysis(MINIMAX)
    assert mixers(a) == ["lightning"] * 3 + ["attention"]
    assert (a.kept.recurrent, a.kept.kv_per_position) == (3 * 4 * 16 * 16 * 4, 2 * 16 * 2 * 2)


def test_lightning_parameters_and_work() -> None:
    """qkv 3 × 64 × 64, gate and output 64 × 64 each, norm 64; per state element a fade, a write and a read."""
    a = analysis(MINIMAX)
    block, _ = next((b, n) for b, n in a.step.folded() if b.kind == "lightning" and "norm.weight" in b.values)
    assert sum(w.size for w in block.weights) == 5 * 64 * 64 + 64 + 64
    recur = block.transform_by_id["recur"]
    assert sum(op.counts.get("mac", 0) for op in recur.ops) == 2 * 4 * 16 * 16
    assert sum(op.counts.get("multiply", 0) for op in recur.ops) == 4 * 16 * 16


def test_the_normalised_stream_is_carried_on() -> None:
    """Behind the norm, x itself has no reader: what is carried is its normalised form, times 3.5 around experts."""
    a = analysis(MINIMAX)
    block = next(b for b, _ in a.step.folded() if b.kind == "moe")
    assert [op.transform for op in block.consumers["residual"]] == ["norm", "norm"]
    assert [op.label for op in block.transform_by_id["carry"].ops] == ["× 3.5"]


@pytest.mark.parametrize("kinds", [[0, 0, 1], [0, 0, 2, 1], "0001"])
def test_attention_type_lists_that_do_not_fit_are_named(kinds: Any) -> None:
    with pytest.raises(ConfigError, match="attn_type_list"):
        analysis(MINIMAX | {"attn_type_list": kinds})


def test_plain_feed_forward_blocks() -> None:
    """A block of two matrices, 64 × 96 each, and its norm, in place of the experts' block."""
    dense = analysis(NEMOTRON | {"layers_block_type": ["mamba", "mlp"]})
    without = analysis(NEMOTRON | {"layers_block_type": ["mamba"]})
    assert dense.parameters.total - without.parameters.total == 2 * 64 * 96 + 64


def test_latent_experts() -> None:
    """Experts between 24 and 32 instead of 64 and 32, and two projections between 64 and 24, in two blocks."""
    full, latent = analysis(NEMOTRON), analysis(NEMOTRON | {"moe_latent_size": 24})
    saved = 2 * (8 * 2 * 32 * (64 - 24) - 2 * 64 * 24)
    assert full.parameters.total - latent.parameters.total == saved


def test_layers_may_borrow_an_earlier_choice_of_positions() -> None:
    """Two of four layers have an indexer of 24 × 3 × 12 + 64 × 12 + 64 × 3 + 2 × 12 parameters and keys of 12."""
    config = DEEPSEEK | {"model_type": "glm_moe_dsa", "index_topk": 10, "index_n_heads": 3, "index_head_dim": 12}
    own, lent = analysis(config), analysis(config | {"indexer_types": ["full", "shared", "full", "shared"]})
    assert own.parameters.total - lent.parameters.total == 2 * (24 * 36 + 64 * 12 + 64 * 3 + 24)
    assert lent.kept.kv_per_position == (4 * 24 + 2 * 12) * 2
    assert lent.traffic.kv_read == (4 * 10 * 24 + 2 * 65 * 12) * 2
    assert analysis(config | {"index_topk_pattern": "FSFS"}).parameters == lent.parameters


def test_a_first_layer_cannot_borrow() -> None:
    config = DEEPSEEK | {"model_type": "glm_moe_dsa", "indexer_types": ["shared", "full", "full", "shared"]}
    with pytest.raises(ConfigError, match="indexer_types starts with shared"):
        analysis(config)


def test_left_out_positions_lose_one_comparison_each() -> None:
    """Of 65 positions 10 are chosen in each of 4 layers: 55 are left out. Of 6, none is."""
    config = DEEPSEEK | {"model_type": "glm_moe_dsa", "index_topk": 10, "index_n_heads": 3, "index_head_dim": 12}
    for context, left_out in ((64, 55), (5, 0)):
        blocks = [(b, n) for b, n in analysis(config, context).step.folded() if b.kind == "latent attention"]
        select = [(op, n) for b, n in blocks for op in b.transform_by_id["indexer.select"].ops]
        assert sum(op.counts["compare"] * n for op, n in select) == 4 * left_out


def test_softmax_scale_under_yarn() -> None:
    """(16 + 8)^-0.5 × (0.1 · 1.0 · ln 40 + 1)²: the square of 1.36889."""
    yarn = {
        "type": "yarn",
        "factor": 40,
        "mscale": 1.0,
        "mscale_all_dim": 1.0,
        "original_max_position_embeddings": 4096,
    }
    plain, scaled = (scale_of(DEEPSEEK | {"rope_scaling": value}) for value in (None, yarn))
    assert plain == 24**-0.5
    assert scaled / plain == pytest.approx(1.3688879454**2, rel=1e-9)


def scale_of(config: dict[str, Any]) -> float:
    architecture = model_from_text(json.dumps(config), "scale").architecture
    return float(architecture.layers[0].sections[0].body.scale)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "parameters", "slope"),
    [
        # A layer with experts, a matrix from 2 × 6,144 to 6,144, three norms; one more latent and indexer cache.
        ("glm-5", 9_952_920_320, (512 + 64 + 128) * 2),
        # 11,507,286,016 of the layer + 2 × 7,168² + 3 × 7,168; the stored copies of both tables are the model's own.
        ("deepseek-v3", 11_610_067_968, (512 + 64) * 2),
    ],
)
def test_prediction_heads_of_latent_models(name: str, parameters: int, slope: int) -> None:
    model = load_model(name)
    added = prediction_heads(model.architecture, model.scenario(context=100))
    assert (added.parameters, added.kv_bytes_per_position) == (parameters, slope)


def test_an_unbounded_time_step_limit_is_read() -> None:
    """Published as a JSON extension: [0.0, Infinity]."""
    text = json.dumps({
        "model_type": "mamba2", "hidden_size": 64, "num_heads": 8, "head_dim": 16, "expand": 2, "n_groups": 1,
        "state_size": 16, "num_hidden_layers": 1, "vocab_size": 256, "time_step_limit": [0.0, float("inf")],
    })  # fmt: skip
    assert "Infinity" in text
    architecture = model_from_text(text, "limits").architecture
    assert architecture.layers[0].sections[0].body.dt_limits == (0.0, None)  # type: ignore[union-attr]
    assert architecture.unread_keys == ()
