"""Faults that people meet in tools like this one: the input, and the right answer.

B numbers are the cases' own. Conventions: batch 1, one new token, 2-byte keys and values, fp32 recurrent state; n is
how many positions are attended, the new one included. The totals were
counted from the reference implementation's classes.
"""

import json
from typing import Any

import pytest

from tokenviz.analysis import Analysis, analyze, report
from tokenviz.catalog import load_model, model_from_text
from tokenviz.config import parse
from tokenviz.families import FAMILIES, family, known, read_architecture
from tokenviz.families.common import TITLES
from tokenviz.graph import Op
from tokenviz.ledger import arithmetic
from tokenviz.notation import ConfigError
from tokenviz.prediction import prediction_heads

B01: dict[str, Any] = {
    "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "hidden_size": 64, "intermediate_size": 128,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32, "vocab_size": 256,
    "tie_word_embeddings": False, "max_position_embeddings": 4096,
}  # fmt: skip
B02: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64, "intermediate_size": 172,
    "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 320, "tie_word_embeddings": False,
    "max_position_embeddings": 2048,
}  # fmt: skip
B12: dict[str, Any] = {
    "architectures": ["Qwen3_5ForConditionalGeneration"], "model_type": "qwen3_5", "text_config": {
        "model_type": "qwen3_5_text", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 8,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32, "linear_num_key_heads": 2,
        "linear_num_value_heads": 4, "linear_key_head_dim": 16, "linear_value_head_dim": 16,
        "linear_conv_kernel_dim": 4, "vocab_size": 256, "tie_word_embeddings": False, "attn_output_gate": True,
        "full_attention_interval": 4,
    },
}  # fmt: skip


def at(config: dict[str, Any], n: int = 64) -> Analysis:
    """The analysis of a config whose step attends to n positions, the new one included."""
    model = model_from_text(json.dumps(config), "pasted")
    return analyze(model, model.scenario(context=n - 1))


def bundled(name: str, n: int = 262_144) -> Analysis:
    model = load_model(name)
    return analyze(model, model.scenario(context=n - 1))


# ------------------------------------------------------------------------------------------------ A. head geometry


def test_b01_the_explicit_head_size_wins() -> None:
    a = at(B01)
    assert (a.parameters.total, a.kept.kv_per_position) == (131_520, 512)  # 2 layers · 2 · 2 heads · 32 · 2 bytes
    assert not [s for s in a.assumptions if "head" in s]  # 4 · 32 is not 64, and that is legal


@pytest.mark.parametrize("nulls", [{}, {"num_key_value_heads": None, "head_dim": None}], ids=["B02", "B03"])
def test_b02_b03_absent_and_null_head_keys_have_defaults(nulls: dict[str, None]) -> None:
    a = at({**B02, **nulls})
    assert (a.parameters.total, a.kept.kv_per_position) == (140_096, 512)  # 2 layers · 2 · 4 heads · 16 · 2 bytes
    assert "num_key_value_heads is absent: 4 assumed (as many as query heads)" in a.assumptions
    assert "head_dim is absent: 16 assumed (hidden_size / num_attention_heads)" in a.assumptions


def test_b04_a_head_smaller_than_the_quotient() -> None:
    a = at({
        "model_type": "mistral", "architectures": ["MistralForCausalLM"], "hidden_size": 80, "intermediate_size": 128,
        "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 256,
        "sliding_window": None, "tie_word_embeddings": False,
    })  # fmt: skip
    assert (a.parameters.total, a.kept.kv_per_position, a.kept.window_per_position) == (133_520, 256, 0)


def test_b04_a_published_model_with_a_head_smaller_than_the_quotient() -> None:
    a = bundled("mistral-nemo-instruct-2407")
    assert (a.parameters.total, a.kept.kv_per_position) == (12_247_782_400, 163_840)


def test_b06_old_names() -> None:
    a = at({
        "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": 768, "n_layer": 12, "n_head": 12,
        "n_positions": 1024, "vocab_size": 50257,
    })  # fmt: skip
    assert (a.parameters.total, a.kept.kv_per_position) == (124_439_808, 36_864)


def test_b06_one_key_value_head_for_all() -> None:
    a = at({
        "model_type": "gpt_bigcode", "architectures": ["GPTBigCodeForCausalLM"], "n_embd": 2048, "n_layer": 24,
        "n_head": 16, "n_positions": 8192, "multi_query": True, "vocab_size": 49280,
    }, n=8193)  # fmt: skip
    assert (a.parameters.total, a.kept.kv_per_position, a.kept.kv) == (1_137_469_440, 12_288, 100_663_296)


@pytest.mark.parametrize(("change", "size"), [({}, 128), ({"head_dim": None}, 16)], ids=["absent", "null"])
def test_a_family_may_have_a_head_size_of_its_own(change: dict[str, Any], size: int) -> None:
    """The config class of this family supplies 128 for an absent key and the quotient for null."""
    a = at({**{k: v for k, v in B01.items() if k != "head_dim"}, **change})
    assert a.kept.kv_per_position == 2 * 2 * 2 * size * 2
    assert any(s.startswith(f"head_dim is absent: {size} assumed") for s in a.assumptions)


# ------------------------------------------------------------------------------------------------ B. hybrids


def test_b10_only_full_attention_layers_have_a_growing_cache() -> None:
    a = bundled("qwen3.8-27b", n=262_145)
    assert a.kept.kv_per_position == 16 * 4 * 256 * 2 * 2 == 65_536
    assert a.kept.kv == 65_536 * 262_144 == 17_179_869_184


def test_b11_the_fixed_state_is_counted_once_for_each_layer_that_has_it() -> None:
    for n in (2, 262_144):
        a = bundled("qwen3.8-27b", n=n)
        assert a.kept.recurrent == 48 * 48 * 128 * 128 * 4 == 150_994_944
        assert a.kept.convolution == 48 * 10_240 * 3 * 2 == 2_949_120  # twice that in fp32


def test_b12_an_interval_without_layer_types() -> None:
    a = at(B12)
    kinds = [kind for layer in a.model.architecture.layers for kind in (type(layer.sections[0].body).__name__,)]
    assert [i for i, kind in enumerate(kinds) if kind == "GQA"] == [3, 7]
    assert (a.parameters.total, a.kept.kv_per_position) == (400_720, 512)
    assert (a.kept.recurrent, a.kept.convolution) == (24_576, 4_608)  # 128 channels · 6 layers · 3 taps · 2 bytes


@pytest.mark.parametrize(
    ("config", "layers", "elements"), [(B12, 6, 4 * 16 * 16), (None, 48, 48 * 128 * 128)], ids=["small", "27B"]
)
@pytest.mark.parametrize("n", [2, 64, 5_000])
def test_b20_the_operations_of_a_delta_step(config: dict[str, Any] | None, layers: int, elements: int, n: int) -> None:
    """Decay, read at k, rank-1 update, read at q: each touches every element of the state once, whatever n is."""
    a = at(config, n) if config else bundled("qwen3.8-27b", n)
    block = a.step.blocks[next(ref.block for ref in a.step.sequence if ref.block.startswith("deltanet"))]
    delta = block.transform_by_id["delta"].ops
    state = [op for op in delta if block.values[op.result].dtype == "recurrent" or "products" in op.label]
    macs = sum(op.counts.get("mac", 0) for op in delta)
    decays = [op.counts["multiply"] for op in state if op.label == "decay S"]
    assert (macs, decays) == (3 * elements, [elements])
    assert a.traffic.state_read + a.traffic.state_write == layers * elements * 4 * 2


def test_b20_the_published_figures() -> None:
    assert 48 * 3 * 48 * 128 * 128 == 113_246_208
    assert bundled("qwen3.8-27b").traffic.state_read * 2 == 301_989_888


def test_b21_slope_and_fixed_part_are_two_numbers() -> None:
    near, far = bundled("qwen3.8-27b", n=2), bundled("qwen3.8-27b", n=262_144)
    assert near.kept.kv_per_position == far.kept.kv_per_position == 65_536
    assert near.kept.recurrent == far.kept.recurrent
    assert near.kept.convolution == far.kept.convolution


def test_b22_a_prediction_head_is_one_more_cache_layer_and_is_off_by_default() -> None:
    a = bundled("qwen3.8-27b")
    added = prediction_heads(a.model.architecture, a.scenario)
    assert a.kept.kv_per_position == 65_536
    assert a.kept.kv_per_position + added.kv_bytes_per_position == 69_632
    assert added.parameters == 424_699_392
    assert "multi-token prediction heads (1) are left out" in a.assumptions


def test_b22_the_toggle_changes_parameters_cache_and_stored_bytes_and_no_work() -> None:
    model = load_model("qwen3.8-27b")
    off, on = (analyze(model, model.scenario(context=100, prediction=flag)) for flag in (False, True))
    assert (off.kept.kv_per_position, on.kept.kv_per_position) == (65_536, 69_632)
    assert on.kept.kv - off.kept.kv == 100 * 4_096
    assert on.parameters.total - off.parameters.total == 424_699_392
    assert on.stored_weight_bytes - off.stored_weight_bytes == 424_699_392 // 2  # int4
    assert (on.traffic, on.arithmetic, on.parameters.active) == (off.traffic, off.arithmetic, off.parameters.active)
    assert [s for s in on.assumptions if "prediction heads" in s] == [
        "multi-token prediction heads are loaded: stored and kept bytes include theirs, the step does not run them"
    ]


# ------------------------------------------------------------------------------------------------ C. windows


B23: dict[str, Any] = {
    "architectures": ["GptOssForCausalLM"], "model_type": "gpt_oss", "hidden_size": 64, "intermediate_size": 48,
    "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32, "num_local_experts": 4,
    "num_experts_per_tok": 2, "sliding_window": 16, "layer_types": ["sliding_attention", "full_attention"] * 2,
    "vocab_size": 256, "attention_bias": True, "tie_word_embeddings": False,
}  # fmt: skip


def test_b23_what_a_step_reads_and_what_stays() -> None:
    a = at(B23, n=64)
    per_position = 2 * 2 * 32 * 2  # keys and values · heads · size · bytes
    assert a.parameters.total == 284_000
    assert a.traffic.kv_read == 2 * (16 + 64) * per_position == 40_960
    after = at(B23, n=65)  # once the new position is kept
    assert after.kept.kv + after.kept.window == 2 * (15 + 64) * per_position == 40_448
    found = report(after)  # with whole pages reserved for the windowed layers too
    assert after.kept.kv + found["kv_window_reserved_bytes"] == 4 * 64 * per_position == 65_536


def test_b23_a_published_model_at_4096() -> None:
    a = bundled("gpt-oss-20b", n=4096)
    assert a.traffic.kv_read == 12 * 2048 * (128 + 4096) == 103_809_024
    assert 24 * 2048 * 4096 == 192 * 2**20  # with a full cache in every layer
    assert a.traffic.kv_read // 2**20 == 99


def test_b25_two_head_geometries_in_one_model() -> None:
    a = at({
        "model_type": "gemma4_text", "architectures": ["Gemma4ForCausalLM"], "hidden_size": 64, "intermediate_size": 96,
        "num_hidden_layers": 6, "num_attention_heads": 4, "num_key_value_heads": 2, "num_global_key_value_heads": 1,
        "head_dim": 16, "global_head_dim": 32, "attention_k_eq_v": True,
        "layer_types": ["sliding_attention"] * 5 + ["full_attention"], "sliding_window": 16, "vocab_size": 256,
        "vocab_size_per_layer_input": 256, "hidden_size_per_layer_input": 0, "num_kv_shared_layers": 0,
        "enable_moe_block": False, "tie_word_embeddings": True,
    })  # fmt: skip
    assert a.parameters.total == 208_672
    assert a.traffic.kv_read == 5 * 16 * 128 + 64 * 128 == 18_432  # keys and values are one projection, two caches


@pytest.mark.parametrize("n", [1, 8_192, 8_193, 200_001])
def test_a_chunked_layer_reads_its_chunk_and_keeps_a_window(n: int) -> None:
    """36 layers read back to the last multiple of 8,192, 12 read everything; each keeps 4,096 bytes a position."""
    a = bundled("llama-4-scout-17b-16e-instruct", n=n)
    assert a.traffic.kv_read == 4_096 * (36 * ((n - 1) % 8_192 + 1) + 12 * n)
    assert a.kept.window == 4_096 * 36 * min(n - 1, 8_191)


# ------------------------------------------------------------------------------------------------ E. experts


def test_b35_total_and_active() -> None:
    p = bundled("mixtral-8x7b-v0.1").parameters
    assert p.total == 46_702_792_704
    assert p.active + p.embedding - 4096 == 12_879_925_248  # the table counted in full


GPT_OSS_120B = {"num_hidden_layers": 36, "num_local_experts": 128, "layer_types": None}


@pytest.mark.parametrize(
    ("changes", "with_table", "without"),
    [({}, 4_187_440_704, 3_608_307_264), (GPT_OSS_120B, 5_711_982_912, 5_132_849_472)],
    ids=["20b", "120b"],
)
def test_b36_active_with_and_without_the_embedding_table(
    changes: dict[str, Any], with_table: int, without: int
) -> None:
    from tokenviz.catalog import data_dir

    published = json.loads((data_dir() / "configs" / "openai__gpt-oss-20b.json").read_text())
    p = at({**published, **changes}).parameters
    assert p.active == without + 2880  # one row of the table is read
    assert p.active - 2880 + p.embedding == with_table


def test_b36_the_largest() -> None:
    p = bundled("qwen3.8-2.4t-a95b").parameters
    assert p.active == 93_253_629_312 + 8192
    assert 93_253_629_312 + p.embedding == 95_287_866_752


def test_b37_which_layers_are_sparse() -> None:
    a = at({
        "model_type": "qwen3_moe", "architectures": ["Qwen3MoeForCausalLM"], "hidden_size": 64,
        "intermediate_size": 192, "moe_intermediate_size": 32, "num_hidden_layers": 4, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 32, "num_experts": 8, "num_experts_per_tok": 2, "decoder_sparse_step": 2,
        "mlp_only_layers": [3], "vocab_size": 256, "tie_word_embeddings": False,
    })  # fmt: skip
    bodies = [type(layer.sections[1].body).__name__ for layer in a.model.architecture.layers]
    assert bodies == ["DenseFFN", "MoE", "DenseFFN", "DenseFFN"]
    assert a.parameters.total == 292_160
    assert (
        a.parameters.total - a.parameters.active == 256 * 64 - 64 + 6 * 3 * 64 * 32
    )  # table but a row, 6 of 8 experts


# ------------------------------------------------------------------------------------------------ F. arithmetic


def test_b41_tied_embeddings_are_one_weight_with_two_readers() -> None:
    tied, apart = at({**B01, "tie_word_embeddings": True}), at(B01)
    assert (tied.parameters.total, apart.parameters.total) == (115_136, 131_520)
    assert arithmetic(tied.step)["mac"] == arithmetic(apart.step)["mac"]  # scoring costs 16,384 MACs either way
    ends = (tied.step.blocks["lookup"], tied.step.blocks[tied.step.sequence[-1].block])
    assert [[w.scope for w in block.weights if w.scope == "embedding"] for block in ends] == [["embedding"]] * 2


def test_b41_a_published_tied_model() -> None:
    p = bundled("qwen3-0.6b").parameters
    assert (p.total, p.total + p.embedding) == (596_049_920, 751_632_384)


def test_b43_macs_of_one_token() -> None:
    a = at({**B01, "tie_word_embeddings": True}, n=64)
    attention = 2 * 2 * 4 * 32 * 64  # layers · (scores, mix) · heads · size · positions
    # 98,304 weights of the layers' matrices, 16,384 of the table as output scores
    assert a.arithmetic["mac"] == 98_304 + 16_384 + attention == 147_456
    assert sum(op.counts.get("mac", 0) for op in a.step.blocks["lookup"].ops) == 0
    softmax, silu, output = 2 * 4 * 64, 2 * 128, 256
    assert a.arithmetic["exp"] == softmax + silu + output
    assert a.exponentials["attention_softmax"] == softmax == 512


@pytest.mark.parametrize(
    ("name", "text", "heads", "file_bytes"),
    [
        ("qwen3.8-27b", 26_895_998_464, 424_699_392, 55_562_855_904 - 2 * 460_730_096),
        ("qwen3.8-2.4t-a95b", 2_419_804_697_984, 26_378_027_520, 4_892_365_451_008),
    ],
)
def test_b44_totals_against_the_published_files(name: str, text: int, heads: int, file_bytes: int) -> None:
    """Two bytes each for the text model and its prediction head (and, in the 27B's file, a vision tower)."""
    a = bundled(name)
    added = prediction_heads(a.model.architecture, a.scenario).parameters
    assert (a.parameters.total, added) == (text, heads)
    assert 2 * (text + heads) == file_bytes


# ------------------------------------------------------------------------------------------------ G. parsing

VISION = {"hidden_size": 999, "num_hidden_layers": 99, "num_attention_heads": 9, "intermediate_size": 999}
NESTED = {
    "text_config": {"text_config": B01}, "llm_config": {"llm_config": B01}, "language_config": {"language_config": B01},
    "thinker_config.text_config": {"thinker_config": {"text_config": B01}},
}  # fmt: skip


@pytest.mark.parametrize("path", NESTED)
def test_b47_nested_text_models(path: str) -> None:
    a = at({"model_type": "some_vl", "vision_config": VISION, **NESTED[path]})
    assert (a.parameters.total, a.kept.kv_per_position) == (131_520, 512)
    assert f"the language model is read from {path}; other towers are left out" in a.assumptions


def test_b47_an_outer_type_equal_to_the_text_type() -> None:
    text = {**B01, "model_type": "ministral3"}
    outer = {"model_type": "ministral3", "architectures": ["Mistral3ForConditionalGeneration"]}
    nested, alone = at({**outer, "vision_config": VISION, "text_config": text}), at(text)
    assert nested.parameters == alone.parameters


YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024}
LLAMA3 = {
    "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 1024,
}  # fmt: skip
LONGROPE = {"rope_type": "longrope", "short_factor": [1.0] * 16, "long_factor": [4.0] * 16}
PER_KIND = {
    "full_attention": {"rope_type": "default", "rope_theta": 1e6},
    "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
}


@pytest.mark.parametrize(
    "change",
    [
        {"torch_dtype": "bfloat16"}, {"dtype": "float16"}, {}, {"rope_scaling": None},
        {"rope_scaling": {"type": "linear", "factor": 2}}, {"rope_scaling": YARN}, {"rope_scaling": LLAMA3},
        {"rope_scaling": LONGROPE}, {"rope_parameters": PER_KIND},
        {"rope_scaling": {"rope_type": "default", "mrope_section": [4, 6, 6]}},
        {"rope_scaling": {"rope_type": "something new"}},
        *({"max_position_embeddings": None, key: 2048} for key in
          ("n_positions", "seq_length", "model_max_length", "max_seq_len")),
        {"max_position_embeddings": None},
    ],
    ids=lambda change: "-".join(map(str, change)) or "nothing",
)  # fmt: skip
def test_b48_spellings_change_no_count(change: dict[str, Any]) -> None:
    a = at({**B01, **change})
    assert (a.parameters.total, a.kept.kv_per_position) == (131_520, 512)
    assert a.model.architecture.unread_keys == ()
    stated = 'dtype is absent: "bfloat16" assumed (no precision declared)' in a.assumptions
    assert stated == (not {"dtype", "torch_dtype"} & set(change))


@pytest.mark.parametrize("key", ["n_positions", "seq_length", "model_max_length", "max_seq_len"])
def test_b48_the_declared_length_has_many_names(key: str) -> None:
    assert at({**B01, "max_position_embeddings": None, key: 2048}).model.architecture.max_positions == 2048


def rope_multiplies(a: Analysis) -> int:
    ops: list[Op] = [op for b in a.step.blocks.values() for t in b.transforms if t.kind == "RoPE" for op in t.ops]
    return sum(op.counts.get("multiply", 0) for op in ops)


def test_b48_a_partial_rotation_turns_fewer_coordinates() -> None:
    whole, quarter = at(B01), at({**B01, "partial_rotary_factor": 0.25})
    assert rope_multiplies(whole) == 4 * rope_multiplies(quarter) > 0
    assert whole.kept == quarter.kept


def test_b48_layers_without_rotation_have_none() -> None:
    """no_rope_layers holds 0 for the layers that are not turned."""
    config = {**B02, "model_type": "smollm3", "num_key_value_heads": 2, "no_rope_layers": [1, 0]}
    a = at(config)
    turned = ["RoPE" in {t.kind for t in a.step.blocks[ref.block].transforms} for ref in a.step.sequence]
    mixers = [flag for flag, ref in zip(turned, a.step.sequence, strict=True) if ref.section == "mixer"]
    assert mixers == [True, False]


def test_published_and_converted_spellings_of_one_model_agree() -> None:
    """Flags instead of layer kinds, a window that leaves the current position out, RoPE bases side by side."""
    shapes = {
        "model_type": "mimo_v2_flash", "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 3,
        "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 24, "v_head_dim": 16, "n_routed_experts": 4,
        "num_experts_per_tok": 2, "moe_intermediate_size": 32, "vocab_size": 256,
    }  # fmt: skip
    published = {
        **shapes, "hybrid_layer_pattern": [0, 1, 1], "moe_layer_freq": [0, 1, 1], "sliding_window_size": 8,
        "swa_num_key_value_heads": 2, "rope_theta": 5e6, "swa_rope_theta": 1e4, "partial_rotary_factor": 0.334,
    }  # fmt: skip
    converted = {
        **shapes, "layer_types": ["full_attention", "sliding_attention", "sliding_attention"], "sliding_window": 9,
        "mlp_layer_types": ["dense", "sparse", "sparse"], "rope_parameters": {
            "full_attention": {"rope_type": "default", "rope_theta": 5e6, "partial_rotary_factor": 0.334},
            "sliding_attention": {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.334},
        },
    }  # fmt: skip
    a, b = at(published), at(converted)
    assert a.model.architecture.layers == b.model.architecture.layers
    assert a.kept.window == 2 * 8 * 2 * (24 + 16) * 2  # layers · kept positions · heads · key and value · bytes


# ------------------------------------------------------------------------------------------------ families


def test_a_family_that_reuses_mechanisms_takes_one_function() -> None:
    from tokenviz.families.common import assemble, gated_ffn, gqa, head_geometry, layer, layer_count, rms
    from tokenviz.families.rope import rope

    name = "a_new_decoder"
    try:

        @family(name, title="New")
        def adapter(c: Any) -> Any:
            geometry = head_geometry(c)
            mixer = gqa(*geometry, rope=rope(c, geometry[2]))
            return assemble(c, (layer(rms(c), mixer, gated_ffn(c)),) * layer_count(c), rms(c), tied_default=False)

        assert at({**B02, "model_type": name}).parameters.total == 140_096
        assert known()[name] == "New"
        with pytest.raises(ConfigError, match="registered twice"):
            family(name)(adapter)
    finally:
        FAMILIES.pop(name, None)
        TITLES.pop(name, None)


def test_every_registered_type_has_a_title() -> None:
    assert set(known()) == set(FAMILIES)
    assert all(known().values())


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_an_empty_config_of_every_family_names_a_missing_key(name: str) -> None:
    with pytest.raises(ConfigError, match=r"missing|hc_mult"):
        read_architecture(parse(json.dumps({"model_type": name})))
