"""Feed-forward sections: dense and mixture of experts."""

from collections.abc import Mapping

from tokenviz.architecture import DenseFFN, MoE, SharedExpert
from tokenviz.builder import Builder
from tokenviz.graph import Value
from tokenviz.recipes.activation import gated_unit, sigmoid
from tokenviz.recipes.attention import softmax
from tokenviz.recipes.linear import project_with, projection
from tokenviz.scenario import Scenario


def dense_sizes(spec: DenseFFN, _scenario: Scenario) -> Mapping[str, int]:
    """Extents of the letters that a dense feed-forward adds."""
    return {"F": spec.width}


def dense(b: Builder, x: Value, spec: DenseFFN, _scenario: Scenario) -> Value:
    """x: T D, normalised -> T D."""
    gate = projection(b, x, id="gate", equation="F D, T D -> T F", title="Gate projection", out="g", bias=spec.bias)
    up = projection(b, x, id="up", equation="F D, T D -> T F", title="Up projection", out="u", bias=spec.bias)
    hidden = gated_unit(b, gate, up, spec.activation, id="act")
    return projection(
        b, hidden, id="down", equation="D F, T F -> T D", title="Down projection", out="Δx", bias=spec.bias
    )


def moe_sizes(spec: MoE, scenario: Scenario) -> Mapping[str, int]:
    """Extents of the letters that a mixture of experts adds."""
    extra = {"shared": spec.shared.width, "one": 1} if spec.shared else {}
    return {"E": spec.experts, "X": spec.per_token, "F": spec.width, **extra}


def moe(b: Builder, x: Value, spec: MoE, _scenario: Scenario) -> Value:
    """x: T D, normalised -> T D. X of E experts run; which ones is known only after the router."""
    scores = projection(b, x, id="router", equation="E D, T D -> T E", title="Router", out="r")
    shared_in = shared_up(b, x, spec.shared) if spec.shared else None
    weights, chosen = route(b, softmax(b, scores, "E", id="router_softmax", title="Router softmax", out="p"), spec)
    gate = routed(b, x, chosen, "gate", "E F D", "T X F D, T D -> T X F", "g")
    up = routed(b, x, chosen, "up", "E F D", "T X F D, T D -> T X F", "u")
    hidden = gated_unit(b, gate, up, spec.activation, id="act")
    outputs = routed(b, hidden, chosen, "down", "E D F", "T X D F, T X F -> T X D", "y")
    shared_out = shared_down(b, shared_in, spec) if spec.shared and shared_in else None
    return combine(b, outputs, weights, shared_out)


def route(b: Builder, probabilities: Value, spec: MoE) -> tuple[Value, Value]:
    """The X most probable experts (indices ``T X``) and their weights ``T X``."""
    with b.transform(
        "top_k",
        "top-k",
        f"Top {spec.per_token} of {spec.experts}",
        equation=r"w_e = \frac{p_e}{\sum_{i \in \text{top}\,k} p_i}"
        if spec.renormalise
        else r"w_e = p_e,\; e \in \text{top}\,k",
        says="Picks the experts with the highest scores; nothing routed can start before.",
    ):
        top, chosen = b.top_k(probabilities, "X", "E", label="select")
        if spec.renormalise:
            top = b.divide(top, b.reduce("sum", top, "X", "sum"), "divide", "w")
    return top, chosen


def routed(b: Builder, x: Value, chosen: Value, id: str, letters: str, equation: str, out: str) -> Value:
    """One projection of the chosen experts, side by side."""
    table = b.weight(
        f"{id}.weight", letters, name=f"W_{out}", says="One matrix for each expert; only the chosen are read."
    )
    title = {"gate": "Routed gate", "up": "Routed up", "down": "Routed down"}[id]
    return project_with(b, x, b.gather(table, chosen, "E"), id=id, equation=equation, title=title, out=out,
                        says="The same projection in each chosen expert; experts do not wait for each other.")  # fmt: skip


def shared_up(b: Builder, x: Value, spec: SharedExpert) -> tuple[Value, Value, Value | None]:
    """What the shared expert computes from x at once: gate, up and, when gated, its one score."""
    score = None
    if spec.gated:
        score = projection(
            b, x, id="shared_score", equation="one D, T D -> T one", title="Shared-expert score", out="s"
        )
    gate = projection(b, x, id="shared_gate", equation="shared D, T D -> T shared", title="Shared gate", out="g_s")
    up = projection(b, x, id="shared_up", equation="shared D, T D -> T shared", title="Shared up", out="u_s")
    return gate, up, score


def shared_down(b: Builder, parts: tuple[Value, Value, Value | None], spec: MoE) -> tuple[Value, Value | None]:
    """The shared expert's output ``T D`` and its gate ``T`` (None when ungated)."""
    gate, up, score = parts
    hidden = gated_unit(b, gate, up, spec.activation, id="shared_act")
    out = projection(b, hidden, id="shared_down", equation="D shared, T shared -> T D", title="Shared down", out="y_s")
    if score is None:
        return out, None
    with b.transform(
        "shared_sigmoid",
        "sigmoid",
        "Shared-expert gate",
        equation=r"a = \sigma(s)",
        says="Decides how much of the shared expert's output counts.",
    ):
        (flat,) = b.split(score, "one", [("s", "")])
        return out, sigmoid(b, flat, "a")


def combine(b: Builder, outputs: Value, weights: Value, shared: tuple[Value, Value | None] | None) -> Value:
    """Weighted sum of the experts' outputs ``T X D``, plus the shared expert's."""
    with b.transform(
        "combine",
        "expert combine",
        "Combine experts",
        equation=r"\Delta x = \sum_e w_e\, y_e" + (r" + a\, y_s" if shared else ""),
        says="Adds up the experts' outputs, each by its routing weight.",
    ):
        total = b.reduce("sum", b.multiply(outputs, weights, "× routing weights"), "X", "sum over experts")
        if shared is None:
            return total
        out, gate = shared
        scaled = out if gate is None else b.multiply(out, gate, "× shared gate")
        return b.add(total, scaled, "add shared", "Δx")
