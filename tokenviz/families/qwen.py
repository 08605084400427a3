"""Qwen: the plain decoder with biases or norms on queries and keys, its experts, and hybrids with Gated DeltaNet."""

from dataclasses import replace

from tokenviz.architecture import (
    GQA,
    Architecture,
    DenseFFN,
    GatedDeltaNet,
    MoE,
    OutputGate,
    Prediction,
    RMSNorm,
    SharedExpert,
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
from tokenviz.families.rope import rope
from tokenviz.families.routed import experts_of, name_prediction_heads
from tokenviz.notation import ConfigError

KINDS = ("sliding_attention", "full_attention")


@family("qwen2", "qwen2_5_vl", "qwen2_5_vl_text", "qwen2_vl", "qwen2_vl_text", title="Qwen")
def qwen2(c: Reader) -> Architecture:
    """The plain decoder with biases on queries, keys and values."""
    geometry = head_geometry(c, kv_heads=32)
    mixer = gqa(*geometry, bias=c.boolean("qkv_bias", default=True), rope=rope(c, geometry[2]))
    return _windowed(c, mixer, (gated_ffn(c),) * layer_count(c), rms(c))


@family("qwen3", "qwen3_vl_text", title="Qwen")
def qwen3(c: Reader) -> Architecture:
    """The plain decoder with a norm on each query and key head."""
    norm = rms(c)
    geometry = head_geometry(c, kv_heads=32, head_dim=128)
    bias = c.boolean("attention_bias", default=False)
    mixer = gqa(*geometry, bias=bias, out_bias=bias, qk_norm=per_head(norm), rope=rope(c, geometry[2]))
    return _windowed(c, mixer, (gated_ffn(c),) * layer_count(c), norm)


@family("qwen2_moe", title="Qwen")
def qwen2_moe(c: Reader) -> Architecture:
    """Qwen2 with routed experts and a gated shared one."""
    geometry = head_geometry(c, kv_heads=16)
    mixer = gqa(*geometry, bias=c.boolean("qkv_bias", default=True), rope=rope(c, geometry[2]))
    shared = c.integer("shared_expert_intermediate_size", default=5632, why=DEFAULT)
    return _windowed(c, mixer, _sparse_or_dense(c, _experts(c, renormalise=False, shared=shared)), rms(c))


@family("qwen3_moe", "qwen3_vl_moe_text", title="Qwen")
def qwen3_moe(c: Reader) -> Architecture:
    """Qwen3 with routed experts in the layers that the config says."""
    norm = rms(c)
    geometry = head_geometry(c, kv_heads=4)
    bias = c.boolean("attention_bias", default=False)
    window = window_of(c, default=4096) if c.boolean("use_sliding_window", default=False) else None
    c.ignore("sliding_window")
    mixer = gqa(*geometry, bias=bias, out_bias=bias, qk_norm=per_head(norm), rope=rope(c, geometry[2]), window=window)
    ffns = _sparse_or_dense(c, _experts(c, renormalise=False, shared=None))
    return assemble(c, stack(norm, ((mixer, ffn) for ffn in ffns)), norm, tied_default=False)


def _windowed(c: Reader, mixer: GQA, ffns: tuple[DenseFFN | MoE, ...], norm: RMSNorm) -> Architecture:
    """Layers from max_window_layers on have a window where the config switches that on."""
    window = window_of(c, default=4096) if c.boolean("use_sliding_window", default=False) else None
    c.ignore("sliding_window")
    kinds: tuple[str, ...] = ("full_attention",) * len(ffns)
    if window is not None:
        first = c.integer("max_window_layers", default=28, low=0, why=DEFAULT)
        kinds = layer_kinds(c, len(ffns), KINDS, lambda i: KINDS[i < first], f"a window in layers {first} and up")
    else:
        c.choices("layer_types", len(ffns), KINDS)
    mixers = {"full_attention": mixer, "sliding_attention": replace(mixer, window=window)}
    layers = stack(norm, ((mixers[kind], ffn) for kind, ffn in zip(kinds, ffns, strict=True)))
    return assemble(c, layers, norm, tied_default=False)


def _experts(c: Reader, *, renormalise: bool, shared: int | None) -> MoE:
    experts, chosen = experts_of(c, "num_experts", "num_local_experts")
    return MoE(
        experts=experts, per_token=chosen, width=c.integer("moe_intermediate_size"), activation=activation(c),
        gated=True, bias=False, weigh_input=False,
        router=softmax_router(renormalise=c.boolean("norm_topk_prob", default=renormalise, why=DEFAULT)),
        shared=SharedExpert(width=shared, gated=True) if shared else None,
    )  # fmt: skip


def _sparse_or_dense(c: Reader, routed: MoE) -> tuple[DenseFFN | MoE, ...]:
    """Experts in every decoder_sparse_step-th layer that is not listed in mlp_only_layers."""
    count, every = layer_count(c), c.integer("decoder_sparse_step", default=1, high=10_000)
    dense_only = c.get("mlp_only_layers") or []
    if not isinstance(dense_only, list) or any(isinstance(i, bool) or not isinstance(i, int) for i in dense_only):
        raise ConfigError(f"mlp_only_layers is {dense_only!r}; give a list of layer numbers")
    sparse = tuple(i not in dense_only and (i + 1) % every == 0 for i in range(count))
    if all(sparse):
        c.ignore("intermediate_size")
        return (routed,) * count
    dense = gated_ffn(c)
    return tuple(routed if flag else dense for flag in sparse)


@family("qwen3_next", title="Qwen")
def qwen3_next(c: Reader) -> Architecture:
    """Three Gated DeltaNet layers, then one of gated attention; routed experts and one gated shared expert."""
    shared = c.integer("shared_expert_intermediate_size", default=512, why=DEFAULT)
    return _hybrid(c, _sparse_or_dense(c, _experts(c, renormalise=True, shared=shared)))


@family("qwen3_5", "qwen3_5_text", title="Qwen")
def qwen3_5(c: Reader) -> Architecture:
    """Qwen3.5 to 3.8, dense: three Gated DeltaNet layers, then one of gated attention."""
    return _hybrid(c, (gated_ffn(c),) * layer_count(c))


@family("qwen3_5_moe", "qwen3_5_moe_text", title="Qwen")
def qwen3_5_moe(c: Reader) -> Architecture:
    """The same with routed experts and one gated shared expert in every layer."""
    experts, chosen = experts_of(c, "num_experts", "num_local_experts")
    ffn = MoE(
        experts=experts, per_token=chosen, width=c.integer("moe_intermediate_size"), activation=activation(c),
        gated=True, bias=False, router=softmax_router(renormalise=True), weigh_input=False,
        shared=SharedExpert(width=c.integer("shared_expert_intermediate_size"), gated=True),
    )  # fmt: skip
    return _hybrid(c, (ffn,) * layer_count(c))


def _hybrid(c: Reader, ffns: tuple[DenseFFN | MoE, ...]) -> Architecture:
    eps = c.number("rms_norm_eps", default=1e-6, why=DEFAULT)
    norm = RMSNorm(eps=eps, zero_centred=True)
    kv_heads, group, head_dim = head_geometry(c)
    bias = c.boolean("attention_bias", default=False)
    c.ignore("use_sliding_window", "intermediate_size")
    studied = c.string("output_gate_type", default="sigmoid")
    if studied not in ("sigmoid", "swish", "silu"):
        raise ConfigError(f"output_gate_type is {studied!r}; known: sigmoid, swish, silu")
    if not c.boolean("attn_output_gate", default=True):
        raise ConfigError(
            "attn_output_gate is false; the family's attention always has its gate: set it to true or drop it"
        )
    attention = gqa(
        kv_heads, group, head_dim, bias=bias, out_bias=bias, qk_norm=per_head(norm),
        rope=rope(c, head_dim, partial=0.25), gate=OutputGate(activation="sigmoid", as_studied=studied),
    )  # fmt: skip
    delta = _delta_net(c, eps)
    count = len(ffns)
    interval = c.integer("full_attention_interval", default=4, high=10_000)
    kinds = c.choices("layer_types", count, ("linear_attention", "full_attention"))
    if kinds is None:
        c.assume(f"layer_types is absent: every {interval}th layer is full attention")
        kinds = tuple("full_attention" if (i + 1) % interval == 0 else "linear_attention" for i in range(count))
    guesses = _left_out(c)
    mixers: dict[str, GQA | GatedDeltaNet] = {"linear_attention": delta, "full_attention": attention}
    layers = stack(norm, ((mixers[kind], ffn) for kind, ffn in zip(kinds, ffns, strict=True)))
    extra = Prediction(layer=layer(norm, attention, ffns[-1]), count=guesses) if guesses else None
    return assemble(c, layers, norm, tied_default=False, prediction=extra)


def _delta_net(c: Reader, eps: float) -> GatedDeltaNet:
    key_heads, value_heads = c.integer("linear_num_key_heads"), c.integer("linear_num_value_heads")
    if value_heads % key_heads:
        raise ConfigError(f"linear_num_value_heads {value_heads} is not a multiple of linear_num_key_heads {key_heads}")
    return GatedDeltaNet(
        key_heads=key_heads, value_heads=value_heads, key_dim=c.integer("linear_key_head_dim"),
        value_dim=c.integer("linear_value_head_dim"),
        taps=c.integer("linear_conv_kernel_dim", default=4, low=2, high=1_000, why=DEFAULT),
        norm=RMSNorm(eps=eps, zero_centred=False),
    )  # fmt: skip


def _left_out(c: Reader) -> int:
    """How many extra prediction heads are in the file but not in the step."""
    heads = name_prediction_heads(c, "mtp_num_hidden_layers")
    c.ignore("mtp_use_dedicated_embeddings", "mlp_only_layers")
    if c.outer.get("vision_config"):
        c.assume("the vision tower is left out")
    return heads
