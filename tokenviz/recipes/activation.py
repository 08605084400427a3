"""Nonlinear transfer functions, written out in the operations they are made of."""

from collections.abc import Callable

from tokenviz.builder import Builder
from tokenviz.graph import Value
from tokenviz.notation import ConfigError


def sigmoid(b: Builder, x: Value, out: str = "") -> Value:
    """1 / (1 + exp(-x)): negate, exp, +1, reciprocal."""
    e = b.unary("exp", b.unary("negate", x, "negate"), "exp")
    return b.unary("reciprocal", b.add(e, 1.0, "+ 1"), "reciprocal", out)


def silu(b: Builder, x: Value, label: str = "multiply", out: str = "") -> Value:
    """x · sigmoid(x): the sigmoid's four operations and a multiply."""
    return b.multiply(sigmoid(b, x), x, label, out)


Activation = Callable[[Builder, Value, str], Value]

ACTIVATIONS: dict[str, Activation] = {"silu": silu, "swish": silu}


def activation(name: str) -> Activation:
    """The steps of an activation by its published name; `ConfigError` when there is no recipe."""
    if name not in ACTIVATIONS:
        raise ConfigError(f"activation {name!r} has no recipe; known: {', '.join(sorted(ACTIVATIONS))}")
    return ACTIVATIONS[name]


def gated_unit(b: Builder, gate: Value, up: Value, name: str, *, id: str) -> Value:
    """activation(gate) · up, element by element (SwiGLU when the activation is SiLU). Shazeer 2020."""
    with b.transform(
        id,
        "gated unit",
        "SwiGLU" if name in ("silu", "swish") else f"{name} gate",
        equation=r"h = \frac{g}{1 + e^{-g}} \odot u"
        if name in ("silu", "swish")
        else rf"h = \text{{{name}}}(g) \odot u",
        says="Lets each coordinate of the up projection through by how strongly its gate asks for it.",
    ):
        return b.multiply(activation(name)(b, gate, "× gate"), up, "× up", "h")
