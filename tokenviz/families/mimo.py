"""MiMo: windowed and full layers of different geometry, keys wider than values."""

from dataclasses import replace

from tokenviz.architecture import Architecture, RMSNorm
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
)
from tokenviz.families.rope import rope
from tokenviz.families.routed import Routing, routed_moe
from tokenviz.notation import ConfigError

KINDS = ("sliding_attention", "full_attention")
SAME = (
    "swa_head_dim", "swa_v_head_dim", "swa_num_attention_heads", "n_shared_experts", "attention_chunk_size",
    "hybrid_block_size", "sliding_window", "sliding_window_size", "add_swa_attention_sink_bias", "layer_types",
    "add_full_attention_sink_bias", "mlp_layer_types", "moe_layer_freq", "hybrid_layer_pattern",
)  # fmt: skip
"""Keys of published files that repeat another key or say what every model of the family is."""


@family("mimo_v2_flash", title="MiMo")
def mimo_v2_flash(c: Reader) -> Architecture:
    """Windowed layers have sinks, twice the key/value heads and a RoPE base of their own; sigmoid-routed experts."""
    eps = c.number("rms_norm_eps", "layernorm_epsilon", default=1e-5, why=DEFAULT)
    norm, count = RMSNorm(eps=eps, zero_centred=False), layer_count(c)
    kv_heads, group, head_dim = head_geometry(c, kv_heads=4, head_dim=192)
    local_heads = c.integer("swa_num_key_value_heads", default=2 * kv_heads, high=100_000)
    if kv_heads * group % local_heads:
        raise ConfigError(
            f"num_attention_heads is not a multiple of the windowed layers' {local_heads} key/value heads"
        )
    value_dim = c.integer("v_head_dim", default=128, high=100_000, why=DEFAULT)
    scale = 1.0 if c.is_null("attention_value_scale") else c.number("attention_value_scale", default=0.707, why=DEFAULT)
    bias = c.boolean("attention_bias", default=False)
    both = {"value_dim": value_dim, "bias": bias, "value_scale": scale}
    nested = any(isinstance(v, dict) for v in c.mapping("rope_parameters").values())
    turning = rope(c, head_dim, partial=0.334, theta=5_000_000.0, kind="full_attention" if nested else "")
    if nested:
        local_turning = rope(c, head_dim, partial=0.334, theta=10_000.0, kind="sliding_attention")
    else:
        local_turning = replace(turning, theta=c.number("swa_rope_theta", default=10_000.0, why=DEFAULT), scaling=())
    mixers = {
        "full_attention": gqa(kv_heads, group, head_dim, rope=turning, **both),
        "sliding_attention": gqa(
            local_heads, kv_heads * group // local_heads, head_dim, rope=local_turning, sinks=True, window=_window(c),
            **both,
        ),
    }  # fmt: skip
    width = c.integer("moe_intermediate_size", default=2048, why=DEFAULT)
    routed = routed_moe(c, Routing(groups=(1, 1), scale=1.0), width=width, shared=None)
    dense = gated_ffn(c)
    layers = tuple(
        layer(norm, mixers[kind], routed if sparse else dense)
        for kind, sparse in zip(_kinds(c, count), _sparse(c, count), strict=True)
    )
    c.ignore(*SAME)
    return assemble(c, layers, norm, tied_default=False)


def _window(c: Reader) -> int:
    """The window; under its other name, the current position is not counted in it."""
    if c.has("sliding_window_size"):
        return c.integer("sliding_window_size", high=10**9) + 1
    return c.integer("sliding_window", default=129, high=10**9, why=DEFAULT)


def _flags(c: Reader, key: str, count: int) -> list[bool] | None:
    """A list with a 0 or 1 for each layer; None when the key is absent."""
    listed = c.get(key)
    if listed is None:
        return None
    if not isinstance(listed, list) or len(listed) != count or any(flag not in (0, 1) for flag in listed):
        raise ConfigError(f"{key} must hold a 0 or 1 for each of the {count} layers")
    return [bool(flag) for flag in listed]


def _kinds(c: Reader, count: int) -> tuple[str, ...]:
    windowed = _flags(c, "hybrid_layer_pattern", count)
    if windowed is not None and not c.has("layer_types"):
        return tuple(KINDS[not flag] for flag in windowed)
    return layer_kinds(c, count, KINDS, lambda i: KINDS[i == 0 or (i + 1) % 6 == 0], "the first and every 6th are full")


def _sparse(c: Reader, count: int) -> list[bool]:
    kinds = c.choices("mlp_layer_types", count, ("dense", "sparse"))
    if kinds is not None:
        return [kind == "sparse" for kind in kinds]
    return _flags(c, "moe_layer_freq", count) or [i > 0 for i in range(count)]
