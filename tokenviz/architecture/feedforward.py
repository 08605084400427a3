"""Specs of feed-forward sections: dense, and routed to experts."""

from dataclasses import dataclass

from tokenviz.architecture.norms import Norm


@dataclass(frozen=True, slots=True, kw_only=True)
class ClampedSwiGLU:
    """gate · sigmoid(alpha · gate) · (up + offset), with gate and up clamped to ±limit (gate from above only)."""

    limit: float
    alpha: float
    offset: float


Activation = str | ClampedSwiGLU
"""A published name (silu, gelu, relu2, ...) or a spec with its own constants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DenseFFN:
    """Feed-forward: down(activation(gate_scale · gate x) · up x) when gated, down(activation(up x)) when plain."""

    width: int
    activation: Activation
    gated: bool
    bias: bool
    out_bias: bool
    gate_scale: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedExpert:
    """A feed-forward that every token passes; `gated` scales it by a sigmoid of one score."""

    width: int
    gated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Router:
    """How a token's experts and their weights are chosen.

    `scoring` turns the router's products into scores (softmax over all experts, or each score's own sigmoid);
    with `select_first` the top k are picked before that and scored among themselves. `correction` is a stored bias that
    ranks experts but does not weigh them; `groups` of experts compete first and `kept_groups` of them stay.
    The weights of the chosen are divided by their sum (plus `epsilon`) when `renormalise`, then times `scale`.
    """

    scoring: str
    select_first: bool
    bias: bool
    correction: bool
    groups: int
    kept_groups: int
    renormalise: bool
    epsilon: float
    scale: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PerLayerInput:
    """A section that adds a projection of this layer's own input, gated by x; `layers` of them travel along."""

    layers: int
    width: int
    activation: Activation


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterInput:
    """What a router reads where that is not the experts' input: x at unit root mean square, times gain · factor."""

    eps: float
    factor: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MoE:
    """Routed experts: `per_token` of `experts` feed-forwards of `width`, and an optional shared one.

    With `weigh_input` an expert's weight multiplies what enters it, not what leaves it. With `latent` the routed
    experts work on a projection of x to that width, and their sum is projected back. With `router_input` the router
    normalises x by itself and the experts read x behind `expert_norm`; `expert_scale` is a learned factor on each
    expert's weight.
    """

    experts: int
    per_token: int
    width: int
    activation: Activation
    gated: bool
    bias: bool
    router: Router
    weigh_input: bool
    shared: SharedExpert | None
    latent: int | None = None
    router_input: RouterInput | None = None
    expert_norm: Norm | None = None
    expert_scale: bool = False
