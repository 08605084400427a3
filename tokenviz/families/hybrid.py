"""Attention mixed with state-space layers: layer by layer, or both in one layer."""

from tokenviz.architecture import (
    GQA,
    Architecture,
    Body,
    DenseFFN,
    Embedding,
    Head,
    Layer,
    MoE,
    RMSNorm,
    Router,
    Section,
    SelectiveScan,
    SharedExpert,
    StateSpace,
)
from tokenviz.config import Reader
from tokenviz.families.common import (
    DEFAULT,
    activation,
    assemble,
    expanded,
    family,
    gated_ffn,
    gqa,
    head_geometry,
    layer,
    layer_count,
    positive,
    rms,
    softmax_router,
    stack,
)
from tokenviz.families.mamba import groups_of, limits_of, rank_of, require_silu, taps_of
from tokenviz.families.rope import rope
from tokenviz.families.routed import Routing, experts_of, name_prediction_heads, routed_moe
from tokenviz.notation import ConfigError

UNTURNED = ("rope_theta", "rope_scaling", "rope_parameters", "partial_rotary_factor")
"""Keys that say nothing when no layer turns its queries and keys."""


def plain_attention(c: Reader, *, bias: bool = False) -> GQA:
    """Attention without positions: the state-space layers know the order."""
    c.ignore(*UNTURNED)
    c.assume("attention layers do not turn their queries and keys by position")
    return gqa(*head_geometry(c), bias=bias, out_bias=bias)


# ------------------------------------------------------------------------------------------------ Jamba


@family("jamba", title="Jamba")
def jamba(c: Reader) -> Architecture:
    """Mamba-1 with normalised dt, B and C; attention and experts each once in a period, from an offset on."""
    norm, width, count = rms(c), c.integer("hidden_size"), layer_count(c)
    require_silu(c, "hidden_act")
    c.ignore("sliding_window", "mamba_inner_layernorms")
    mamba = SelectiveScan(
        channels=expanded(c, "mamba_expand", width),
        state=c.integer("mamba_d_state", default=16, why=DEFAULT), taps=taps_of(c, "mamba_d_conv"),
        dt_rank=rank_of(c, "mamba_dt_rank", width), conv_bias=c.boolean("mamba_conv_bias", default=True),
        bias=c.boolean("mamba_proj_bias", default=False), norm=norm,
    )  # fmt: skip
    mixers: tuple[Body, Body] = (mamba, plain_attention(c))
    ffns: list[DenseFFN | MoE] = [gated_ffn(c)] * 2
    if c.integer("num_experts", "num_local_experts", default=16, why=DEFAULT) > 1:
        experts, chosen = experts_of(c, "num_experts", "num_local_experts")
        ffns[1] = MoE(
            experts=experts, per_token=chosen, width=c.integer("intermediate_size"), activation=activation(c),
            gated=True, bias=False, router=softmax_router(renormalise=False), weigh_input=False, shared=None,
        )  # fmt: skip
    attention, sparse = _periodic(c, "attn_layer", (8, 4)), _periodic(c, "expert_layer", (2, 1))
    layers = tuple(
        layer(norm, mixers[i % attention[0] == attention[1]], ffns[i % sparse[0] == sparse[1]]) for i in range(count)
    )
    return assemble(c, layers, norm, tied_default=False)


def _periodic(c: Reader, name: str, default: tuple[int, int]) -> tuple[int, int]:
    period = c.integer(f"{name}_period", default=default[0], high=10_000, why=DEFAULT)
    offset = c.integer(f"{name}_offset", default=default[1], low=0, high=10_000, why=DEFAULT)
    if offset >= period:
        raise ConfigError(f"{name}_offset {offset} is not smaller than {name}_period {period}")
    return period, offset


# ------------------------------------------------------------------------------------------------ Nemotron-H

PATTERN = {"M": "mamba", "*": "attention", "E": "moe", "-": "mlp"}
BLOCKS = {**{v: v for v in PATTERN.values()}, "linear_attention": "mamba", "full_attention": "attention"}


@family("nemotron_h", title="Nemotron-H")
def nemotron_h(c: Reader) -> Architecture:
    """One mixer per block: Mamba-2, attention, experts or a feed-forward of two matrices."""
    norm = RMSNorm(eps=c.number("layer_norm_epsilon", "norm_eps", default=1e-5, why=DEFAULT), zero_centred=False)
    kinds = _blocks(c)
    bodies: dict[str, Body] = {"mamba": _nemotron_mamba(c, norm)}
    if "attention" in kinds:
        bodies["attention"] = _nemotron_attention(c)
    act, bias = c.string("mlp_hidden_act", default="relu2", why=DEFAULT), c.boolean("mlp_bias", default=False)
    if "mlp" in kinds:
        width = c.integer("intermediate_size", default=21_504, why=DEFAULT)
        bodies["mlp"] = DenseFFN(width=width, activation=act, gated=False, bias=bias, out_bias=bias)
    if "moe" in kinds:
        bodies["moe"] = _nemotron_experts(c, act, bias)
    c.ignore(
        "num_hidden_layers", "intermediate_size", "expand", "mamba_expand", "n_shared_experts", "attention_bias",
        "sliding_window", "mamba_proj_bias", "moe_shared_expert_overlap", "time_step_max", "time_step_limit",
        "mtp_layers_block_type", "mtp_hybrid_override_pattern",
    )  # fmt: skip
    name_prediction_heads(c, "num_nextn_predict_layers")
    sections = {
        kind: Section(name="ffn" if kind in ("mlp", "moe") else "mixer", norm=norm, body=body)
        for kind, body in bodies.items()
    }
    return assemble(c, tuple(Layer(sections=(sections[kind],)) for kind in kinds), norm, tied_default=False)


def _blocks(c: Reader) -> tuple[str, ...]:
    """Each block's kind, from the list or from the pattern string; num_hidden_layers only has to agree."""
    listed = c.get("layers_block_type", "layer_types")
    pattern = c.get("hybrid_override_pattern")
    if listed is None and pattern is None:
        raise ConfigError("layers_block_type and hybrid_override_pattern are missing; add the list or the pattern")
    key = "hybrid_override_pattern" if listed is None else "layers_block_type"
    names, known = (pattern, PATTERN) if listed is None else (listed, BLOCKS)
    if not isinstance(names, (list, str)) or not names or len(names) > 10_000:
        raise ConfigError(f"{key} is not a list or pattern of blocks; give one entry for each block")
    for name in names:
        if not isinstance(name, str) or name not in known:
            raise ConfigError(f"{key} contains {name!r}; known: {', '.join(known)}")
    declared = c.get("num_hidden_layers")
    if declared is not None and declared != len(names):
        c.assume(f"num_hidden_layers is {declared} but {key} has {len(names)} blocks: the blocks count")
    return tuple(known[name] for name in names)


def _nemotron_mamba(c: Reader, norm: RMSNorm) -> StateSpace:
    require_silu(c, "mamba_hidden_act")
    heads = c.integer("mamba_num_heads", default=128, high=100_000, why=DEFAULT)
    bias = c.boolean("use_bias", default=False)
    lowest = c.number("time_step_min", "mamba_dt_min", default=0.001, why=DEFAULT)
    c.assume(
        f"time steps are bounded below by {lowest:g} where several positions are computed at once, not in decoding"
    )
    return StateSpace(
        heads=heads, head_dim=c.integer("mamba_head_dim", default=64, high=100_000, why=DEFAULT),
        state=c.integer("ssm_state_size", default=128, why=DEFAULT), groups=groups_of(c, heads, _key(c, "n_groups"), 8),
        taps=taps_of(c, _key(c, "conv_kernel")), conv_bias=c.boolean("use_conv_bias", "mamba_conv_bias", default=True),
        bias=bias, out_bias=bias, norm=norm, norm_first=False, dt_limits=(lowest, None), multipliers=None,
    )  # fmt: skip


def _key(c: Reader, name: str) -> str:
    old = {"n_groups": "mamba_n_groups", "conv_kernel": "mamba_d_conv"}[name]
    return old if c.has(old) else name


def _nemotron_attention(c: Reader) -> GQA:
    heads = c.integer("num_attention_heads", default=32, high=100_000, why=DEFAULT)
    kv_heads = c.integer("num_key_value_heads", default=8, high=100_000, why=DEFAULT)
    if heads % kv_heads:
        raise ConfigError(f"num_attention_heads {heads} is not a multiple of num_key_value_heads {kv_heads}")
    c.ignore(*UNTURNED)
    c.assume("attention layers do not turn their queries and keys by position")
    return gqa(kv_heads, heads // kv_heads, c.integer("head_dim", default=128, high=100_000, why=DEFAULT))


def _nemotron_experts(c: Reader, act: str, bias: bool) -> MoE:
    latent = c.integer("moe_latent_size", default=0, low=0, high=1_000_000) or None
    if bias and latent:
        raise ConfigError("mlp_bias is true beside moe_latent_size; the latent projections have no bias here")
    return routed_moe(
        c, Routing(groups=(1, 1), scale=1.0), width=c.integer("moe_intermediate_size", default=7688, why=DEFAULT),
        shared=c.integer("moe_shared_expert_intermediate_size", default=7688, why=DEFAULT), act=act, gated=False,
        latent=latent,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------ Granite 4


@family("granitemoehybrid", title="Granite 4")
def granite_hybrid(c: Reader) -> Architecture:
    """Mamba-2 and attention layers, experts beside a shared feed-forward, and a multiplier at every join."""
    norm, width, count = rms(c), c.integer("hidden_size"), layer_count(c)
    require_silu(c, "hidden_act")
    names = {"mamba": 0, "linear_attention": 0, "attention": 1, "full_attention": 1}
    kinds = c.choices("layer_types", count, tuple(names)) or c.choices("layers_block_type", count, tuple(names))
    if kinds is None:
        c.assume("layer_types is absent: every layer is Mamba-2 (the family's default)")
        kinds = ("mamba",) * count
    mixers: tuple[Body, Body] = (prefixed_mamba2(c, norm, width, state=256, norm_inside=True), _granite_attention(c))
    scale = c.number("residual_multiplier", default=1.0, why=DEFAULT)
    ffn = _granite_ffn(c)
    layers = stack(norm, ((mixers[names[kind]], ffn) for kind in kinds), residual_scale=scale)
    return assemble(
        c, layers, norm, tied_default=False,
        embedding=Embedding(scale=c.number("embedding_multiplier", default=1.0, why=DEFAULT)),
        head=Head(scale=1 / positive(c, "logits_scaling", 1.0)),
    )  # fmt: skip


def _granite_attention(c: Reader) -> GQA:
    bias = c.boolean("attention_bias", default=False)
    kv_heads, group, size = head_geometry(c)
    scale = c.number("attention_multiplier", default=1.0, why=DEFAULT)
    position = c.get("position_embedding_type")
    turning = rope(c, size) if position == "rope" else None
    if turning is None:
        c.ignore(*UNTURNED)
        c.assume("attention layers do not turn their queries and keys (position_embedding_type is not rope)")
    return gqa(kv_heads, group, size, bias=bias, out_bias=bias, scale=scale, rope=turning)


def _granite_ffn(c: Reader) -> DenseFFN | MoE:
    shared = c.integer("shared_intermediate_size", default=1024, why=DEFAULT)
    act = activation(c)
    if c.integer("num_local_experts", "num_experts", default=8, low=0, high=100_000, why=DEFAULT) == 0:
        c.ignore("num_experts_per_tok", "intermediate_size")
        return DenseFFN(width=shared, activation=act, gated=True, bias=False, out_bias=False)
    experts, chosen = experts_of(c, "num_local_experts", "num_experts")
    router = Router(
        scoring="softmax", select_first=True, bias=False, correction=False, groups=1, kept_groups=1,
        renormalise=False, epsilon=0.0, scale=1.0,
    )  # fmt: skip
    return MoE(
        experts=experts, per_token=chosen, width=c.integer("intermediate_size"), activation=act, gated=True, bias=False,
        router=router, weigh_input=False, shared=SharedExpert(width=shared, gated=False),
    )  # fmt: skip


def prefixed_mamba2(c: Reader, norm: RMSNorm, width: int, *, state: int, norm_inside: bool) -> StateSpace:
    """Mamba-2 in the spelling with a mamba_ prefix."""
    heads = c.integer("mamba_n_heads", default=128, high=100_000, why=DEFAULT)
    inner = expanded(c, "mamba_expand", width)
    inner = c.integer("mamba_d_ssm", default=inner, high=10_000_000)
    size = inner // heads if c.get("mamba_d_head") in (None, "auto") else c.integer("mamba_d_head", high=100_000)
    if size * heads != inner:
        raise ConfigError(f"mamba_n_heads {heads} × mamba_d_head {size} is not the inner width {inner}")
    bias = c.boolean("mamba_proj_bias", default=False)
    return StateSpace(
        heads=heads, head_dim=size, state=c.integer("mamba_d_state", default=state, why=DEFAULT),
        groups=groups_of(c, heads, "mamba_n_groups", 1), taps=taps_of(c, "mamba_d_conv"),
        conv_bias=c.boolean("mamba_conv_bias", default=True), bias=bias, out_bias=bias,
        norm=norm if norm_inside else None, norm_first=False, dt_limits=limits_of(c), multipliers=None,
    )  # fmt: skip
