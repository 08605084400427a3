"""Mamba-1: a selective scan in which every channel has its own decays. Gu and Dao 2023; norms as in Jamba."""

from collections.abc import Mapping

from tokenviz.architecture import SelectiveScan
from tokenviz.builder import Builder
from tokenviz.graph import Value
from tokenviz.recipes.activation import silu
from tokenviz.recipes.conv import causal_conv, conv_sizes
from tokenviz.recipes.linear import projection
from tokenviz.recipes.norm import normalise
from tokenviz.recipes.recurrence import negative_exp, scan
from tokenviz.scenario import Scenario


def sizes(spec: SelectiveScan, scenario: Scenario) -> Mapping[str, int]:
    """Extents of the letters that a selective scan adds."""
    return {
        "channels": spec.channels, "P": spec.state, "R": spec.dt_rank, "halves": 2,
        "selected": spec.dt_rank + 2 * spec.state, **conv_sizes(spec.taps, scenario.positions),
    }  # fmt: skip


def trace(b: Builder, x: Value, spec: SelectiveScan, _scenario: Scenario) -> Value:
    """x: T D, normalised -> T D. The state ``channels P`` is decayed, fed and read once for each position."""
    parts = projection(
        b, x, id="in", equation="halves channels D, T D -> T halves channels", title="Input projection", out="xz",
        bias=spec.bias,
    )  # fmt: skip
    u, z = b.take(parts, "halves", 0), b.take(parts, "halves", 1)
    u = causal_conv(b, u, bias=spec.conv_bias)
    selected = projection(
        b, u, id="x", equation="selected channels, T channels -> T selected", title="Selection projection", out="dbc"
    )
    dt, b_in, c_out = b.split(selected, "selected", [("dt", "R"), ("B", "P"), ("C", "P")])
    if spec.norm is not None:
        dt = normalise(b, dt, spec.norm, id="dt_norm", over="R", title="dt RMSNorm", out="dt̂")
        b_in = normalise(b, b_in, spec.norm, id="b_norm", over="P", title="B RMSNorm", out="B̂")
        c_out = normalise(b, c_out, spec.norm, id="c_norm", over="P", title="C RMSNorm", out="Ĉ")
    dt = projection(
        b, dt, id="dt", equation="channels R, T R -> T channels", title="Time step projection", out="dt", bias=True
    )
    dt, alpha = discretise(b, dt)
    gated = gate(b, update(b, (u, dt, alpha, b_in, c_out)), z)
    return projection(
        b, gated, id="out", equation="D channels, T channels -> T D", title="Output projection", out="Δx",
        bias=spec.bias,
    )  # fmt: skip


def discretise(b: Builder, dt: Value) -> tuple[Value, Value]:
    """softplus(dt), ``T channels``, and the decay exp(-exp(A_log) · dt) of every state value, ``T channels P``."""
    rate = b.fold(negative_exp, (b.weight("A_log", "channels P", name="A_log"),), "−exp(A_log)")
    with b.transform(
        "decay",
        "decay",
        "Time step and decay",
        equation=r"\Delta = \log(1 + e^{dt}),\quad \alpha = e^{-e^{A} \Delta}",
        says="Decides for each channel how long a step this token makes, and so how much of its memory survives.",
    ):
        step = b.unary("log1p", b.unary("exp", dt, "exp"), "log1p", "Δ")
        rates = b.op("multiply", step, rate, dims=("T", "channels", "P"), label="× −exp(A_log)")
        return step, b.unary("exp", rates, "exp", "α")


def update(b: Builder, inputs: tuple[Value, Value, Value, Value, Value]) -> Value:
    """S = α S + (Δ u) ⊗ B, then C · S + D u. Inputs u, Δ: T channels; α: T channels P; B, C: T P -> T channels."""
    memory = b.state("S", "channels P", name="S", dtype="recurrent", says="A few values for each channel.")
    skip = b.weight("D", "channels", name="D")
    with b.transform(
        "scan",
        "state update",
        "State update and read-out",
        equation=r"S \leftarrow \alpha \odot S + \Delta u \otimes B, \qquad y = S\,C + D \odot u",
        says="Fades the memory, writes this token's input into it along B, then reads it along C.",
    ):
        return input_scan(b, memory, inputs, skip, "channels P, P -> channels")


def input_scan(
    b: Builder, memory: Value, inputs: tuple[Value, Value, Value, Value, Value], skip: Value, readout: str
) -> Value:
    """The scan of a state-space mixer over inputs u, Δ, α, B, C; `readout` is the einsum of the state and C."""

    def write(state: Value, u: Value, dt: Value, alpha: Value, b_in: Value, _c_out: Value) -> Value:
        faded = b.multiply(state, alpha, "decay S")
        return b.accumulate(faded, b.multiply(u, dt, "× Δ"), b_in, labels=("outer B", "S +"))

    def read(state: Value, u: Value, _dt: Value, _alpha: Value, _b_in: Value, c_out: Value) -> Value:
        made = b.contract(readout, state, c_out, labels=("S·C products", "sum"))
        return b.accumulate(made, u, skip, labels=("× D", "+ skip"), out="y")

    return scan(b, memory, inputs, write=write, read=read, out="y")


def gate(b: Builder, y: Value, z: Value) -> Value:
    """y · SiLU(z), element by element."""
    with b.transform(
        "gate",
        "output gate",
        "Output gate",
        equation=r"y' = y \odot \operatorname{SiLU}(z)",
        says="Decides for each channel how much of the read-out passes.",
    ):
        return b.multiply(y, silu(b, z, "× z"), "multiply", "y′")
