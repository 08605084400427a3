"""Hand-offs against numbers derived by hand, an oracle that pushes element ids through the wires, and in sum."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles_handoffs import delivered
from tests.strategies import BASE, models
from tokenviz.catalog import PROFILES, load_model, model_from_text
from tokenviz.graph import DecodeStep, Lifetime
from tokenviz.handoffs import arrow_bytes, chains, find_chain, handoffs, in_bytes
from tokenviz.handoffs_block import block_arrows
from tokenviz.notation import ScenarioError
from tokenviz.scenario import Scenario
from tokenviz.trace import trace, traced

# Two layers: DeltaNet, then attention, each with a dense feed-forward. D 8, V 10, F 6; attention K 1, G 2, H 4 (2 of
# them turned), 7 cached positions (S = 8); DeltaNet J 1, U 2, P 3, Q 5, C 4, so channels = 2·1·3 + 2·5 = 16.
SMALL = {
    **BASE, "model_type": "qwen3_5_text", "hidden_size": 8, "num_hidden_layers": 2, "vocab_size": 10,
    "intermediate_size": 6, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 4,
    "tie_word_embeddings": False, "linear_num_key_heads": 1, "linear_num_value_heads": 2, "linear_key_head_dim": 3,
    "linear_value_head_dim": 5, "linear_conv_kernel_dim": 4, "full_attention_interval": 2,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5},
}  # fmt: skip


def small_step(**changes: object) -> DecodeStep:
    model = model_from_text(json.dumps({**SMALL, **changes}), "small")
    return trace(model.architecture, model.scenario(context=7))


def table(step: DecodeStep, chain: str, grouping: str = "stages") -> dict[tuple[str, str, bool], int]:
    return {(a.source, a.target, a.retained): a.values for a in handoffs(step, chain, grouping).arrows}


def test_feed_forward_arrows_are_these_and_no_others() -> None:
    n = 2  # layers with a feed-forward
    expected = {
        ("norm.multiply", "norm.mean"): 8 * n,  # the reduction takes the vector
        ("norm.mean", "norm.add"): 1 * n,  # and hands on one value
        ("norm.add", "norm.rsqrt"): 1 * n,
        ("norm.rsqrt", "norm.multiply2"): 1 * n,  # a scalar counts once, before it is broadcast over D
        ("norm.multiply2", "norm.multiply3"): 8 * n,
        ("norm.multiply3", "gate.products"): 8 * n,  # a branch pays once for each consumer
        ("norm.multiply3", "up.products"): 8 * n,
        ("gate.products", "act.negate"): 6 * n,  # a dot product hands on one value: F rows
        ("gate.products", "act.multiply"): 6 * n,
        ("act.negate", "act.exp"): 6 * n,
        ("act.exp", "act.add"): 6 * n,
        ("act.add", "act.reciprocal"): 6 * n,
        ("act.reciprocal", "act.multiply"): 6 * n,
        ("act.multiply", "act.multiply2"): 6 * n,
        ("up.products", "act.multiply2"): 6 * n,
        ("act.multiply2", "down.products"): 6 * n,
        ("down.products", "residual.add"): 8 * n,
    }
    assert table(small_step(), "ffn") == {(f"ffn/{a}", f"ffn/{b}", False): v for (a, b), v in expected.items()}


def test_attention_hands_on_the_new_key_and_reads_the_kept_ones_dashed() -> None:
    found = table(small_step(), "attention")
    into = {(a, retained): v for (a, b, retained), v in found.items() if b == "attention/scores.products"}
    assert into == {
        ("attention/q_rope.add", False): 2 * 2,  # N · turned coordinates
        ("attention/q_norm.multiply3", False): 2 * 2,  # N · the coordinates that RoPE leaves alone
        ("attention/k_rope.add", False): 2,
        ("attention/k_norm.multiply3", False): 2,
        ("attention/K_append.append", True): 7 * 4,  # cached · H
    }
    assert found["attention/v.products", "attention/mix.products", False] == 4  # the new value: K · H
    assert found["attention/V_append.append", "attention/mix.products", True] == 28
    assert found["attention/q_norm.multiply3", "attention/q_rope.multiply", False] == 4  # only the part that turns
    assert found["attention/scores.multiply", "attention/softmax.max", False] == 2 * 8  # N · S
    assert found["attention/softmax.max", "attention/softmax.subtract", False] == 2
    # A cache write is no hand-off: nothing enters the operations that store.
    assert not [key for key in found if key[1] in ("attention/K_append.append", "attention/V_append.append")]


def test_deltanet_hands_on_its_state_whole_and_its_window_in_parts() -> None:
    found = table(small_step(), "deltanet")
    assert found["deltanet/delta.save", "deltanet/delta.multiply", True] == 2 * 3 * 5  # S: U · P · Q
    assert found["deltanet/delta.multiply", "deltanet/delta.products", False] == 30
    assert found["deltanet/delta.multiply", "deltanet/delta.outer", False] == 30
    assert found["deltanet/delta.outer", "deltanet/delta.products2", False] == 30
    assert found["deltanet/qkv.products", "deltanet/conv.append", False] == 16
    assert found["deltanet/conv.append", "deltanet/conv.products", False] == 16  # the newest column
    assert found["deltanet/conv.save", "deltanet/conv.products", True] == 3 * 16  # the C - 1 kept ones
    u = "deltanet/conv.multiply"  # q, k and v are slices of it: each reader pays for its own
    assert found[u, "deltanet/q_norm.multiply", False] == 3
    assert found[u, "deltanet/k_norm.multiply2", False] == 3
    assert found[u, "deltanet/delta.subtract", False] == 10
    assert found["deltanet/k_norm.multiply2", "deltanet/delta.outer", False] == 3  # J · P, before it is repeated to U
    assert found["deltanet/beta.reciprocal", "deltanet/delta.multiply2", False] == 2  # one for each head
    assert ("deltanet/delta.outer", "deltanet/delta.save", False) not in found


def test_output_arrows_follow_the_chosen_end() -> None:
    model = model_from_text(json.dumps(SMALL), "small")
    greedy = trace(model.architecture, model.scenario(context=7, output="greedy"))
    assert table(greedy, "output")["output/scores.products", "output/argmax.argmax", False] == 10  # V
    softmax = {k: v for k, v in table(small_step(), "output").items() if k[0] == "output/scores.products"}
    assert softmax == {
        ("output/scores.products", "output/softmax.max", False): 10,
        ("output/scores.products", "output/softmax.subtract", False): 10,
    }


def test_lookup_is_address_work_and_blocks_hand_nothing_to_each_other() -> None:
    graph = handoffs(small_step(), "token")
    assert not [a for a in graph.arrows if a.source.startswith("lookup/")]
    assert all(a.source.split("/")[0] == a.target.split("/")[0] for a in graph.arrows)


def test_experts_share_one_hand_off_of_x_and_hand_on_one_output_each() -> None:
    step = small_step(
        model_type="qwen3_5_moe_text", num_experts=5, num_experts_per_tok=3, moe_intermediate_size=6,
        shared_expert_intermediate_size=7,
    )  # fmt: skip
    found = table(step, "ffn")
    assert found["moe/norm.multiply3", "moe/gate.products", False] == 8 * 2  # D · layers, whatever the experts
    assert found["moe/gate.products", "moe/act.negate", False] == 3 * 6 * 2  # X · F · layers
    assert found["moe/down.products", "moe/combine.multiply", False] == 3 * 8 * 2  # X · D · layers
    assert not [a for a in block_arrows_of(step, "moe") if "index" in a.dtypes]  # which expert is an address


def test_which_groups_of_experts_were_chosen_is_an_address() -> None:
    model = load_model("deepseek-v3")  # picks groups of experts first, then experts inside them
    step = traced(model.architecture, model.scenario())
    block = next(b for b in step.blocks.values() if b.kind == "moe")
    keep = next(op for op in block.ops if op.id == "top_k.keep_groups")
    assert "index" in {block.values[r].dtype for r in block.roots_of(keep)}
    assert not [a for a in block_arrows_of(step, "moe") if "index" in a.dtypes]


def block_arrows_of(step: DecodeStep, kind: str) -> list:
    return [a for block in step.blocks.values() if block.kind == kind for a in block_arrows(block)]


def test_a_mac_pair_is_one_stage_of_two_operations() -> None:
    graph = handoffs(small_step(), "deltanet+ffn")
    by_id = {n.id: n for n in graph.nodes}
    assert by_id["ffn/gate.products"].operations == 2 * 2  # two operations, two layers
    assert by_id["deltanet/delta.outer"].operations == 2
    # 68 operations of the mixer, less the 6 of the looked-up norm of layer 0, and 2 · 19 of the feed-forwards.
    assert sum(n.operations for n in graph.nodes) == 62 + 38


def test_one_deltanet_layer_with_its_feed_forward_has_87_operations() -> None:
    model = load_model("qwen3.5-0.8b")
    graph = handoffs(traced(model.architecture, model.scenario()), "deltanet+ffn")
    assert sum(n.operations // n.layers for n in graph.nodes) == 68 + 19


def test_type_rows_merge_by_name_and_say_what_they_folded() -> None:
    graph = handoffs(small_step(), "attention", "types")
    store = next(n for n in graph.nodes if n.id == "store")
    assert (store.operations, store.fan_out, store.values_in) == (2, 2, 0)  # K and V append; scores and mix
    assert {n.id for n in graph.nodes} >= {"fixed products · sum each row", "dynamic products · sum each row"}
    products = next(a for a in graph.arrows if a.target == "square" and a.source == "fixed products · sum each row")
    assert products.values == 8 + 4  # q: N · H, k: K · H
    assert {p.target for p in products.parts} == {"attention/q_norm.multiply", "attention/k_norm.multiply"}
    assert products.layers == 1  # two stages of one layer are one layer


def test_a_gate_that_multiplies_twice_folds_into_a_self_loop() -> None:
    model = load_model("qwen3.8-27b")  # the study's swish gate ends in a multiply and feeds the gate's multiply
    graph = handoffs(traced(model.architecture, model.scenario()), "attention", "types")
    assert [(a.source, a.target, a.values) for a in graph.folded] == [("multiply", "multiply", 16 * 24 * 256)]
    assert graph.folded_values == 98_304  # attention layers · N · H
    assert not [a for a in graph.arrows if a.source == a.target]


def test_layers_count_where_an_arrow_happens() -> None:
    model = load_model("qwen3.5-0.8b")  # 24 layers: 18 DeltaNet (the first norm is looked up), 6 attention
    step = traced(model.architecture, model.scenario())
    layers = {(a.source, a.target): a.layers for a in handoffs(step, "deltanet").arrows}
    assert layers["deltanet/norm.mean", "deltanet/norm.add"] == 17
    assert layers["deltanet/out.products", "deltanet/residual.add"] == 18
    merged = {(a.source, a.target): a.layers for a in handoffs(step, "token", "types").arrows}
    assert merged["+ ε", "rsqrt"] == 18 + 6 + 24 + 1


def test_bytes_follow_the_precision_of_what_travels() -> None:
    step, scenario = small_step(), Scenario(context=7, kv="fp8", activations="bf16")
    arrows = {(a.source, a.target): a for a in handoffs(step, "token").arrows}
    assert arrow_bytes(arrows["deltanet/delta.save", "deltanet/delta.multiply"], scenario) == 30 * 4  # fp32
    assert arrow_bytes(arrows["attention/K_append.append", "attention/scores.products"], scenario) == 28  # fp8
    assert arrow_bytes(arrows["ffn/gate.products", "ffn/act.negate"], scenario) == 12 * 2
    weighed = in_bytes(handoffs(step, "token"), scenario)
    assert weighed.values == sum(arrow_bytes(a, scenario) for a in handoffs(step, "token").arrows)


def test_lifetime_says_what_travels() -> None:
    for arrow in handoffs(small_step(), "token").arrows:
        assert arrow.lifetime is (Lifetime.STATE if arrow.retained else Lifetime.EPHEMERAL)


def test_unknown_chain_and_grouping_name_the_choices() -> None:
    with pytest.raises(ScenarioError, match=r"no chain 'mamba' .* deltanet, ffn, attention, output, token"):
        find_chain(small_step(), "mamba")
    with pytest.raises(ScenarioError, match=r"grouping is 'rows'; choose one of stages, types"):
        handoffs(small_step(), "token", "rows")


@pytest.mark.parametrize(("name", "operations"), list(zip(PROFILES, (10_612, 5_337, 2_001), strict=True)))
@pytest.mark.parametrize("grouping", ["stages", "types"])
def test_nodes_add_up_to_the_published_operations(name: str, operations: int, grouping: str) -> None:
    model = load_model(name)
    graph = handoffs(traced(model.architecture, model.scenario()), "token", grouping)
    assert sum(n.operations for n in graph.nodes) == operations


# ------------------------------------------------------------------------------------------------ properties

steps = st.builds(
    lambda model, context, positions, output: trace(
        model.architecture, model.scenario(context=context, positions=positions, output=output)
    ),
    models(), st.integers(0, 5), st.integers(1, 2), st.sampled_from(["softmax", "greedy"]),
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(steps)
def test_stage_rows_equal_type_rows_plus_what_was_folded(step: DecodeStep) -> None:
    for chain in chains(step):
        stages, types = handoffs(step, chain), handoffs(step, chain, "types")
        assert stages.values == types.values + types.folded_values
        assert sum(n.operations for n in stages.nodes) == sum(n.operations for n in types.nodes)
        for graph in (stages, types):
            assert sum(n.values_in for n in graph.nodes) == sum(n.values_out for n in graph.nodes) == graph.values
            assert not [a for a in graph.arrows if a.source == a.target]
        for arrow in (*types.arrows, *types.folded):
            assert arrow.values == sum(part.values for part in arrow.parts) == sum(arrow.dtypes.values())


@settings(max_examples=40, deadline=None)
@given(steps)
def test_the_token_is_its_chains_together(step: DecodeStep) -> None:
    parts = [handoffs(step, chain) for chain in chains(step) if chain.name != "token"]
    whole = handoffs(step, "token")
    assert whole.values == sum(part.values for part in parts)
    assert sum(n.operations for n in whole.nodes) == sum(len(b.ops) * n for b, n in step.folded())
    lookup = len(step.blocks["lookup"].ops)
    assert sum(n.operations for n in whole.nodes) == lookup + sum(n.operations for p in parts for n in p.nodes)


@settings(max_examples=40, deadline=None)
@given(steps)
def test_every_arrow_counts_the_distinct_elements_that_the_wires_deliver(step: DecodeStep) -> None:
    for block in step.blocks.values():
        found = {(a.source, a.target, a.retained): a.values for a in block_arrows(block)}
        assert found == delivered(block)
