"""What mixers with a memory of fixed size share: the scan over new positions, decays, and the gated read-out."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tokenviz.architecture import RMSNorm
from tokenviz.builder import Builder
from tokenviz.graph import StateKind, Value
from tokenviz.recipes.activation import sigmoid, silu
from tokenviz.recipes.norm import gain_of, rms_steps


def scan(
    b: Builder,
    memory: Value,
    inputs: Sequence[Value],
    *,
    write: Callable[..., Value],
    read: Callable[..., Value],
    out: str,
) -> Value:
    """Write every new position into the memory and read it back, one position after the other; the last state is kept.

    `inputs` are ``T ...`` each. ``write(state, *inputs of the position)`` gives the state behind the position,
    ``read(that state, *inputs of the position)`` its read-out; all read-outs together are ``T ...``.
    """
    state, reads = memory, []
    for t in range(b.sizes["T"]):
        here = [b.take(value, "T", t) for value in inputs]
        state = write(state, *here)
        if t == b.sizes["T"] - 1:
            says = "Fixed size: updated in place, whatever the context."
            b.save(memory, state, StateKind.RECURRENT, name="recurrent state", label="save S", says=says)
        reads.append(read(state, *here))
    return b.stack(reads, "T", out)


def negative_exp(a_log: NDArray[np.floating]) -> NDArray[np.floating]:
    """The decay rate as it is applied: -exp(A_log)."""
    rate: NDArray[np.floating] = np.exp(a_log)
    return -rate


def decay(b: Builder, x: Value, *, symbol: str, says: str) -> Value:
    """exp(-exp(A_log) · softplus(x + dt_bias)) in (0, 1). x: ``T U``, or ``T U P`` with a decay for every key channel.

    A_log is one number for each head, dt_bias has all letters of x but T; `symbol` is what the equation calls x.
    """
    bias = b.weight("dt_bias", " ".join(x.dims[1:]), name="dt_bias")
    rate = b.fold(negative_exp, (b.weight("A_log", "U", name="A_log"),), "−exp(A_log)")
    with b.transform(
        "decay",
        "decay",
        "Decay α",
        equation=rf"\alpha = \exp\!\big(-e^{{A}}\,\log(1 + e^{{{symbol} + b_{{dt}}}})\big)",
        says=says,
    ):
        soft = b.unary("log1p", b.unary("exp", b.add(x, bias, "+ dt_bias"), "exp"), "log1p")
        return b.unary("exp", b.multiply(soft, rate, "× −exp(A_log)"), "exp", "α")


def gated_norm(
    b: Builder, x: Value, gate: Value, norm: RMSNorm, *, over: str, swish: bool, whose: str = "each head's read-out"
) -> Value:
    """RMSNorm of a read-out along its letter `over`, then times SiLU(gate) (`swish`) or sigmoid(gate)."""
    gain = gain_of(b, norm, b.weight("norm_out.weight", over, name="g"))
    opening = r"\operatorname{SiLU}(z)" if swish else r"\sigma(g)"
    with b.transform(
        "gated_norm",
        "gated RMSNorm",
        "Gated RMSNorm",
        equation=r"y = \operatorname{RMSNorm}(o) \odot " + opening,
        says=f"Brings {whose} to unit size, then lets it through by its gate.",
    ):
        normed = rms_steps(b, x, gain, norm.eps, over)
        return b.multiply(normed, silu(b, gate, "× z") if swish else sigmoid(b, gate), "multiply", "y")
