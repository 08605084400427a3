"""Groups of operations by the arrangement they ask for: a partition of the step, with the traffic's bytes."""

import pytest
from hypothesis import given, settings

from tests.strategies import models
from tokenviz.arrangements import Group, arrangements
from tokenviz.catalog import PROFILES, load_model
from tokenviz.trace import trace, traced
from tokenviz.traffic import kept, parameters, traffic


def groups_of(name: str) -> dict[str, Group]:
    model = load_model(name)
    scenario = model.scenario()
    return {g.key: g for g in arrangements(traced(model.architecture, scenario), scenario)}


@pytest.mark.parametrize("name", [*PROFILES, "deepseek-v3", "kimi-linear-48b-a3b-instruct", "glm-5", "mamba2-2.7b"])
def test_bytes_are_those_of_the_traffic(name: str) -> None:
    model = load_model(name)
    scenario = model.scenario()
    step = traced(model.architecture, scenario)
    moved, found = traffic(step, scenario), arrangements(step, scenario)
    written = moved.kv_write + moved.state_write + moved.conv_write
    assert sum(g.written_bytes for g in found) == written
    # Coefficients of positions are outside the traffic; a tied table is read by row and whole, the traffic counts once.
    row = model.architecture.d_model * 2 if model.architecture.tied else 0
    read = sum(g.read_bytes for g in found if g.key != "position")
    assert read == moved.total - written + row


def test_state_stays_where_it_is_kept() -> None:
    model = load_model("qwen3.8-2.4t-a95b")
    scenario = model.scenario()
    stays, found = kept(traced(model.architecture, scenario), scenario), groups_of("qwen3.8-2.4t-a95b")
    assert found["cache"].resident_bytes == stays.kv
    assert found["recurrent"].resident_bytes == found["recurrent"].written_bytes == stays.recurrent
    taps = 69 * (2 * 16 * 128 + 128 * 128) * 4 * 2  # layers · channels (2·J·P + U·Q) · C · 2 B
    assert found["window"].resident_bytes == stays.convolution + taps
    assert found["window"].written_bytes == stays.convolution
    assert found["growing"].resident_bytes == 0  # it computes on the cache's bytes and keeps none


def test_weights_stay_with_their_first_reader() -> None:
    model = load_model("qwen3.8-2.4t-a95b")  # bf16, untied
    scenario = model.scenario()
    found = groups_of("qwen3.8-2.4t-a95b")
    resident = sum(found[k].resident_bytes for k in ("fixed", "experts", "table", "lanes"))
    taps = 69 * (2 * 16 * 128 + 128 * 128) * 4 * 2  # these stay with the window
    total = parameters(traced(model.architecture, scenario), model.architecture.tied).total
    # The first norm's gain is folded into the looked-up twin: it stays in the table and is no operand elsewhere.
    assert resident + taps == total * 2


def test_a_dense_model_without_recurrence_has_neither_router_nor_memory_bank() -> None:
    found = groups_of("llama-3.2-1b-instruct")
    assert not {"experts", "recurrent", "window", "compare"} & set(found)
    assert {"fixed", "growing", "cache", "position", "reduction", "function", "table", "lanes"} == set(found)
    # 16 layers: q, k, v, out, gate, up, down are two operations each, and so are the output scores.
    assert found["fixed"].operations == 16 * 7 * 2 + 2
    assert found["growing"].operations == 16 * 2 * 2  # scores and mix
    assert found["cache"].operations == 16 * 2
    assert found["position"].operations == 16 * 2 * 2  # × cos and × sin, for q and k


def test_only_vectors_cross_the_border_of_the_recurrent_memory() -> None:
    found = groups_of("qwen3.5-0.8b")["recurrent"]  # 18 layers, U 16, P = Q = 128, J 16
    vector = 16 * 128
    # In: one decay a head; k to the read and to the outer product; the corrected error; q.
    assert found.values_in == 18 * (16 + 2 * vector + vector + vector)
    # Out: what was recalled, to the subtraction; the read-out, to the square and to the scaling of its norm.
    assert found.values_out == 18 * (vector + 2 * vector)
    assert found.operations == 18 * 8  # decay, two reads and the update of two operations each, save


def test_experts_are_the_routed_projections_only() -> None:
    found = groups_of("qwen3.8-2.4t-a95b")
    assert found["experts"].operations == 92 * 3 * 2  # layers · (gate, up, down) · (products, sum)
    assert found["compare"].operations == 92  # one selection a layer


def test_chosen_rows_of_a_cache_are_a_cache_and_no_experts() -> None:
    found = groups_of("glm-5")  # 78 layers, the first 3 dense; an indexer picks the positions that attention reads
    assert found["experts"].operations == 75 * 3 * 2
    assert found["growing"].operations == 78 * 3 * 2  # index scores, scores, mix


@settings(max_examples=40, deadline=None)
@given(models())
def test_groups_share_out_all_operations_and_what_leaves_one_enters_another(model) -> None:
    scenario = model.scenario(context=3)
    step = trace(model.architecture, scenario)
    found = arrangements(step, scenario)
    assert sum(g.operations for g in found) == sum(len(b.ops) * n for b, n in step.folded())
    assert sum(g.values_in for g in found) == sum(g.values_out for g in found)
