"""Hybrid, recurrent, latent and group-routed models: configs that people got wrong, with the right numbers.

Each value has its derivation beside it; the parameter totals were summed over the reference implementation's own
tensors. Caches are bf16 (2 bytes), recurrent state fp32 (4 bytes), convolutions keep taps - 1 columns at 2 bytes.
"""

import json
from typing import Any

import pytest

from tokenviz.analysis import Analysis, analyze, report
from tokenviz.catalog import load_model, model_from_text
from tokenviz.notation import ConfigError
from tokenviz.traffic import kept

QWEN_TINY = {
    "model_type": "qwen3_5", "text_config": {
        "model_type": "qwen3_5_text", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 8,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32, "linear_num_key_heads": 2,
        "linear_num_value_heads": 4, "linear_key_head_dim": 16, "linear_value_head_dim": 16,
        "linear_conv_kernel_dim": 4, "vocab_size": 256, "tie_word_embeddings": False, "attn_output_gate": True,
        "full_attention_interval": 4,
    },
}  # fmt: skip
NEMOTRON = {
    "model_type": "nemotron_h", "hidden_size": 64, "layers_block_type": ["mamba", "moe", "attention", "moe"],
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 96,
    "moe_intermediate_size": 32, "moe_shared_expert_intermediate_size": 64, "n_routed_experts": 8,
    "n_shared_experts": 1, "num_experts_per_tok": 2, "mamba_num_heads": 4, "mamba_head_dim": 16, "ssm_state_size": 16,
    "n_groups": 2, "conv_kernel": 4, "expand": 1, "vocab_size": 256, "tie_word_embeddings": False, "n_group": 1,
    "topk_group": 1, "mlp_hidden_act": "relu2",
}  # fmt: skip
JAMBA = {
    "model_type": "jamba", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 8, "vocab_size": 256,
    "num_attention_heads": 4, "num_key_value_heads": 2, "attn_layer_period": 8, "attn_layer_offset": 4,
    "expert_layer_period": 2, "expert_layer_offset": 1, "num_experts": 4, "num_experts_per_tok": 2,
    "mamba_d_state": 16, "mamba_d_conv": 4, "mamba_expand": 2, "mamba_dt_rank": 4, "tie_word_embeddings": False,
}  # fmt: skip
DEEPSEEK = {
    "model_type": "deepseek_v3", "hidden_size": 64, "intermediate_size": 160, "moe_intermediate_size": 32,
    "num_hidden_layers": 4, "first_k_dense_replace": 1, "n_routed_experts": 8, "num_experts_per_tok": 2,
    "n_shared_experts": 1, "num_attention_heads": 4, "num_key_value_heads": 4, "q_lora_rank": 24, "kv_lora_rank": 16,
    "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 16, "vocab_size": 256, "tie_word_embeddings": False,
    "n_group": 1, "topk_group": 1,
}  # fmt: skip
KIMI = {
    "model_type": "kimi_linear", "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 4, "vocab_size": 256,
    "num_attention_heads": 4, "num_key_value_heads": 4, "kv_lora_rank": 16, "q_lora_rank": None,
    "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 16, "num_experts": 8, "num_experts_per_token": 2,
    "num_shared_experts": 1, "moe_intermediate_size": 32, "first_k_dense_replace": 1, "head_dim": 16,
    "linear_attn_config": {"full_attn_layers": [4], "kda_layers": [1, 2, 3], "head_dim": 16, "num_heads": 4,
                           "short_conv_kernel_size": 4},
}  # fmt: skip


def analysis(config: dict[str, Any], context: int = 64) -> Analysis:
    model = model_from_text(json.dumps(config), "case")
    return analyze(model, model.scenario(context=context))


def kinds(a: Analysis) -> list[str]:
    """What each block of the sequence is, the two ends left out."""
    return [a.step.blocks[ref.block].kind for ref in a.step.sequence if ref.layer is not None]


def mixers(a: Analysis) -> list[str]:
    return [a.step.blocks[ref.block].kind for ref in a.step.sequence if ref.section == "mixer"]


# ------------------------------------------------------------------------------------------------ hybrids


def test_cache_grows_on_full_attention_layers_only() -> None:
    """16 of 64 layers × 4 heads × 256 × (K and V) × 2 bytes = 65,536 a token; at 262,144 tokens exactly 16,384 MiB."""
    model = load_model("qwen3.8-27b")
    a = analyze(model, model.scenario(context=262_144))
    assert a.kept.kv_per_position == 16 * 4 * 256 * 2 * 2 == 65_536
    assert a.kept.kv == 17_179_869_184 == 16_384 * 2**20


def test_fixed_state_of_linear_layers_only_whatever_the_context() -> None:
    """48 layers × 48 heads × 128 × 128 × 4 bytes, and 48 × 10,240 channels × 3 columns × 2 bytes."""
    model = load_model("qwen3.8-27b")
    short, long = (analyze(model, model.scenario(context=n)).kept for n in (1, 262_144))
    assert short.recurrent == long.recurrent == 48 * 48 * 128 * 128 * 4 == 150_994_944
    assert short.convolution == long.convolution == 48 * 10_240 * 3 * 2 == 2_949_120


def test_interval_without_layer_types() -> None:
    """Layers 3 and 7 attend. KV: 2 × 2 heads × 32 × 2 × 2 = 512. State: 6 × 4 × 16 × 16 × 4. Conv: 6 × 128 × 3 × 2."""
    a = analysis(QWEN_TINY)
    assert [i for i, kind in enumerate(mixers(a)) if kind == "attention"] == [3, 7]
    assert a.parameters.total == 400_720
    assert (a.kept.kv_per_position, a.kept.recurrent, a.kept.convolution) == (512, 24_576, 4_608)
    assert "layer_types is absent: every 4th layer is full attention" in a.assumptions


def test_operations_of_the_delta_rule() -> None:
    """1,024 state elements a layer (4 heads × 16 × 16): one decay multiply and three MACs each, in six layers."""
    a = analysis(QWEN_TINY)
    assert delta_work(a) == (6 * 3 * 1_024, 6 * 1_024) == (18_432, 6_144)
    model = load_model("qwen3.8-27b")
    big = analyze(model, model.scenario(context=7))
    elements = 48 * 48 * 128 * 128
    assert delta_work(big) == (3 * elements, elements) == (113_246_208, 37_748_736)
    assert big.traffic.state_read + big.traffic.state_write == 2 * 4 * elements == 301_989_888


def delta_work(a: Analysis) -> tuple[int, int]:
    """(MACs, multiplies that fade the memory) of all delta updates in a step."""
    macs = fades = 0
    for block, count in a.step.folded():
        for t in block.transforms:
            if t.kind == "delta update":
                macs += count * sum(op.counts.get("mac", 0) for op in t.ops)
                fades += count * sum(op.counts.get("multiply", 0) for op in t.ops if op.label == "decay S")
    return macs, fades


def test_slope_and_fixed_part_are_two_numbers() -> None:
    """Total = slope × n + fixed: the slope never contains the state, at one token or at 262,144."""
    model = load_model("qwen3.8-27b")
    for n in (1, 262_144):
        scenario = model.scenario(context=n)
        k = kept(analyze(model, scenario).step, scenario)
        assert k.kv == n * k.kv_per_position == n * 65_536
        assert k.recurrent + k.convolution == 150_994_944 + 2_949_120


def test_prediction_heads_are_left_out_and_named() -> None:
    """One extra prediction layer would add 4,096 bytes a token and 424,699,392 parameters; neither is counted."""
    model = load_model("qwen3.8-27b")
    a = analyze(model, model.scenario(context=10))
    assert a.kept.kv_per_position == 65_536
    assert a.parameters.total == 26_895_998_464
    assert "multi-token prediction heads (1) are left out" in a.assumptions


def test_block_list_without_layer_count() -> None:
    """Each block is one mixer. KV: 1 layer × 2 × 16 × 2 × 2 = 128. State: 4 heads × 16 × 16 × 4 = 4,096."""
    a = analysis(NEMOTRON)
    assert kinds(a) == ["mamba2", "moe", "attention", "moe"]
    assert a.parameters.total == 145_676
    assert (a.kept.kv_per_position, a.kept.recurrent) == (128, 4_096)
    assert a.kept.convolution == (4 * 16 + 2 * 2 * 16) * 3 * 2


def test_feed_forwards_of_two_matrices_square_their_relu() -> None:
    """Experts have up and down only: 2 × 64 × 32 each; the activation is relu, then its square."""
    a = analysis(NEMOTRON)
    block = next(b for b, _ in a.step.folded() if b.kind == "moe")
    assert {w.id for w in block.weights} == {
        "norm.weight", "router.weight", "up.weight", "down.weight", "shared_up.weight", "shared_down.weight",
    }  # fmt: skip
    assert [op.primitive for op in block.transform_by_id["act"].ops] == ["relu", "multiply"]


def test_pattern_string_and_block_list_are_one_model() -> None:
    pattern = {k: v for k, v in NEMOTRON.items() if k != "layers_block_type"} | {"hybrid_override_pattern": "ME*E"}
    assert model_from_text(json.dumps(pattern), "p").architecture.layers == (
        model_from_text(json.dumps(NEMOTRON), "l").architecture.layers
    )


def test_published_nemotron_blocks() -> None:
    a = analysis_of("nvidia-nemotron-3-nano-30b-a3b-bf16")
    found = kinds(a)
    assert (found.count("mamba2"), found.count("moe"), found.count("attention")) == (23, 23, 6)
    assert a.parameters.total == 31_577_937_344


def test_period_and_offset() -> None:
    """Attention at 4, experts at 1, 3, 5, 7. KV: 2 × 16 × 2 × 2. State: 7 layers × 128 channels × 16 × 4 bytes."""
    a = analysis(JAMBA)
    assert mixers(a) == ["mamba"] * 4 + ["attention"] + ["mamba"] * 3
    assert [k for k in kinds(a) if k not in ("mamba", "attention")] == ["ffn", "moe"] * 4
    assert a.parameters.total == 767_420
    assert (a.kept.kv_per_position, a.kept.recurrent) == (128, 7 * 128 * 16 * 4)


def test_published_jamba() -> None:
    a = analysis_of("ai21-jamba-mini-1.5")
    assert (a.parameters.total, a.kept.kv_per_position) == (51_570_323_328, 16_384)


def analysis_of(name: str) -> Analysis:
    model = load_model(name)
    return analyze(model, model.scenario(context=1_000))


# ------------------------------------------------------------------------------------------------ latent caches


def test_latent_cache() -> None:
    """4 layers × (16 latent + 8 turned) × 2 bytes: not twice for V, not times heads. Layer 0 is dense."""
    a = analysis(DEEPSEEK)
    assert a.parameters.total == 277_728
    assert a.kept.kv_per_position == 4 * (16 + 8) * 2 == 192
    assert kinds(a) == ["latent attention", "ffn"] + ["latent attention", "moe"] * 3


def test_null_query_rank_means_no_compression() -> None:
    """q: 64 × 24 + 24 + 24 × 96 becomes 64 × 96, in each of 4 layers: 4 × 2,280 more."""
    a = analysis(DEEPSEEK | {"q_lora_rank": None})
    assert a.parameters.total == 286_848 == 277_728 + 4 * (64 * 96 - (64 * 24 + 24 + 24 * 96))
    assert a.kept.kv_per_position == 192


def test_absent_query_rank_is_the_familys_default() -> None:
    a = analysis({k: v for k, v in DEEPSEEK.items() if k != "q_lora_rank"})
    assert "q_lora_rank is absent: 1536 assumed (the family's default)" in a.assumptions


@pytest.mark.parametrize(
    ("name", "parameters", "slope"),
    [
        ("deepseek-v3", 671_026_404_352, 70_272),
        ("deepseek-v2-lite", 15_706_484_224, 31_104),
        ("glm-5", 743_911_199_232, 109_824),
    ],
)
def test_published_latent_models(name: str, parameters: int, slope: int) -> None:
    """Layers × (512 + 64) × 2 bytes: 61, 27; GLM-5: 78 × (512 + 64 + 128 of the indexer) × 2."""
    a = analysis_of(name)
    assert (a.parameters.total, a.kept.kv_per_position) == (parameters, slope)


def test_absorbed_attention_work() -> None:
    """Per head: query into the latent 16 × 16, scores n × 24, mix n × 16, value out 16 × 16; 4 layers, 4 heads."""
    n = 65
    a = analysis(DEEPSEEK, context=n - 1)
    attention = 4 * 4 * (16 * 16 + n * 24 + n * 16 + 16 * 16)
    projections = 4 * (64 * 24 + 24 * 4 * 24 + 64 * 24 + 4 * 16 * 64)
    found = sum(
        count * op.counts.get("mac", 0) for b, count in a.step.folded() if b.kind == "latent attention" for op in b.ops
    )
    assert found == attention + projections


def test_the_indexer_bounds_what_attention_reads() -> None:
    """Read per layer: 65 indexer keys of 12, and 10 of the 65 entries of 24 values; 2 bytes each, 4 layers."""
    config = DEEPSEEK | {
        "model_type": "glm_moe_dsa", "index_topk": 10, "index_n_heads": 3, "index_head_dim": 12,
    }  # fmt: skip
    a = analysis(config, context=64)
    assert a.kept.kv_per_position == 4 * (24 + 12) * 2
    assert a.traffic.kv_read == 4 * (65 * 12 + 10 * 24) * 2
    assert a.exponentials["attention_softmax"] == 4 * 4 * 10
    near = analysis(config, context=5)
    assert near.traffic.kv_read == 4 * (6 * 12 + 6 * 24) * 2


def test_deepseek_v4_is_refused_with_the_key() -> None:
    with pytest.raises(ConfigError, match="hc_mult is 4: the residual stream is 4 streams"):
        analysis(DEEPSEEK | {"model_type": "deepseek_v4", "hc_mult": 4})


# ------------------------------------------------------------------------------------------------ routing


def test_total_and_active_are_both_given() -> None:
    """2 of 8 experts of 3 × 64 × 32 in three layers are active, and one embedding row of 256."""
    a = analysis(DEEPSEEK)
    idle = 3 * 6 * 3 * 64 * 32 + 255 * 64
    assert a.parameters.active == a.parameters.total - idle
    assert a.traffic.weights == 2 * a.parameters.active


def test_correction_bias_is_a_buffer() -> None:
    a = analysis(DEEPSEEK)
    block = next(b for b, _ in a.step.folded() if b.kind == "moe")
    assert [v.id for v in block.buffers] == ["router.correction"]
    assert "the router's correction biases are buffers and not counted as parameters" in a.assumptions


def test_groups_compete_before_experts() -> None:
    """Best two of each of 4 groups, their sum, the best 2 groups, then 2 experts of what is left."""
    a = analysis(DEEPSEEK | {"n_group": 4, "topk_group": 2, "norm_topk_prob": True, "routed_scaling_factor": 2.5})
    block = next(b for b, _ in a.step.folded() if b.kind == "moe")
    assert [op.label for op in block.transform_by_id["top_k"].ops] == [
        "+ correction", "best two of group", "sum of two", "select groups", "hide other groups", "select", "sum",
        "+ ε", "divide", "× 2.5",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "key"), [({"n_group": 3}, "n_group"), ({"n_group": 4, "topk_group": 5}, "topk_group")]
)
def test_groups_that_do_not_fit_are_named(change: dict[str, int], key: str) -> None:
    with pytest.raises(ConfigError, match=key):
        analysis(DEEPSEEK | change)


# ------------------------------------------------------------------------------------------------ 1-based lists


def test_kimi_layer_lists_count_from_one() -> None:
    """Layer 4 of 4 attends, the others keep 4 heads × 16 × 16 × 4 bytes and 3 × 64 channels × 3 columns × 2 bytes."""
    a = analysis(KIMI)
    assert mixers(a) == ["kimi delta"] * 3 + ["latent attention"]
    assert a.kept.kv_per_position == (16 + 8) * 2
    assert (a.kept.recurrent, a.kept.convolution) == (3 * 4 * 16 * 16 * 4, 3 * 3 * 64 * 3 * 2)


def test_kimi_lists_from_zero_are_refused() -> None:
    lists = KIMI["linear_attn_config"] | {"full_attn_layers": [3], "kda_layers": [0, 1, 2]}
    with pytest.raises(ConfigError, match="the lists count from 1"):
        analysis(KIMI | {"linear_attn_config": lists})


def test_published_kimi() -> None:
    """7 latent layers × 576 × 2; 20 delta layers × 32 heads × 128 × 128 × 4; × 3 × 4,096 channels × 3 columns × 2."""
    a = analysis_of("kimi-linear-48b-a3b-instruct")
    assert a.parameters.total == 49_122_675_072
    assert a.kept.kv_per_position == 7 * 576 * 2 == 8_064
    assert (a.kept.recurrent, a.kept.convolution) == (20 * 32 * 128 * 128 * 4, 20 * 3 * 4_096 * 3 * 2)


# ------------------------------------------------------------------------------------------------ state-space models


def test_native_mamba_config_is_recognised_without_a_model_type() -> None:
    """Vocabulary 50,277 padded to 50,288. State: 64 × 80 heads × 64 × 128 × 4; conv: 64 × 5,376 channels × 3 × 2."""
    a = analysis_of("mamba2-2.7b")
    assert a.parameters.total == 2_702_599_680
    assert (a.kept.kv_per_position, a.kept.recurrent) == (0, 64 * 80 * 64 * 128 * 4)
    assert a.kept.convolution == 64 * (80 * 64 + 2 * 128) * 3 * 2
    assert (
        "no model_type: read as the original Mamba format, recognised by d_model, n_layer and ssm_cfg" in a.assumptions
    )
    assert "the vocabulary of 50,277 is padded to 50,288, a multiple of 16" in a.assumptions


def test_adjusted_feed_forward_width() -> None:
    """int(2 · 12,288 / 3) = 8,192 is already a multiple of 256; 12,300 gives 8,200 and is rounded up to 8,448."""
    base = {"model_type": "lfm2", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4,
            "num_key_value_heads": 2, "vocab_size": 256, "layer_types": ["conv"]}  # fmt: skip
    for declared, width in ((12_288, 8_192), (12_300, 8_448)):
        outside = 256 * 64 + 64
        conv = 64 + 64 * 3 + 3 * 64 * 64 + 64 * 64
        a = analysis(base | {"intermediate_size": declared})
        assert a.parameters.total == outside + conv + 64 + 3 * 64 * width
    kept_as_is = analysis(base | {"intermediate_size": 12_300, "block_auto_adjust_ff_dim": False})
    assert kept_as_is.parameters.total == outside + conv + 64 + 3 * 64 * 12_300


def test_state_update_of_mamba2() -> None:
    """Per state element: one multiply to fade, one MAC to write, one MAC to read; per channel one MAC to skip."""
    a = analysis(NEMOTRON)
    block = next(b for b, _ in a.step.folded() if b.kind == "mamba2")
    scan = block.transform_by_id["scan"]
    elements, channels = 4 * 16 * 16, 4 * 16
    assert sum(op.counts.get("mac", 0) for op in scan.ops) == 2 * elements + channels
    assert sum(op.counts.get("multiply", 0) for op in scan.ops) == elements + channels


def test_mamba1_takes_one_exponential_per_state_element() -> None:
    """128 channels: 128 × 16 decays, 128 for the time step's softplus, 128 each for the two SiLUs."""
    a = analysis(JAMBA)
    block = next(b for b, _ in a.step.folded() if b.kind == "mamba")
    assert sum(op.counts.get("exp", 0) for op in block.ops) == 128 * 16 + 128 + 2 * 128


def test_time_step_limits_bind_several_positions_at_once_only() -> None:
    """The reference bounds dt in its chunked form, not in single steps."""
    model = model_from_text(json.dumps(NEMOTRON), "n")
    labels = []
    for positions in (1, 2):
        step = analyze(model, model.scenario(context=8, positions=positions)).step
        block = next(b for b, _ in step.folded() if b.kind == "mamba2")
        labels.append([op.label for op in block.transform_by_id["decay"].ops])
    assert labels[0] == ["+ dt_bias", "exp", "log1p", "× −exp(A_log)", "exp"]
    assert labels[1] == ["+ dt_bias", "exp", "log1p", "at least", "× −exp(A_log)", "exp"]


def test_falcon_h1_runs_both_mixers_side_by_side() -> None:
    a = analysis_of("falcon-h1-0.5b-instruct")
    assert set(mixers(a)) == {"mamba2|attention"}
    assert a.parameters.total == 521_411_104
    assert (a.kept.kv_per_position, a.kept.recurrent) == (36 * 2 * 64 * 2 * 2, 36 * 24 * 64 * 128 * 4)


def test_every_key_of_the_cases_is_accounted_for() -> None:
    for config in (QWEN_TINY, NEMOTRON, JAMBA, DEEPSEEK, KIMI):
        assert report(analysis(config))["unread_keys"] == []
