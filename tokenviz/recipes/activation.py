"""Nonlinear transfer functions, written out in the operations they are made of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import pi, sqrt
from types import MappingProxyType

from tokenviz.architecture import Activation, ClampedSwiGLU
from tokenviz.builder import Builder
from tokenviz.graph import Value
from tokenviz.notation import ConfigError

Steps = Callable[[Builder, Value, str, str], Value]
"""Function (builder, x, label of the last operation, name of the result) -> activation of x, the same dims.

The label is for a last operation that multiplies x itself, as all smooth gates do; the others have none to rename.
"""


def sigmoid(b: Builder, x: Value, out: str = "") -> Value:
    """1 / (1 + exp(-x)): negate, exp, +1, reciprocal."""
    e = b.unary("exp", b.unary("negate", x, "negate"), "exp")
    return b.unary("reciprocal", b.add(e, 1.0, "+ 1"), "reciprocal", out)


def silu(b: Builder, x: Value, label: str = "multiply", out: str = "") -> Value:
    """x · sigmoid(x): the sigmoid's four operations and a multiply."""
    return b.multiply(sigmoid(b, x), x, label, out)


def gelu_erf(b: Builder, x: Value, label: str = "multiply", out: str = "") -> Value:
    """x · ½ (1 + erf(x / √2)): five operations."""
    spread = b.add(b.unary("erf", b.multiply(x, 1 / sqrt(2), "× 1/√2"), "erf"), 1.0, "+ 1")
    return b.multiply(b.multiply(spread, 0.5, "× ½"), x, label, out)


def gelu_tanh(b: Builder, x: Value, label: str = "multiply", out: str = "") -> Value:
    """x · ½ (1 + tanh(√(2/π) · x · (1 + 0.044715 x²))): nine operations."""
    cubic = b.multiply(b.add(b.multiply(b.multiply(x, x, "square"), 0.044715, "× 0.044715"), 1.0, "+ 1"), x, "× x")
    spread = b.add(b.unary("tanh", b.multiply(cubic, sqrt(2 / pi), "× √(2/π)"), "tanh"), 1.0, "+ 1")
    return b.multiply(b.multiply(spread, 0.5, "× ½"), x, label, out)


def gelu_sigmoid(b: Builder, x: Value, label: str = "multiply", out: str = "") -> Value:
    """x · sigmoid(1.702 x): six operations."""
    return b.multiply(sigmoid(b, b.multiply(x, 1.702, "× 1.702")), x, label, out)


def relu(b: Builder, x: Value, _label: str = "relu", out: str = "") -> Value:
    """max(x, 0): one operation."""
    return b.unary("relu", x, "relu", out)


def relu_squared(b: Builder, x: Value, _label: str = "square", out: str = "") -> Value:
    """max(x, 0)²: two operations."""
    r = b.unary("relu", x, "relu")
    return b.multiply(r, r, "square", out)


@dataclass(frozen=True, slots=True)
class Function:
    """An activation: what people call it, and its steps."""

    title: str
    steps: Steps


SILU = Function("SiLU", silu)
GELU_TANH = Function("GELU (tanh form)", gelu_tanh)
ACTIVATIONS: Mapping[str, Function] = MappingProxyType(
    {
        "silu": SILU,
        "swish": SILU,
        "gelu": Function("GELU", gelu_erf),
        "gelu_new": GELU_TANH,
        "gelu_fast": GELU_TANH,
        "gelu_pytorch_tanh": GELU_TANH,
        "quick_gelu": Function("GELU (sigmoid form)", gelu_sigmoid),
        "relu": Function("ReLU", relu),
        "relu2": Function("ReLU²", relu_squared),
    }
)
"""Published name -> activation."""


def activation(name: str) -> Function:
    """The activation of this published name; `ConfigError` when there is no recipe for it."""
    if name not in ACTIVATIONS:
        raise ConfigError(f"activation {name!r} has no recipe; known: {', '.join(sorted(ACTIVATIONS))}")
    return ACTIVATIONS[name]


def gated_unit(b: Builder, gate: Value, up: Value, spec: Activation, *, id: str) -> Value:
    """activation(gate) · up, element by element (SwiGLU when the activation is SiLU). Shazeer 2020."""
    if isinstance(spec, ClampedSwiGLU):
        return clamped_unit(b, gate, up, spec, id=id)
    function = activation(spec)
    swiglu = function is SILU
    with b.transform(
        id,
        "gated unit",
        "SwiGLU" if swiglu else f"{function.title} gate",
        equation=r"h = \frac{g}{1 + e^{-g}} \odot u" if swiglu else rf"h = \text{{{function.title}}}(g) \odot u",
        says="Lets each coordinate of the up projection through by how strongly its gate asks for it.",
    ):
        return b.multiply(function.steps(b, gate, "× gate", ""), up, "× up", "h")


def clamped_unit(b: Builder, gate: Value, up: Value, spec: ClampedSwiGLU, *, id: str) -> Value:
    """SwiGLU of clamped operands, with a steeper sigmoid and a shifted up where the spec says so."""
    with b.transform(
        id,
        "gated unit",
        "Clamped SwiGLU",
        equation=rf"h = g\,\sigma({spec.alpha:g}\,g) \odot (u + {spec.offset:g}),"
        rf"\quad g \le {spec.limit:g},\; |u| \le {spec.limit:g}",
        says="Lets each coordinate of the up projection through by how strongly its gate asks; both are bounded first.",
    ):
        gate = b.binary("minimum", gate, spec.limit, f"≤ {spec.limit:g}")
        up = b.binary("maximum", b.binary("minimum", up, spec.limit, f"≤ {spec.limit:g}"), -spec.limit, "≥ −limit")
        opened = sigmoid(b, gate if spec.alpha == 1.0 else b.multiply(gate, spec.alpha, f"× {spec.alpha:g}"))
        opened = b.multiply(opened, gate, "× gate")
        shifted = up if spec.offset == 0.0 else b.add(up, spec.offset, f"+ {spec.offset:g}")
        return b.multiply(opened, shifted, "× up", "h")


def plain_unit(b: Builder, up: Value, spec: Activation, *, id: str) -> Value:
    """activation(up), element by element."""
    if isinstance(spec, ClampedSwiGLU):
        raise ConfigError("a clamped SwiGLU needs a gate projection; this feed-forward has none")
    function = activation(spec)
    with b.transform(
        id,
        "activation",
        function.title,
        equation=rf"h = \text{{{function.title}}}(u)",
        says="Bends each coordinate by itself; without it two projections would be one.",
    ):
        return function.steps(b, up, "multiply", "h")
