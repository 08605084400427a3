"""Execute our graph on a reference model's weights and measure how far it is from what the reference recorded."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tests.reference import state_mapping
from tests.reference.mapping import Arrays, map_weights, our_state
from tests.reference.models import CONFIGS, STEPS
from tests.reference.state_models import CONFIGS_STATE
from tokenviz.catalog import Model, model_from_text
from tokenviz.execute import Bound, State, bind, execute, initial_state, weight_shapes
from tokenviz.trace import trace


@dataclass(frozen=True)
class Difference:
    """Largest absolute differences, and whether greedy decoding chose the same tokens."""

    prefill: float
    decode: float
    state: float
    same_tokens: bool


def model(name: str) -> Model:
    """The small model as tokenviz reads it."""
    return model_from_text(json.dumps(CONFIGS[name]), name)


def bound(name: str, weights: Arrays, positions: int) -> Bound:
    """Its step for `positions` new tokens, joined with the reference's weights."""
    m = model(name)
    step = trace(m.architecture, m.scenario(context=0, positions=positions))
    return bind(step, map_weights(weights, weight_shapes(step), name))


def compare(name: str, weights: Arrays, out: Arrays, *, at_once: bool) -> Difference:
    """Prefill (all positions at once, or token by token), then decode greedily for `STEPS` tokens."""
    one = bound(name, weights, 1)
    prompt = out["prompt"]
    if at_once:
        many = bound(name, weights, len(prompt))
        result = execute(many, None, initial_state(many.step), prompt)
        logits, state = result.logits, result.state
    else:
        state, rows = initial_state(one.step), []
        for token in prompt:
            result = execute(one, None, state, int(token))
            state = result.state
            rows.append(result.logits[0])
        logits = np.array(rows)
    prefill = float(np.abs(logits - out["prefill.logits"]).max())
    token, tokens, decode = int(logits[-1].argmax()), [], 0.0
    for i in range(STEPS):
        tokens.append(token)
        result = execute(one, None, state, token)
        state, token = result.state, int(result.logits[0].argmax())
        decode = max(decode, float(np.abs(result.logits[0] - out[f"step{i}.logits"]).max()))
    tokens.append(token)
    worst = max(float(np.abs(a - b).max()) for a, b in state_pairs(name, state, out))
    return Difference(prefill, decode, worst, tokens == out["greedy"].tolist())


def state_pairs(name: str, state: State, out: Arrays) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Each of the reference's cache tensors after the last step, beside ours."""
    if name in CONFIGS_STATE:
        yield from state_mapping.pairs(name, state.arrays, out)
        return
    found = 0
    for key, array in out.items():
        when, *rest = key.split(".")
        if when == "last":
            ours, theirs = our_state(name, state.arrays, int(rest[0]), rest[1], array)
            assert ours.shape == theirs.shape, (key, ours.shape, theirs.shape)
            found += 1
            yield ours, theirs
    assert found == len(state.arrays), (found, sorted(state.arrays))
