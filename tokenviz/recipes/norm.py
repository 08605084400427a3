"""Normalisations."""

from typing import Any

import numpy as np

from tokenviz.architecture import RMSNorm
from tokenviz.builder import Builder
from tokenviz.graph import Value


def one_plus(weight: Any) -> Any:
    """A zero-centred gain as it is applied: 1 + w."""
    return np.float32(1) + weight


def rms_steps(b: Builder, x: Value, gain: Value, eps: float, over: str, out: str = "") -> Value:
    """The six operations of an RMSNorm, to be used inside a transform. x: any dims with `over`; gain: [over]."""
    mean = b.reduce("mean", b.multiply(x, x, "square"), over, "mean")
    scale = b.unary("rsqrt", b.add(mean, eps, "+ ε"), "rsqrt")
    return b.multiply(b.multiply(x, scale, "× rsqrt"), gain, "× weight", out)


def gain_of(b: Builder, norm: RMSNorm, weight: Value) -> Value:
    """The gain that a norm applies, given its stored weight."""
    return b.fold(one_plus, (weight,), f"1 + {weight.name}") if norm.zero_centred else weight


def rms_norm(
    b: Builder, x: Value, norm: RMSNorm, *, id: str, over: str = "D", title: str = "RMSNorm", out: str = "x̂"
) -> Value:
    """Scale x to unit root mean square along `over`, then by a learned gain. Zhang and Sennrich 2019."""
    gain = gain_of(b, norm, b.weight(f"{id}.weight", over, name="g", says="One learned gain for each coordinate."))
    with b.transform(
        id,
        "RMSNorm",
        title,
        equation=r"\hat{x} = \frac{x}{\sqrt{\operatorname{mean}(x^2) + \varepsilon}} \odot g",
        says="Brings the vector to unit root mean square, so that its size does not decide what follows.",
    ):
        return rms_steps(b, x, gain, norm.eps, over, out)


def l2_norm(b: Builder, x: Value, *, id: str, over: str, eps: float, scale: float | None, out: str) -> Value:
    """Scale x to unit length along `over`; `scale` multiplies the result when given."""
    equation = r"\hat{x} = \frac{x}{\sqrt{\sum x^2 + \varepsilon}}"
    with b.transform(
        id,
        "L2 norm",
        f"{out} L2 norm",
        equation=equation if scale is None else equation + r"\cdot \frac{1}{\sqrt{d_k}}",
        says="Brings each head's vector to unit length, so that keys and queries compare by direction.",
    ):
        total = b.reduce("sum", b.multiply(x, x, "square"), over, "sum")
        inverse = b.unary("rsqrt", b.add(total, eps, "+ ε"), "rsqrt")
        unit = b.multiply(x, inverse, "× rsqrt", "" if scale else out)
        return unit if scale is None else b.multiply(unit, scale, "× 1/√dₖ", out)
