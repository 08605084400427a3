"""Normalisations."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tokenviz.architecture import LayerNorm, Norm, RMSNorm
from tokenviz.builder import Builder
from tokenviz.graph import Value

Array = NDArray[np.floating]


def one_plus(weight: Array) -> Array:
    """A zero-centred gain as it is applied: 1 + w."""
    return np.float32(1) + weight


def norm_title(norm: Norm) -> str:
    """What people call it."""
    return "RMSNorm" if isinstance(norm, RMSNorm) else "LayerNorm"


def normalise(
    b: Builder, x: Value, norm: Norm, *, id: str, over: str = "D", gain: str = "", title: str = "", out: str = "x̂"
) -> Value:
    """Bring x to unit size along `over` (one letter or several), then apply the learned gain and shift.

    The gain has the letters `gain`; `over` when it is left out.
    """
    title = title or norm_title(norm)
    if isinstance(norm, LayerNorm):
        return layer_norm(b, x, norm, id=id, over=over, letters=gain or over, title=title, out=out)
    return rms_norm(b, x, norm, id=id, over=over, letters=gain or over, title=title, out=out)


# ------------------------------------------------------------------------------------------------ RMSNorm


def rms_steps(b: Builder, x: Value, gain: Value | None, eps: float, over: str, out: str = "") -> Value:
    """The six operations of an RMSNorm (five without a gain), to be used inside a transform.

    x has any dims with `over`; the gain's dims are among them.
    """
    mean = b.reduce("mean", b.multiply(x, x, "square"), over, "mean")
    scale = b.unary("rsqrt", b.add(mean, eps, "+ ε"), "rsqrt")
    unit = b.multiply(x, scale, "× rsqrt", out if gain is None else "")
    return unit if gain is None else b.multiply(unit, gain, "× weight", out)


def gain_of(b: Builder, norm: RMSNorm, weight: Value) -> Value:
    """The gain that a norm applies, given its stored weight."""
    return b.fold(one_plus, (weight,), f"1 + {weight.name}") if norm.zero_centred else weight


def rms_norm(b: Builder, x: Value, norm: RMSNorm, *, id: str, over: str, letters: str, title: str, out: str) -> Value:
    """Scale x to unit root mean square along `over`, then by a learned gain. Zhang and Sennrich 2019."""
    gain = None
    if norm.weighted:
        gain = gain_of(b, norm, b.weight(f"{id}.weight", letters, name="g", says="A learned gain for each coordinate."))
    with b.transform(
        id,
        "RMSNorm",
        title,
        equation=r"\hat{x} = \frac{x}{\sqrt{\operatorname{mean}(x^2) + \varepsilon}}" + (r" \odot g" if gain else ""),
        says="Brings the vector to unit root mean square, so that its size does not decide what follows.",
    ):
        return rms_steps(b, x, gain, norm.eps, over, out)


# ------------------------------------------------------------------------------------------------ LayerNorm


def layer_norm(
    b: Builder, x: Value, norm: LayerNorm, *, id: str, over: str, letters: str, title: str, out: str
) -> Value:
    """Centre x along `over` and bring it to unit variance, then a learned gain and shift. Ba, Kiros and Hinton 2016."""
    gain = (
        b.weight(f"{id}.weight", letters, name="g", says="A learned gain for each coordinate.")
        if norm.weighted
        else None
    )
    shift = (
        b.weight(f"{id}.bias", letters, name="β", says="A learned shift for each coordinate.") if norm.bias else None
    )
    with b.transform(
        id,
        "LayerNorm",
        title,
        equation=r"\hat{x} = \frac{x - \mu}{\sqrt{\operatorname{mean}((x-\mu)^2) + \varepsilon}}"
        + (r" \odot g" if gain else "")
        + (r" + \beta" if shift else ""),
        says="Centres the vector and brings it to unit variance, so that its size does not decide what follows.",
    ):
        return layer_steps(b, x, gain, shift, norm.eps, over, out)


def layer_steps(
    b: Builder, x: Value, gain: Value | None, shift: Value | None, eps: float, over: str, out: str
) -> Value:
    """Mean, centre, square, mean, + eps, rsqrt, × rsqrt; then × weight and + bias where given."""
    centred = b.subtract(x, b.reduce("mean", x, over, "mean"), "− mean")
    variance = b.reduce("mean", b.multiply(centred, centred, "square"), over, "mean")
    scale = b.unary("rsqrt", b.add(variance, eps, "+ ε"), "rsqrt")
    y = b.multiply(centred, scale, "× rsqrt", "" if gain or shift else out)
    if gain is not None:
        y = b.multiply(y, gain, "× weight", "" if shift else out)
    return y if shift is None else b.add(y, shift, "+ bias", out)


# ------------------------------------------------------------------------------------------------ L2


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


# ------------------------------------------------------------------------------------------------ norms of a table


def norm_weights(b: Builder, norm: Norm, scope: str) -> tuple[Value, ...]:
    """The weights of a norm over D that another block owns: gain, then bias, as far as it has them."""
    found = []
    if norm.weighted:
        found.append(b.weight(f"{scope}.weight", "D", name="g", scope=f"{scope}.weight"))
    if isinstance(norm, LayerNorm) and norm.bias:
        found.append(b.weight(f"{scope}.bias", "D", name="β", scope=f"{scope}.bias"))
    return tuple(found)


def normalised_rows(norm: Norm) -> Callable[..., Array]:
    """Function (table, *weights) -> every row of the table normalised: done once, not per token."""

    def rows(table: Array, *weights: Array) -> Array:
        x: Array = table.astype(np.float64)
        if isinstance(norm, LayerNorm):
            x = x - x.mean(axis=-1, keepdims=True)
        x = x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + norm.eps)
        if norm.weighted:
            centred = isinstance(norm, RMSNorm) and norm.zero_centred
            x = x * (1 + weights[0] if centred else weights[0])
        if isinstance(norm, LayerNorm) and norm.bias:
            x = x + weights[-1]
        return x.astype(table.dtype)

    return rows
