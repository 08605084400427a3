"""Decoders with LayerNorm and plain feed-forwards: learned positions, ALiBi or RoPE; one after the other or abreast."""

from collections.abc import Mapping
from typing import Any

from tokenviz.architecture import GQA, Architecture, DenseFFN, Embedding, Head, LayerNorm
from tokenviz.config import Reader
from tokenviz.families.common import (
    DEFAULT,
    activation,
    assemble,
    beside,
    family,
    gqa,
    head_geometry,
    layer,
    layer_count,
    layer_norm,
    query_heads,
    width_of,
    window_of,
)
from tokenviz.families.rope import alibi_above, alibi_below, rope
from tokenviz.notation import ConfigError


def plain_ffn(width: int, act: str, *, bias: bool) -> DenseFFN:
    """Two matrices with an activation between them."""
    return DenseFFN(width=width, activation=act, gated=False, bias=bias, out_bias=bias)


def inner_width(c: Reader, *keys: str) -> int:
    """Width of the feed-forward: four times the residual stream where the config is silent."""
    return c.integer(*keys, default=4 * width_of(c), why="four times the width")


def quotient_heads(c: Reader) -> tuple[int, int, int]:
    """(key/value heads, 1, head size) of multi-head attention whose head size is the quotient."""
    width, heads = width_of(c), query_heads(c)
    if width % heads:
        raise ConfigError(f"hidden_size {width} is not a multiple of num_attention_heads {heads}")
    return heads, 1, width // heads


@family("gpt2", title="GPT-2")
def gpt2(c: Reader) -> Architecture:
    """Learned positions, biases everywhere."""
    if c.boolean("add_cross_attention", default=False):
        raise ConfigError("add_cross_attention is true; only decoders without an encoder can be read: set it to false")
    c.ignore("reorder_and_upcast_attn", "n_ctx")
    heads, group, size = quotient_heads(c)
    scale = size**-0.5 if c.boolean("scale_attn_weights", default=True) else 1.0
    by_layer = c.boolean("scale_attn_by_inverse_layer_idx", default=False)
    norm = layer_norm(c)
    ffn = plain_ffn(inner_width(c, "n_inner"), _act(c, "gelu_new"), bias=True)

    def mixer(index: int) -> GQA:
        return gqa(heads, group, size, bias=True, out_bias=True, scale=scale / (index + 1) if by_layer else scale)

    embedding = Embedding(positions=c.integer("n_positions", "max_position_embeddings", default=1024, why=DEFAULT))
    layers = tuple(layer(norm, mixer(i), ffn) for i in range(layer_count(c)))
    return assemble(c, layers, norm, tied_default=True, embedding=embedding)


@family("gpt_bigcode", title="GPT-BigCode")
def gpt_bigcode(c: Reader) -> Architecture:
    """GPT-2 with one key/value head for all query heads."""
    if c.boolean("add_cross_attention", default=False):
        raise ConfigError("add_cross_attention is true; only decoders without an encoder can be read: set it to false")
    c.ignore("scale_attention_softmax_in_fp32", "attention_softmax_in_fp32")
    heads, group, size = quotient_heads(c)
    if c.boolean("multi_query", default=True, why=DEFAULT):
        heads, group = 1, heads
    scale = size**-0.5 if c.boolean("scale_attn_weights", default=True) else 1.0
    norm = layer_norm(c)
    mixer = gqa(heads, group, size, bias=True, out_bias=True, scale=scale)
    ffn = plain_ffn(inner_width(c, "n_inner"), _act(c, "gelu_pytorch_tanh"), bias=True)
    embedding = Embedding(positions=c.integer("n_positions", "max_position_embeddings", default=1024, why=DEFAULT))
    return assemble(c, (layer(norm, mixer, ffn),) * layer_count(c), norm, tied_default=True, embedding=embedding)


@family("opt", title="OPT")
def opt(c: Reader) -> Architecture:
    """Learned positions from row 2 on, ReLU."""
    if not c.boolean("do_layer_norm_before", default=True):
        raise ConfigError("do_layer_norm_before is false: a norm of the residual stream itself has no recipe here")
    width = width_of(c)
    if c.integer("word_embed_proj_dim", default=width) != width:
        raise ConfigError("word_embed_proj_dim differs from hidden_size: a projected embedding has no recipe here")
    bias = c.boolean("enable_bias", default=True)
    affine = c.boolean("layer_norm_elementwise_affine", default=True)
    norm = LayerNorm(eps=1e-5, weighted=affine, bias=affine)
    mixer = gqa(*quotient_heads(c), bias=bias, out_bias=bias)
    ffn = plain_ffn(c.integer("ffn_dim", "intermediate_size"), _act(c, "relu"), bias=bias)
    final = None if c.boolean("_remove_final_layer_norm", default=False) else norm
    rows = c.integer("max_position_embeddings", default=2048, why=DEFAULT) + 2
    embedding = Embedding(positions=rows, offset=2)
    return assemble(c, (layer(norm, mixer, ffn),) * layer_count(c), final, tied_default=True, embedding=embedding)


@family("bloom", title="BLOOM")
def bloom(c: Reader) -> Architecture:
    """ALiBi, and a norm of the embedding row."""
    if c.boolean("apply_residual_connection_post_layernorm", default=False):
        raise ConfigError("apply_residual_connection_post_layernorm is true; that residual path has no recipe here")
    heads, group, size = quotient_heads(c)
    norm = layer_norm(c)
    c.ignore("n_inner")  # four times the width, whatever the file says
    mixer = gqa(heads, group, size, bias=True, out_bias=True, alibi=alibi_below(heads))
    ffn = plain_ffn(4 * width_of(c), "gelu_pytorch_tanh", bias=True)
    layers = (layer(norm, mixer, ffn),) * layer_count(c)
    return assemble(c, layers, norm, tied_default=True, embedding=Embedding(norm=norm))


@family("mpt", title="MPT")
def mpt(c: Reader) -> Architecture:
    """ALiBi, no biases, not even in the norms."""
    own = dict(c.mapping("attn_config"))
    for key, allowed in (("attn_type", ("multihead_attention",)), ("qk_ln", (False,)), ("alibi", (True,)),
                         ("prefix_lm", (False,))):  # fmt: skip
        if own.get(key, allowed[0]) not in allowed:
            raise ConfigError(f"attn_config.{key} is {own[key]!r}; only {allowed[0]!r} has a recipe here")
    if not c.boolean("no_bias", default=True):
        raise ConfigError("no_bias is false; the family's layers have no biases: set it to true")
    c.ignore("learned_pos_emb", "embedding_fraction", "norm_type", "expansion_ratio", "init_device")
    heads, group, size = quotient_heads(c)
    norm = layer_norm(c, bias=False)
    scale, clip, largest = (_own_number(own, key) for key in ("softmax_scale", "clip_qkv", "alibi_bias_max"))
    mixer = gqa(
        heads, group, size, scale=scale or size**-0.5, clip=clip or None, alibi=alibi_above(heads, largest or 8.0),
    )  # fmt: skip
    ffn = plain_ffn(4 * width_of(c), "gelu", bias=False)
    if c.get("logit_scale") is not None:
        c.assume("logit_scale is declared, but the reference implementation does not apply it")
    return assemble(c, (layer(norm, mixer, ffn),) * layer_count(c), norm, tied_default=True)


def _own_number(own: Mapping[str, Any], key: str) -> float | None:
    """A number from 0 of the attention's own settings; None when it is absent."""
    value = own.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e6:
        raise ConfigError(f"attn_config.{key} is {value!r}; give a number from 0 to a million, or null")
    return float(value)


@family("falcon", title="Falcon")
def falcon(c: Reader) -> Architecture:
    """Attention and feed-forward side by side; one key/value head, or groups in the larger models."""
    heads, _, size = quotient_heads(c)
    new = c.boolean("new_decoder_architecture", default=False)
    multi_query = c.boolean("multi_query", default=True, why=DEFAULT)
    kv_heads = c.integer("num_kv_heads", "n_head_kv", default=heads, high=100_000) if new or not multi_query else 1
    c.ignore("num_kv_heads", "n_head_kv")
    bias = c.boolean("bias", default=False)
    alibi = c.boolean("alibi", default=False)
    slopes = alibi_below(heads)
    scale = size**-0.5
    mixer = gqa(
        kv_heads, heads // kv_heads, size, bias=bias, out_bias=bias, rope=None if alibi else rope(c, size),
        alibi=type(slopes)(slopes=tuple(s * scale for s in slopes.slopes)) if alibi else None,
    )  # fmt: skip
    norm = layer_norm(c)
    ffn = plain_ffn(inner_width(c, "ffn_hidden_size"), c.string("activation", default="gelu", why=DEFAULT), bias=bias)
    norms = c.integer("num_ln_in_parallel_attn", default=2 if new else 1, high=2)
    c.ignore("apply_residual_connection_post_layernorm")
    if not c.boolean("parallel_attn", default=True) and not new:
        block = layer(norm, mixer, ffn)
    else:
        block = beside(norm, mixer, ffn, shared=norms == 1)
    return assemble(c, (block,) * layer_count(c), norm, tied_default=True)


@family("gpt_neox", title="GPT-NeoX")
def gpt_neox(c: Reader) -> Architecture:
    """Attention and feed-forward side by side, each behind its own norm; a quarter of each head turns."""
    heads, group, size = quotient_heads(c)
    bias = c.boolean("attention_bias", default=True)
    mixer = gqa(heads, group, size, bias=bias, out_bias=bias, rope=rope(c, size, partial=0.25))
    norm = layer_norm(c)
    ffn = plain_ffn(c.integer("intermediate_size"), c.string("hidden_act", default="gelu", why=DEFAULT), bias=True)
    together = c.boolean("use_parallel_residual", default=True)
    block = beside(norm, mixer, ffn, shared=False) if together else layer(norm, mixer, ffn)
    return assemble(c, (block,) * layer_count(c), norm, tied_default=False)


@family("gptj", title="GPT-J")
def gptj(c: Reader) -> Architecture:
    """Attention and feed-forward side by side behind one norm; neighbouring coordinates turn together."""
    heads, group, size = quotient_heads(c)
    turning = c.integer("rotary_dim", default=64, high=size, why=DEFAULT)
    mixer = gqa(heads, group, size, rope=rope(c, size, partial=turning / size, pairing="pairs"))
    norm = layer_norm(c)
    ffn = plain_ffn(inner_width(c, "n_inner"), _act(c, "gelu_new"), bias=True)
    layers = (beside(norm, mixer, ffn, shared=True),) * layer_count(c)
    return assemble(c, layers, norm, tied_default=False, head=Head(bias=True))


@family("phi", title="Phi")
def phi(c: Reader) -> Architecture:
    """Attention and feed-forward side by side behind one norm, biases everywhere, even in the head."""
    if c.boolean("qk_layernorm", default=False):
        raise ConfigError("qk_layernorm is true; the family's norms of queries and keys have no recipe here")
    geometry = head_geometry(c)
    mixer = gqa(*geometry, bias=True, out_bias=True, rope=rope(c, geometry[2], partial=0.5))
    norm = layer_norm(c)
    ffn = plain_ffn(c.integer("intermediate_size"), c.string("hidden_act", default="gelu_new", why=DEFAULT), bias=True)
    layers = (beside(norm, mixer, ffn, shared=True),) * layer_count(c)
    return assemble(c, layers, norm, tied_default=False, head=Head(bias=True))


@family("starcoder2", title="StarCoder2")
def starcoder2(c: Reader) -> Architecture:
    """Grouped-query attention with RoPE and one window for all layers, biases everywhere."""
    geometry = head_geometry(c, kv_heads=2)
    bias = c.boolean("use_bias", default=True)
    mixer = gqa(*geometry, bias=bias, out_bias=bias, rope=rope(c, geometry[2]), window=window_of(c))
    norm = layer_norm(c)
    c.ignore("activation_function", "layer_norm_epsilon", "norm_epsilon", "scale_attn_weights", "norm_type", "mlp_type",
             "scale_attention_softmax_in_fp32")  # fmt: skip
    ffn = plain_ffn(
        c.integer("intermediate_size"), c.string("hidden_act", default="gelu_pytorch_tanh", why=DEFAULT), bias=bias
    )
    return assemble(c, (layer(norm, mixer, ffn),) * layer_count(c), norm, tied_default=True)


@family("stablelm", title="StableLM")
def stablelm(c: Reader) -> Architecture:
    """The plain gated decoder with LayerNorm and a partial RoPE."""
    if c.boolean("qk_layernorm", default=False):
        raise ConfigError("qk_layernorm is true; the family's norms of queries and keys have no recipe here")
    geometry = head_geometry(c, kv_heads=32)
    mixer = gqa(
        *geometry, bias=c.boolean("use_qkv_bias", default=False), rope=rope(c, geometry[2], partial=0.25)
    )  # fmt: skip
    norm = layer_norm(c)
    width = c.integer("intermediate_size")
    ffn = DenseFFN(width=width, activation=activation(c), gated=True, bias=False, out_bias=False)
    together = c.boolean("use_parallel_residual", default=False)
    block = beside(norm, mixer, ffn, shared=True) if together else layer(norm, mixer, ffn)
    return assemble(c, (block,) * layer_count(c), norm, tied_default=False)


def _act(c: Reader, default: str) -> str:
    return c.string("activation_function", "hidden_act", default=default, why=DEFAULT)
