"""The plain decoder (RMSNorm, RoPE, grouped-query attention, SwiGLU) and its nearest relatives."""

from dataclasses import replace

from tokenviz.architecture import Architecture, Embedding, Head, Temperature
from tokenviz.config import Reader
from tokenviz.families.common import (
    DEFAULT,
    assemble,
    family,
    gated_ffn,
    gqa,
    head_geometry,
    layer,
    layer_count,
    layer_kinds,
    positive,
    rms,
    stack,
    window_of,
)
from tokenviz.families.rope import declared, rope
from tokenviz.notation import ConfigError


@family("llama", title="Llama")
def llama(c: Reader) -> Architecture:
    """The plain decoder."""
    norm = rms(c)
    geometry = head_geometry(c)
    bias = c.boolean("attention_bias", default=False)
    mixer = gqa(*geometry, bias=bias, out_bias=bias, rope=rope(c, geometry[2]))
    ffn = gated_ffn(c, bias=c.boolean("mlp_bias", default=False))
    return assemble(c, (layer(norm, mixer, ffn),) * layer_count(c), norm, tied_default=False)


@family("mistral", "mistral3", title="Mistral")
def mistral(c: Reader) -> Architecture:
    """The plain decoder with one window for all layers, or none."""
    norm = rms(c)
    geometry = head_geometry(c, kv_heads=8)
    mixer = gqa(*geometry, rope=rope(c, geometry[2]), window=window_of(c, default=4096))
    return assemble(c, (layer(norm, mixer, gated_ffn(c)),) * layer_count(c), norm, tied_default=False)


@family("ministral", title="Mistral")
def ministral(c: Reader) -> Architecture:
    """Mistral with windowed and full layers."""
    norm, count = rms(c), layer_count(c)
    geometry = head_geometry(c, kv_heads=8)
    full = gqa(*geometry, rope=rope(c, geometry[2]))
    window = window_of(c, default=4096)
    kinds = layer_kinds(
        c, count, ("sliding_attention", "full_attention"),
        lambda _i: "full_attention" if window is None else "sliding_attention", "all layers alike",
    )  # fmt: skip
    mixers = {"full_attention": full, "sliding_attention": replace(full, window=window)}
    ffn = gated_ffn(c)
    return assemble(c, stack(norm, ((mixers[k], ffn) for k in kinds)), norm, tied_default=False)


@family("ministral3", title="Mistral")
def ministral3(c: Reader) -> Architecture:
    """Mistral with queries that sharpen over very long contexts."""
    norm = rms(c, default=1e-5)
    geometry = head_geometry(c, kv_heads=8, head_dim=128)
    parameters = declared(c)
    beta, step = parameters.get("llama_4_scaling_beta"), parameters.get("original_max_position_embeddings")
    temperature = None
    if parameters and beta:
        if isinstance(step, bool) or not isinstance(step, int) or step < 1:
            raise ConfigError("rope_parameters lacks original_max_position_embeddings; llama_4_scaling_beta needs it")
        temperature = Temperature(scale=float(beta), step=step, offset=0)
    elif not parameters:
        c.assume("rope_parameters is absent: the family's own are assumed (base 1,000,000, YaRN by 16 from 16,384)")
        temperature = Temperature(scale=0.1, step=16_384, offset=0)
    turn = rope(c, geometry[2], theta=1_000_000.0)
    if not parameters:
        turn = replace(turn, scaling=(("factor", 16.0), ("original_max_position_embeddings", 16_384),
                                      ("rope_type", "yarn")))  # fmt: skip
    mixer = gqa(*geometry, rope=turn, window=window_of(c), temperature=temperature)
    return assemble(c, (layer(norm, mixer, gated_ffn(c)),) * layer_count(c), norm, tied_default=False)


@family("phi3", title="Phi")
def phi3(c: Reader) -> Architecture:
    """The plain decoder; its files hold q, k, v in one matrix and gate, up in another."""
    norm = rms(c, default=1e-5)
    geometry = head_geometry(c)
    c.ignore("attention_bias", "mlp_bias")  # declared by some files; the family has no biases
    mixer = gqa(*geometry, rope=rope(c, geometry[2]), window=window_of(c))
    return assemble(c, (layer(norm, mixer, gated_ffn(c)),) * layer_count(c), norm, tied_default=False)


@family("smollm3", title="SmolLM3")
def smollm3(c: Reader) -> Architecture:
    """The plain decoder, with no position at all in every few layers."""
    norm, count = rms(c), layer_count(c)
    geometry = head_geometry(c, kv_heads=4)
    bias = c.boolean("attention_bias", default=False)
    turning = gqa(*geometry, bias=bias, out_bias=bias, rope=rope(c, geometry[2], theta=2_000_000.0))
    still = replace(turning, rope=None)
    flags = rope_flags(c, count)
    windowed = c.boolean("use_sliding_window", default=False)
    window = window_of(c) if windowed else None
    c.ignore("sliding_window")
    kinds = c.choices("layer_types", count, ("sliding_attention", "full_attention"))
    if kinds is None:
        kinds = tuple("full_attention" if window is None or flag else "sliding_attention" for flag in flags)
    ffn = gated_ffn(c, bias=c.boolean("mlp_bias", default=False))
    mixers = (
        replace(turning if flag else still, window=window if kind == "sliding_attention" else None)
        for flag, kind in zip(flags, kinds, strict=True)
    )
    return assemble(c, stack(norm, ((mixer, ffn) for mixer in mixers)), norm, tied_default=True)


def rope_flags(c: Reader, count: int) -> tuple[bool, ...]:
    """For each layer, whether its queries and keys are rotated: no_rope_layers holds 1 where they are, 0 where not."""
    interval = c.integer("no_rope_layer_interval", default=4, high=10_000)
    listed = c.get("no_rope_layers")
    if not listed:
        c.assume(f"no_rope_layers is absent or empty: every {interval}th layer has no rotation (the family's default)")
        return tuple((i + 1) % interval != 0 for i in range(count))
    if not isinstance(listed, list) or len(listed) != count or any(flag not in (0, 1) for flag in listed):
        raise ConfigError(f"no_rope_layers must hold a 0 or 1 for each of the {count} layers")
    return tuple(bool(flag) for flag in listed)


@family("granite", title="Granite")
def granite(c: Reader) -> Architecture:
    """The plain decoder with four multipliers: on embeddings, scores, residual updates and logits."""
    norm = rms(c)
    geometry = head_geometry(c)
    bias = c.boolean("attention_bias", default=False)
    scale = c.number("attention_multiplier", default=1.0, why=DEFAULT)
    mixer = gqa(*geometry, bias=bias, out_bias=bias, rope=rope(c, geometry[2]), scale=scale)
    ffn = gated_ffn(c, bias=c.boolean("mlp_bias", default=False))
    block = layer(norm, mixer, ffn, residual_scale=c.number("residual_multiplier", default=1.0, why=DEFAULT))
    embedding = Embedding(scale=c.number("embedding_multiplier", default=1.0, why=DEFAULT))
    head = Head(scale=1 / positive(c, "logits_scaling", 1.0))
    return assemble(c, (block,) * layer_count(c), norm, tied_default=False, embedding=embedding, head=head)
