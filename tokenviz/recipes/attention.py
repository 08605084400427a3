"""Attention over a key/value cache, query heads sharing key/value heads. Vaswani et al. 2017, Ainslie et al. 2023."""

from collections.abc import Mapping

from tokenviz.architecture import GQA, QKNorm, Temperature
from tokenviz.builder import Builder
from tokenviz.graph import Value
from tokenviz.recipes import scores as scoring
from tokenviz.recipes.activation import sigmoid, silu
from tokenviz.recipes.linear import projection, scaled
from tokenviz.recipes.norm import norm_title, normalise
from tokenviz.recipes.rope import apply_rope
from tokenviz.scenario import Scenario


def sizes(spec: GQA, scenario: Scenario) -> Mapping[str, int]:
    """Extents of the letters that attention adds."""
    kept = scenario.context + scenario.positions
    letters = {"K": spec.kv_heads, "G": spec.group, "N": spec.kv_heads * spec.group, "H": spec.head_dim}
    letters[value_letter(spec)] = spec.value_dim
    if spec.chunk is not None:
        recent = scenario.context % spec.chunk
        past = min(scenario.context, spec.chunk - 1)
        letters |= {
            "S": recent + scenario.positions,
            "recent": recent,
            "cached": past,
            "next": min(kept, spec.chunk - 1),
        }
    else:
        span = scenario.attended(spec.window)
        last = kept if spec.window is None else min(kept, spec.window - 1)
        letters |= {"S": span, "cached": span - scenario.positions, "next": last}
    if spec.rope is not None:
        letters |= {"rotated": spec.rope.dims, "passed": spec.head_dim - spec.rope.dims}
    return letters


def value_letter(spec: GQA) -> str:
    """The letter of a value's coordinates: H, unless values are narrower or wider than keys."""
    return "H" if spec.value_dim == spec.head_dim else "A"


def trace(b: Builder, x: Value, spec: GQA, scenario: Scenario) -> Value:
    """x: T D, normalised -> T D. Keys and values of earlier tokens come from the cache, the new ones join them."""
    letter = value_letter(spec)
    q = projection(b, x, id="q", equation="K G H D, T D -> T K G H", title="Query projection", out="q", bias=spec.bias)
    gate = None
    if spec.gate is not None:
        equation = f"K G {letter} D, T D -> T K G {letter}"
        gate = projection(b, x, id="gate", equation=equation, title="Gate projection", out="gate")
    k, v = (None, None) if spec.reads_shared else new_entries(b, x, spec)
    live = {"q": q} if k is None else {"q": q, "k": scaled(b, k, spec.key_scale, "k_scale", "Scale keys", "k")}
    live = positioned(b, live, spec)
    q = live["q"] if spec.temperature is None else tempered(b, live["q"], spec.temperature)
    if v is None:
        keys, values = shared_entries(b, spec)
    else:
        keys, values = cached(b, live["k"], "K", spec), cached(b, finished_value(b, v, spec), "V", spec)
        if spec.share is not None:
            b.export(f"keys.{spec.share}", keys)
            b.export(f"values.{spec.share}", values)
    mixed = scoring.attend(b, q, keys, values, spec, scenario)
    if gate is not None and spec.gate is not None:
        mixed = gated(b, mixed, gate, spec.gate.as_studied if scenario.gate == "study" else spec.gate.activation)
    return projection(
        b, mixed, id="out", equation=f"D K G {letter}, T K G {letter} -> T D", title="Output projection", out="Δx",
        bias=spec.out_bias,
    )  # fmt: skip


def new_entries(b: Builder, x: Value, spec: GQA) -> tuple[Value, Value]:
    """This token's keys ``T K H`` and values ``T K A``; one projection for both where they share it."""
    k = projection(b, x, id="k", equation="K H D, T D -> T K H", title="Key projection", out="k", bias=spec.bias)
    if spec.value_is_key:
        return k, k
    letter = value_letter(spec)
    equation = f"K {letter} D, T D -> T K {letter}"
    v = projection(b, x, id="v", equation=equation, title="Value projection", out="v", bias=spec.bias)
    return k, v


# ------------------------------------------------------------------------------------------------ on q, k and v


def clipped(b: Builder, x: Value, spec: GQA, name: str) -> Value:
    """x bounded to ±clip: two operations, or none."""
    if spec.clip is None:
        return x
    with b.transform(
        f"{name}_clip",
        "clip",
        f"Clip {name}",
        equation=rf"{name} \leftarrow \min(\max({name}, -{spec.clip:g}), {spec.clip:g})",
        says="Bounds every coordinate.",
    ):
        low = b.binary("maximum", x, -spec.clip, f"≥ −{spec.clip:g}")
        return b.binary("minimum", low, spec.clip, f"≤ {spec.clip:g}", name)


def positioned(b: Builder, live: Mapping[str, Value], spec: GQA) -> dict[str, Value]:
    """Norm, clip and rotation of queries and keys, in the order that the model has."""
    norm, done = spec.qk_norm, dict(live)
    if norm is not None and not norm.after_rope:
        done = {name: head_norm(b, x, norm, name) for name, x in done.items()}
    done = {name: clipped(b, x, spec, name) for name, x in done.items()}
    if spec.rope is not None:
        done = {name: apply_rope(b, x, spec.rope, id=f"{name}_rope", name=name) for name, x in done.items()}
    if norm is not None and norm.after_rope:
        done = {name: head_norm(b, x, norm, name) for name, x in done.items()}
    return done


def finished_value(b: Builder, v: Value, spec: GQA) -> Value:
    """Values as they are cached: clipped, scaled and normalised where the model does."""
    v = scaled(b, clipped(b, v, spec, "v"), spec.value_scale, "v_scale", "Scale values", "v")
    if spec.value_norm is None:
        return v
    return normalise(b, v, spec.value_norm, id="v_norm", over=value_letter(spec), title="v RMSNorm", out="v̂")


def head_norm(b: Builder, x: Value, spec: QKNorm, name: str) -> Value:
    """Norm of each head, or of all heads as one vector."""
    heads = " ".join(x.dims[1:])
    whole = spec.over == "projection"
    return normalise(
        b, x, spec.norm, id=f"{name}_norm", over=heads if whole else "H", gain=heads if spec.own_gain or whole else "H",
        title=f"{name} {norm_title(spec.norm)}", out=f"{name}̂",
    )  # fmt: skip


def tempered(b: Builder, q: Value, spec: Temperature) -> Value:
    """Queries scaled by a factor that grows slowly with the position."""
    table = scoring.temperature_table(spec)
    factor = b.coefficients(b.position(), table, "T", "temperature")
    with b.transform(
        "temperature",
        "query temperature",
        "Query temperature",
        equation=rf"q \leftarrow q\,\big(1 + {spec.scale:g}\ln(1 + \lfloor p / {spec.step} \rfloor)\big)",
        says="Sharpens attention a little as the context grows.",
    ):
        return b.multiply(q, factor, "× temperature", "q")


# ------------------------------------------------------------------------------------------------ the cache


def cached(b: Builder, new: Value, name: str, spec: GQA) -> Value:
    """All keys (or values) that the token attends to, ``S K H``; storing the new ones happens beside that."""
    word, letter = ("key", "H") if name == "K" else ("value", value_letter(spec))
    past = b.state(
        f"{name}_cache", f"cached K {letter}", name=f"{name} cache", dtype="kv",
        says=f"The {word} vectors of earlier tokens.",
    )  # fmt: skip
    window = spec.window if spec.chunk is None else spec.chunk
    used = None
    seen = past
    if spec.chunk is not None:
        seen = b.wire("recent", (past, b.position()), ("recent", "K", letter), name=f"{name} of this chunk", attrs={
            "chunk": spec.chunk,
        })  # fmt: skip
        used = seen.size
    with b.transform(
        f"{name}_append",
        f"{name} append",
        f"{name} append",
        equation=rf"{name}_{{\text{{cache}}}} \leftarrow [{name}_{{\text{{cache}}}};\, {name.lower()}]",
        says=f"Stores this token's {word} behind the others, for every later token to read.",
    ):
        grows = "one entry a token" if window is None else f"up to a window of {window:,} positions"
        b.store(
            past, new, "cached", name=f"{name} cache", label="store", window=window, says=f"Grows by {grows}.",
            used=used,
        )  # fmt: skip
    return b.concat((seen, new), f"S K {letter}", "S", f"{name} all")


def shared_entries(b: Builder, spec: GQA) -> tuple[Value, Value]:
    """Keys and values of all attended positions, kept and handed over by an earlier layer."""
    keys = b.input(f"keys.{spec.share}", "S K H", name="K all", dtype="kv", says="Keys that another layer keeps.")
    values = b.input(
        f"values.{spec.share}", f"S K {value_letter(spec)}", name="V all", dtype="kv",
        says="Values that another layer keeps.",
    )  # fmt: skip
    return keys, values


# ------------------------------------------------------------------------------------------------ the output


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
