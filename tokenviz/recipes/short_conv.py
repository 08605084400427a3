"""Gated short convolution: a mixer whose only memory is the last few columns. Liquid AI, LFM2 2025."""

from collections.abc import Mapping

from tokenviz.architecture import ShortConv
from tokenviz.builder import Builder
from tokenviz.graph import Value
from tokenviz.recipes.conv import causal_conv, conv_sizes
from tokenviz.recipes.linear import projection
from tokenviz.scenario import Scenario


def sizes(spec: ShortConv, scenario: Scenario) -> Mapping[str, int]:
    """Extents of the letters that a short convolution adds."""
    return {"channels": spec.channels, "thirds": 3, **conv_sizes(spec.taps, scenario.positions)}


def trace(b: Builder, x: Value, spec: ShortConv, _scenario: Scenario) -> Value:
    """x: T D, normalised -> T D. Two gates, one before and one after the convolution."""
    parts = projection(
        b, x, id="in", equation="thirds channels D, T D -> T thirds channels", title="Input projection", out="bcx",
        bias=spec.bias,
    )  # fmt: skip
    before, after, u = (b.take(parts, "thirds", i) for i in range(3))
    with b.transform(
        "gate_in",
        "input gate",
        "Input gate",
        equation=r"u = b \odot x",
        says="Decides for each channel how much of this token enters the convolution.",
    ):
        u = b.multiply(u, before, "× input gate", "bx")
    mixed = causal_conv(b, u, bias=spec.bias, act=False)
    with b.transform(
        "gate_out",
        "channel gate",
        "Output gate",
        equation=r"y = c \odot u",
        says="Decides for each channel how much of the convolution passes.",
    ):
        y = b.multiply(mixed, after, "× output gate", "y")
    return projection(
        b, y, id="out", equation="D channels, T channels -> T D", title="Output projection", out="Δx", bias=spec.bias
    )
