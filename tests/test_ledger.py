"""Counts read off the graph against closed forms that never see one."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests import oracles
from tests.strategies import models
from tokenviz.catalog import Model, load_model, model_from_text
from tokenviz.graph import COUNTERS
from tokenviz.ledger import arithmetic, block_counts, classes, exponentials, sub_operations
from tokenviz.scenario import Scenario
from tokenviz.schedule import expand, summarise
from tokenviz.trace import trace
from tokenviz.traffic import kept, parameters


@settings(max_examples=60, deadline=None)
@given(models(), st.integers(0, 100_000_000))
def test_closed_forms(model: Model, context: int) -> None:
    a = model.architecture
    scenario = Scenario(context=context)
    step = trace(a, scenario)
    counts = arithmetic(step)
    assert counts["mac"] == oracles.macs(a, context)
    assert counts["exp"] == oracles.exponentials(a, context) == sum(exponentials(step).values())
    assert parameters(step, a.tied).total == oracles.parameters(a)
    state = kept(step, scenario)
    assert state.kv_per_position == oracles.kv_bytes_per_position(a)
    assert state.kv == context * state.kv_per_position
    assert (state.recurrent, state.convolution) == oracles.fixed_state_bytes(a)


@settings(max_examples=30, deadline=None)
@given(models())
def test_every_grouping_adds_up(model: Model) -> None:
    step = trace(model.architecture, Scenario(context=7))
    operations = summarise(step).operations
    assert sum(classes(step).values()) == operations == sum(sub_operations(step).values())
    total = dict.fromkeys(COUNTERS, 0)
    for placed in expand(step):
        for name, n in placed.op.counts.items():
            total[name] += n
    assert total == arithmetic(step)


@settings(max_examples=30, deadline=None)
@given(models(), st.integers(0, 1000), st.integers(1, 1000))
def test_counts_are_affine_in_the_context(model: Model, context: int, more: int) -> None:
    a = model.architecture
    at, after = (arithmetic(trace(a, Scenario(context=c))) for c in (context, context + more))
    one_more = arithmetic(trace(a, Scenario(context=context + 1)))
    assert all(after[c] - at[c] == more * (one_more[c] - at[c]) for c in COUNTERS)


def test_one_gated_delta_step_by_hand() -> None:
    # 4 heads of a 16 x 16 state: 1,024 elements, six such layers
    config = """{"architectures":["Qwen3_5ForConditionalGeneration"],"model_type":"qwen3_5","text_config":{
        "model_type":"qwen3_5_text","hidden_size":64,"intermediate_size":128,"num_hidden_layers":8,
        "num_attention_heads":4,"num_key_value_heads":2,"head_dim":32,"linear_num_key_heads":2,
        "linear_num_value_heads":4,"linear_key_head_dim":16,"linear_value_head_dim":16,"linear_conv_kernel_dim":4,
        "vocab_size":256,"tie_word_embeddings":false,"attn_output_gate":true,"full_attention_interval":4}}"""
    model = model_from_text(config, "small")
    step = trace(model.architecture, Scenario(context=63))
    delta = next(b for b in step.blocks.values() if b.kind == "deltanet")
    ops = {op.label: op.counts for op in delta.transform_by_id["delta"].ops}
    assert ops["decay S"] == {"multiply": 1_024}
    assert ops["Sᵀk products"] == ops["k outer"] == ops["Sᵀq products"] == {"mac": 1_024}
    layers = sum(n for b, n in step.folded() if b.kind == "deltanet")
    assert layers * 3 * 1_024 == 18_432
    assert layers * 1_024 == 6_144


def test_state_traffic_and_arithmetic_of_the_27b_model() -> None:
    model = load_model("qwen3.8-27b")
    step = trace(model.architecture, model.scenario())
    delta = [(b, n) for b, n in step.folded() if b.kind == "deltanet"]
    macs = sum(n * sum(op.counts.get("mac", 0) for op in b.transform_by_id["delta"].ops) for b, n in delta)
    decays = sum(n * b.transform_by_id["delta"].ops[0].counts["multiply"] for b, n in delta)
    # 48 layers x 48 heads x 128 x 128 elements: three MACs and one multiply each
    assert (macs, decays) == (113_246_208, 37_748_736)


def test_a_dense_model_by_hand() -> None:
    # Qwen3-style numbers on a Llama: 2 layers, d 64, 4/2 heads of 32, f 128, V 256, tied; 64 positions attended
    config = """{"model_type":"llama","hidden_size":64,"intermediate_size":128,"num_hidden_layers":2,
        "num_attention_heads":4,"num_key_value_heads":2,"head_dim":32,"vocab_size":256,"tie_word_embeddings":true}"""
    model = model_from_text(config, "small")
    counts = arithmetic(trace(model.architecture, Scenario(context=63, output="greedy")))
    weights = 2 * (64 * (128 + 64 + 64) + 128 * 64 + 3 * 64 * 128)
    assert weights == 98_304
    # head 16,384; scores and mix 2 x 2 layers x 4 heads x 32 x 64 positions
    assert counts["mac"] == 98_304 + 16_384 + 32_768 == 147_456
    # softmax 2 x 4 x 64, SiLU 2 x 128
    assert counts["exp"] == 512 + 256


def test_block_counts_list_every_counter() -> None:
    model = load_model("qwen3.5-0.8b")
    step = trace(model.architecture, model.scenario())
    assert all(tuple(block_counts(b)) == COUNTERS for b in step.blocks.values())
