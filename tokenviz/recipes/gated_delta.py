"""Gated DeltaNet: linear attention with a decaying, error-corrected matrix memory. Yang, Kautz and Hatamizadeh 2024.

The step follows the reference implementation of Qwen3.5: one causal convolution over q, k and v together, unit-length
q and k, decay first, then the correction, then the read-out from the updated state.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tokenviz.architecture import GatedDeltaNet
from tokenviz.builder import Builder
from tokenviz.graph import StateKind, Value
from tokenviz.recipes.activation import sigmoid, silu
from tokenviz.recipes.conv import causal_conv, conv_sizes
from tokenviz.recipes.linear import projection
from tokenviz.recipes.norm import gain_of, l2_norm, rms_steps
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
    with b.transform(
        "beta",
        "correction strength",
        "Correction strength β",
        equation=r"\beta = \sigma(b)",
        says="Decides for each head how strongly this token corrects the memory.",
    ):
        beta = sigmoid(b, beta, "β")
    alpha = decay(b, a)
    read = delta_rule(b, b.repeat(q, "J", "U"), b.repeat(k, "J", "U"), v, beta, alpha)
    gated = gated_norm(b, read, z, spec)
    return projection(b, gated, id="out", equation="D U Q, T U Q -> T D", title="Output projection", out="Δx")


def negative_exp(a_log: Any) -> Any:
    """The decay rate as it is applied: -exp(A_log)."""
    return -np.exp(a_log)


def decay(b: Builder, a: Value) -> Value:
    """exp(-exp(A_log) · softplus(a + dt_bias)), per head, in (0, 1)."""
    bias = b.weight("dt_bias", "U", name="dt_bias")
    rate = b.fold(negative_exp, (b.weight("A_log", "U", name="A_log"),), "−exp(A_log)")
    with b.transform(
        "decay",
        "decay",
        "Decay α",
        equation=r"\alpha = \exp\!\big(-e^{A}\,\log(1 + e^{a + b_{dt}})\big)",
        says="Decides for each head how much of the memory survives this token.",
    ):
        soft = b.unary("log1p", b.unary("exp", b.add(a, bias, "+ dt_bias"), "exp"), "log1p")
        return b.unary("exp", b.multiply(soft, rate, "× −exp(A_log)"), "exp", "α")


def delta_rule(b: Builder, q: Value, k: Value, v: Value, beta: Value, alpha: Value) -> Value:
    """Decay the memory, correct it towards v at k, read it at q. q, k: T U P, v: T U Q, state S: U P Q -> T U Q."""
    memory = b.state("S", "U P Q", name="S", dtype="recurrent", says="One matrix for each head, in fp32.")
    with b.transform(
        "delta",
        "delta update",
        "Delta update and read-out",
        equation=r"S \leftarrow \alpha S + k \otimes \beta\,(v - (\alpha S)^{\!\top} k), \qquad o = S^{\!\top} q",
        says="Fades the memory, writes what this token's key should recall into it, then reads it with the query.",
    ):
        state, reads, steps = memory, [], range(b.sizes["T"])
        for t in steps:
            q_t, k_t, v_t, beta_t, alpha_t = (b.take(value, "T", t) for value in (q, k, v, beta, alpha))
            faded = b.multiply(state, alpha_t, "decay S")
            held = b.contract("U P Q, U P -> U Q", faded, k_t, labels=("Sᵀk products", "sum"))
            error = b.multiply(b.subtract(v_t, held, "v − read"), beta_t, "× β")
            state = b.accumulate(faded, k_t, error, labels=("k outer", "S +"))
            if t == steps[-1]:
                b.save(memory, state, StateKind.RECURRENT, name="recurrent state", label="save S",
                       says="Fixed size: updated in place, whatever the context.")  # fmt: skip
            reads.append(b.contract("U P Q, U P -> U Q", state, q_t, labels=("Sᵀq products", "sum"), out="o"))
    return b.stack(reads, "T", "o")


def gated_norm(b: Builder, x: Value, z: Value, spec: GatedDeltaNet) -> Value:
    """RMSNorm of each head's read-out, then times SiLU(z). x, z: T U Q."""
    gain = gain_of(b, spec.norm, b.weight("norm_out.weight", "Q", name="g"))
    with b.transform(
        "gated_norm",
        "gated RMSNorm",
        "Gated RMSNorm",
        equation=r"y = \operatorname{RMSNorm}(o) \odot \operatorname{SiLU}(z)",
        says="Brings each head's read-out to unit size, then lets it through by its gate.",
    ):
        normed = rms_steps(b, x, gain, spec.norm.eps, "Q")
        return b.multiply(normed, silu(b, z, "× z"), "multiply", "y")
