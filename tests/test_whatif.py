"""What-ifs: nothing changed is the base, exactly; what changes is what the change says."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import models
from tokenviz.catalog import Model, load_model
from tokenviz.ledger import arithmetic
from tokenviz.notation import ScenarioError
from tokenviz.prediction import prediction_heads
from tokenviz.schedule import summarise
from tokenviz.trace import trace
from tokenviz.traffic import kept, traffic
from tokenviz.whatif import Change, relieved, what_if


@settings(max_examples=40, deadline=None)
@given(models(), st.integers(0, 10_000))
def test_one_token_and_one_sequence_is_the_base(model: Model, context: int) -> None:
    scenario = model.scenario(context=context)
    step = trace(model.architecture, scenario)
    o, summary, moved, state = (
        what_if(model.architecture, scenario, Change()), summarise(step), traffic(step, scenario), kept(step, scenario),
    )  # fmt: skip
    assert (o.tokens, o.operations, o.critical_path) == (1, summary.operations, summary.critical_path)
    assert o.macs == arithmetic(step)["mac"]
    assert o.fewest_bytes == o.most_bytes == moved.total
    assert o.fewest_weight_bytes == o.most_weight_bytes == moved.weights
    assert o.kept_bytes == state.kv + state.window + state.recurrent + state.convolution
    assert o == what_if(model.architecture, scenario, Change(positions=1, batch=1, weights=scenario.weights, kv="bf16"))
    assert relieved(o, o) == ()


@settings(max_examples=40, deadline=None)
@given(models(), st.integers(1, 6), st.integers(1, 6))
def test_batch_and_positions(model: Model, positions: int, batch: int) -> None:
    base = model.scenario(context=50)
    o = what_if(model.architecture, base, Change(positions=positions, batch=batch))
    one = what_if(model.architecture, base, Change(positions=positions))
    together = model.scenario(context=50, positions=positions)
    step = trace(model.architecture, together)
    assert o.tokens == positions * batch
    # sequences are width inside an operation: neither more operations nor a longer chain
    assert (o.operations, o.critical_path) == (summarise(step).operations, summarise(step).critical_path)
    assert (o.macs, o.state_bytes, o.kept_bytes) == (batch * one.macs, batch * one.state_bytes, batch * one.kept_bytes)
    assert one.most_weight_bytes == traffic(step, together).weights
    assert o.fewest_weight_bytes <= one.most_weight_bytes <= o.most_weight_bytes <= batch * one.most_weight_bytes
    # enough sequences read every expert, and nothing more than there is
    all_of_it = what_if(model.architecture, base, Change(batch=4_096)).most_weight_bytes
    assert o.most_weight_bytes <= all_of_it


def test_experts_of_a_batch_by_hand() -> None:
    model = load_model("qwen3.8-2.4t-a95b")
    moe = model.architecture.layers[0].sections[1].body
    base = what_if(model.architecture, model.scenario(), Change())
    eight = what_if(model.architecture, model.scenario(), Change(batch=8))
    # bf16: each extra sequence may bring its own experts (three matrices each) in 92 layers, and one embedding row
    expert = 3 * model.architecture.d_model * moe.width * 2
    extra = 7 * (92 * moe.per_token * expert + model.architecture.d_model * 2)
    assert 8 * moe.per_token <= moe.experts
    assert eight.fewest_weight_bytes == base.most_weight_bytes
    assert eight.most_weight_bytes == base.most_weight_bytes + extra


def test_a_dense_batch_reads_its_weights_once() -> None:
    model = load_model("qwen3.5-0.8b")
    base, many = (what_if(model.architecture, model.scenario(), Change(batch=b)) for b in (1, 64))
    assert (
        many.most_weight_bytes == base.most_weight_bytes == many.fewest_weight_bytes
    )  # tied: the table is read anyway
    assert many.state_bytes == 64 * base.state_bytes
    assert relieved(base, many) == ("weight bytes", "operations")
    assert many.per_token["chain"] == base.critical_path  # every sequence waits as long as one alone


@pytest.mark.parametrize(
    ("change", "resources"),
    [
        (Change(weights="fp8"), ("weight bytes",)),
        (Change(kv="fp8"), ("state bytes",)),
        (Change(positions=4), ("weight bytes", "state bytes", "operations", "chain")),
        (Change(batch=4), ("weight bytes", "operations")),
    ],
)
def test_what_a_change_relieves(change: Change, resources: tuple[str, ...]) -> None:
    model = load_model("qwen3.5-0.8b")
    base = what_if(model.architecture, model.scenario(), Change())
    found = relieved(base, what_if(model.architecture, model.scenario(), change))
    assert set(found) == set(resources)


def test_precision_halves_bytes_and_leaves_arithmetic() -> None:
    model = load_model("meta-llama-3.1-8b")
    base, half = (what_if(model.architecture, model.scenario(), Change(weights=w)) for w in ("bf16", "fp8"))
    assert 2 * half.most_weight_bytes == base.most_weight_bytes
    assert (half.operations, half.macs, half.state_bytes) == (base.operations, base.macs, base.state_bytes)
    assert half.intensity(half.most_bytes) == 2 * half.macs / half.most_bytes


@pytest.mark.parametrize("batch", [0, -1, 4_097, True, 1.5])
def test_a_batch_outside_the_range_is_refused(batch: object) -> None:
    with pytest.raises(ScenarioError, match="batch is"):
        Change(batch=batch)  # type: ignore[arg-type]


def test_loaded_prediction_heads_are_kept_too() -> None:
    model = load_model("qwen3.8-2.4t-a95b")
    without, loaded = (
        what_if(model.architecture, model.scenario(context=1_000, prediction=p), Change(batch=3)) for p in (False, True)
    )
    # one head: K and V of K heads x H in bf16 for every cached position, in each of three sequences
    heads = prediction_heads(model.architecture, model.scenario(context=1_000, prediction=True))
    assert heads.kv_bytes_per_position > 0
    assert loaded.kept_bytes - without.kept_bytes == 3 * 1_000 * heads.kv_bytes_per_position
    assert (loaded.most_bytes, loaded.operations) == (without.most_bytes, without.operations)
