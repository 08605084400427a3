"""The executed graph equals the reference implementation, decode step after decode step.

Two forms of one comparison: from committed recordings, everywhere; and live, where torch and transformers are
installed. Logits and states are float32 on both sides; the bound is 1e-4 on logits of about ±4 to ±25.
"""

from functools import lru_cache
from importlib.util import find_spec

import numpy as np
import pytest

from tests.reference.compare import compare, model
from tests.reference.models import CONFIGS, FOLDER
from tokenviz.ledger import arithmetic
from tokenviz.trace import trace

BOUND = 1e-4
LIVE = pytest.mark.skipif(
    find_spec("torch") is None or find_spec("transformers") is None,
    reason="the reference extra (torch, transformers) is not installed; the recorded comparison runs all the same",
)


@lru_cache(maxsize=4)
def recorded(name: str) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    with np.load(FOLDER / f"{name}.npz") as arrays:
        weights = {k.removeprefix("weight."): arrays[k].astype(np.float32) for k in arrays if k.startswith("weight.")}
        outputs = {k.removeprefix("out."): arrays[k] for k in arrays if k.startswith("out.")}
    return weights, outputs


@pytest.mark.parametrize("at_once", [False, True], ids=["token by token", "prefill at once"])
@pytest.mark.parametrize("name", sorted(CONFIGS))
def test_recorded(name: str, at_once: bool) -> None:
    weights, outputs = recorded(name)
    difference = compare(name, weights, outputs, at_once=at_once)
    assert difference.same_tokens
    assert max(difference.prefill, difference.decode, difference.state) <= BOUND, difference


def test_the_recordings_are_small() -> None:
    assert sum(p.stat().st_size for p in FOLDER.glob("*.npz")) < 6_000_000
    assert {p.stem for p in FOLDER.glob("*.npz")} == set(CONFIGS)


@LIVE
@pytest.mark.reference
@pytest.mark.parametrize("name", sorted(CONFIGS))
def test_live(name: str) -> None:
    from tests.reference.run import record

    weights, outputs = record(name, seed=1)
    difference = compare(name, weights, outputs, at_once=True)
    assert difference.same_tokens
    assert max(difference.prefill, difference.decode, difference.state) <= BOUND, difference


@LIVE
@pytest.mark.reference
@pytest.mark.parametrize("name", ["llama", "qwen3_5", "qwen3_5_moe"])
def test_macs_equal_what_the_reference_multiplies(name: str) -> None:
    """torch's flop counter sees matrix products, at 2 FLOPs a MAC; `correction` explains what it missed."""
    from tests.reference.run import decode_flops

    m = model(name)
    context = 11
    step = trace(m.architecture, m.scenario(context=context))
    assert arithmetic(step)["mac"] == decode_flops(name, context) // 2 + correction(name)


def correction(name: str) -> int:
    """MACs to add to what the counter sees in the reference's decode step."""
    c = CONFIGS[name]
    if name == "llama":
        return 0
    qk = c["linear_num_key_heads"] * c["linear_key_head_dim"]
    v = c["linear_num_value_heads"] * c["linear_value_head_dim"]
    state = c["linear_num_value_heads"] * c["linear_key_head_dim"] * c["linear_value_head_dim"]
    # Three DeltaNet layers. Not seen: read at k, rank-1 update, read at q, written as elementwise products and sums.
    # Seen in vain: the convolution runs over its four kept columns and the new one, and drops the first of two results.
    return 3 * (3 * state - (2 * qk + v) * c["linear_conv_kernel_dim"])
