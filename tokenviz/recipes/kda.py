"""Kimi delta attention: the gated delta rule with a decay of its own for every key channel. Kimi Team 2025."""

from collections.abc import Mapping

from tokenviz.architecture import KimiDelta
from tokenviz.builder import Builder
from tokenviz.graph import Value
from tokenviz.recipes.activation import sigmoid
from tokenviz.recipes.conv import causal_conv, conv_sizes
from tokenviz.recipes.gated_delta import L2_EPS, delta_rule, negative_exp
from tokenviz.recipes.linear import projection
from tokenviz.recipes.norm import gain_of, l2_norm, rms_steps
from tokenviz.recipes.shape import regroup
from tokenviz.scenario import Scenario


def sizes(spec: KimiDelta, scenario: Scenario) -> Mapping[str, int]:
    """Extents of the letters that Kimi delta attention adds."""
    return {
        "U": spec.heads, "P": spec.head_dim, "Q": spec.head_dim, "R": spec.gate_rank,
        "channels": spec.heads * spec.head_dim, **conv_sizes(spec.taps, scenario.positions),
    }  # fmt: skip


def trace(b: Builder, x: Value, spec: KimiDelta, _scenario: Scenario) -> Value:
    """x: T D, normalised -> T D. The state ``U P Q`` is read, corrected and written back in place."""
    q, k, v = (convolved(b, x, name) for name in ("q", "k", "v"))
    q, k, v = regroup(b, q, "T U P", "q"), regroup(b, k, "T U P", "k"), regroup(b, v, "T U Q", "v")
    alpha = decay(b, low_rank(b, x, "f", "P", "Decay"))
    beta = projection(b, x, id="b", equation="U D, T D -> T U", title="Correction projection", out="b")
    gate = low_rank(b, x, "g", "Q", "Output gate")
    q = l2_norm(b, q, id="q_norm", over="P", eps=L2_EPS, scale=spec.head_dim**-0.5, out="q̂")
    k = l2_norm(b, k, id="k_norm", over="P", eps=L2_EPS, scale=None, out="k̂")
    with b.transform(
        "beta",
        "correction strength",
        "Correction strength β",
        equation=r"\beta = \sigma(b)",
        says="Decides for each head how strongly this token corrects the memory.",
    ):
        beta = sigmoid(b, beta, "β")
    read = delta_rule(b, q, k, v, beta, alpha)
    gated = gated_norm(b, read, gate, spec)
    return projection(b, gated, id="out", equation="D U Q, T U Q -> T D", title="Output projection", out="Δx")


def convolved(b: Builder, x: Value, name: str) -> Value:
    """q, k or v, ``T channels``: a projection and a short convolution of its own."""
    made = projection(
        b, x, id=name, equation="channels D, T D -> T channels", title=f"{name} projection", out=name
    )  # fmt: skip
    return causal_conv(b, made, id=f"{name}_conv", of=name, out=name)


def low_rank(b: Builder, x: Value, id: str, width: str, title: str) -> Value:
    """A projection through a narrow middle: ``T D`` -> ``T R`` -> ``T U`` and `width`."""
    narrow = projection(b, x, id=f"{id}_a", equation="R D, T D -> T R", title=f"{title}, down", out=f"{id}ₐ")
    return projection(
        b, narrow, id=f"{id}_b", equation=f"U {width} R, T R -> T U {width}", title=f"{title}, up", out=id
    )


def decay(b: Builder, f: Value) -> Value:
    """exp(-exp(A_log) · softplus(f + dt_bias)): one factor in (0, 1) for every key channel, ``T U P``."""
    bias = b.weight("dt_bias", "U P", name="dt_bias")
    rate = b.fold(negative_exp, (b.weight("A_log", "U", name="A_log"),), "−exp(A_log)")
    with b.transform(
        "decay",
        "decay",
        "Decay α",
        equation=r"\alpha = \exp\!\big(-e^{A}\,\log(1 + e^{f + b_{dt}})\big)",
        says="Decides for each channel of each head how much of the memory survives this token.",
    ):
        soft = b.unary("log1p", b.unary("exp", b.add(f, bias, "+ dt_bias"), "exp"), "log1p")
        return b.unary("exp", b.multiply(soft, rate, "× −exp(A_log)"), "exp", "α")


def gated_norm(b: Builder, x: Value, gate: Value, spec: KimiDelta) -> Value:
    """RMSNorm of each head's read-out, then times sigmoid(gate). x, gate: T U Q."""
    gain = gain_of(b, spec.norm, b.weight("norm_out.weight", "Q", name="g"))
    with b.transform(
        "gated_norm",
        "gated RMSNorm",
        "Gated RMSNorm",
        equation=r"y = \operatorname{RMSNorm}(o) \odot \sigma(g)",
        says="Brings each head's read-out to unit size, then lets it through by its gate.",
    ):
        normed = rms_steps(b, x, gain, spec.norm.eps, "Q")
        return b.multiply(normed, sigmoid(b, gate), "multiply", "y")
