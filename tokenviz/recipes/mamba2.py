"""Mamba-2: a state-space mixer with one decay per head (state-space duality). Dao and Gu 2024."""

from collections.abc import Mapping

import numpy as np

from tokenviz.architecture import StateSpace
from tokenviz.builder import Builder
from tokenviz.graph import Value
from tokenviz.recipes.activation import silu
from tokenviz.recipes.conv import causal_conv, conv_sizes
from tokenviz.recipes.linear import projection
from tokenviz.recipes.mamba1 import gate, input_scan
from tokenviz.recipes.norm import gain_of, rms_steps
from tokenviz.recipes.recurrence import negative_exp
from tokenviz.recipes.shape import regroup
from tokenviz.scenario import Scenario


def sizes(spec: StateSpace, scenario: Scenario) -> Mapping[str, int]:
    """Extents of the letters that a state-space mixer adds."""
    inner = spec.heads * spec.head_dim
    channels = inner + 2 * spec.groups * spec.state
    return {
        "U": spec.heads, "Q": spec.head_dim, "P": spec.state, "J": spec.groups, "channels": channels,
        "groups": spec.groups, "members": inner // spec.groups, "projected": inner + channels + spec.heads,
        **conv_sizes(spec.taps, scenario.positions),
    }  # fmt: skip


def trace(b: Builder, x: Value, spec: StateSpace, scenario: Scenario) -> Value:
    """x: T D, normalised -> T D. The state ``U Q P`` is decayed, fed and read once for each position."""
    made = projection(
        b, x, id="in", equation="projected D, T D -> T projected", title="Input projection", out="zxbcdt",
        bias=spec.bias,
    )  # fmt: skip
    if spec.multipliers is not None:
        made = scaled(b, made, spec)
    z, mixed, dt = b.split(made, "projected", [("z", "U Q"), ("xBC", "channels"), ("dt", "U")])
    mixed = causal_conv(b, mixed, bias=spec.conv_bias)
    u, b_in, c_out = b.split(mixed, "channels", [("x", "U Q"), ("B", "J P"), ("C", "J P")])
    limits = spec.dt_limits if scenario.positions > 1 else (0.0, None)
    dt, alpha = discretise(b, dt, limits)
    y = update(b, (u, dt, alpha, b.repeat(b_in, "J", "U"), b.repeat(c_out, "J", "U")))
    gated = gate(b, y, z) if spec.norm is None else gated_norm(b, y, z, spec)
    return projection(
        b, gated, id="out", equation="D U Q, T U Q -> T D", title="Output projection", out="Δx", bias=spec.out_bias
    )


def scaled(b: Builder, made: Value, spec: StateSpace) -> Value:
    """The five parts of the input projection, each times its own multiplier."""
    assert spec.multipliers is not None
    inner, shared = spec.heads * spec.head_dim, spec.groups * spec.state
    factors = np.repeat(np.array(spec.multipliers, np.float32), (inner, inner, shared, shared, spec.heads))
    with b.transform(
        "multipliers",
        "multipliers",
        "Part multipliers",
        equation=r"(z, x, B, C, dt) \leftarrow m \odot (z, x, B, C, dt)",
        says="Scales each part of the input projection by a constant of the model.",
    ):
        return b.multiply(made, b.constant(factors, "projected", "m"), "× multipliers")


def discretise(b: Builder, dt: Value, limits: tuple[float, float | None]) -> tuple[Value, Value]:
    """softplus(dt + dt_bias), within its limits, and the decay exp(-exp(A_log) · Δ) of each head; both ``T U``."""
    bias = b.weight("dt_bias", "U", name="dt_bias")
    rate = b.fold(negative_exp, (b.weight("A_log", "U", name="A_log"),), "−exp(A_log)")
    low, high = limits
    with b.transform(
        "decay",
        "decay",
        "Time step and decay",
        equation=r"\Delta = \log(1 + e^{dt + b_{dt}}),\quad \alpha = e^{-e^{A} \Delta}",
        says="Decides for each head how long a step this token makes, and so how much of its memory survives.",
    ):
        step = b.unary("log1p", b.unary("exp", b.add(dt, bias, "+ dt_bias"), "exp"), "log1p", "Δ")
        if low > 0:
            step = b.binary("maximum", step, low, "at least")
        if high is not None:
            step = b.binary("minimum", step, high, "at most")
        return step, b.unary("exp", b.multiply(step, rate, "× −exp(A_log)"), "exp", "α")


def update(b: Builder, inputs: tuple[Value, Value, Value, Value, Value]) -> Value:
    """S = α S + (Δ x) ⊗ B, then S · C + D x. Inputs x: T U Q; Δ, α: T U; B, C: T U P -> T U Q."""
    memory = b.state("S", "U Q P", name="S", dtype="recurrent", says="One matrix for each head.")
    skip = b.weight("D", "U", name="D")
    with b.transform(
        "scan",
        "state update",
        "State update and read-out",
        equation=r"S \leftarrow \alpha S + \Delta x \otimes B, \qquad y = S\,C + D\,x",
        says="Fades the memory, writes this token's input into it along B, then reads it along C.",
    ):
        return input_scan(b, memory, inputs, skip, "U Q P, U P -> U Q")


def gated_norm(b: Builder, y: Value, z: Value, spec: StateSpace) -> Value:
    """Gate the read-out by SiLU(z) and bring each group of channels to unit size (in the other order if asked)."""
    assert spec.norm is not None
    gain = gain_of(b, spec.norm, b.weight("norm_out.weight", "groups members", name="g"))
    before = r"\operatorname{RMSNorm}(y) \odot \operatorname{SiLU}(z)"
    after = r"\operatorname{RMSNorm}(y \odot \operatorname{SiLU}(z))"
    y, z = regroup(b, y, "T groups members"), regroup(b, z, "T groups members")
    with b.transform(
        "gated_norm",
        "gated RMSNorm",
        "Gated RMSNorm",
        equation="y' = " + (before if spec.norm_first else after),
        says="Lets the read-out through by its gate and brings it to unit size, group by group.",
    ):
        opened = silu(b, z, "× z")
        if spec.norm_first:
            out = b.multiply(rms_steps(b, y, gain, spec.norm.eps, "members"), opened, "multiply", "y′")
        else:
            out = rms_steps(b, b.multiply(y, opened, "× gate"), gain, spec.norm.eps, "members", "y′")
    return regroup(b, out, "T U Q")
