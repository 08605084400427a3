"""From queries, keys and values to the mix of values: scores, what is done to them, softmax."""

import numpy as np

from tokenviz.architecture import GQA, Alibi, Temperature
from tokenviz.builder import Builder, Coefficients, Positions, Table
from tokenviz.graph import Value
from tokenviz.scenario import Scenario


def attend(b: Builder, q: Value, keys: Value, values: Value, spec: GQA, scenario: Scenario) -> Value:
    """Scores, softmax and the weighted mix: q ``T K G H``, keys and values ``S K H`` -> ``T K G H``."""
    with b.transform(
        "scores",
        "scores",
        "Scores",
        equation=r"s_j = \frac{q \cdot k_j}{\sqrt{d}}",
        says="Compares the query with the key of every attended position: one dot product each.",
    ):
        scores = b.contract("T K G H, S K H -> T K G S", q, keys, out="" if spec.scale != 1.0 else "s")
        if spec.scale != 1.0:
            scores = b.multiply(scores, spec.scale, "× 1/√d", "s")
    if spec.softcap is not None:
        scores = soft_cap(b, scores, spec.softcap, id="softcap", out="s")
    if spec.alibi is not None:
        scores = penalised(b, scores, spec.alibi)
    if scenario.positions > 1 or scenario.always_mask:
        scores = mask(b, scores, spec.window, chunk=spec.chunk)
    weights = sink_softmax(b, scores) if spec.sinks else softmax(b, scores, "S", id="softmax", title="Softmax", out="p")
    letter = values.dims[-1]
    with b.transform(
        "mix",
        "value mix",
        "Value mix",
        equation=r"o = \sum_j p_j v_j",
        says="Averages the values of all attended positions, weighted by the softmax.",
    ):
        equation = f"T K G S, S K {letter} -> T K G {letter}"
        return b.contract(equation, weights, values, labels=("products", "sum"), out="o")


LATER = "Hides later positions, so that a token depends only on itself and what came before."


def mask(
    b: Builder, scores: Value, window: int | None, *, chunk: int | None = None, over: str = "S", says: str = LATER
) -> Value:
    """Hide positions along `over` that come after each query, and those that left its window or chunk."""
    with b.transform(
        "mask",
        "causal mask",
        "Causal mask",
        equation=r"s_j \leftarrow -\infty \text{ for } j > i",
        says=says,
    ):
        attrs = {"window": window, "chunk": chunk, "over": over}
        return b.op("causal_mask", scores, dims=scores.dims, label="hide later", out="s", attrs=attrs)


# ------------------------------------------------------------------------------------------------ softmax


def softmax(b: Builder, x: Value, over: str, *, id: str, title: str, out: str) -> Value:
    """exp(x - max) / sum: five operations."""
    with b.transform(
        id,
        "softmax",
        title,
        equation=r"p_j = \frac{e^{s_j - \max s}}{\sum_i e^{s_i - \max s}}",
        says="Turns scores into shares that add up to one.",
    ):
        e = b.unary("exp", b.subtract(x, b.reduce("max", x, over, "max"), "subtract"), "exp")
        return b.divide(e, b.reduce("sum", e, over, "sum"), "divide", out)


def sink_softmax(b: Builder, scores: Value) -> Value:
    """Softmax over the positions and one learned score for each head, whose share goes nowhere. Xiao et al. 2023."""
    sink = b.weight("sinks", "K G", name="sink", says="One learned score for each head.")
    with b.transform(
        "softmax",
        "softmax",
        "Softmax with sink",
        equation=r"p_j = \frac{e^{s_j - m}}{e^{z - m} + \sum_i e^{s_i - m}},\quad m = \max(z, \max s)",
        says="Turns scores into shares; a learned sink takes what no position deserves.",
    ):
        top = b.binary("maximum", b.reduce("max", scores, "S", "max"), sink, "max with sink")
        e = b.unary("exp", b.subtract(scores, top, "subtract"), "exp")
        share = b.unary("exp", b.subtract(sink, top, "sink − max"), "exp")
        return b.divide(e, b.add(b.reduce("sum", e, "S", "sum"), share, "+ sink"), "divide", "p")


# ------------------------------------------------------------------------------------------------ on the scores


def soft_cap(b: Builder, x: Value, cap: float, *, id: str, out: str) -> Value:
    """cap · tanh(x / cap): three operations."""
    with b.transform(
        id,
        "soft cap",
        "Soft cap",
        equation=rf"s \leftarrow {cap:g}\,\tanh(s / {cap:g})",
        says="Squashes the scores smoothly, so that none leaves the range.",
    ):
        return b.multiply(b.unary("tanh", b.multiply(x, 1 / cap, f"× 1/{cap:g}"), "tanh"), cap, f"× {cap:g}", out)


def penalised(b: Builder, scores: Value, spec: Alibi) -> Value:
    """Scores minus slope · distance, for each query head. Press, Smith and Lewis 2021."""
    bias = b.coefficients(b.position(), alibi_table(spec, b.sizes["K"]), "K G S", "slope · −distance")
    with b.transform(
        "alibi",
        "ALiBi",
        "ALiBi",
        equation=r"s_j \leftarrow s_j - m_h\,(i - j)",
        says="Lowers the score of each position by its distance, at a slope of each head's own.",
    ):
        return b.add(scores, bias, "+ slope · −distance", "s")


def alibi_table(spec: Alibi, kv_heads: int) -> Table:
    """Function positions -> ``K G S``.

    Distances are measured from the last position: against each query's own that shifts a whole row of scores, which
    softmax does not see.
    """

    def table(positions: Positions) -> Coefficients:
        distance = np.arange(int(positions[-1]) + 1, dtype=np.float32) - np.float32(positions[-1])
        penalties: Coefficients = np.multiply.outer(
            np.array(spec.slopes, dtype=np.float32).reshape(kv_heads, -1), distance
        )
        return penalties

    return table


def temperature_table(spec: Temperature) -> Table:
    """Function positions -> the factor on each position's query, ``T``."""

    def table(positions: Positions) -> Coefficients:
        return (1 + spec.scale * np.log1p((positions + spec.offset) // spec.step)).astype(np.float32)

    return table
