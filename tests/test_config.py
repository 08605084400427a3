"""Every key is read, irrelevant with a reason, or reported; bad input gets one sentence that names it."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import configs
from tokenviz.analysis import analyze
from tokenviz.catalog import load_model, model_from_text
from tokenviz.config import _KEYS_BY_REASON, IRRELEVANT, MAX_CONFIG_BYTES, TEXT_CONFIGS, parse
from tokenviz.families import FAMILIES
from tokenviz.families.common import family
from tokenviz.notation import ConfigError, ScenarioError, TokenvizError
from tokenviz.scenario import MAX_CONTEXT, Scenario

LLAMA = {
    "model_type": "llama", "hidden_size": 64, "intermediate_size": 172, "num_hidden_layers": 2,
    "num_attention_heads": 4, "vocab_size": 320, "tie_word_embeddings": False, "max_position_embeddings": 2048,
}  # fmt: skip


def load(**changes: Any) -> Any:
    config = {k: v for k, v in {**LLAMA, **changes}.items() if v is not ...}
    return model_from_text(json.dumps(config), "test")


def total(model: Any) -> int:
    return analyze(model, Scenario()).parameters.total


def test_absent_keys_with_a_family_default_are_assumptions() -> None:
    model = load()
    assert total(model) == 140_096  # head 16, as many K/V heads as heads
    assert any(a.startswith("head_dim is absent: 16 assumed") for a in model.architecture.assumptions)
    assert any(a.startswith("num_key_value_heads is absent: 4 assumed") for a in model.architecture.assumptions)


def test_null_is_absent() -> None:
    assert total(load(num_key_value_heads=None, head_dim=None)) == 140_096


def test_an_explicit_head_size_wins_over_the_quotient() -> None:
    body = load(head_dim=32).architecture.layers[0].sections[0].body
    assert (body.head_dim, body.kv_heads, body.group) == (32, 4, 1)


@pytest.mark.parametrize("path", TEXT_CONFIGS)
def test_nested_language_models_are_found_and_other_towers_are_not(path: tuple[str, ...]) -> None:
    config: Any = LLAMA
    for key in reversed(path):
        config = {key: config}
    config.update(model_type="some_vl", vision_config={"hidden_size": 9, "num_hidden_layers": 77})
    model = model_from_text(json.dumps(config), "test")
    assert total(model) == 140_096
    assert any(".".join(path) in a for a in model.architecture.assumptions)


def test_a_key_that_nobody_reads_is_reported() -> None:
    assert load(sparkle_factor=3, architectures=["X"]).architecture.unread_keys == ("sparkle_factor",)


def test_no_key_is_irrelevant_for_two_reasons() -> None:
    assert sum(len(keys.split()) for keys in _KEYS_BY_REASON.values()) == len(IRRELEVANT)


BAD = [
    ({"num_attention_heads": 3}, "hidden_size 64 is not a multiple of num_attention_heads 3"),
    ({"num_attention_heads": 4, "num_key_value_heads": 3}, "num_attention_heads 4 is not a multiple of"),
    ({"hidden_size": ...}, "hidden_size is missing"),
    ({"hidden_size": None}, "hidden_size is missing"),
    ({"hidden_size": "64"}, 'hidden_size is "64"; give a whole number'),
    ({"hidden_size": 64.5}, "hidden_size is 64.5; give a whole number"),
    ({"hidden_size": True}, "hidden_size is true; give a whole number"),
    ({"hidden_size": -64}, "hidden_size is -64; give a whole number from 1"),
    ({"hidden_size": 10**30}, "hidden_size is 1000"),
    ({"num_hidden_layers": 0}, "num_hidden_layers is 0"),
    ({"num_hidden_layers": 10**9}, "num_hidden_layers is 1000000000"),
    ({"vocab_size": [1]}, "vocab_size is [1]"),
    ({"hidden_act": "snake"}, "'snake'"),
    ({"hidden_act": 3}, "hidden_act is 3; give a text"),
    ({"rms_norm_eps": "x"}, 'rms_norm_eps is "x"; give a number'),
    ({"rope_theta": -1}, "rope_theta is -1"),
    ({"tie_word_embeddings": "yes"}, 'tie_word_embeddings is "yes"; give true or false'),
    ({"torch_dtype": "float9"}, "'float9'"),
    ({"rope_scaling": 3}, "rope_scaling is 3; give an object"),
    ({"model_type": "nonesuch"}, "model_type 'nonesuch' has no recipe here"),
    ({"model_type": 7}, "model_type is 7; give a text"),
    ({"model_type": ...}, "model_type is missing"),
]


@pytest.mark.parametrize(("changes", "sentence"), BAD)
def test_bad_values_are_named(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError) as error:
        analyze(load(**changes), Scenario(context=3))
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "this is not JSON"),
        ("{", "this is not JSON"),
        ("[1, 2]", "holds a list"),
        ('"x"', "holds a text"),
        ("3", "holds a number"),
        ("null", "holds null"),
        ('{"model_type": NaN}', "this is not JSON"),
        (b"\xff\xfe\x00", "not text"),
        ("[" * 100_000, "nested too deeply"),
        ("x" * (MAX_CONFIG_BYTES + 1), "a config.json has at most 5,000,000"),
    ],
)
def test_texts_that_are_no_config(text: str | bytes, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        parse(text)


def test_unknown_layer_kinds_are_named() -> None:
    config = {
        "model_type": "qwen3_5_text", "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 2,
        "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8, "linear_num_key_heads": 1,
        "linear_num_value_heads": 1, "linear_key_head_dim": 4, "linear_value_head_dim": 4, "linear_conv_kernel_dim": 4,
        "vocab_size": 9, "layer_types": ["linear_attention", "spooky_attention"],
    }  # fmt: skip
    with pytest.raises(ConfigError, match='layer_types contains "spooky_attention"; known: linear_attention'):
        model_from_text(json.dumps(config), "x")
    config["layer_types"] = ["linear_attention"]
    with pytest.raises(ConfigError, match="layer_types has 1 entries; give a list with one entry for each of the 2"):
        model_from_text(json.dumps(config), "x")


def test_an_unknown_model_type_is_answered_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"'qwen3_mo' has no recipe here; the nearest of \d+ known: qwen3_moe"):
        load(model_type="qwen3_mo")


def test_a_family_is_registered_once() -> None:
    with pytest.raises(ConfigError, match="'llama' is registered twice"):
        family("llama")(FAMILIES["llama"])


@pytest.mark.parametrize(
    ("field", "value"),
    [("context", -1), ("context", MAX_CONTEXT + 1), ("context", 1.5), ("context", True), ("positions", 0),
     ("output", "beam"), ("gate", "both"), ("weights", "fp7"), ("kv", ""), ("tokens_per_s", 0),
     ("tokens_per_s", float("nan"))],
)  # fmt: skip
def test_scenarios_outside_what_can_be_analysed_are_refused(field: str, value: object) -> None:
    with pytest.raises(ScenarioError) as error:
        Scenario(**{field: value})  # type: ignore[arg-type]
    assert field.split("_")[0] in str(error.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=150, deadline=None)
@given(configs(), st.data())
def test_whatever_replaces_a_value_there_is_a_model_or_a_sentence(config: dict[str, Any], data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(sorted(config)))
    config[key] = data.draw(JSON)
    sentence = ""
    try:
        analyze(model_from_text(json.dumps(config), "x"), Scenario(context=10))
    except TokenvizError as error:
        sentence = str(error)
    assert "\n" not in sentence
    assert len(sentence) < 400


def assumed(**changes: Any) -> tuple[str, ...]:
    model = load(**changes)
    return analyze(model, model.scenario(context=3)).assumptions


@pytest.mark.parametrize("size", ["x" * 9, 0, -2, 1.5, True, None], ids=repr)
def test_a_group_size_that_is_none_is_named(size: Any) -> None:
    with pytest.raises(ConfigError, match=r"group_size is .*; give a whole number above 0, or -1"):
        load(quantization_config={"quant_method": "awq", "bits": 4, "group_size": size})


@pytest.mark.parametrize("block", [128, [128], [128, 0], ["128", "128"], [True, 1]], ids=repr)
def test_a_block_size_that_is_none_is_named(block: Any) -> None:
    with pytest.raises(ConfigError, match=r"weight_block_size is .*; give two whole numbers"):
        load(quantization_config={"quant_method": "fp8", "weight_block_size": block})


@pytest.mark.parametrize(
    ("name", "convolution", "recurrent"),
    [("gpt2", False, False), ("lfm2-2.6b", True, False), ("qwen3.5-0.8b", True, True)],
)
def test_how_states_are_kept_is_said_of_models_that_have_them(name: str, convolution: bool, recurrent: bool) -> None:
    model = load_model(name)
    said = analyze(model, model.scenario()).assumptions
    assert ("convolution state keeps taps - 1 columns at activation precision" in said) == convolution
    assert ("recurrent state is fp32" in said) == recurrent
