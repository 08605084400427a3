"""Kimi delta attention: the gated delta rule with a decay of its own for every key channel. Kimi Team 2025."""

from collections.abc import Mapping

from tokenviz.architecture import KimiDelta
from tokenviz.builder import Builder
from tokenviz.graph import Value
from tokenviz.recipes.conv import causal_conv, conv_sizes
from tokenviz.recipes.gated_delta import L2_EPS, correction, delta_rule
from tokenviz.recipes.linear import projection
from tokenviz.recipes.norm import l2_norm
from tokenviz.recipes.recurrence import decay, gated_norm
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
    fading = "Decides for each channel of each head how much of the memory survives this token."
    alpha = decay(b, low_rank(b, x, "f", "P", "Decay"), symbol="f", says=fading)
    beta = projection(b, x, id="b", equation="U D, T D -> T U", title="Correction projection", out="b")
    gate = low_rank(b, x, "g", "Q", "Output gate")
    q = l2_norm(b, q, id="q_norm", over="P", eps=L2_EPS, scale=spec.head_dim**-0.5, out="q̂")
    k = l2_norm(b, k, id="k_norm", over="P", eps=L2_EPS, scale=None, out="k̂")
    read = delta_rule(b, q, k, v, correction(b, beta), alpha)
    gated = gated_norm(b, read, gate, spec.norm, over="Q", swish=False)
    return projection(b, gated, id="out", equation="D U Q, T U Q -> T D", title="Output projection", out="Δx")


def convolved(b: Builder, x: Value, name: str) -> Value:
    """q, k or v, ``T channels``: a projection and a short convolution of its own."""
    made = projection(b, x, id=name, equation="channels D, T D -> T channels", title=f"{name} projection", out=name)
    return causal_conv(b, made, id=f"{name}_conv", of=name, out=name)


def low_rank(b: Builder, x: Value, id: str, width: str, title: str) -> Value:
    """A projection through a narrow middle: ``T D`` -> ``T R`` -> ``T U`` and `width`."""
    narrow = projection(b, x, id=f"{id}_a", equation="R D, T D -> T R", title=f"{title}, down", out=f"{id}ₐ")
    return projection(
        b, narrow, id=f"{id}_b", equation=f"U {width} R, T R -> T U {width}", title=f"{title}, up", out=id
    )
