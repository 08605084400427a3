"""Lightning attention: linear attention with a fixed decay for each head. Qin et al. 2024, as in MiniMax-01."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tokenviz.architecture import LinearAttention
from tokenviz.builder import Builder
from tokenviz.graph import StateKind, Value
from tokenviz.recipes.activation import plain_unit, sigmoid
from tokenviz.recipes.linear import projection
from tokenviz.recipes.norm import gain_of, rms_steps
from tokenviz.recipes.shape import regroup
from tokenviz.scenario import Scenario


def sizes(spec: LinearAttention, _scenario: Scenario) -> Mapping[str, int]:
    """Extents of the letters that lightning attention adds."""
    return {
        "U": spec.heads, "P": spec.head_dim, "Q": spec.head_dim, "triple": 3 * spec.head_dim,
        "channels": spec.heads * spec.head_dim,
    }  # fmt: skip


def trace(b: Builder, x: Value, spec: LinearAttention, _scenario: Scenario) -> Value:
    """x: T D, normalised -> T D. The state ``U P Q`` is faded, fed and read once for each position."""
    made = projection(b, x, id="qkv", equation="U triple D, T D -> T U triple", title="q, k, v projection", out="qkv")
    gate = projection(b, x, id="gate", equation="channels D, T D -> T channels", title="Gate projection", out="g")
    bent = plain_unit(b, made, spec.activation, id="act")
    q, k, v = b.split(bent, "triple", [("q", "P"), ("k", "P"), ("v", "Q")])
    read = regroup(b, recur(b, q, k, v), "T channels", "o")
    gated = gated_norm(b, read, gate, spec)
    return projection(b, gated, id="out", equation="D channels, T channels -> T D", title="Output projection", out="Δx")


def fading(slope: Any) -> Any:
    """The factor that is left of the memory after one position."""
    return np.exp(-slope)


def recur(b: Builder, q: Value, k: Value, v: Value) -> Value:
    """S = γ S + k ⊗ v, then q · S. q, k: T U P, v: T U Q -> T U Q."""
    memory = b.state("S", "U P Q", name="S", dtype="recurrent", says="One matrix for each head, in fp32.")
    slope = b.buffer("slope", "U", name="λ", says="How fast each head forgets; fixed, not learned.")
    rates = b.fold(fading, (slope,), "γ")
    with b.transform(
        "recur",
        "state update",
        "State update and read-out",
        equation=r"S \leftarrow \gamma S + k \otimes v, \qquad o = S^{\top} q",
        says="Fades the memory at a fixed rate, adds this token's value at its key, then reads it with the query.",
    ):
        state, reads, steps = memory, [], range(b.sizes["T"])
        for t in steps:
            q_t, k_t, v_t = (b.take(value, "T", t) for value in (q, k, v))
            state = b.accumulate(b.multiply(state, rates, "decay S"), k_t, v_t, labels=("k outer", "S +"))
            if t == steps[-1]:
                b.save(memory, state, StateKind.RECURRENT, name="recurrent state", label="save S",
                       says="Fixed size: updated in place, whatever the context.")  # fmt: skip
            reads.append(b.contract("U P Q, U P -> U Q", state, q_t, labels=("Sᵀq products", "sum"), out="o"))
    return b.stack(reads, "T", "o")


def gated_norm(b: Builder, read: Value, gate: Value, spec: LinearAttention) -> Value:
    """RMSNorm of the whole read-out, then times sigmoid(gate). Both ``T channels``."""
    gain = gain_of(b, spec.norm, b.weight("norm_out.weight", "channels", name="g"))
    with b.transform(
        "gated_norm",
        "gated RMSNorm",
        "Gated RMSNorm",
        equation=r"y = \operatorname{RMSNorm}(o) \odot \sigma(g)",
        says="Brings the read-out to unit size, then lets it through by its gate.",
    ):
        normed = rms_steps(b, read, gain, spec.norm.eps, "channels")
        return b.multiply(normed, sigmoid(b, gate), "multiply", "y")
