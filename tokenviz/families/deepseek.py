"""Multi-head latent attention with routed experts, and its descendants with a sparse-attention indexer."""

from collections.abc import Sequence
from dataclasses import replace
from math import log

from tokenviz.architecture import (
    Architecture,
    DenseFFN,
    Indexer,
    LatentAttention,
    LayerNorm,
    MoE,
    Prediction,
    RMSNorm,
    Rope,
)
from tokenviz.config import Reader
from tokenviz.families.common import (
    DEFAULT,
    activation,
    assemble,
    family,
    layer,
    layer_count,
    stack,
)
from tokenviz.families.rope import rope
from tokenviz.families.routed import Routing, name_prediction_heads, routed_moe, sparse_layers
from tokenviz.notation import ConfigError

LATENT_EPS = 1e-6
"""Epsilon of the norms of the latents: a constant of the reference implementation, not a config key."""


@family("deepseek_v3", "kimi_k2", title="DeepSeek V3")
def deepseek_v3(c: Reader) -> Architecture:
    """Latent attention, a few dense layers, then sigmoid-routed experts in groups."""
    return _build(
        c, [latent_attention(c, query_rank=1536)] * layer_count(c), Routing(groups=(8, 4), scale=2.5), first_dense=3
    )


@family("glm4_moe_lite", title="GLM-4.7 Flash")
def glm4_moe_lite(c: Reader) -> Architecture:
    """The same in a smaller size, with one group of experts."""
    return _build(
        c,
        [latent_attention(c, query_rank=768)] * layer_count(c),
        Routing(groups=(1, 1), scale=1.8),
        first_dense=1,
        eps=1e-5,
    )


@family("deepseek_v2", title="DeepSeek V2")
def deepseek_v2(c: Reader) -> Architecture:
    """The predecessor: softmax router, no correction bias; the small model does not compress its queries."""
    routing = Routing(groups=(1, 1), scale=1.0, scoring="softmax", method="greedy", renormalise=False)
    return _build(c, [latent_attention(c, query_rank=1536)] * layer_count(c), routing, first_dense=0, shared=2)


@family("deepseek_v32", title="DeepSeek V3.2")
def deepseek_v32(c: Reader) -> Architecture:
    """V3 with an indexer that picks the positions to attend; its RoPE pairs the two halves."""
    mixer = latent_attention(c, query_rank=1536)
    mixer = replace(mixer, indexer=indexer(c, mixer, heads=64, pairing="half"))
    return _build(c, [mixer] * layer_count(c), Routing(groups=(8, 4), scale=2.5), first_dense=3)


@family("glm_moe_dsa", title="GLM-5")
def glm_moe_dsa(c: Reader) -> Architecture:
    """GLM-5: the same indexer with interleaved RoPE, one group of experts."""
    mixer = latent_attention(c, query_rank=2048)
    pairing = "pairs" if c.boolean("indexer_rope_interleave", default=True) else "half"
    own = replace(mixer, indexer=indexer(c, mixer, heads=32, pairing=pairing))
    kinds = _indexer_kinds(c, layer_count(c))
    chosen = own.indexer.top_k if own.indexer else None
    mixers = {True: replace(own, lends=not all(kinds)), False: replace(mixer, borrows=chosen)}
    every = [mixers[kind] for kind in kinds]
    return _build(c, every, Routing(groups=(1, 1), scale=2.5), first_dense=3, eps=1e-5)


@family("deepseek_v4", title="DeepSeek V4")
def deepseek_v4(c: Reader) -> Architecture:
    """Refused: its residual stream and its caches follow rules that no recipe here has."""
    streams = c.integer("hc_mult", default=4)
    raise ConfigError(
        f"hc_mult is {streams}: the residual stream is {streams} streams mixed by hyper-connections, and "
        "compress_ratios make a step's work depend on its position; no recipe covers them, so no numbers are given"
    )


def latent_attention(c: Reader, *, query_rank: int | None, nope: bool = False) -> LatentAttention:
    """Latent attention without an indexer. `query_rank` is the default of an absent q_lora_rank; null means none."""
    heads = c.integer("num_attention_heads", high=100_000)
    sizes = {
        k: c.integer(k, default=v, high=100_000, why=DEFAULT)
        for k, v in (("qk_nope_head_dim", 128), ("qk_rope_head_dim", 64), ("v_head_dim", 128), ("kv_lora_rank", 512))
    }
    c.ignore("num_key_value_heads", "head_dim", "qk_head_dim", "rope_theta", "rope_scaling", "rope_parameters")
    if "q_lora_rank" in c.data and c.data["q_lora_rank"] is None:
        c.ignore("q_lora_rank")
        query_rank = None
    elif query_rank is not None or c.has("q_lora_rank"):
        query_rank = c.integer("q_lora_rank", default=query_rank, high=1_000_000, why=DEFAULT)
    dims = sizes["qk_rope_head_dim"]
    turning = None if nope else interleaved(c, rope(c, dims))
    return LatentAttention(
        heads=heads, nope_dim=sizes["qk_nope_head_dim"], rope_dim=dims, value_dim=sizes["v_head_dim"],
        rank=sizes["kv_lora_rank"], query_rank=query_rank,
        scale=(sizes["qk_nope_head_dim"] + dims) ** -0.5 * (yarn_scale(turning) if turning else 1.0), rope=turning,
        bias=c.boolean("attention_bias", default=False), norm=RMSNorm(eps=LATENT_EPS, zero_centred=False), indexer=None,
    )  # fmt: skip


def interleaved(c: Reader, turning: Rope) -> Rope:
    """RoPE on neighbouring coordinates unless the config says otherwise."""
    return replace(turning, pairing="pairs") if c.boolean("rope_interleave", default=True) else turning


def yarn_scale(turning: Rope) -> float:
    """Factor of the softmax scale under YaRN: (0.1 · mscale_all_dim · ln(factor) + 1)²."""
    scaling = dict(turning.scaling)
    all_dims, factor = scaling.get("mscale_all_dim", 0), scaling.get("factor", 1)
    if not all_dims or not isinstance(all_dims, (int, float)) or not isinstance(factor, (int, float)) or factor <= 1:
        return 1.0
    if not (abs(all_dims) <= 1e6 and factor <= 1e6):
        raise ConfigError(
            f"mscale_all_dim {all_dims} and factor {factor} of the RoPE scaling are not both below a million"
        )
    return float(0.1 * all_dims * log(factor) + 1.0) ** 2


def indexer(c: Reader, mixer: LatentAttention, *, heads: int, pairing: str) -> Indexer:
    """The indexer of every layer; it needs compressed queries."""
    if mixer.query_rank is None or mixer.rope is None:
        raise ConfigError(
            "q_lora_rank is null; the sparse-attention indexer reads the compressed query, so give a rank"
        )
    size = c.integer("index_head_dim", default=128, high=100_000, why=DEFAULT)
    if size <= mixer.rope_dim:
        raise ConfigError(f"index_head_dim {size} is not larger than qk_rope_head_dim {mixer.rope_dim}")
    return Indexer(
        heads=c.integer("index_n_heads", default=heads, high=100_000, why=DEFAULT), head_dim=size,
        top_k=c.integer("index_topk", default=2048, high=10**9, why=DEFAULT),
        rope=replace(mixer.rope, pairing=pairing), norm=LayerNorm(eps=1e-6, weighted=True, bias=True),
    )  # fmt: skip


def _indexer_kinds(c: Reader, count: int) -> tuple[bool, ...]:
    """Which layers choose positions themselves; the others borrow the choice of the last one that did.

    Given layer by layer, as a pattern of F and S, or as one layer in every few from an offset on.
    """
    listed = c.get("indexer_types", "index_topk_pattern")
    every = c.integer("index_topk_freq", default=1, high=10_000)
    offset = c.integer("index_skip_topk_offset", default=2, low=0, high=10_000)
    if listed is None:
        return tuple(max(i - offset + 1, 0) % every == 0 for i in range(count))
    words = {"full": True, "F": True, "shared": False, "S": False}
    if not isinstance(listed, (list, str)) or len(listed) != count or any(str(kind) not in words for kind in listed):
        raise ConfigError(f"indexer_types is not one of full and shared for each of the {count} layers")
    kinds = tuple(words[kind] for kind in listed)
    if not kinds[0]:
        raise ConfigError("indexer_types starts with shared; the first layer has no earlier choice to borrow")
    return kinds


def _build(
    c: Reader, mixers: Sequence[LatentAttention], routing: Routing, *, first_dense: int, shared: int = 1,
    eps: float = 1e-6,
) -> Architecture:  # fmt: skip
    """One of `mixers` for each layer; a dense feed-forward first, experts from `first_dense` on."""
    norm = RMSNorm(eps=c.number("rms_norm_eps", default=eps, why=DEFAULT), zero_centred=False)
    sparse = sparse_layers(c, len(mixers), first_dense)
    bias = c.boolean("mlp_bias", default=False)
    dense = DenseFFN(
        width=c.integer("intermediate_size"), activation=activation(c), gated=True, bias=bias, out_bias=bias
    )
    ffns: list[DenseFFN | MoE] = [dense, dense]
    if any(sparse):
        width = c.integer("moe_intermediate_size")
        shared = c.integer("n_shared_experts", default=shared, low=0, high=10_000, why=DEFAULT)
        ffns[1] = routed_moe(c, routing, width=width, shared=width * shared or None)
    guesses = name_prediction_heads(c, "num_nextn_predict_layers", "num_mtp_layers")
    c.ignore("layer_types")
    last = layer(norm, replace(mixers[0], lends=False), ffns[1])
    extra = Prediction(layer=last, count=guesses) if guesses else None
    layers = stack(norm, ((mixer, ffns[s]) for mixer, s in zip(mixers, sparse, strict=True)))
    return assemble(c, layers, norm, tied_default=False, prediction=extra)
