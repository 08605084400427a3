"""Dependence on context: every row is intercept + slope x context, exactly, piece by piece."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import models
from tokenviz.architecture import GQA, Architecture, Layer
from tokenviz.catalog import Model, load_model
from tokenviz.context import FIELDS, STATE_FIELDS, Dependence, Line, Piece, Row, dependence, log_positions, measure
from tokenviz.ledger import arithmetic
from tokenviz.scenario import MAX_CONTEXT
from tokenviz.trace import trace
from tokenviz.traffic import traffic


def windowed(a: Architecture, windows: tuple[int | None, ...]) -> Architecture:
    """The same model with these attention windows, layer after layer."""

    def layer(old: Layer, window: int | None) -> Layer:
        return Layer(
            sections=tuple(
                replace(s, body=replace(s.body, window=window)) if isinstance(s.body, GQA) else s for s in old.sections
            )
        )

    return replace(a, layers=tuple(layer(old, windows[i % len(windows)]) for i, old in enumerate(a.layers)))


@settings(max_examples=30, deadline=None)
@given(models(), st.integers(0, MAX_CONTEXT), st.integers(1, 3))
def test_intercept_plus_slope_times_context_is_the_count_of_every_row(
    model: Model, context: int, positions: int
) -> None:
    scenario = model.scenario(context=context, positions=positions)
    found = dependence(model.architecture, scenario)
    assert [(p.start, p.stop) for p in found.pieces] == [(0, MAX_CONTEXT)]
    step = trace(model.architecture, scenario)
    rows = measure(step, scenario)
    assert {row: found.value([row], context) for row in rows} == rows
    # the rows split the ledger and the traffic, nothing else
    for counter, n in arithmetic(step).items():
        assert found.value(found.select(lambda r, c=counter: r.what == c), context) == n
    moved = traffic(step, scenario)
    assert {f: found.value(found.bytes_of(f), context) for f in FIELDS} == {f: getattr(moved, f) for f in FIELDS}


@pytest.mark.parametrize("context", [0, 1, 14, 15, 16, 17, 38, 39, 40, 41, 1_000])
@pytest.mark.parametrize("positions", [1, 3])
def test_windows_change_the_slope_where_they_fill_up(context: int, positions: int) -> None:
    model = load_model("meta-llama-3.1-8b")
    a = windowed(model.architecture, (16, None, 40))
    scenario = model.scenario(context=context, positions=positions)
    found = dependence(a, scenario)
    # a window of w is full once w - 1 positions are cached: the w-th is the new one
    assert [(p.start, p.stop) for p in found.pieces] == [(0, 15), (15, 39), (39, MAX_CONTEXT)]
    rows = measure(trace(a, scenario), scenario)
    assert {row: found.value([row], context) for row in rows} == rows
    kv = found.bytes_of("kv_read")
    # 32 layers: 11 with 16, 11 without, 10 with 40; 8 heads x 128 x 2 bytes, keys and values
    assert [p.line(kv).slope for p in found.pieces] == [n * 2 * 8 * 128 * 2 for n in (32, 21, 11)]


@pytest.mark.parametrize("name", ["qwen3.8-2.4t-a95b", "qwen3.8-27b", "qwen3.5-0.8b"])
@pytest.mark.parametrize("above", [("kv_read",), STATE_FIELDS])
def test_the_crossover_is_exact(name: str, above: tuple[str, ...]) -> None:
    model = load_model(name)
    found = dependence(model.architecture, model.scenario())
    state, weights = found.bytes_of(*above), found.bytes_of("weights")
    n = found.crossover(state, weights)
    assert n is not None
    for context, more in ((n, True), (n - 1, False)):
        moved = traffic(trace(model.architecture, s := model.scenario(context=context)), s)
        assert (sum(getattr(moved, f) for f in above) > moved.weights) is more


def test_the_crossover_of_the_largest_model_by_hand() -> None:
    model = load_model("qwen3.8-2.4t-a95b")
    found = dependence(model.architecture, model.scenario())
    # 23 attention layers x 4,096 bytes for each attended position, the new one included:
    # 94,208 (n + 1) > 186,507,275,008
    assert found.crossover(found.bytes_of("kv_read"), found.bytes_of("weights")) == 186_507_275_008 // 94_208


def test_crossover_across_pieces() -> None:
    a, b = Row("bytes", "kv_read", "x"), Row("bytes", "weights", "x")
    low = Piece(0, 10, {a: Line(0, 1), b: Line(12, 0)})
    high = Piece(10, 100, {a: Line(-90, 10), b: Line(12, 0)})
    assert Dependence((low, high)).crossover([a], [b]) == 11  # 20 > 12; at 10 it is 10
    assert Dependence((low,)).crossover([a], [b]) is None
    assert Dependence((low,)).crossover([b], [a]) == 0


def test_log_positions_include_both_ends_and_grow() -> None:
    found = log_positions(1, 10_000_000, 10)
    assert (found[0], found[-1]) == (1, 10_000_000)
    assert all(a < b for a, b in pairwise(found))
    assert {10, 100, 1_000, 10_000, 100_000, 1_000_000} <= set(found)


def test_attention_over_chunks_repeats_and_drifts() -> None:
    model = load_model("llama-4-scout-17b-16e-instruct")
    found = dependence(model.architecture, model.scenario())
    # 36 of 48 layers attend within chunks of 8,192: at 8,192 cached positions the new one starts a chunk
    assert [(p.start, p.stop) for p in found.pieces] == [(0, 8_191), (8_191, 8_192)]
    assert found.period == 8_192
    for context in (0, 8_191, 8_192, 8_193, 16_383, 16_384, 1_000_000, 99_999_999):
        scenario = model.scenario(context=context)
        rows = measure(trace(model.architecture, scenario), scenario)
        assert {row: found.value([row], context) for row in rows} == rows
    kv, weights = found.bytes_of("kv_read"), found.bytes_of("weights")
    n = found.crossover(kv, weights)
    assert n is not None
    assert found.value(kv, n) > found.value(weights, n)
    # before: the most that a chunk can hold is at its last position, so those are the places to look
    last_places = [*range(8_191, n, 8_192), n - 1]
    assert all(found.value(kv, m) <= found.value(weights, m) for m in last_places)


def test_repeating_pieces_by_hand() -> None:
    a, b = Row("bytes", "kv_read", "x"), Row("bytes", "weights", "x")
    ramp = Piece(0, 3, {a: Line(1, 2), b: Line(30, 0)})  # 1 3 5 7
    drop = Piece(3, 4, {a: Line(19, -4), b: Line(30, 0)})  # 7 3
    found = Dependence((ramp, drop), 4, {a: 2, b: 0})
    assert [found.value([a], n) for n in range(13)] == [1, 3, 5, 7, 3, 5, 7, 9, 5, 7, 9, 11, 7]
    # 7 + 2 k > 30 first at the last place of the 12th repetition: k = 12
    assert found.crossover([a], [b]) == 12 * 4 + 3


def test_where_a_chunk_begins_the_reads_fall_back_and_only_later_exceed_for_good() -> None:
    model = load_model("llama-4-scout-17b-16e-instruct")
    found = dependence(model.architecture, model.scenario(context=0))
    kv, weights = found.bytes_of("kv_read"), found.bytes_of("weights")

    def above(context: int) -> bool:
        moved = traffic(trace(model.architecture, s := model.scenario(context=context)), s)
        return moved.kv_read > moved.weights

    first, good = found.crossover(kv, weights), found.for_good(kv, weights)
    assert first is not None
    assert good is not None
    assert first < good
    assert (above(first - 1), above(first)) == (False, True)
    assert (above(good - 1), above(good)) == (False, True)
    assert not above(638_976)  # a new chunk, between the two
    # from there on the lowest places are the chunks' beginnings
    assert all(above(chunk * 8_192) for chunk in range(good // 8_192 + 1, good // 8_192 + 200))


def test_without_chunks_the_first_crossing_is_for_good() -> None:
    for name in ("qwen3.8-27b", "gpt-oss-20b", "gpt2", "mamba2-2.7b"):
        model = load_model(name)
        found = dependence(model.architecture, model.scenario(context=0))
        lines = found.bytes_of("kv_read"), found.bytes_of("weights")
        assert found.crossover(*lines) == found.for_good(*lines), name
