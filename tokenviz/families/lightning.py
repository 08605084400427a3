"""Lightning attention with a layer of softmax attention in between, experts in every layer."""

from dataclasses import replace

from tokenviz.architecture import Architecture, Body, Layer, LinearAttention, MoE, RMSNorm, Section
from tokenviz.config import Reader
from tokenviz.families.common import (
    DEFAULT,
    activation,
    assemble,
    family,
    gqa,
    head_geometry,
    layer_count,
    rms,
    softmax_router,
)
from tokenviz.families.rope import rope
from tokenviz.families.routed import experts_of
from tokenviz.notation import ConfigError

KINDS = ("full_attention", "linear_attention")
FACTORS = {
    "full_attention": ("full_attn", "full_attention"),
    "linear_attention": ("linear_attn", "linear_attention"),
    "mlp": ("mlp", "mlp"),
}


@family("minimax", "minimax_text_01", "minimax_m1", title="MiniMax-01")
def minimax(c: Reader) -> Architecture:
    """Each section carries its normalised input on, scaled, and adds its scaled update to that."""
    norm = rms(c, default=1e-5)
    if c.integer("shared_intermediate_size", default=0, low=0):
        raise ConfigError("shared_intermediate_size is not 0; this family's shared experts have no recipe")
    if not c.boolean("postnorm", default=True):
        raise ConfigError("postnorm is false; this family carries the normalised input on: set it to true")
    c.ignore("block_size", "shared_moe_mode", "sliding_window", "router_jitter_noise")
    kv_heads, group, size = head_geometry(c)
    turned = c.integer("rotary_dim", default=size, high=size)
    turning = rope(c, turned, theta=1_000_000.0)
    lightning = LinearAttention(
        heads=kv_heads * group, head_dim=size, activation=activation(c), norm=RMSNorm(eps=1e-6, zero_centred=False)
    )
    mixers: dict[str, Body] = {
        "full_attention": gqa(kv_heads, group, size, rope=turning),
        "linear_attention": lightning,
    }
    experts, chosen = experts_of(c, "num_local_experts", "num_experts")
    moe = MoE(
        experts=experts, per_token=chosen, width=c.integer("intermediate_size"), activation=activation(c), gated=True,
        bias=False, router=softmax_router(renormalise=True), weigh_input=False, shared=None,
    )  # fmt: skip
    ffn = _section(c, "ffn", "mlp", norm, moe)
    sections = {kind: _section(c, "mixer", kind, norm, body) for kind, body in mixers.items()}
    c.assume("the fading rates of lightning attention are buffers and not counted as parameters")
    layers = tuple(Layer(sections=(sections[kind], ffn)) for kind in _kinds(c, layer_count(c)))
    return assemble(c, layers, norm, tied_default=False)


def _section(c: Reader, name: str, kind: str, norm: RMSNorm, body: Body) -> Section:
    new, old = FACTORS[kind]
    plain = Section(name=name, norm=norm, body=body, carries_norm=True)
    return replace(
        plain,
        carry_scale=c.number(f"{new}_alpha_factor", f"layernorm_{old}_alpha", default=1.0, why=DEFAULT),
        residual_scale=c.number(f"{new}_beta_factor", f"layernorm_{old}_beta", default=1.0, why=DEFAULT),
    )


def _kinds(c: Reader, count: int) -> tuple[str, ...]:
    """Each layer's attention: layer_types, or attn_type_list with 1 for softmax and 0 for lightning."""
    kinds = c.choices("layer_types", count, KINDS)
    listed = c.get("attn_type_list")
    if kinds is not None:
        return kinds
    if listed is None:
        c.assume("layer_types is absent: softmax and lightning attention alternate (the family's default)")
        return tuple(KINDS[i % 2] for i in range(count))
    if not isinstance(listed, list) or len(listed) != count or any(kind not in (0, 1) for kind in listed):
        raise ConfigError(f"attn_type_list is not a list of {count} zeros (lightning) and ones (softmax)")
    return tuple("full_attention" if kind else "linear_attention" for kind in listed)
