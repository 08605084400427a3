"""Running a traced graph: weights by name, state carried on, the same values however many positions at once."""

import numpy as np
import pytest
from hypothesis import given, settings

from tests.strategies import models
from tokenviz.catalog import Model
from tokenviz.execute import Bound, State, bind, execute, initial_state, weight_shapes
from tokenviz.graph import StateKind
from tokenviz.notation import TokenvizError
from tokenviz.trace import trace
from tokenviz.traffic import parameters

TOKENS = [2, 0, 1, 1]


def random_weights(model: Model, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    step = trace(model.architecture, model.scenario(context=0))
    return {
        name: (rng.standard_normal(shape) * (shape[-1] ** -0.5 if len(shape) > 1 else 0.3)).astype(np.float32)
        for name, shape in weight_shapes(step).items()
    }


def bound(model: Model, weights: dict[str, np.ndarray], positions: int = 1, **changes: object) -> Bound:
    return bind(trace(model.architecture, model.scenario(context=0, positions=positions, **changes)), weights)


def one_by_one(step: Bound, tokens: list[int]) -> tuple[np.ndarray, State]:
    state, rows = initial_state(step.step), []
    for token in tokens:
        result = execute(step, None, state, token)
        state = result.state
        rows.append(result.logits[0])
    return np.array(rows), state


@settings(max_examples=25, deadline=None)
@given(models())
def test_all_at_once_equals_one_by_one(model: Model) -> None:
    weights = random_weights(model)
    logits, state = one_by_one(bound(model, weights), TOKENS)
    many = bound(model, weights, len(TOKENS))
    result = execute(many, None, initial_state(many.step), TOKENS)
    np.testing.assert_allclose(result.logits, logits, atol=2e-4)
    assert result.state.position == state.position == len(TOKENS)
    for name, array in state.arrays.items():
        np.testing.assert_allclose(result.state.arrays[name], array, atol=2e-4)


@settings(max_examples=25, deadline=None)
@given(models())
def test_every_recorded_value_has_the_shape_that_was_traced(model: Model) -> None:
    weights = random_weights(model)
    many = bound(model, weights, len(TOKENS))
    result = execute(many, None, initial_state(many.step), TOKENS, record=True)
    for place, ref in enumerate(many.step.sequence):
        for value in many.step.blocks[ref.block].values.values():
            recorded = result.value(place, value.id)
            if not isinstance(recorded, tuple):  # the products of a contraction are summed, never stored
                assert np.shape(recorded) == value.shape, value.id


@settings(max_examples=25, deadline=None)
@given(models())
def test_probabilities_are_shares_and_greedy_takes_the_largest(model: Model) -> None:
    weights = random_weights(model)
    soft, greedy = bound(model, weights), bound(model, weights, output="greedy")
    shares = execute(soft, None, initial_state(soft.step), 1).probabilities
    chosen = execute(greedy, None, initial_state(greedy.step), 1).token
    assert shares is not None
    assert chosen is not None
    np.testing.assert_allclose(shares.sum(), 1, atol=1e-5)
    assert chosen[0] == shares[0].argmax()


@settings(max_examples=25, deadline=None)
@given(models())
def test_the_weights_that_are_looked_up_are_the_parameters_that_are_counted(model: Model) -> None:
    step = trace(model.architecture, model.scenario())
    held = sum(int(np.prod(shape)) for shape in weight_shapes(step).values())
    assert held == parameters(step, model.architecture.tied).total


def small() -> Model:
    from tests.reference.compare import model

    return model("qwen3_5")


def test_caches_grow_and_fixed_state_does_not() -> None:
    model = small()
    step = bound(model, random_weights(model))
    _, state = one_by_one(step, TOKENS)
    start = initial_state(step.step)
    for ref in step.step.sequence:
        for kept in step.step.blocks[ref.block].states:
            name = f"{ref.name}.{kept.id}"
            growing = kept.kind is StateKind.GROWING
            assert len(start.arrays[name]) == (0 if growing else len(state.arrays[name]))
            assert not growing or len(state.arrays[name]) == len(TOKENS)


def test_a_missing_weight_is_named() -> None:
    model = small()
    weights = random_weights(model)
    del weights["layers.2.mixer.conv.weight"]
    with pytest.raises(
        TokenvizError, match=r"no 'layers.2.mixer.conv.weight'; the model needs one of shape \[112, 4\]"
    ):
        bound(model, weights)


def test_a_misshapen_weight_is_named() -> None:
    model = small()
    weights = random_weights(model)
    weights["embedding"] = weights["embedding"].T
    with pytest.raises(TokenvizError, match=r"'embedding' has shape \[24, 96\]; the model needs \[96, 24\]"):
        bound(model, weights)


def test_the_number_of_tokens_must_fit() -> None:
    model = small()
    step = bound(model, random_weights(model))
    with pytest.raises(TokenvizError, match="traced for 1 new positions, 2 tokens were given"):
        execute(step, None, initial_state(step.step), [1, 2])


@settings(max_examples=25, deadline=None)
@given(models())
def test_letting_values_go_changes_none_that_is_kept(model: Model) -> None:
    step = trace(model.architecture, model.scenario(context=0, positions=len(TOKENS)))
    weights = random_weights(model)
    keep = tuple(frozenset(list(step.blocks[ref.block].values)[::3]) for ref in step.sequence)
    every, some = bind(step, weights), bind(step, weights, keep)
    whole, part = (execute(b, None, initial_state(step), TOKENS, record=True) for b in (every, some))
    np.testing.assert_array_equal(part.logits, whole.logits)
    for name, array in whole.state.arrays.items():
        np.testing.assert_array_equal(part.state.arrays[name], array)
    for place, names in enumerate(keep):
        for name in names:
            recorded = whole.value(place, name)
            if not isinstance(recorded, tuple):  # the products of a contraction are summed, never stored
                np.testing.assert_array_equal(part.value(place, name), recorded)
    block = step.blocks[step.sequence[0].block]
    gone = [r for op in block.ops for r in op.results if r not in keep[0] and r not in block.outputs.values()]
    with pytest.raises(TokenvizError, match=f"{gone[0]!r}.*was not kept"):
        part.value(0, gone[0])
