"""Routers: score the experts, keep the best groups, choose, and weight the chosen. DeepSeek-V3 2024 and relatives."""

from tokenviz.architecture import MoE, Router, RouterInput
from tokenviz.builder import Builder
from tokenviz.graph import Value
from tokenviz.notation import ConfigError
from tokenviz.recipes.activation import sigmoid
from tokenviz.recipes.linear import projection
from tokenviz.recipes.norm import rms_steps
from tokenviz.recipes.scores import softmax
from tokenviz.recipes.shape import regroup


def sizes(spec: MoE) -> dict[str, int]:
    """Extents of the letters that competing groups of experts add; none when there is one group."""
    router = spec.router
    if router.kept_groups >= router.groups:
        return {}
    return {
        "groups": router.groups, "members": spec.experts // router.groups, "kept_groups": router.kept_groups,
        "best": min(2, spec.experts // router.groups),
    }  # fmt: skip


def raw_scores(b: Builder, x: Value, router: Router) -> Value:
    """One product sum for each expert, ``T E``."""
    return projection(b, x, id="router", equation="E D, T D -> T E", title="Router", out="r", bias=router.bias)


def own_input(b: Builder, x: Value, spec: RouterInput) -> Value:
    """What the router reads: x at unit root mean square, times a learned gain with a constant folded in. T D -> T D."""
    stored = b.weight("router_input.scale", "D", name="g_r", says="A learned gain for each coordinate.")
    gain = b.fold(lambda weight: weight * weight.dtype.type(spec.factor), (stored,), "g_r/√D")
    with b.transform(
        "router_input",
        "RMSNorm",
        "Router RMSNorm",
        equation=r"x_r = \frac{x}{\sqrt{\operatorname{mean}(x^2) + \varepsilon}} \odot g_r",
        says="Brings what the router reads to unit root mean square, by a gain of its own.",
    ):
        return rms_steps(b, x, gain, spec.eps, "D", "x_r")


def rescaled(b: Builder, weights: Value, chosen: Value) -> Value:
    """The chosen experts' weights, each times a learned factor of the expert. T X -> T X."""
    factors = b.weight("router.expert_scale", "E", name="s", says="One learned factor for each expert.")
    with b.transform(
        "expert_scale",
        "scale",
        "Scale experts",
        equation=r"w_e \leftarrow w_e\, s_e",
        says="Multiplies each chosen expert's weight by a learned factor of that expert.",
    ):
        return b.multiply(weights, b.gather(factors, chosen, "E"), "× expert factor", "w")


def route(b: Builder, raw: Value, spec: MoE) -> tuple[Value, Value]:
    """The X best experts' weights and indices, both ``T X``."""
    router = spec.router
    if not router.select_first:
        return choose(b, scored(b, raw, router.scoring, "E", "router"), spec)
    top, chosen = choose(b, raw, spec)
    return scored(b, top, router.scoring, "X", "chosen"), chosen


def scored(b: Builder, raw: Value, scoring: str, over: str, id: str) -> Value:
    """Raw scores as shares: of all that compete (softmax), or each one's own (sigmoid)."""
    whose = "Router" if over == "E" else "Chosen experts'"
    if scoring == "softmax":
        return softmax(b, raw, over, id=f"{id}_softmax", title=f"{whose} softmax", out="p")
    if scoring != "sigmoid":
        raise ConfigError(f"router scoring {scoring!r} has no recipe; known: sigmoid, softmax")
    with b.transform(
        f"{id}_sigmoid",
        "sigmoid",
        f"{whose} sigmoid",
        equation=r"p_e = \sigma(r_e)",
        says="Turns each expert's score into a share of its own, independent of the others.",
    ):
        return sigmoid(b, raw, "p")


def choose(b: Builder, scores: Value, spec: MoE) -> tuple[Value, Value]:
    """The X best experts: what they scored (renormalised and scaled as the router asks), and which they are."""
    router, rank, bias = spec.router, None, None
    if router.correction:
        says = "Evens out how often experts are chosen; stored beside the parameters."
        bias = b.buffer("router.correction", "E", name="c", says=says)
    with b.transform(
        "top_k",
        "top-k",
        f"Top {spec.per_token} of {spec.experts}",
        equation=equation(router),
        says="Picks the experts with the highest scores; nothing routed can start before.",
    ):
        if bias is not None:
            rank = b.add(scores, bias, "+ correction")
        if router.kept_groups < router.groups:
            rank = best_groups(b, scores if rank is None else rank, router)
        top, chosen = b.top_k(scores, "X", "E", rank_by=rank, label="select")
        if router.renormalise:
            total = b.reduce("sum", top, "X", "sum")
            top = b.divide(top, b.add(total, router.epsilon, "+ ε") if router.epsilon else total, "divide", "w")
        if router.scale != 1.0:
            top = b.multiply(top, router.scale, f"× {router.scale:g}", "w")
    return top, chosen


def best_groups(b: Builder, rank: Value, router: Router) -> Value:
    """Scores with every group but the best hidden. T E -> T E.

    A group is as good as its two best experts together, or as its best one when there is no correction bias.
    """
    grouped = regroup(b, rank, "T groups members")
    if router.correction:
        two, _ = b.top_k(grouped, "best", "members", label="best two of group")
        group = b.reduce("sum", two, "best", "sum of two")
    else:
        group = b.reduce("max", grouped, "members", "best of group")
    _, kept = b.top_k(group, "kept_groups", "groups", label="select groups")
    fill = float("-inf") if router.correction else 0.0
    hidden = b.op("keep_groups", grouped, kept, dims=grouped.dims, label="hide other groups", attrs={"fill": fill})
    return regroup(b, hidden, "T E")


def equation(router: Router) -> str:
    """What becomes of a chosen expert's score, as LaTeX."""
    if router.select_first:
        return r"\{e\} = \text{top}\,k(r)"
    weight = r"\frac{p_e}{\sum_{i \in \text{top}\,k} p_i}" if router.renormalise else "p_e"
    factor = "" if router.scale == 1.0 else rf"{router.scale:g}\,"
    return rf"w_e = {factor}{weight},\; e \in \text{{top}}\,k"
