"""Mixture of experts: a router, the chosen feed-forwards side by side, and an optional shared one."""

from collections.abc import Mapping

from tokenviz.architecture import MoE, SharedExpert
from tokenviz.builder import Builder
from tokenviz.graph import Value
from tokenviz.recipes import router
from tokenviz.recipes.activation import gated_unit, plain_unit, sigmoid
from tokenviz.recipes.linear import project_with, projection
from tokenviz.recipes.norm import normalise
from tokenviz.scenario import Scenario

Shared = tuple[Value | None, Value, Value | None]
"""What the shared expert computes from x at once: gate, up, and the score of its own gate."""


def sizes(spec: MoE, _scenario: Scenario) -> Mapping[str, int]:
    """Extents of the letters that a mixture of experts adds."""
    extra = {"shared": spec.shared.width, "one": 1} if spec.shared else {}
    latent = {"latent": spec.latent} if spec.latent else {}
    return {"E": spec.experts, "X": spec.per_token, "F": spec.width, **extra, **latent, **router.sizes(spec)}


def trace(b: Builder, x: Value, spec: MoE, _scenario: Scenario) -> Value:
    """x: T D, normalised -> T D. X of E experts run; which ones is known only after the router."""
    read = x if spec.router_input is None else router.own_input(b, x, spec.router_input)
    scores = router.raw_scores(b, read, spec.router)
    if spec.expert_norm is not None:
        x = normalise(b, x, spec.expert_norm, id="expert_norm")
    shared_in = shared_up(b, x, spec, spec.shared) if spec.shared else None
    weights, chosen = router.route(b, scores, spec)
    if spec.expert_scale:
        weights = router.rescaled(b, weights, chosen)
    inner = x
    if spec.latent is not None:
        inner = projection(b, x, id="latent", equation="latent D, T D -> T latent", title="To the latent", out="l")
    outputs = experts(b, inner, weights, chosen, spec)
    shared_out = shared_down(b, shared_in, spec) if shared_in else None
    passed = None if spec.weigh_input else weights
    if spec.latent is None:
        return combine(b, outputs, passed, shared_out)
    mixed = projection(
        b, combine(b, outputs, passed, None), id="unlatent", equation="D latent, T latent -> T D",
        title="From the latent", out="y",
    )  # fmt: skip
    return mixed if shared_out is None else add_shared(b, mixed, *shared_out)


def add_shared(b: Builder, mixed: Value, shared: Value, gate: Value | None) -> Value:
    """The routed experts' sum plus the shared expert's output, scaled by its gate where it has one."""
    with b.transform(
        "join",
        "join",
        "Add shared expert",
        equation=r"\Delta x = y + y_s",
        says="Adds what the shared expert computed beside the routed ones.",
    ):
        return b.add(mixed, shared if gate is None else b.multiply(shared, gate, "× shared gate"), "add shared", "Δx")


def experts(b: Builder, x: Value, weights: Value, chosen: Value, spec: MoE) -> Value:
    """The chosen experts' outputs, ``T X D`` (``T X latent`` with a latent)."""
    width = "D" if spec.latent is None else "latent"
    letters = f"T {width}"
    if spec.weigh_input:
        with b.transform(
            "weigh_input",
            "weigh input",
            "Weigh input",
            equation=r"x_e = w_e\,x",
            says="Each chosen expert receives the token scaled by its routing weight.",
        ):
            x = b.op("multiply", x, weights, dims=("T", "X", width), label="× routing weights", out="x_e")
        letters = f"T X {width}"
    equation = f"T X F {width}, {letters} -> T X F"
    gate = routed(b, x, chosen, id="gate", equation=equation, out="g", bias=spec.bias) if spec.gated else None
    up = routed(b, x, chosen, id="up", equation=equation, out="u", bias=spec.bias)
    if gate is None:
        hidden = plain_unit(b, up, spec.activation, id="act")
    else:
        hidden = gated_unit(b, gate, up, spec.activation, id="act")
    equation = f"T X {width} F, T X F -> T X {width}"
    return routed(b, hidden, chosen, id="down", equation=equation, out="y", bias=spec.bias)


def routed(b: Builder, x: Value, chosen: Value, *, id: str, equation: str, out: str, bias: bool) -> Value:
    """One projection of the chosen experts, side by side; the equation's first operand is ``T X`` and a matrix."""
    rows, columns = equation.split(",")[0].split()[2:]
    letters = f"E {rows} {columns}"
    table = b.weight(
        f"{id}.weight", letters, name=f"W_{out}", says="One matrix for each expert; only the chosen are read."
    )
    shift = None
    if bias:
        vectors = b.weight(f"{id}.bias", f"E {rows}", name=f"b_{out}", says="One vector for each expert.")
        shift = b.gather(vectors, chosen, "E")
    return project_with(
        b, x, b.gather(table, chosen, "E"), id=id, equation=equation, title=f"Routed {id}", out=out, shift=shift,
        says="The same projection in each chosen expert; experts do not wait for each other.",
    )  # fmt: skip


def shared_up(b: Builder, x: Value, spec: MoE, shared: SharedExpert) -> Shared:
    """What the shared expert computes from x at once: gate, up and, when gated, its one score."""
    score = gate = None
    if shared.gated:
        score = projection(
            b, x, id="shared_score", equation="one D, T D -> T one", title="Shared-expert score", out="s"
        )
    if spec.gated:
        gate = projection(b, x, id="shared_gate", equation="shared D, T D -> T shared", title="Shared gate", out="g_s")
    up = projection(b, x, id="shared_up", equation="shared D, T D -> T shared", title="Shared up", out="u_s")
    return gate, up, score


def shared_down(b: Builder, parts: Shared, spec: MoE) -> tuple[Value, Value | None]:
    """The shared expert's output ``T D`` and its gate ``T`` (None when ungated)."""
    gate, up, score = parts
    if gate is None:
        hidden = plain_unit(b, up, spec.activation, id="shared_act")
    else:
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


def combine(b: Builder, outputs: Value, weights: Value | None, shared: tuple[Value, Value | None] | None) -> Value:
    """Weighted sum of the experts' outputs ``T X D``, plus the shared expert's."""
    with b.transform(
        "combine",
        "expert combine",
        "Combine experts",
        equation=r"\Delta x = \sum_e w_e\, y_e" + (r" + a\, y_s" if shared else ""),
        says="Adds up the experts' outputs, each by its routing weight.",
    ):
        scaled = outputs if weights is None else b.multiply(outputs, weights, "× routing weights")
        total = b.reduce("sum", scaled, "X", "sum over experts")
        if shared is None:
            return total
        out, gate = shared
        passed = out if gate is None else b.multiply(out, gate, "× shared gate")
        return b.add(total, passed, "add shared", "Δx")
