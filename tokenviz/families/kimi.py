"""Kimi Linear: Kimi delta attention with a layer of latent attention in between."""

from dataclasses import replace

from tokenviz.architecture import Architecture, DenseFFN, KimiDelta, LatentAttention, Layer, MoE, RMSNorm
from tokenviz.config import Reader
from tokenviz.families.common import DEFAULT, activation, assemble, family, layer, layer_count
from tokenviz.families.deepseek import latent_attention
from tokenviz.families.routed import Routing, name_prediction_heads, routed_moe, sparse_layers
from tokenviz.notation import ConfigError


@family("kimi_linear", title="Kimi Linear")
def kimi_linear(c: Reader) -> Architecture:
    """Layer lists are 1-based; no layer has positions; experts in all layers but the first."""
    norm = RMSNorm(eps=c.number("rms_norm_eps", default=1e-5, why=DEFAULT), zero_centred=False)
    if not c.boolean("mla_use_nope", default=True):
        raise ConfigError("mla_use_nope is false; this family's attention turns nothing by position: set it to true")
    mixers: dict[str, LatentAttention | KimiDelta] = {
        "full_attention": latent_attention(c, query_rank=None, nope=True),
        "linear_attention": _kimi_delta(c, norm),
    }
    c.assume("no layer turns its queries and keys by position (mla_use_nope)")
    count = layer_count(c)
    kinds = _layer_kinds(c, count)
    sparse = sparse_layers(c, count, 1)
    layers = tuple(_layer(norm, mixers[kind], ffn) for kind, ffn in zip(kinds, _ffns(c, sparse), strict=True))
    name_prediction_heads(c, "num_nextn_predict_layers")
    limit = c.integer("model_max_length", "max_position_embeddings", default=0, low=0, high=10**9) or None
    return replace(assemble(c, layers, norm, tied_default=False), max_positions=limit)


def _layer(norm: RMSNorm, mixer: LatentAttention | KimiDelta, ffn: DenseFFN | MoE) -> Layer:
    return layer(norm, mixer, ffn)


def _ffns(c: Reader, sparse: tuple[bool, ...]) -> tuple[DenseFFN | MoE, ...]:
    dense = DenseFFN(
        width=c.integer("intermediate_size"), activation=activation(c), gated=True, bias=False, out_bias=False
    )
    if not any(sparse):
        return (dense,) * len(sparse)
    width = c.integer("moe_intermediate_size")
    shared = c.integer("num_shared_experts", "n_shared_experts", default=1, low=0, high=10_000, why="family default")
    c.ignore("use_grouped_topk")
    moe = routed_moe(c, Routing(groups=(1, 1), scale=2.446), width=width, shared=width * shared or None)
    return tuple(moe if s else dense for s in sparse)


def _kimi_delta(c: Reader, norm: RMSNorm) -> KimiDelta:
    linear = Reader(c.mapping("linear_attn_config"))
    size = linear.integer("head_dim", default=c.integer("linear_head_dim", default=128), high=100_000)
    return KimiDelta(
        heads=linear.integer("num_heads", default=c.integer("linear_num_heads", default=32), high=100_000),
        head_dim=size, gate_rank=size, norm=norm,
        taps=linear.integer(
            "short_conv_kernel_size", default=c.integer("linear_conv_kernel_dim", default=4), low=2, high=1_000
        ),
    )  # fmt: skip


def _layer_kinds(c: Reader, count: int) -> tuple[str, ...]:
    """Each layer's mixer, from layer_types or from the two 1-based lists, which must cover every layer once."""
    kinds = c.choices("layer_types", count, ("full_attention", "linear_attention"))
    if kinds is not None:
        return kinds
    lists = c.mapping("linear_attn_config")
    if "full_attn_layers" not in lists or "kda_layers" not in lists:
        raise ConfigError("linear_attn_config has no full_attn_layers and kda_layers; add both lists or layer_types")
    full, linear = lists["full_attn_layers"], lists["kda_layers"]
    named = [*full, *linear] if isinstance(full, list) and isinstance(linear, list) else []
    if sorted(named, key=str) != sorted(range(1, count + 1), key=str):
        raise ConfigError(
            f"full_attn_layers and kda_layers do not name each of the layers 1 to {count} once; the lists count from 1"
        )
    return tuple("full_attention" if i in full else "linear_attention" for i in range(1, count + 1))
