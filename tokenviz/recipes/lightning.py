"""Lightning attention: linear attention with a fixed decay for each head. Qin et al. 2024, as in MiniMax-01."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tokenviz.architecture import LinearAttention
from tokenviz.builder import Builder
from tokenviz.graph import Value
from tokenviz.recipes.activation import plain_unit
from tokenviz.recipes.linear import projection
from tokenviz.recipes.recurrence import gated_norm, scan
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
    gated = gated_norm(b, read, gate, spec.norm, over="channels", swish=False, whose="the read-out")
    return projection(b, gated, id="out", equation="D channels, T channels -> T D", title="Output projection", out="Δx")


def fading(slope: NDArray[np.floating]) -> NDArray[np.floating]:
    """The factor that is left of the memory after one position."""
    left: NDArray[np.floating] = np.exp(-slope)
    return left


def recur(b: Builder, q: Value, k: Value, v: Value) -> Value:
    """S = γ S + k ⊗ v, then q · S. q, k: T U P, v: T U Q -> T U Q."""
    memory = b.state("S", "U P Q", name="S", dtype="recurrent", says="One matrix for each head.")
    slope = b.buffer("slope", "U", name="λ", says="How fast each head forgets; fixed, not learned.")
    rates = b.fold(fading, (slope,), "γ")

    def write(state: Value, _q: Value, k: Value, v: Value) -> Value:
        return b.accumulate(b.multiply(state, rates, "decay S"), k, v, labels=("k outer", "S +"))

    def read(state: Value, q: Value, *_written: Value) -> Value:
        return b.contract("U P Q, U P -> U Q", state, q, labels=("Sᵀq products", "sum"), out="o")

    with b.transform(
        "recur",
        "state update",
        "State update and read-out",
        equation=r"S \leftarrow \gamma S + k \otimes v, \qquad o = S^{\top} q",
        says="Fades the memory at a fixed rate, adds this token's value at its key, then reads it with the query.",
    ):
        return scan(b, memory, (q, k, v), write=write, read=read, out="o")
