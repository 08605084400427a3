"""The sparse-attention indexer: cheap scores for all positions, attention reads the best. DeepSeek-V3.2 2025."""

from tokenviz.architecture import Indexer
from tokenviz.builder import Builder
from tokenviz.graph import Value
from tokenviz.recipes.linear import projection
from tokenviz.recipes.norm import normalise
from tokenviz.recipes.rope import turn
from tokenviz.recipes.scores import mask
from tokenviz.scenario import Scenario


def sizes(spec: Indexer) -> dict[str, int]:
    """Extents of the letters that an indexer adds."""
    return {"I": spec.heads, "index": spec.head_dim, "index_rest": spec.head_dim - spec.rope.dims}


def select(b: Builder, x: Value, query: Value, spec: Indexer, scenario: Scenario) -> tuple[Value, Value]:
    """Scores and indices of the chosen positions, both ``T S``. x: T D normalised; query: T query_rank."""
    q = projection(
        b, query, id="q", equation="I index query_rank, T query_rank -> T I index", title="Indexer query", out="q"
    )
    k = projection(b, x, id="k", equation="index D, T D -> T index", title="Indexer key", out="k")
    w = projection(b, x, id="w", equation="I D, T D -> T I", title="Indexer head weights", out="w")
    k = normalise(b, k, spec.norm, id="k_norm", over="index", title="Indexer key LayerNorm", out="k̂")
    q, k = turn_front(b, q, spec, "q"), turn_front(b, k, spec, "k")
    scores = compare(b, q, cached(b, k), w, spec)
    if scenario.positions > 1 or scenario.always_mask:
        scores = mask(b, scores, None, over="seen", says="Hides later positions, so that none of them is chosen.")
    with b.transform(
        "select",
        "position top-k",
        f"Best {spec.top_k:,} positions",
        equation=r"\{j\} = \text{top}\,k(s)",
        says="Picks the positions that attention will read; all others are skipped.",
    ):
        return b.top_k(scores, "S", "seen", label="select", at_most=spec.top_k)


def compare(b: Builder, q: Value, keys: Value, w: Value, spec: Indexer) -> Value:
    """One score for every position, ``T seen``."""
    with b.transform(
        "scores",
        "indexer scores",
        "Indexer scores",
        equation=r"s_j = \sum_h \frac{w_h}{\sqrt{n}}\, \max\!\Big(0, \frac{q_h \cdot k_j}{\sqrt{d}}\Big)",
        says="Scores every earlier position with a few small heads that share one key.",
    ):
        products = b.contract("T I index, seen index -> T I seen", q, keys)
        heads = b.unary("relu", b.multiply(products, spec.head_dim**-0.5, "× 1/√d"), "max(0, ·)")
        weights = b.multiply(w, spec.heads**-0.5, "× 1/√n")
        return b.contract("T I, T I seen -> T seen", weights, heads, labels=("× head weights", "sum"), out="s")


def turn_front(b: Builder, x: Value, spec: Indexer, name: str) -> Value:
    """Turn the first coordinates of x (``... index``) by the position and leave the others."""
    front, rest = b.split(x, "index", [(name, "rotated"), (f"{name} unturned", "index_rest")])
    front = turn(b, front, spec.rope, id=f"{name}_rope", name=name)
    return b.concat((front, rest), " ".join(x.dims), "index", f"{name}′")


def cached(b: Builder, k: Value) -> Value:
    """All indexer keys, ``seen index``; storing the new ones happens beside that."""
    past = b.state("K_cache", "cached index", name="indexer keys", dtype="kv", says="One small key per position.")
    with b.transform(
        "K_append",
        "indexer key append",
        "Indexer key append",
        equation=r"K_{\text{cache}} \leftarrow [K_{\text{cache}};\, k]",
        says="Stores this token's indexer key behind the others, for every later token to compare.",
    ):
        b.store(past, k, "cached", name="indexer keys", label="store", window=None, says="Grows by one entry a token.")
    return b.concat((past, k), "seen index", "seen", "indexer keys, all")
