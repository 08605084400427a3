"""Every recorded step equals its value computed again from its parents: here by formulas of the test's own."""

from itertools import islice

import numpy as np
import pytest

from tokenviz.decoder.events import outputs
from tokenviz.decoder.generate import Advance, advance, begin, generate
from tokenviz.decoder.lens import readings, scores
from tokenviz.decoder.map import prediction_map
from tokenviz.decoder.model import load_decoder
from tokenviz.decoder.recompute import FORMULAS, check
from tokenviz.decoder.sampling import Sampling
from tokenviz.decoder.stations import MapNode

DECODER = load_decoder()
MAP = prediction_map(DECODER.architecture)
W = {name: array.astype(np.float64) for name, array in DECODER.weights.items()}
SAMPLING = Sampling(temperature=0.9, top_k=50, top_p=0.95, seed=4)
STORY = "Once upon a time there was a little girl called Lucy. Lucy had a red ball. Every day"


def rebuilt() -> Advance:
    first = advance(DECODER, begin(DECODER, "word " * 200), SAMPLING)
    return advance(DECODER, first.session, SAMPLING)


PREFILL, CACHED = islice(generate(DECODER, STORY, SAMPLING, 2), 2)
CASES = {
    "prefill": PREFILL,
    "cached": CACHED,
    "one token": next(generate(DECODER, "", SAMPLING, 1)),
    "rebuilt": rebuilt(),
}


def value(made: Advance, name: str, which: int = 0) -> np.ndarray:
    return list(outputs(made, MAP.nodes[name]).values())[which].astype(np.float64)


def norm(x: np.ndarray, gain: str) -> np.ndarray:
    return x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + 1e-5) * W[gain]


def turned(x: np.ndarray, start: int) -> np.ndarray:
    """RoPE by a 2 x 2 rotation of coordinates i and i + 16."""
    out = x.copy()
    for t in range(len(x)):
        for i in range(16):
            angle = (start + t) * 10000.0 ** (-i / 16)
            a, b = x[t, ..., i], x[t, ..., i + 16]
            out[t, ..., i] = a * np.cos(angle) - b * np.sin(angle)
            out[t, ..., i + 16] = a * np.sin(angle) + b * np.cos(angle)
    return out


def block(made: Advance, layer: int) -> dict[str, np.ndarray]:
    """Node -> its value, computed from the recorded values of its parents."""
    mixer, ffn = f"layers.{layer}.mixer", f"layers.{layer}.ffn"
    before = "lookup.lookup" if layer == 0 else f"layers.{layer - 1}.ffn.residual"
    n, m = made.positions, made.attended
    v = {name: value(made, f"{mixer}.{name}") for name in ("norm", "q", "k", "scores", "mask", "softmax", "mix")}
    x, keys, values = value(made, before), value(made, f"{mixer}.cache", 0), value(made, f"{mixer}.cache", 1)
    q_turned = value(made, f"{mixer}.rope", 0)
    repeat = np.repeat(keys, 2, axis=1), np.repeat(values, 2, axis=1)  # one for each of the four query heads
    four = lambda a: a.reshape(n, 4, -1)  # noqa: E731
    e = np.exp(v["mask"] - v["mask"].max(-1, keepdims=True))
    later = np.arange(m)[None, :] > np.arange(m - n, m)[:, None]
    y = value(made, f"{mixer}.residual")
    gate, up = value(made, f"{ffn}.gate"), value(made, f"{ffn}.up")
    hat = value(made, f"{ffn}.norm")
    matrix = lambda name: W[name].reshape(-1, 128)  # noqa: E731
    return {
        f"{mixer}.norm": norm(x, f"{mixer}.norm.weight"),
        f"{mixer}.q": v["norm"] @ matrix(f"{mixer}.q.weight").T,
        f"{mixer}.k": v["norm"] @ matrix(f"{mixer}.k.weight").T,
        f"{mixer}.v": v["norm"] @ matrix(f"{mixer}.v.weight").T,
        f"{mixer}.rope": turned(v["q"], m - n),
        f"{mixer}.rope/1": turned(v["k"], m - n),
        f"{mixer}.scores": np.einsum("thd,shd->ths", four(q_turned), repeat[0]) / np.sqrt(32),
        f"{mixer}.mask": np.where(later[:, None, None], -np.inf, v["scores"]),
        f"{mixer}.softmax": e / e.sum(-1, keepdims=True),
        f"{mixer}.mix": np.einsum("ths,shd->thd", four(v["softmax"]), repeat[1]),
        f"{mixer}.join": v["mix"].reshape(n, 128),
        f"{mixer}.out": value(made, f"{mixer}.join") @ W[f"{mixer}.out.weight"].reshape(128, 128).T,
        f"{mixer}.residual": x + value(made, f"{mixer}.out"),
        f"{ffn}.norm": norm(y, f"{ffn}.norm.weight"),
        f"{ffn}.gate": hat @ W[f"{ffn}.gate.weight"].T,
        f"{ffn}.up": hat @ W[f"{ffn}.up.weight"].T,
        f"{ffn}.act": gate * up / (1 + np.exp(-gate)),
        f"{ffn}.down": value(made, f"{ffn}.act") @ W[f"{ffn}.down.weight"].T,
        f"{ffn}.residual": y + value(made, f"{ffn}.down"),
    }


def everything(made: Advance) -> dict[str, np.ndarray]:
    """All 77 steps; the selection by sorting, cutting and walking along the shares."""
    found = {"lookup.lookup": W["embedding"][list(made.window[-made.positions :])]}
    for layer in range(4):
        found |= block(made, layer)
    logits = value(made, "output.scores")
    e = np.exp(logits - logits.max(-1, keepdims=True))
    found["output.norm"] = norm(value(made, "layers.3.ffn.residual"), "output.norm.weight")
    found["output.scores"] = value(made, "output.norm") @ W["embedding"].T
    found["output.softmax"] = e / e.sum(-1, keepdims=True)
    found["select"] = np.array([chosen(logits[-1], made)])
    return found


def chosen(logits: np.ndarray, made: Advance) -> int:
    ranked = sorted(range(1024), key=lambda i: -logits[i])[: SAMPLING.top_k]
    weights = [np.exp((logits[i] - logits[ranked[0]]) / SAMPLING.temperature) for i in ranked]
    total, kept, reached = sum(weights), [], 0.0
    for token, weight in zip(ranked, weights, strict=True):
        kept.append((token, weight))
        reached += weight / total
        if reached >= SAMPLING.top_p:
            break
    number = np.random.default_rng((SAMPLING.seed, made.index)).random() * sum(w for _, w in kept)
    for token, weight in kept:
        number -= weight
        if number < 0:
            return token
    return kept[-1][0]


@pytest.mark.parametrize("case", CASES)
def test_all_77_steps_follow_from_their_parents(case: str) -> None:
    made = CASES[case]
    again = everything(made)
    assert {name.removesuffix("/1") for name in again} == set(MAP.steps)
    for name, wanted in again.items():
        node, _, which = name.partition("/")
        found = value(made, node, int(which or 0)).reshape(wanted.shape)
        # float32 sums of at most 352 products: rounding stays far below 2e-5 of the largest value
        largest = max(1.0, float(np.abs(wanted[np.isfinite(wanted)]).max()))
        np.testing.assert_allclose(found, wanted, atol=2e-5 * largest, rtol=0, err_msg=name)


@pytest.mark.parametrize("case", CASES)
def test_the_inspectors_tick_agrees_everywhere(case: str) -> None:
    made = CASES[case]
    wrong = [step for step in MAP.steps if not check(DECODER, MAP, made, MAP.nodes[step]).agrees]
    assert wrong == []


def test_every_kind_of_step_has_a_formula() -> None:
    assert {MAP.nodes[step].kind for step in MAP.steps} == set(FORMULAS)


# Joined heads are their parent's array laid out anew: to spoil one is to spoil both.
SPOILT = [s for s in MAP.steps if s.startswith(("layers.1", "output", "lookup")) and MAP.nodes[s].kind != "join"]


@pytest.mark.parametrize("step", SPOILT)
def test_the_tick_is_lost_when_a_value_is_wrong(step: str) -> None:
    node = MAP.nodes[step]
    made = PREFILL
    place, name = node.outputs[0].place, node.outputs[0].value
    slot = made.result.bound.plans[made.result.bound.step.sequence[place].block].slots[name]
    rows = list(made.result.recorded)
    spoiled = list(rows[place])
    spoiled[slot] = np.array(spoiled[slot])
    spoiled[slot].flat[0] += 0.5
    rows[place] = tuple(spoiled)
    bad = replaced(made, tuple(rows))
    assert not check(DECODER, MAP, bad, node).agrees


def replaced(made: Advance, rows: tuple) -> Advance:
    from dataclasses import replace

    return replace(made, result=replace(made.result, recorded=rows))


def test_a_wrong_choice_loses_the_tick() -> None:
    from dataclasses import replace

    other = replace(PREFILL, draw=replace(PREFILL.draw, token=(PREFILL.token + 1) % 1024))
    assert not check(DECODER, MAP, other, node("select")).agrees


def node(name: str) -> MapNode:
    return MAP.nodes[name]


def test_the_last_reading_is_the_models_own() -> None:
    made = PREFILL
    stream = value(made, "layers.3.ffn.residual")[-1]
    np.testing.assert_allclose(scores(DECODER, stream), made.result.logits[-1], atol=1e-4)
    found = readings(DECODER, MAP, made)
    assert [r.region for r in found] == ["input", "block 1", "block 2", "block 3", "block 4"]
    assert DECODER.tokenizer.piece(found[-1].best[0][0]) == " Lucy"
    assert found[-1].best[0][1] == pytest.approx(made.draw.before.max(), abs=1e-5)
