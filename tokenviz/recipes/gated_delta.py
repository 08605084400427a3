"""Gated DeltaNet: linear attention with a decaying, error-corrected matrix memory. Yang, Kautz and Hatamizadeh 2024.

The step follows the reference implementation of Qwen3.5: one causal convolution over q, k and v together, unit-length
q and k, decay first, then the correction, then the read-out from the updated state.
"""

from collections.abc import Mapping

from tokenviz.architecture import GatedDeltaNet
from tokenviz.builder import Builder
from tokenviz.graph import Value
from tokenviz.recipes.activation import sigmoid
from tokenviz.recipes.conv import causal_conv, conv_sizes
from tokenviz.recipes.linear import projection
from tokenviz.recipes.norm import l2_norm
from tokenviz.recipes.recurrence import decay, gated_norm, scan
from tokenviz.scenario import Scenario

L2_EPS = 1e-6
"""Added to the sum of squares of q and k; a constant of the reference implementation, not a config key."""


def sizes(spec: GatedDeltaNet, scenario: Scenario) -> Mapping[str, int]:
    """Extents of the letters that a Gated DeltaNet adds."""
    channels = 2 * spec.key_heads * spec.key_dim + spec.value_heads * spec.value_dim
    return {
        "J": spec.key_heads, "U": spec.value_heads, "P": spec.key_dim, "Q": spec.value_dim,
        "channels": channels, **conv_sizes(spec.taps, scenario.positions),
    }  # fmt: skip


def trace(b: Builder, x: Value, spec: GatedDeltaNet, _scenario: Scenario) -> Value:
    """x: T D, normalised -> T D. The state ``U P Q`` is read, corrected and written back in place."""
    qkv = projection(b, x, id="qkv", equation="channels D, T D -> T channels", title="q, k, v projection", out="qkv")
    z = projection(b, x, id="z", equation="U Q D, T D -> T U Q", title="Output gate projection", out="z")
    beta = projection(b, x, id="b", equation="U D, T D -> T U", title="Correction projection", out="b")
    a = projection(b, x, id="a", equation="U D, T D -> T U", title="Decay projection", out="a")
    mixed = causal_conv(b, qkv)
    q, k, v = b.split(mixed, "channels", [("q", "J P"), ("k", "J P"), ("v", "U Q")])
    q = l2_norm(b, q, id="q_norm", over="P", eps=L2_EPS, scale=spec.key_dim**-0.5, out="q̂")
    k = l2_norm(b, k, id="k_norm", over="P", eps=L2_EPS, scale=None, out="k̂")
    beta = correction(b, beta)
    alpha = decay(b, a, symbol="a", says="Decides for each head how much of the memory survives this token.")
    read = delta_rule(b, b.repeat(q, "J", "U"), b.repeat(k, "J", "U"), v, beta, alpha)
    gated = gated_norm(b, read, z, spec.norm, over="Q", swish=True)
    return projection(b, gated, id="out", equation="D U Q, T U Q -> T D", title="Output projection", out="Δx")


def correction(b: Builder, x: Value) -> Value:
    """How strongly each head's memory is corrected, in (0, 1): sigmoid of x, ``T U``."""
    with b.transform(
        "beta",
        "correction strength",
        "Correction strength β",
        equation=r"\beta = \sigma(b)",
        says="Decides for each head how strongly this token corrects the memory.",
    ):
        return sigmoid(b, x, "β")


def delta_rule(b: Builder, q: Value, k: Value, v: Value, beta: Value, alpha: Value) -> Value:
    """Decay the memory, correct it towards v at k, read it at q. q, k: T U P, v: T U Q, state S: U P Q -> T U Q."""
    memory = b.state("S", "U P Q", name="S", dtype="recurrent", says="One matrix for each head.")

    def write(state: Value, _q: Value, k: Value, v: Value, beta: Value, alpha: Value) -> Value:
        faded = b.multiply(state, alpha, "decay S")
        held = b.contract("U P Q, U P -> U Q", faded, k, labels=("Sᵀk products", "sum"))
        error = b.multiply(b.subtract(v, held, "v − read"), beta, "× β")
        return b.accumulate(faded, k, error, labels=("k outer", "S +"))

    def read(state: Value, q: Value, *_written: Value) -> Value:
        return b.contract("U P Q, U P -> U Q", state, q, labels=("Sᵀq products", "sum"), out="o")

    with b.transform(
        "delta",
        "delta update",
        "Delta update and read-out",
        equation=r"S \leftarrow \alpha S + k \otimes \beta\,(v - (\alpha S)^{\!\top} k), \qquad o = S^{\!\top} q",
        says="Fades the memory, writes what this token's key should recall into it, then reads it with the query.",
    ):
        return scan(b, memory, (q, k, v, beta, alpha), write=write, read=read, out="o")
