"""Decoders whose feed-forwards are routed to experts."""

from dataclasses import replace

from tokenviz.architecture import (
    GQA,
    Architecture,
    ClampedSwiGLU,
    DenseFFN,
    MoE,
    QKNorm,
    RMSNorm,
    Rope,
    Router,
    SharedExpert,
    Temperature,
)
from tokenviz.config import Reader
from tokenviz.families.common import (
    DEFAULT,
    activation,
    assemble,
    family,
    gated_ffn,
    gqa,
    head_geometry,
    layer,
    layer_count,
    layer_kinds,
    per_head,
    rms,
    softmax_router,
    stack,
    window_of,
)
from tokenviz.families.llama import rope_flags
from tokenviz.families.rope import rope
from tokenviz.families.routed import (
    CORRECTION_NOTE,
    Routing,
    experts_of,
    name_prediction_heads,
    routed_moe,
    sparse_layers,
)
from tokenviz.notation import ConfigError

WINDOWED = ("sliding_attention", "full_attention")


def router(scoring: str, **features: object) -> Router:
    """A router without groups, with the `features` that a family adds (fields of `Router`)."""
    plain = Router(
        scoring=scoring, select_first=False, bias=False, correction=False, groups=1, kept_groups=1, renormalise=False,
        epsilon=0.0, scale=1.0,
    )  # fmt: skip
    return replace(plain, **features)  # type: ignore[arg-type]


@family("mixtral", title="Mixtral")
def mixtral(c: Reader) -> Architecture:
    """The plain decoder with a few large experts, weights renormalised."""
    norm = rms(c, default=1e-5)
    geometry = head_geometry(c, kv_heads=8)
    mixer = gqa(*geometry, rope=rope(c, geometry[2], theta=1_000_000.0), window=window_of(c))
    experts, chosen = experts_of(c, "num_local_experts", "num_experts", default=2)
    ffn = MoE(
        experts=experts, per_token=chosen, width=c.integer("intermediate_size"), activation=activation(c), gated=True,
        bias=False, router=softmax_router(renormalise=True), weigh_input=False, shared=None,
    )  # fmt: skip
    return assemble(c, (layer(norm, mixer, ffn),) * layer_count(c), norm, tied_default=False)


@family("gpt_oss", title="gpt-oss")
def gpt_oss(c: Reader) -> Architecture:
    """Attention sinks, every other layer windowed; experts with biases and clamped activations."""
    norm, count = rms(c, default=1e-5), layer_count(c)
    geometry = head_geometry(c, kv_heads=8, head_dim=64)
    bias = c.boolean("attention_bias", default=True)
    full = gqa(*geometry, bias=bias, out_bias=bias, rope=_yarn(c, geometry[2]), sinks=True)
    kinds = layer_kinds(c, count, WINDOWED, lambda i: WINDOWED[i % 2], "every other layer is full attention")
    mixers = {"full_attention": full, "sliding_attention": replace(full, window=window_of(c, default=128))}
    experts, chosen = experts_of(c, "num_local_experts", "num_experts", default=4)
    c.ignore("experts_per_token", "initial_context_length", "hidden_act")
    unit = ClampedSwiGLU(
        limit=c.number("swiglu_limit", default=7.0, why=DEFAULT),
        alpha=c.number("swiglu_alpha", default=1.702, why=DEFAULT), offset=1.0,
    )  # fmt: skip
    ffn = MoE(
        experts=experts, per_token=chosen, width=c.integer("intermediate_size"), activation=unit, gated=True, bias=True,
        router=router("softmax", select_first=True, bias=True), weigh_input=False, shared=None,
    )  # fmt: skip
    return assemble(c, stack(norm, ((mixers[k], ffn) for k in kinds)), norm, tied_default=False)


def _yarn(c: Reader, head_dim: int) -> Rope:
    turning = rope(c, head_dim, theta=150_000.0)
    if turning.scaling or c.has("rope_scaling") or c.has("rope_parameters"):
        return turning
    c.assume("rope_scaling is absent: YaRN by 32 from 4,096 positions is assumed (the family's default)")
    own = {"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False,
           "original_max_position_embeddings": 4096}  # fmt: skip
    return replace(turning, scaling=tuple(sorted(own.items())))


@family("minimax_m2", title="MiniMax")
def minimax_m2(c: Reader) -> Architecture:
    """Queries and keys normalised as whole vectors, half of each head turns; sigmoid-routed experts."""
    norm = rms(c)
    kv_heads, group, head_dim = head_geometry(c, kv_heads=8, head_dim=128)
    turning = c.integer("rotary_dim", default=head_dim, high=head_dim)
    for key, allowed in (("use_qk_norm", True), ("qk_norm_type", "per_layer"), ("use_routing_bias", True),
                         ("scoring_func", "sigmoid"), ("shared_intermediate_size", 0)):  # fmt: skip
        if c.get(key) not in (None, allowed):
            raise ConfigError(f"{key} is {c.get(key)!r}; only {allowed!r} has a recipe here")
    kinds = c.get("attn_type_list")
    if kinds is not None and (not isinstance(kinds, list) or any(kind != 1 for kind in kinds)):
        raise ConfigError("attn_type_list has layers without full attention (not 1), which have no recipe here")
    mixer = gqa(
        kv_heads, group, head_dim, qk_norm=QKNorm(norm=norm, over="projection", own_gain=False, after_rope=False),
        rope=rope(c, head_dim, partial=turning / head_dim, theta=5_000_000.0),
    )  # fmt: skip
    experts, chosen = experts_of(c, "num_local_experts", "num_experts", default=8)
    c.assume(CORRECTION_NOTE)
    ffn = MoE(
        experts=experts, per_token=chosen, width=c.integer("intermediate_size"), activation=activation(c), gated=True,
        bias=False, router=router("sigmoid", correction=True, renormalise=True), weigh_input=False, shared=None,
    )  # fmt: skip
    if c.get("use_mtp"):
        name_prediction_heads(c, "num_mtp_modules")
    c.ignore("num_mtp_modules", "mtp_transformer_layers", "router_jitter_noise")
    return assemble(c, (layer(norm, mixer, ffn),) * layer_count(c), norm, tied_default=False)


@family("glm4_moe", title="GLM")
def glm4_moe(c: Reader) -> Architecture:
    """A few dense layers, then sigmoid-routed experts beside a shared one; half of each head turns."""
    norm, count = rms(c, default=1e-5), layer_count(c)
    geometry = head_geometry(c, kv_heads=8)
    mixer = gqa(
        *geometry, bias=c.boolean("attention_bias", default=False), rope=rope(c, geometry[2], partial=0.5),
        qk_norm=per_head(norm) if c.boolean("use_qk_norm", default=False) else None,
    )  # fmt: skip
    width = c.integer("moe_intermediate_size", default=1408, why=DEFAULT)
    shared = width * c.integer("n_shared_experts", default=1, low=0, high=1_000, why=DEFAULT)
    routed = routed_moe(c, Routing(groups=(1, 1), scale=1.0), width=width, shared=shared or None)
    dense = gated_ffn(c)
    name_prediction_heads(c, "num_nextn_predict_layers", "num_mtp_layers")
    layers = stack(norm, ((mixer, routed if sparse else dense) for sparse in sparse_layers(c, count, 1)))
    return assemble(c, layers, norm, tied_default=False)


@family("llama4_text", "llama4", title="Llama 4")
def llama4(c: Reader) -> Architecture:
    """Chunked layers that turn, full ones that do not; one expert per token, weighed before it computes."""
    norm, count = rms(c, default=1e-5), layer_count(c)
    flags = rope_flags(c, count)
    mixers = _mixers4(c, norm)
    chunked = c.has("attention_chunk_size") or not c.is_null("attention_chunk_size")
    kinds = c.choices("layer_types", count, ("chunked_attention", "full_attention"))
    if kinds is None:
        kinds = tuple("chunked_attention" if flag and chunked else "full_attention" for flag in flags)
    routed, dense, sparse = _experts4(c), _dense4(c), _routed_layers(c, count)
    layers = tuple(
        layer(norm, mixers[flag, kind], routed if i in sparse else dense)
        for i, (flag, kind) in enumerate(zip(flags, kinds, strict=True))
    )
    return assemble(c, layers, norm, tied_default=False)


def _mixers4(c: Reader, norm: RMSNorm) -> dict[tuple[bool, str], GQA]:
    """Attention by whether it turns and by kind."""
    geometry = head_geometry(c, kv_heads=8, head_dim=128)
    bias = c.boolean("attention_bias", default=False)
    unit = QKNorm(norm=replace(norm, weighted=False), over="head", own_gain=False, after_rope=True)
    plain = gqa(*geometry, bias=bias, out_bias=bias)
    turning = replace(
        plain, rope=rope(c, geometry[2], theta=500_000.0, pairing="pairs"),
        qk_norm=unit if c.boolean("use_qk_norm", default=True) else None,
    )  # fmt: skip
    tuning = c.get("attn_temperature_tuning")
    temperature = None
    if tuning is None or tuning:
        scale = c.number("attn_scale", default=0.1, why=DEFAULT)
        temperature = Temperature(scale=scale, step=c.integer("floor_scale", default=8192, why=DEFAULT), offset=1)
    c.ignore("attn_scale", "floor_scale")
    still = replace(plain, temperature=temperature)
    chunk = c.integer("attention_chunk_size", default=8192, high=10**9, why=DEFAULT)
    return {
        (turns, kind): replace(mixer, chunk=chunk if kind == "chunked_attention" else None)
        for turns, mixer in ((True, turning), (False, still))
        for kind in ("chunked_attention", "full_attention")
    }


def _routed_layers(c: Reader, count: int) -> set[int]:
    """Numbers of the layers with experts: moe_layers where given, else every so many."""
    listed = c.get("moe_layers")
    step = c.integer("interleave_moe_layer_step", default=1, high=10_000, why=DEFAULT)
    if listed is None:
        return set(range(step - 1, count, step))
    if not isinstance(listed, list) or any(isinstance(i, bool) or not isinstance(i, int) for i in listed):
        raise ConfigError(f"moe_layers is {listed!r}; give a list of layer numbers")
    return set(listed)


def _experts4(c: Reader) -> MoE:
    experts, chosen = experts_of(c, "num_local_experts", "num_experts", default=1)
    width = c.integer("intermediate_size")
    return MoE(
        experts=experts, per_token=chosen, width=width, activation=activation(c), gated=True, bias=False,
        router=router("sigmoid", select_first=True), weigh_input=True, shared=SharedExpert(width=width, gated=False),
    )  # fmt: skip


def _dense4(c: Reader) -> DenseFFN:
    width = c.integer("intermediate_size_mlp", default=16384, why=DEFAULT)
    return DenseFFN(width=width, activation=activation(c), gated=True, bias=False, out_bias=False)
