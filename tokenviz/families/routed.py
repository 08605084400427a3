"""Readings of routed experts that the latent-attention and hybrid families share."""

from dataclasses import dataclass

from tokenviz.architecture import MoE, Router, SharedExpert
from tokenviz.config import Reader
from tokenviz.families.common import DEFAULT, activation
from tokenviz.notation import ConfigError

METHODS = ("noaux_tc", "greedy", "group_limited_greedy")
CORRECTION_NOTE = "the router's correction biases are buffers and not counted as parameters"


def experts_of(
    c: Reader, *keys: str, chosen: str = "num_experts_per_tok", default: int | None = None
) -> tuple[int, int]:
    """(experts, experts per token), the second no more than the first; `default` is the family's own second."""
    experts = c.integer(*keys, high=100_000)
    few = c.integer(chosen, "num_experts_per_token", default=default, high=100_000, why=DEFAULT)
    if few > experts:
        raise ConfigError(f"{chosen} {few} is more than {keys[0]} {experts}")
    return experts, few


def groups_of(c: Reader, experts: int, default: tuple[int, int]) -> tuple[int, int]:
    """(groups, groups kept); experts divide evenly into groups."""
    groups = c.integer("n_group", "num_expert_group", default=default[0], high=100_000, why=DEFAULT)
    kept = c.integer("topk_group", default=default[1], high=100_000, why=DEFAULT)
    if experts % groups:
        raise ConfigError(f"{experts} experts do not divide into n_group {groups} groups of equal size")
    if kept > groups:
        raise ConfigError(f"topk_group {kept} is more than n_group {groups}")
    return groups, kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """What a family's own config class supplies where the config is silent."""

    groups: tuple[int, int]
    scale: float
    scoring: str = "sigmoid"
    method: str = "noaux_tc"
    renormalise: bool = True


def routed_moe(
    c: Reader, defaults: Routing, *, width: int, shared: int | None, act: str = "", gated: bool = True,
    latent: int | None = None,
) -> MoE:  # fmt: skip
    """Routed experts beside an ungated shared one; the router as the config (or the family) has it."""
    experts, chosen = experts_of(c, "n_routed_experts", "num_experts", "num_local_experts")
    return MoE(
        experts=experts, per_token=chosen, width=width, activation=act or activation(c), gated=gated, bias=False,
        router=router_of(c, defaults, experts), weigh_input=False,
        shared=SharedExpert(width=shared, gated=False) if shared else None, latent=latent,
    )  # fmt: skip


def router_of(c: Reader, defaults: Routing, experts: int) -> Router:
    """Scores by sigmoid or softmax, a correction bias that only ranks (``noaux_tc``), choice within the best groups."""
    scoring = c.string("scoring_func", "moe_router_activation_func", default=defaults.scoring, why=DEFAULT)
    if scoring not in ("sigmoid", "softmax"):
        raise ConfigError(f"scoring_func is {scoring!r}; known: sigmoid, softmax")
    method = c.string("topk_method", default=defaults.method, why=DEFAULT)
    if method not in METHODS:
        raise ConfigError(f"topk_method is {method!r}; known: {', '.join(METHODS)}")
    groups, kept = groups_of(c, experts, defaults.groups)
    if method == "noaux_tc":
        c.assume(CORRECTION_NOTE)
    elif method == "greedy":
        groups, kept = 1, 1
    return Router(
        scoring=scoring, select_first=False, bias=False, correction=method == "noaux_tc", groups=groups,
        kept_groups=kept,
        renormalise=c.boolean("norm_topk_prob", "moe_renormalize", default=defaults.renormalise, why=DEFAULT),
        epsilon=1e-20, scale=c.number("routed_scaling_factor", default=defaults.scale, why=DEFAULT),
    )  # fmt: skip


def sparse_layers(c: Reader, count: int, first_default: int) -> tuple[bool, ...]:
    """Which layers have experts: mlp_layer_types where given, else all from first_k_dense_replace on."""
    first = c.integer("first_k_dense_replace", default=first_default, low=0, high=10_000, why=DEFAULT)
    every = c.integer("moe_layer_freq", default=1, high=10_000)
    kinds = c.choices("mlp_layer_types", count, ("dense", "sparse"))
    if kinds is not None:
        return tuple(kind == "sparse" for kind in kinds)
    return tuple(i >= first and i % every == 0 for i in range(count))


def name_prediction_heads(c: Reader, *keys: str) -> int:
    """How many extra prediction heads are in the file but not in the step."""
    heads = c.integer(*keys, default=0, low=0, high=1_000)
    if heads:
        c.assume(f"multi-token prediction heads ({heads}) are left out")
    return heads
