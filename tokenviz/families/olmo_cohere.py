"""OLMo and Cohere: norms without weights, after the sections, or one norm for sections side by side."""

from dataclasses import replace

from tokenviz.architecture import Architecture, Head, Layer, LayerNorm, MoE, QKNorm, RMSNorm, Section
from tokenviz.config import Reader
from tokenviz.families.common import (
    DEFAULT,
    activation,
    assemble,
    beside,
    family,
    gated_ffn,
    gqa,
    head_geometry,
    layer,
    layer_count,
    layer_kinds,
    layer_norm,
    rms,
    softmax_router,
    window_of,
)
from tokenviz.families.rope import rope
from tokenviz.families.routed import experts_of

KINDS = ("sliding_attention", "full_attention")


def whole(norm: RMSNorm) -> QKNorm:
    """A norm of all query (or key) heads as one vector."""
    return QKNorm(norm=norm, over="projection", own_gain=False, after_rope=False)


def clip_of(c: Reader) -> float | None:
    """The bound on queries, keys and values, if there is one."""
    return c.number("clip_qkv", default=0.0) or None


@family("olmo", title="OLMo")
def olmo(c: Reader) -> Architecture:
    """LayerNorm without weight or bias."""
    geometry = head_geometry(c)
    bias = c.boolean("attention_bias", default=False)
    mixer = gqa(*geometry, bias=bias, out_bias=bias, rope=rope(c, geometry[2]), clip=clip_of(c))
    norm = LayerNorm(eps=1e-5, weighted=False, bias=False)
    return assemble(c, (layer(norm, mixer, gated_ffn(c)),) * layer_count(c), norm, tied_default=False)


def after(norm: RMSNorm, mixer: object, ffn: object) -> Layer:
    """Sections that read the residual stream as it is and normalise what they add to it."""
    return Layer(
        sections=tuple(
            Section(name=name, norm=None, body=body, post_norm=norm)  # type: ignore[arg-type]
            for name, body in (("mixer", mixer), ("ffn", ffn))
        )
    )


@family("olmo2", title="OLMo")
def olmo2(c: Reader) -> Architecture:
    """Norms after the sections, none before; queries and keys normalised as whole vectors."""
    norm = rms(c, default=1e-5)
    geometry = head_geometry(c)
    bias = c.boolean("attention_bias", default=False)
    mixer = gqa(*geometry, bias=bias, out_bias=bias, qk_norm=whole(norm), rope=rope(c, geometry[2]))
    return assemble(c, (after(norm, mixer, gated_ffn(c)),) * layer_count(c), norm, tied_default=False)


@family("olmo3", title="OLMo")
def olmo3(c: Reader) -> Architecture:
    """The same with three windowed layers to a full one; only the full ones have a scaled RoPE."""
    norm, count = rms(c, default=1e-5), layer_count(c)
    geometry = head_geometry(c)
    bias = c.boolean("attention_bias", default=False)
    nested = any(isinstance(v, dict) for v in c.mapping("rope_parameters").values())
    turning = rope(c, geometry[2], theta=500_000.0, kind="full_attention" if nested else "")
    local = rope(c, geometry[2], theta=500_000.0, kind="sliding_attention") if nested else replace(turning, scaling=())
    full = gqa(*geometry, bias=bias, out_bias=bias, qk_norm=whole(norm), rope=turning)
    mixers = {
        "full_attention": full,
        "sliding_attention": replace(full, rope=local, window=window_of(c, default=4096)),
    }
    kinds = layer_kinds(c, count, KINDS, lambda i: KINDS[(i + 1) % 4 == 0], "every 4th layer is full attention")
    ffn = gated_ffn(c)
    return assemble(c, tuple(after(norm, mixers[k], ffn) for k in kinds), norm, tied_default=False)


@family("olmoe", title="OLMo")
def olmoe(c: Reader) -> Architecture:
    """Norms before the sections, queries and keys normalised as whole vectors, routed experts."""
    norm = rms(c, default=1e-5)
    geometry = head_geometry(c)
    bias = c.boolean("attention_bias", default=False)
    mixer = gqa(*geometry, bias=bias, out_bias=bias, qk_norm=whole(norm), rope=rope(c, geometry[2]), clip=clip_of(c))
    experts, chosen = experts_of(c, "num_experts", "num_local_experts")
    ffn = MoE(
        experts=experts, per_token=chosen, width=c.integer("intermediate_size"), activation=activation(c), gated=True,
        bias=False, router=softmax_router(renormalise=c.boolean("norm_topk_prob", default=False, why=DEFAULT)),
        weigh_input=False, shared=None,
    )  # fmt: skip
    return assemble(c, (layer(norm, mixer, ffn),) * layer_count(c), norm, tied_default=False)


@family("cohere", title="Cohere Command")
def cohere(c: Reader) -> Architecture:
    """Attention and feed-forward side by side behind one LayerNorm without bias; scaled logits."""
    norm = layer_norm(c, bias=False)
    geometry = head_geometry(c)
    bias = c.boolean("attention_bias", default=False)
    qk_norm = QKNorm(norm=norm, over="head", own_gain=True, after_rope=False)
    mixer = gqa(
        *geometry, bias=bias, out_bias=bias, rope=rope(c, geometry[2], theta=500_000.0, pairing="pairs"),
        qk_norm=qk_norm if c.boolean("use_qk_norm", default=False) else None,
    )  # fmt: skip
    head = Head(scale=c.number("logit_scale", default=0.0625, why=DEFAULT))
    layers = (beside(norm, mixer, gated_ffn(c), shared=True),) * layer_count(c)
    return assemble(c, layers, norm, tied_default=True, head=head)


COHERE2_FIXED = (
    "layer_switch", "order_of_interleaved_layers", "position_embedding_type", "rotary_pct", "use_embedding_sharing",
    "use_gated_activation", "use_parallel_block", "use_parallel_embedding", "use_qk_norm",
)  # fmt: skip
"""Keys of published files that describe what every model of the family is."""


@family("cohere2", title="Cohere Command")
def cohere2(c: Reader) -> Architecture:
    """The same with windowed layers that turn and full ones that have no position at all."""
    norm, count = layer_norm(c, bias=False), layer_count(c)
    geometry = head_geometry(c)
    bias = c.boolean("attention_bias", default=False)
    full = gqa(*geometry, bias=bias, out_bias=bias)
    turning = rope(c, geometry[2], pairing="pairs")
    mixers = {
        "full_attention": full,
        "sliding_attention": replace(full, rope=turning, window=window_of(c, default=4096)),
    }
    pattern = c.integer("sliding_window_pattern", "_sliding_window_pattern", default=4, high=10_000)
    kinds = layer_kinds(
        c, count, KINDS, lambda i: KINDS[(i + 1) % pattern == 0], f"every {pattern}th layer is full attention"
    )
    ffn = gated_ffn(c)
    c.ignore(*COHERE2_FIXED)
    head = Head(scale=c.number("logit_scale", default=0.0625, why=DEFAULT))
    layers = tuple(beside(norm, mixers[k], ffn, shared=True) for k in kinds)
    return assemble(c, layers, norm, tied_default=True, head=head)
