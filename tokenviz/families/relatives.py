"""Further decoders made of the same mechanisms: each differs from the plain one in a line or two."""

from dataclasses import replace

from tokenviz.architecture import Architecture, DenseFFN, Embedding, Head, MoE, QKNorm, RMSNorm, SharedExpert
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
    positive,
    rms,
    softmax_router,
    window_of,
)
from tokenviz.families.experts import router
from tokenviz.families.olmo_cohere import after
from tokenviz.families.rope import rope
from tokenviz.families.routed import experts_of
from tokenviz.notation import ConfigError

KINDS = ("sliding_attention", "full_attention")


@family("glm", title="GLM")
def glm(c: Reader) -> Architecture:
    """Biases on queries, keys and values; half of each head turns, neighbours together."""
    norm = rms(c, default=1.5625e-07)
    geometry = head_geometry(c, kv_heads=2, head_dim=128)
    mixer = gqa(
        *geometry, bias=c.boolean("attention_bias", default=True, why=DEFAULT),
        rope=rope(c, geometry[2], partial=0.5, pairing="pairs"),
    )  # fmt: skip
    return assemble(c, (layer(norm, mixer, gated_ffn(c)),) * layer_count(c), norm, tied_default=False)


@family("glm4", title="GLM")
def glm4(c: Reader) -> Architecture:
    """The same with norms behind the sections too."""
    norm = rms(c, default=1.5625e-07)
    geometry = head_geometry(c, kv_heads=2, head_dim=128)
    mixer = gqa(
        *geometry, bias=c.boolean("attention_bias", default=True, why=DEFAULT),
        rope=rope(c, geometry[2], partial=0.5, pairing="pairs"),
    )  # fmt: skip
    layers = (layer(norm, mixer, gated_ffn(c), post_norm=norm),) * layer_count(c)
    return assemble(c, layers, norm, tied_default=False)


@family("exaone4", title="EXAONE")
def exaone4(c: Reader) -> Architecture:
    """Norms behind the sections only; windowed layers turn, full ones do not where there is a window at all."""
    norm, count = rms(c, default=1e-5), layer_count(c)
    geometry = head_geometry(c, kv_heads=32)
    turning = gqa(*geometry, qk_norm=per_head(norm), rope=rope(c, geometry[2]))
    window = window_of(c, default=4096)
    pattern = 0 if c.is_null("sliding_window_pattern") or window is None else _pattern(c)
    kinds = layer_kinds(
        c, count, KINDS, lambda i: KINDS[pattern == 0 or (i + 1) % pattern == 0], f"every {pattern}th layer is full"
    )
    full = turning if window is None else replace(turning, rope=None)
    mixers = {"full_attention": full, "sliding_attention": replace(turning, window=window)}
    c.ignore("sliding_window_pattern")
    ffn = gated_ffn(c)
    return assemble(c, tuple(after(norm, mixers[kind], ffn) for kind in kinds), norm, tied_default=False)


def _pattern(c: Reader) -> int:
    """The interval of full layers, as a number or as a text like LLLG."""
    value = c.get("sliding_window_pattern")
    if isinstance(value, str) and value:
        return len(value)
    return c.integer("sliding_window_pattern", default=4, low=0, high=10_000, why=DEFAULT)


@family("ernie4_5", title="ERNIE")
def ernie4_5(c: Reader) -> Architecture:
    """The plain decoder; neighbouring coordinates turn together."""
    norm = rms(c, default=1e-5)
    geometry = head_geometry(c, kv_heads=2, head_dim=128)
    bias = c.boolean("use_bias", default=False)
    turning = rope(c, geometry[2], theta=500_000.0, pairing="pairs")
    mixer = gqa(*geometry, bias=bias, out_bias=bias, rope=turning)
    return assemble(c, (layer(norm, mixer, gated_ffn(c, bias=bias)),) * layer_count(c), norm, tied_default=True)


def _turned_then_normalised(norm: RMSNorm) -> QKNorm:
    return QKNorm(norm=norm, over="head", own_gain=False, after_rope=True)


@family("hunyuan_v1_dense", title="Hunyuan")
def hunyuan(c: Reader) -> Architecture:
    """Queries and keys are normalised after they are turned."""
    norm = rms(c, default=1e-5)
    geometry = head_geometry(c)
    bias = c.boolean("attention_bias", default=False)
    c.ignore("eod_token_id")
    mixer = gqa(*geometry, bias=bias, out_bias=bias, rope=rope(c, geometry[2]), qk_norm=_turned_then_normalised(norm))
    return assemble(c, (layer(norm, mixer, gated_ffn(c)),) * layer_count(c), norm, tied_default=False)


@family("hunyuan_v1_moe", title="Hunyuan")
def hunyuan_moe(c: Reader) -> Architecture:
    """The same with routed experts beside a shared one of the same width."""
    norm = rms(c, default=1e-5)
    geometry = head_geometry(c)
    bias = c.boolean("attention_bias", default=False)
    c.ignore("eod_token_id")
    mixer = gqa(*geometry, bias=bias, out_bias=bias, rope=rope(c, geometry[2]), qk_norm=_turned_then_normalised(norm))
    if any(isinstance(c.get(key), list) for key in ("num_experts", "moe_topk")):
        raise ConfigError("num_experts or moe_topk is a list; one number for all layers has a recipe here")
    experts, chosen = experts_of(c, "num_experts", "num_local_experts", chosen="moe_topk")
    width = c.integer("intermediate_size")
    ffn = MoE(
        experts=experts, per_token=chosen, width=width, activation=activation(c), gated=True, bias=False,
        router=softmax_router(renormalise=True), weigh_input=False, shared=SharedExpert(width=width, gated=False),
    )  # fmt: skip
    return assemble(c, (layer(norm, mixer, ffn),) * layer_count(c), norm, tied_default=False)


@family("seed_oss", title="Seed-OSS")
def seed_oss(c: Reader) -> Architecture:
    """The plain decoder with biases on queries, keys and values."""
    norm = rms(c)
    geometry = head_geometry(c, kv_heads=8, head_dim=128)
    mixer = gqa(
        *geometry, bias=c.boolean("attention_bias", default=True, why=DEFAULT), rope=rope(c, geometry[2]),
        out_bias=c.boolean("attention_out_bias", default=False),
    )  # fmt: skip
    ffn = gated_ffn(c, bias=c.boolean("mlp_bias", default=False))
    return assemble(c, (layer(norm, mixer, ffn),) * layer_count(c), norm, tied_default=False)


@family("arcee", title="Arcee")
def arcee(c: Reader) -> Architecture:
    """The plain decoder with a plain feed-forward of squared ReLU."""
    norm = rms(c, default=1e-5)
    geometry = head_geometry(c)
    bias, ffn_bias = c.boolean("attention_bias", default=False), c.boolean("mlp_bias", default=False)
    mixer = gqa(*geometry, bias=bias, out_bias=bias, rope=rope(c, geometry[2]))
    act = c.string("hidden_act", default="relu2", why=DEFAULT)
    width = c.integer("intermediate_size")
    ffn = DenseFFN(width=width, activation=act, gated=False, bias=ffn_bias, out_bias=ffn_bias)
    return assemble(c, (layer(norm, mixer, ffn),) * layer_count(c), norm, tied_default=False)


@family("granitemoe", "granitemoeshared", title="Granite")
def granite_moe(c: Reader) -> Architecture:
    """Granite's multipliers; the experts' weights are a softmax over the chosen."""
    norm = rms(c)
    geometry = head_geometry(c)
    bias = c.boolean("attention_bias", default=False)
    scale = c.number("attention_multiplier", default=1.0, why=DEFAULT)
    mixer = gqa(*geometry, bias=bias, out_bias=bias, rope=rope(c, geometry[2]), scale=scale)
    experts, chosen = experts_of(c, "num_local_experts", "num_experts", default=2)
    shared = c.integer("shared_intermediate_size", default=0, low=0)
    ffn = MoE(
        experts=experts, per_token=chosen, width=c.integer("intermediate_size"), activation=activation(c), gated=True,
        bias=False, router=router("softmax", select_first=True), weigh_input=False,
        shared=SharedExpert(width=shared, gated=False) if shared else None,
    )  # fmt: skip
    block = layer(norm, mixer, ffn, residual_scale=c.number("residual_multiplier", default=1.0, why=DEFAULT))
    embedding = Embedding(scale=c.number("embedding_multiplier", default=1.0, why=DEFAULT))
    head = Head(scale=1 / positive(c, "logits_scaling", 1.0))
    return assemble(c, (block,) * layer_count(c), norm, tied_default=False, embedding=embedding, head=head)
