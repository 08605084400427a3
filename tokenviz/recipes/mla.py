"""Multi-head latent attention in its absorbed form: all heads share one cached latent. DeepSeek-V2 2024.

The up-projection of keys is applied to the query instead, and that of values to the mixed latent, so that keys and
values of earlier tokens are never expanded: attention runs over one narrow entry per position.
"""

from collections.abc import Mapping

from tokenviz.architecture import LatentAttention
from tokenviz.builder import Builder
from tokenviz.graph import Value
from tokenviz.recipes import indexer
from tokenviz.recipes.linear import project_with, projection
from tokenviz.recipes.norm import normalise
from tokenviz.recipes.rope import turn
from tokenviz.recipes.scores import LATER, mask, softmax
from tokenviz.scenario import Scenario


def sizes(spec: LatentAttention, scenario: Scenario) -> Mapping[str, int]:
    """Extents of the letters that latent attention adds. With an indexer, S is what is left of the positions seen."""
    span = scenario.attended(None)
    letters = {
        "N": spec.heads, "H": spec.nope_dim + spec.rope_dim, "passed": spec.nope_dim, "rotated": spec.rope_dim,
        "value": spec.value_dim, "expanded": spec.nope_dim + spec.value_dim, "R": spec.rank,
        "entry": spec.rank + spec.rope_dim, "S": span, "cached": span - scenario.positions, "next": span,
    }  # fmt: skip
    if spec.query_rank is not None:
        letters["query_rank"] = spec.query_rank
    if spec.indexer is not None:
        letters |= indexer.sizes(spec.indexer)
    if (most := at_most(spec)) is not None:
        letters |= {"seen": span, "S": min(span, most)}
    return letters


def at_most(spec: LatentAttention) -> int | None:
    """How many positions attention reads where an indexer chooses them; None where it reads all."""
    return spec.borrows if spec.indexer is None else spec.indexer.top_k


def trace(b: Builder, x: Value, spec: LatentAttention, scenario: Scenario) -> Value:
    """x: T D, normalised -> T D. Entries ``cached entry`` of earlier tokens come from the cache."""
    compressed, q = queries(b, x, spec)
    entry = new_entry(b, x, spec)
    expand = b.weight(
        "kv_b.weight", "N expanded R", name="W_kv", says="Expands a latent to every head's key and value."
    )
    key_up, value_up = b.split(expand, "expanded", [("W_k", "passed"), ("W_v", "value")])
    q = absorbed(b, q, key_up, spec)
    chosen = choice(b, x, compressed, spec, scenario)
    entries = cached(b, entry, spec)
    if chosen is not None:
        entries = b.gather(entries, chosen[1], "seen")
    mixed = attend(b, q, entries, chosen, spec, scenario)
    mixed = project_with(
        b, mixed, value_up, id="v", equation="N value R, T N R -> T N value", title="Value projection", out="o",
        says="Expands each head's mixed latent to a value; done once, after mixing.",
    )  # fmt: skip
    return projection(
        b, mixed, id="out", equation="D N value, T N value -> T D", title="Output projection", out="Δx", bias=spec.bias
    )


def choice(
    b: Builder, x: Value, compressed: Value | None, spec: LatentAttention, scenario: Scenario
) -> tuple[Value, Value] | None:
    """Scores and indices ``T S`` of the positions to read: this layer's own choice, an earlier layer's, or None."""
    if spec.indexer is not None and compressed is not None:
        with b.prefixed("indexer"):
            chosen = indexer.select(b, x, compressed, spec.indexer, scenario)
        if spec.lends:
            b.export("chosen.scores", chosen[0])
            b.export("chosen.positions", chosen[1])
        return chosen
    if spec.borrows is None:
        return None
    says = "Positions that an earlier layer's indexer chose."
    scores = b.input("chosen.scores", "T S", name="chosen scores", says=says)
    return scores, b.input("chosen.positions", "T S", name="chosen positions", dtype="index", says=says)


def queries(b: Builder, x: Value, spec: LatentAttention) -> tuple[Value | None, Value]:
    """The compressed query ``T query_rank`` (None without compression) and the queries ``T N H``."""
    if spec.query_rank is None:
        return None, projection(b, x, id="q", equation="N H D, T D -> T N H", title="Query projection", out="q")
    low = projection(
        b, x, id="q_a", equation="query_rank D, T D -> T query_rank", title="Query, down", out="c_q", bias=spec.bias
    )
    low = normalise(b, low, spec.norm, id="q_a_norm", over="query_rank", title="Query latent RMSNorm", out="ĉ_q")
    q = projection(b, low, id="q_b", equation="N H query_rank, T query_rank -> T N H", title="Query, up", out="q")
    return low, q


def new_entry(b: Builder, x: Value, spec: LatentAttention) -> Value:
    """This token's cache entry, ``T entry``: the normalised latent and the shared turned coordinates."""
    made = projection(
        b, x, id="kv_a", equation="entry D, T D -> T entry", title="Latent projection", out="c", bias=spec.bias
    )
    latent, key = b.split(made, "entry", [("c", "R"), ("k", "rotated")])
    latent = normalise(b, latent, spec.norm, id="kv_a_norm", over="R", title="Latent RMSNorm", out="ĉ")
    if spec.rope is not None:
        key = turn(b, key, spec.rope, id="k_rope", name="k")
    return b.concat((latent, key), "T entry", "entry", "entry")


def absorbed(b: Builder, q: Value, key_up: Value, spec: LatentAttention) -> Value:
    """Queries that compare with cache entries directly, ``T N entry``."""
    still, turning = b.split(q, "H", [("q", "passed"), ("q", "rotated")])
    still = project_with(
        b, still, key_up, id="k", equation="N passed R, T N passed -> T N R", title="Key projection, absorbed", out="q̃",
        says="Takes the key's up-projection over to the query, so that cached latents stay as they are.",
    )  # fmt: skip
    if spec.rope is not None:
        turning = turn(b, turning, spec.rope, id="q_rope", name="q")
    return b.concat((still, turning), "T N entry", "entry", "q̃")


def cached(b: Builder, entry: Value, spec: LatentAttention) -> Value:
    """All entries, ``S entry`` (``seen entry`` with an indexer); storing the new ones happens beside that."""
    past = b.state(
        "latent_cache", "cached entry", name="latent cache", dtype="kv", says="One entry per position, for all heads."
    )
    with b.transform(
        "latent_append",
        "latent append",
        "Latent append",
        equation=r"C_{\text{cache}} \leftarrow [C_{\text{cache}};\, (c, k)]",
        says="Stores this token's entry behind the others, for every later token to read.",
    ):
        b.store(past, entry, "cached", name="latent cache", label="store", window=None,
                says="Grows by one entry a token, shared by all heads.")  # fmt: skip
    axis = "S" if at_most(spec) is None else "seen"
    return b.concat((past, entry), f"{axis} entry", axis, "entries")


def attend(
    b: Builder, q: Value, entries: Value, chosen: tuple[Value, Value] | None, spec: LatentAttention, scenario: Scenario
) -> Value:
    """Scores, softmax and the weighted mix of latents, ``T N R``. q: T N entry; entries: S entry or T S entry."""
    rows = "S entry" if chosen is None else "T S entry"
    with b.transform(
        "scores",
        "scores",
        "Scores",
        equation=r"s_j = \lambda\, \tilde q \cdot (c_j, k_j)",
        says="Compares every head's query with the entry of every attended position: one dot product each.",
    ):
        products = b.contract(f"T N entry, {rows} -> T N S", q, entries)
        scores = b.multiply(products, spec.scale, "× scale", "s")
    if scenario.positions > 1 or scenario.always_mask:
        scores = mask(b, scores, None) if chosen is None else hide_unready(b, scores, chosen[0])
    weights = softmax(b, scores, "S", id="softmax", title="Softmax", out="p")
    latents, _ = b.split(entries, "entry", [("ĉ", "R"), ("k", "rotated")])
    rows = rows.replace("entry", "R")
    with b.transform(
        "mix",
        "value mix",
        "Latent mix",
        equation=r"\tilde o = \sum_j p_j c_j",
        says="Averages the latents of all attended positions, weighted by the softmax.",
    ):
        return b.contract(f"T N S, {rows} -> T N R", weights, latents, labels=("products", "sum"), out="õ")


def hide_unready(b: Builder, scores: Value, picked: Value) -> Value:
    """Hide what was chosen only because a query had too few positions before it."""
    with b.transform(
        "mask",
        "causal mask",
        "Causal mask",
        equation=r"s_j \leftarrow -\infty \text{ for } j > i",
        says=LATER,
    ):
        return b.op("hide", scores, picked, dims=scores.dims, label="hide later", out="s")
