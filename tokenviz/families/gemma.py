"""Gemma, generation by generation: scaled embeddings, norms before and after, windowed and full layers."""

from dataclasses import replace
from typing import Any

from tokenviz.architecture import (
    GQA,
    Architecture,
    Branch,
    DenseFFN,
    Embedding,
    Head,
    Layer,
    MoE,
    Parallel,
    PerLayerInput,
    PerLayerTable,
    RMSNorm,
    RouterInput,
    Section,
)
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
    per_head,
    positive,
    query_heads,
    rms,
    softmax_router,
    stack,
    width_of,
    window_of,
)
from tokenviz.families.rope import rope
from tokenviz.families.routed import experts_of
from tokenviz.notation import ConfigError

KINDS = ("sliding_attention", "full_attention")
TANH = "gelu_pytorch_tanh"


@family("gemma", title="Gemma")
def gemma(c: Reader) -> Architecture:
    """The first generation: one norm before each section, full attention everywhere."""
    norm = rms(c, zero_centred=True)
    geometry = head_geometry(c, kv_heads=16, head_dim=256)
    bias = c.boolean("attention_bias", default=False)
    act = c.string("hidden_act", "hidden_activation", default=TANH, why=DEFAULT)
    c.ignore("hidden_act", "hidden_activation")
    ffn = gated_ffn(c, act=TANH if act == "gelu" else act)  # the published "gelu" means the tanh form
    mixer = gqa(*geometry, bias=bias, out_bias=bias, rope=rope(c, geometry[2]))
    _causal(c)
    return _finish(c, (layer(norm, mixer, ffn),) * layer_count(c), norm)


@family("gemma2", title="Gemma")
def gemma2(c: Reader) -> Architecture:
    """Norms before and after each section, soft-capped scores, every other layer windowed."""
    norm, count = rms(c, zero_centred=True), layer_count(c)
    geometry = head_geometry(c, kv_heads=4, head_dim=256)
    full = _attention(c, geometry, softcap=_cap(c, "attn_logit_softcapping", 50.0), rope=rope(c, geometry[2]))
    kinds = layer_kinds(c, count, KINDS, lambda i: KINDS[i % 2], "every other layer is full attention")
    window = window_of(c, default=4096)
    c.ignore("sliding_window_size")  # the same number under its older name
    mixers = {"full_attention": full, "sliding_attention": replace(full, window=window)}
    ffn = _ffn(c)
    _causal(c)
    layers = stack(norm, ((mixers[k], ffn) for k in kinds), post_norm=norm)
    return _finish(c, layers, norm, softcap=_cap(c, "final_logit_softcapping", 30.0))


@family("gemma3_text", "gemma3", title="Gemma")
def gemma3(c: Reader) -> Architecture:
    """Norms on queries and keys, five windowed layers to a full one, a RoPE base of its own for each kind."""
    norm, count = rms(c, zero_centred=True), layer_count(c)
    geometry = head_geometry(c, kv_heads=4, head_dim=256)
    pattern = c.integer("sliding_window_pattern", "_sliding_window_pattern", default=6, high=10_000)
    kinds = layer_kinds(
        c, count, KINDS, lambda i: KINDS[(i + 1) % pattern == 0], f"every {pattern}th layer is full attention"
    )
    full = _attention(c, geometry, qk_norm=per_head(norm), rope=_rope3(c, geometry[2], "full_attention"))
    local = replace(full, window=window_of(c, default=4096), rope=_rope3(c, geometry[2], "sliding_attention"))
    mixers = {"full_attention": full, "sliding_attention": local}
    ffn = _ffn(c)
    if c.get("attn_logit_softcapping") is not None:
        c.assume("attn_logit_softcapping is declared, but this family's attention does not apply it")
    _causal(c)
    layers = stack(norm, ((mixers[k], ffn) for k in kinds), post_norm=norm)
    return _finish(c, layers, norm, softcap=_cap(c, "final_logit_softcapping", None))


def _rope3(c: Reader, head_dim: int, kind: str) -> Any:
    """The full layers' RoPE has the declared scaling; the windowed ones' has a base of its own and no scaling."""
    if any(isinstance(v, dict) for v in c.mapping("rope_parameters").values()):
        return rope(c, head_dim, kind=kind, theta=1_000_000.0 if kind == "full_attention" else 10_000.0)
    turning = rope(c, head_dim, theta=1_000_000.0)
    if kind == "full_attention":
        return turning
    return replace(turning, theta=c.number("rope_local_base_freq", default=10_000.0, why=DEFAULT), scaling=())


@family("gemma4_text", "gemma4", "gemma4_unified_text", "gemma4_unified", title="Gemma")
def gemma4(c: Reader) -> Architecture:
    """Two head geometries, values that may be the keys' projection, caches that later layers may share."""
    norm, count = rms(c), layer_count(c)
    kinds = list(layer_kinds(c, count, KINDS, lambda i: KINDS[(i + 1) % 6 == 0], "every 6th layer is full attention"))
    if kinds[-1] != "full_attention":
        c.assume("the last layer is full attention whatever layer_types says")
        kinds[-1] = "full_attention"
    _causal(c)
    table = _per_layer_table(c, norm, count)
    mixers = {kind: _attention4(c, norm, kind) for kind in dict.fromkeys(kinds)}
    dense = _ffn(c)
    shared = c.integer("num_kv_shared_layers", default=0, low=0, high=count)
    double = c.boolean("use_double_wide_mlp", default=False)
    modes = _sharing(tuple(kinds), shared)
    layers = []
    for kind, mode in zip(kinds, modes, strict=True):
        mixer = mixers[kind] if mode is None else replace(mixers[kind], share=kind, reads_shared=mode == "reuse")
        ffn = replace(dense, width=2 * dense.width) if double and mode == "reuse" else dense
        layers.append(_layer4(c, norm, mixer, ffn, table))
    return _finish(c, tuple(layers), norm, softcap=_cap(c, "final_logit_softcapping", None), per_layer=table)


def _attention4(c: Reader, norm: RMSNorm, kind: str) -> GQA:
    kv_heads, group, head_dim = head_geometry(c, kv_heads=4, head_dim=256)
    is_key = False
    if kind == "full_attention":
        head_dim = c.integer("global_head_dim", default=512, high=100_000, why=DEFAULT)
        is_key = c.boolean("attention_k_eq_v", default=False)
        if is_key and c.has("num_global_key_value_heads"):
            kv_heads = c.integer("num_global_key_value_heads", high=100_000)
        group = query_heads(c) // kv_heads
        if group * kv_heads != query_heads(c):
            raise ConfigError(f"num_attention_heads is not a multiple of num_global_key_value_heads {kv_heads}")
    c.ignore("num_global_key_value_heads", "attention_k_eq_v", "global_head_dim")
    bias = c.boolean("attention_bias", default=False)
    own = {"full_attention": 1_000_000.0, "sliding_attention": 10_000.0}[kind]
    if c.mapping("rope_parameters"):
        turning = rope(c, head_dim, kind=kind, theta=own)
    else:
        c.assume("rope_parameters is absent: the family's own are assumed (full layers turn a quarter of each head)")
        turning = rope(c, head_dim, theta=own)
        if kind == "full_attention":
            scaling = (("partial_rotary_factor", 0.25), ("rope_type", "proportional"))
            turning = replace(turning, scaling=scaling)
    return gqa(
        kv_heads, group, head_dim, scale=1.0, bias=bias, out_bias=bias, qk_norm=per_head(norm),
        value_norm=replace(norm, weighted=False), rope=turning, value_is_key=is_key,
        window=window_of(c, default=512) if kind == "sliding_attention" else None,
    )  # fmt: skip


def _sharing(kinds: tuple[str, ...], shared: int) -> tuple[str | None, ...]:
    """For each layer: None, "store" (later layers of its kind read its cache) or "reuse" (it reads that cache)."""
    first = len(kinds) - shared
    modes: list[str | None] = [None] * first + ["reuse"] * shared
    for kind in dict.fromkeys(kinds[first:]):
        makers = [i for i in range(first) if kinds[i] == kind]
        if not makers:
            raise ConfigError(f"num_kv_shared_layers {shared} leaves no {kind} layer whose cache could be shared")
        modes[makers[-1]] = "store"
    return tuple(modes)


def _layer4(c: Reader, norm: RMSNorm, mixer: GQA, ffn: DenseFFN, table: PerLayerTable | None) -> Layer:
    """Attention, a feed-forward, in some models an input of the layer's own; a stored scalar on the result."""
    first = Section(name="mixer", norm=norm, body=mixer, post_norm=norm)
    second = _feed_forward4(c, norm, ffn)
    if table is None:
        return Layer(sections=(first, replace(second, output_scalar=True)))
    own = PerLayerInput(layers=table.layers, width=table.width, activation=ffn.activation)
    third = Section(name="layer_input", norm=None, body=own, post_norm=norm, output_scalar=True)
    return Layer(sections=(first, second, third))


def _feed_forward4(c: Reader, norm: RMSNorm, ffn: DenseFFN) -> Section:
    """One feed-forward, or a dense and a routed one side by side."""
    if not c.boolean("enable_moe_block", default=False):
        c.ignore("num_experts", "top_k_experts", "moe_intermediate_size")
        return Section(name="ffn", norm=norm, body=ffn, post_norm=norm)
    experts, chosen = experts_of(c, "num_experts", chosen="top_k_experts")
    routed = MoE(
        experts=experts, per_token=chosen, width=c.integer("moe_intermediate_size"), activation=ffn.activation,
        gated=True, bias=False, router=softmax_router(renormalise=True), weigh_input=False, shared=None,
        router_input=RouterInput(eps=norm.eps, factor=width_of(c) ** -0.5), expert_norm=norm, expert_scale=True,
    )  # fmt: skip
    beside = Parallel(
        branches=(
            Branch(name="dense", norm=norm, body=ffn, post_norm=norm),
            Branch(name="routed", norm=None, body=routed, post_norm=norm),
        )
    )
    return Section(name="ffn", norm=None, body=beside, post_norm=norm)


def _per_layer_table(c: Reader, norm: RMSNorm, layers: int) -> PerLayerTable | None:
    """The table of embeddings of each layer's own, in the models that have one."""
    width = c.integer("hidden_size_per_layer_input", default=256, low=0, why=DEFAULT)
    rows = c.integer("vocab_size_per_layer_input", default=262_144, high=100_000_000)
    return PerLayerTable(vocab=rows, layers=layers, width=width, norm=norm) if width else None


def _attention(c: Reader, geometry: tuple[int, int, int], **features: Any) -> GQA:
    """Attention of the second and third generation, whose score scale is a key of its own."""
    bias = c.boolean("attention_bias", default=False)
    scale = positive(c, "query_pre_attn_scalar", 256.0) ** -0.5
    return gqa(*geometry, bias=bias, out_bias=bias, scale=scale, **features)


def _ffn(c: Reader) -> DenseFFN:
    act = c.string("hidden_activation", default=TANH, why=DEFAULT)
    c.ignore("hidden_act")  # present in some files; hidden_activation decides
    return gated_ffn(c, act=act)


def _cap(c: Reader, key: str, default: float | None) -> float | None:
    if c.is_null(key):
        c.ignore(key)
        return None
    return c.number(key, default=default or 0.0, why=DEFAULT if default else "") or None


def _causal(c: Reader) -> None:
    """Bidirectional attention over text has no decode step; over images only, it changes nothing here."""
    if c.get("use_bidirectional_attention") not in (None, False, "vision"):
        raise ConfigError("use_bidirectional_attention is set; a decode step needs causal attention: set it to null")


def _finish(
    c: Reader,
    layers: tuple[Layer, ...],
    norm: RMSNorm,
    softcap: float | None = None,
    per_layer: PerLayerTable | None = None,
) -> Architecture:
    embedding = Embedding(scale=width_of(c) ** 0.5, per_layer=per_layer)
    return assemble(c, layers, norm, tied_default=True, embedding=embedding, head=Head(softcap=softcap))
