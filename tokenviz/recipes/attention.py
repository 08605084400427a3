"""Attention over a key/value cache, query heads sharing key/value heads (GQA). Vaswani et al. 2017, Ainslie et al. 2023."""

from collections.abc import Mapping

from tokenviz.architecture import GQA
from tokenviz.builder import Builder
from tokenviz.graph import Value
from tokenviz.recipes.activation import sigmoid, silu
from tokenviz.recipes.linear import projection
from tokenviz.recipes.norm import norm_title, normalise
from tokenviz.recipes.rope import apply_rope
from tokenviz.scenario import Scenario


def sizes(spec: GQA, scenario: Scenario) -> Mapping[str, int]:
    """Extents of the letters that attention adds."""
    span = scenario.attended(spec.window)
    past = span - scenario.positions
    kept = scenario.context + scenario.positions
    rotated = spec.rope.dims if spec.rope else 0
    return {
        "K": spec.kv_heads, "G": spec.group, "N": spec.kv_heads * spec.group, "H": spec.head_dim,
        "S": span, "cached": past, "next": kept if spec.window is None else min(kept, spec.window - 1),
        "rotated": rotated, "passed": spec.head_dim - rotated,
    }  # fmt: skip


def trace(b: Builder, x: Value, spec: GQA, scenario: Scenario) -> Value:
    """x: T D, normalised -> T D. Keys and values of earlier tokens come from the cache, the new ones join them."""
    q = projection(b, x, id="q", equation="K G H D, T D -> T K G H", title="Query projection", out="q", bias=spec.bias)
    gate = None
    if spec.gate is not None:
        gate = projection(b, x, id="gate", equation="K G H D, T D -> T K G H", title="Gate projection", out="gate")
    k = projection(b, x, id="k", equation="K H D, T D -> T K H", title="Key projection", out="k", bias=spec.bias)
    v = projection(b, x, id="v", equation="K H D, T D -> T K H", title="Value projection", out="v", bias=spec.bias)
    if spec.qk_norm is not None:
        title = norm_title(spec.qk_norm)
        q = normalise(b, q, spec.qk_norm, id="q_norm", over="H", title=f"q {title}", out="q̂")
        k = normalise(b, k, spec.qk_norm, id="k_norm", over="H", title=f"k {title}", out="k̂")
    if spec.rope is not None:
        q = apply_rope(b, q, spec.rope, id="q_rope", name="q")
        k = apply_rope(b, k, spec.rope, id="k_rope", name="k")
    keys, values = cached(b, k, "K", spec), cached(b, v, "V", spec)
    mixed = attend(b, q, keys, values, spec, scenario)
    if gate is not None and spec.gate is not None:
        mixed = gated(b, mixed, gate, spec.gate.as_studied if scenario.gate == "study" else spec.gate.activation)
    return projection(
        b, mixed, id="out", equation="D K G H, T K G H -> T D", title="Output projection", out="Δx", bias=spec.out_bias
    )


def cached(b: Builder, new: Value, name: str, spec: GQA) -> Value:
    """All keys (or values) that the token attends to, ``S K H``; storing the new ones happens beside that."""
    word = "key" if name == "K" else "value"
    past = b.state(
        f"{name}_cache", "cached K H", name=f"{name} cache", dtype="kv", says=f"The {word} vectors of earlier tokens."
    )
    with b.transform(
        f"{name}_append",
        f"{name} append",
        f"{name} append",
        equation=rf"{name}_{{\text{{cache}}}} \leftarrow [{name}_{{\text{{cache}}}};\, {name.lower()}]",
        says=f"Stores this token's {word} behind the others, for every later token to read.",
    ):
        grows = "one entry a token" if spec.window is None else f"up to a window of {spec.window:,} positions"
        b.store(past, new, "cached", name=f"{name} cache", label="store", window=spec.window, says=f"Grows by {grows}.")
    return b.concat((past, new), "S K H", "S", f"{name} all")


def attend(b: Builder, q: Value, keys: Value, values: Value, spec: GQA, scenario: Scenario) -> Value:
    """Scores, softmax and the weighted mix of values: q ``T K G H``, keys and values ``S K H`` -> ``T K G H``."""
    with b.transform(
        "scores",
        "scores",
        "Scores",
        equation=r"s_j = \frac{q \cdot k_j}{\sqrt{d}}",
        says="Compares the query with the key of every attended position: one dot product each.",
    ):
        products = b.contract("T K G H, S K H -> T K G S", q, keys)
        scores = b.multiply(products, spec.scale, "× 1/√d", "s")
    if scenario.positions > 1 or scenario.always_mask:
        scores = mask(b, scores, spec.window)
    weights = softmax(b, scores, "S", id="softmax", title="Softmax", out="p")
    with b.transform(
        "mix",
        "value mix",
        "Value mix",
        equation=r"o = \sum_j p_j v_j",
        says="Averages the values of all attended positions, weighted by the softmax.",
    ):
        return b.contract("T K G S, S K H -> T K G H", weights, values, labels=("products", "sum"), out="o")


def mask(b: Builder, scores: Value, window: int | None) -> Value:
    """Hide positions that come after each query (and those that left its window)."""
    with b.transform(
        "mask",
        "causal mask",
        "Causal mask",
        equation=r"s_j \leftarrow -\infty \text{ for } j > i",
        says="Hides later positions, so that a token depends only on itself and what came before.",
    ):
        return b.op("causal_mask", scores, dims=scores.dims, label="hide later", out="s", attrs={"window": window})


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


def gated(b: Builder, mixed: Value, gate: Value, activation: str) -> Value:
    """Scale each coordinate of the attention output by its gate."""
    sigmoid_only = activation == "sigmoid"
    with b.transform(
        "gate_act",
        "output gate",
        "Output gate",
        equation=r"a = \sigma(g)" if sigmoid_only else r"a = g \, \sigma(g)",
        says="Decides for each coordinate how much of the attention output passes.",
    ):
        opened = sigmoid(b, gate, "a") if sigmoid_only else silu(b, gate, "multiply", "a")
    with b.transform(
        "gate_mul",
        "gate multiply",
        "Apply gate",
        equation=r"o' = o \odot a",
        says="Multiplies the attention output by its gate, coordinate by coordinate.",
    ):
        return b.multiply(mixed, opened, "multiply", "o′")
