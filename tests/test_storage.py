"""Stored bytes against published file sizes, and which weights a declared quantisation converts."""

import json

import pytest

from tokenviz.analysis import analyze
from tokenviz.catalog import bundled_models, config_text, load_model, model_from_text
from tokenviz.formats import FORMATS, Quantization
from tokenviz.notation import ConfigError, TokenvizError, bytes_of
from tokenviz.scenario import Scenario
from tokenviz.storage import format_of, weight_bytes
from tokenviz.trace import trace

LLAMA = {
    "model_type": "llama", "hidden_size": 256, "intermediate_size": 384, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64, "vocab_size": 320, "tie_word_embeddings": False,
}  # fmt: skip


def test_a_declared_format_gives_the_published_file_size() -> None:
    # 24 layers x 32 experts x (5,760 + 2,880) x 2,880 values at 4.25 bits; the other 1,804,459,584 in bf16
    model = load_model("gpt-oss-20b")
    a = analyze(model, model.scenario(metadata=True))
    assert a.stored_weight_bytes == 19_110_297_600 * 17 // 32 + 1_804_459_584 * 2 == 13_761_264_768


def declared(config: dict[str, object] = LLAMA, **quantization: object) -> dict[str, str]:
    """Weight -> format in the second block of each kind."""
    model = model_from_text(json.dumps(config | {"quantization_config": quantization}), "test")
    scenario = model.scenario()
    step = trace(model.architecture, scenario)
    return {
        f"{ref.name}.{w.id}" if not w.scope else w.scope: format_of(step.blocks[ref.block], ref, w, scenario).name
        for ref in step.sequence
        for w in step.blocks[ref.block].weights
    }


def test_the_matrices_of_the_layers_are_converted_and_nothing_else() -> None:
    found = declared(quant_method="fp8", weight_block_size=[128, 128])
    converted = {name for name, form in found.items() if form == "fp8"}
    assert converted == {
        f"layers.{i}.{name}.weight"
        for i in (0, 1)
        for name in ("mixer.q", "mixer.k", "mixer.v", "mixer.out", "ffn.gate", "ffn.up", "ffn.down")
    }
    assert found["embedding"] == found["head"] == found["output.norm.weight"] == "bf16"


def test_modules_that_the_declaration_leaves_alone_stay() -> None:
    found = declared(quant_method="awq", bits=4, modules_to_not_convert=["self_attn", "model.layers.1.mlp"])
    assert {name for name, form in found.items() if form == "int4"} == {
        "layers.0.ffn.gate.weight", "layers.0.ffn.up.weight", "layers.0.ffn.down.weight",
    }  # fmt: skip


COHERE = {
    "model_type": "cohere", "hidden_size": 256, "intermediate_size": 384, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 320,
}  # fmt: skip
HYBRID = LLAMA | {
    "model_type": "qwen3_5_text", "num_hidden_layers": 4, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
    "linear_key_head_dim": 16, "linear_value_head_dim": 16, "linear_conv_kernel_dim": 4,
    "attn_output_gate": True, "full_attention_interval": 4,
}  # fmt: skip


@pytest.mark.parametrize(
    ("config", "kept", "stays"),
    [
        # side by side, in one block: attention stays, the feed-forward does not, and the other way round
        (COHERE, ["self_attn"], {f"layers.{i}.block.mixer.{w}" for i in (0, 1) for w in ["q", "k", "v", "out"]}),
        (COHERE, ["model.layers.1.mlp"], {f"layers.1.block.ffn.{w}" for w in ("gate", "up", "down")}),
        (COHERE, ["model.layers.0.self_attn.o_proj"], {"layers.0.block.mixer.out"}),
        (HYBRID, ["linear_attn"], {f"layers.{i}.mixer.{w}" for i in (0, 1, 2) for w in ["qkv", "z", "b", "a", "out"]}),
        (HYBRID, ["model.language_model.layers.1.linear_attn.in_proj_ba"], {"layers.1.mixer.b", "layers.1.mixer.a"}),
        (HYBRID, ["model.layers.3.self_attn.q_proj"], {"layers.3.mixer.q", "layers.3.mixer.gate"}),
        (LLAMA, ["model.layers.1.mlp.down_proj"], {"layers.1.ffn.down"}),
    ],
)  # fmt: skip
def test_kept_modules_have_their_published_names(config: dict[str, object], kept: list[str], stays: set[str]) -> None:
    every, some = (declared(config, quant_method="fp8", modules_to_not_convert=names) for names in ([], kept))
    converted, left = ({n for n, form in found.items() if form == "fp8"} for found in (every, some))
    assert converted - left == {f"{name}.weight" for name in stays}
    assert left < converted


def test_layers_told_apart_by_number_are_counted_apart() -> None:
    text = json.dumps(LLAMA | {"quantization_config": {"quant_method": "fp8", "ignore": ["model.layers.1"]}})
    model = model_from_text(text, "test")
    scenario = model.scenario(context=0)
    stored, _ = weight_bytes(trace(model.architecture, scenario), scenario)
    whole = analyze(model, model.scenario(context=0, weights="bf16")).stored_weight_bytes
    matrices = 256 * (256 + 128 + 128) + 256 * 256 + 3 * 256 * 384
    assert stored == whole - matrices  # one byte less for each value of one layer's matrices


def test_a_precision_that_a_person_chooses_replaces_the_declared_one() -> None:
    model = load_model("gpt-oss-20b")
    assert model.scenario().quantization == Quantization(
        layout=FORMATS["mxfp4"],
        kept=("model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"),
    )
    assert model.scenario(weights="bf16").quantization is None
    assert analyze(model, model.scenario(weights="bf16")).stored_weight_bytes == 2 * 20_914_757_184


def test_a_declaration_that_is_not_known_is_reported() -> None:
    text = json.dumps(LLAMA | {"quantization_config": {"quant_method": "homemade"}})
    architecture = model_from_text(text, "test").architecture
    assert architecture.quantization is None
    assert architecture.unread_keys == ("quantization_config",)


@pytest.mark.parametrize(
    "bad", [3, [], {"quant_method": "fp8", "ignore": "lm_head"}, {"quant_method": "fp8", "ignore": [1]}], ids=str
)
def test_a_declaration_of_the_wrong_kind_is_named(bad: object) -> None:
    with pytest.raises(ConfigError, match=r"quantization_config|modules_to_not_convert"):
        model_from_text(json.dumps(LLAMA | {"quantization_config": bad}), "test")


def readable() -> list[str]:
    names = []
    for name in bundled_models():
        try:
            load_model(name)
        except TokenvizError:
            continue
        names.append(name)
    return names


@pytest.mark.parametrize("name", readable())
def test_without_a_declaration_all_values_cost_the_same(name: str) -> None:
    model = load_model(name)
    a = analyze(model, model.scenario(weights="fp32", context=3))
    assert a.stored_weight_bytes == bytes_of(a.parameters.total, "fp32")
    assert a.traffic.weights == bytes_of(a.parameters.active, "fp32")


def test_precision_and_speed_do_not_change_the_graph() -> None:
    a = Scenario(context=5, weights="int4", kv="fp8", tokens_per_s=7.0, metadata=True)
    assert a.structure == Scenario(context=5)


def matrices_and_metadata(**quantization: object) -> int:
    """Bytes beyond the same model without metadata: scales, zero points and indices of one 2-layer Llama."""
    model = model_from_text(json.dumps(LLAMA | {"quantization_config": quantization}), "test")
    with_all, without = (analyze(model, model.scenario(metadata=m)).stored_weight_bytes for m in (True, False))
    return with_all - without


def test_declared_groups_blocks_and_indices_are_counted() -> None:
    # rows x inputs of each layer's matrices: q, k, v, out, gate, up, down
    shapes = [(256, 256), (128, 256), (128, 256), (256, 256), (384, 256), (384, 256), (256, 384)]
    layers = 2
    groups_of_64 = sum(rows * inputs // 64 for rows, inputs in shapes)
    assert matrices_and_metadata(quant_method="awq", bits=4, group_size=64) == layers * groups_of_64 * 20 // 8
    index = sum(inputs for _, inputs in shapes) * 4
    assert matrices_and_metadata(quant_method="gptq", bits=4, group_size=64) == layers * (
        groups_of_64 * 20 // 8 + index
    )
    rows_only = sum(rows for rows, _ in shapes)
    assert matrices_and_metadata(quant_method="gptq", bits=8, group_size=-1) == layers * (rows_only * 3 + index)
    blocks = sum((rows // 64) * (inputs // 32) for rows, inputs in shapes)
    assert matrices_and_metadata(quant_method="fp8", weight_block_size=[64, 32]) == layers * blocks * 4


def test_the_larger_gpt_oss_has_its_published_file_size_too() -> None:
    # the published file: experts in MXFP4 at 4.25 bits, everything else in bf16
    config = json.loads(config_text("gpt-oss-20b"))
    config |= {"num_hidden_layers": 36, "num_local_experts": 128, "layer_types": None}
    model = model_from_text(json.dumps(config), "gpt-oss-120b")
    assert analyze(model, model.scenario(metadata=True)).stored_weight_bytes == 65_248_815_744
