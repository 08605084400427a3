"""What adapters share: the registry, and readings that many families spell alike."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from tokenviz.architecture import (
    GQA,
    Architecture,
    Body,
    Branch,
    DenseFFN,
    Embedding,
    Head,
    Layer,
    LayerNorm,
    Norm,
    Parallel,
    Prediction,
    QKNorm,
    RMSNorm,
    Router,
    Section,
)
from tokenviz.config import Reader
from tokenviz.families.quantized import declared_quantization
from tokenviz.notation import DTYPE_BITS, ConfigError

Adapter = Callable[[Reader], Architecture]
DEFAULT = "the family's default"
"""Why a default is taken: the family's own config class supplies it."""

FAMILIES: dict[str, Adapter] = {}
TITLES: dict[str, str] = {}


def family(*model_types: str, title: str = "") -> Callable[[Adapter], Adapter]:
    """Register an adapter under its model_type and aliases; a second one for the same name is refused.

    `title` is what people call the family; its first model_type when left out.
    """

    def add(adapter: Adapter) -> Adapter:
        for name in model_types:
            if name in FAMILIES:
                raise ConfigError(f"model_type {name!r} is registered twice")
            FAMILIES[name] = adapter
            TITLES[name] = title or model_types[0]
        return adapter

    return add


PLAIN_EMBEDDING, PLAIN_HEAD = Embedding(), Head()


def assemble(
    c: Reader,
    layers: tuple[Layer, ...],
    norm: Norm | None,
    *,
    tied_default: bool,
    embedding: Embedding = PLAIN_EMBEDDING,
    head: Head = PLAIN_HEAD,
    prediction: Prediction | None = None,
) -> Architecture:
    """What every family reads alike: widths, vocabulary, tying, precision, and the list of keys left over."""
    tied = c.boolean("tie_word_embeddings", "tie_embedding", default=tied_default, why=DEFAULT)
    vocab = c.integer("vocab_size", high=100_000_000)
    dtype, quantization = _dtype(c), declared_quantization(c)
    max_positions = c.integer(*LENGTHS, default=0, low=0, high=10**9) or None
    return Architecture(
        family=c.model_type, d_model=width_of(c), vocab=vocab, layers=layers, final_norm=norm, tied=tied, dtype=dtype,
        max_positions=max_positions, assumptions=tuple(c.assumptions), unread_keys=c.unread(), embedding=embedding,
        head=head, quantization=quantization, prediction=prediction,
    )  # fmt: skip


LENGTHS = (
    "max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "model_max_length", "max_sequence_length",
    "n_ctx",
)  # fmt: skip
"""Spellings of the context length that the config declares."""


def width_of(c: Reader) -> int:
    """Width of the residual stream, by any of its names."""
    return c.integer("hidden_size", "n_embd", "d_model", "n_embed")


def _dtype(c: Reader) -> str:
    name = c.string("dtype", "torch_dtype", default="bfloat16", why="no precision declared")
    short = {"bfloat16": "bf16", "float16": "fp16", "half": "fp16", "float32": "fp32", "float": "fp32"}.get(name, name)
    if short not in DTYPE_BITS:
        raise ConfigError(f"dtype is {name!r}; known: bfloat16, float16, float32")
    return short


def head_geometry(c: Reader, *, kv_heads: int | None = None, head_dim: int | None = None) -> tuple[int, int, int]:
    """(key/value heads, query heads per key/value head, head size); the explicit head size wins over the quotient.

    `kv_heads` and `head_dim` are the family's defaults for absent keys; null means the query heads, the quotient.
    """
    width, heads = width_of(c), query_heads(c)
    known = None if any(c.is_null(key) for key in KV_HEADS) else kv_heads
    why = "as many as query heads" if known is None else DEFAULT
    found = c.integer(*KV_HEADS, default=known or heads, high=100_000, why=why)
    if heads % found:
        raise ConfigError(f"num_attention_heads {heads} is not a multiple of num_key_value_heads {found}")
    if head_dim is not None and not c.is_null("head_dim"):
        return found, heads // found, c.integer("head_dim", default=head_dim, high=100_000, why=DEFAULT)
    if not c.has("head_dim") and width % heads:
        raise ConfigError(f"hidden_size {width} is not a multiple of num_attention_heads {heads}; give head_dim")
    size = c.integer("head_dim", default=width // heads, high=100_000, why="hidden_size / num_attention_heads")
    return found, heads // found, size


KV_HEADS = ("num_key_value_heads", "num_kv_heads", "n_head_kv")
"""Spellings of the number of key/value heads."""


def query_heads(c: Reader) -> int:
    """Query heads, by any of their names."""
    return c.integer("num_attention_heads", "n_head", "n_heads", high=100_000)


def gqa(kv_heads: int, group: int, head_dim: int, **features: Any) -> GQA:
    """Plain attention of this geometry, with the `features` that a family adds (fields of `GQA`)."""
    plain = GQA(
        kv_heads=kv_heads, group=group, head_dim=head_dim, value_dim=head_dim, scale=head_dim**-0.5, bias=False,
        out_bias=False, qk_norm=None, value_norm=None, value_scale=1.0, rope=None, alibi=None, temperature=None,
        gate=None, window=None, chunk=None, sinks=False, softcap=None, clip=None, value_is_key=False, share=None,
        reads_shared=False,
    )  # fmt: skip
    return replace(plain, **features)


def per_head(norm: Norm) -> QKNorm:
    """A norm of each query and key head, one gain for all heads, before the rotation."""
    return QKNorm(norm=norm, over="head", own_gain=False, after_rope=False)


def rms(c: Reader, *, default: float = 1e-6, zero_centred: bool = False) -> RMSNorm:
    """The RMSNorm that a config declares."""
    eps = c.number("rms_norm_eps", "norm_eps", default=default, why=DEFAULT)
    return RMSNorm(eps=eps, zero_centred=zero_centred)


def layer_norm(c: Reader, *, default: float = 1e-5, bias: bool = True) -> LayerNorm:
    """The LayerNorm that a config declares."""
    keys = ("layer_norm_epsilon", "layer_norm_eps", "norm_epsilon", "norm_eps")
    return LayerNorm(eps=c.number(*keys, default=default, why=DEFAULT), weighted=True, bias=bias)


def positive(c: Reader, key: str, default: float) -> float:
    """A number above 0, such as a divisor."""
    value = c.number(key, default=default, why=DEFAULT)
    if value <= 0:
        raise ConfigError(f"{key} is {value:g}; give a number above 0")
    return value


def expanded(c: Reader, key: str, width: int) -> int:
    """Inner channels of a state-space mixer: `key` (2 when absent) times a width, cut to a whole number."""
    inner = positive(c, key, 2.0) * width
    if not 1 <= inner <= 100_000_000:
        raise ConfigError(f"{key} {inner / width:g} gives {inner:g} channels at width {width}; give 1 to 100,000,000")
    return int(inner)


def layer_count(c: Reader) -> int:
    """How many layers; bounded so that an absurd value is an error, not a hang."""
    return c.integer("num_hidden_layers", "n_layer", "n_layers", "num_layers", high=10_000)


def layer(norm: Norm | None, mixer: Body, ffn: Body, **both: Any) -> Layer:
    """The usual pair: a mixer, then a feed-forward, each behind its norm; `both` holds further fields of `Section`."""
    return Layer(
        sections=(
            Section(name="mixer", norm=norm, body=mixer, **both),
            Section(name="ffn", norm=norm, body=ffn, **both),
        )
    )


def stack(norm: Norm | None, pairs: Iterable[tuple[Body, Body]], **both: Any) -> tuple[Layer, ...]:
    """One `layer` for each pair of mixer and feed-forward; the same pair of objects gives the same layer object."""
    made: dict[tuple[int, int], tuple[Body, Body, Layer]] = {}  # holds the pair, so that its identities stay taken
    layers = []
    for mixer, ffn in pairs:
        known = made.get((id(mixer), id(ffn)))
        if known is None:
            known = made[id(mixer), id(ffn)] = mixer, ffn, layer(norm, mixer, ffn, **both)
        layers.append(known[2])
    return tuple(layers)


def beside(norm: Norm, mixer: Body, ffn: Body, *, shared: bool) -> Layer:
    """Mixer and feed-forward side by side, behind one norm for both (`shared`) or each behind its own."""
    own = None if shared else norm
    both = Parallel(branches=(Branch(name="mixer", norm=own, body=mixer), Branch(name="ffn", norm=own, body=ffn)))
    return Layer(sections=(Section(name="block", norm=norm if shared else None, body=both),))


def activation(c: Reader) -> str:
    """The feed-forward's activation."""
    return c.string("hidden_act", "hidden_activation", default="silu", why=DEFAULT)


def gated_ffn(c: Reader, *, bias: bool = False, act: str = "") -> DenseFFN:
    """The usual gated feed-forward."""
    width = c.integer("intermediate_size")
    return DenseFFN(width=width, activation=act or activation(c), gated=True, bias=bias, out_bias=bias)


def window_of(c: Reader, *, default: int | None = None) -> int | None:
    """Positions that a windowed layer attends to, the current one included; null and 0 mean that there is no window."""
    if c.is_null("sliding_window"):
        c.ignore("sliding_window")
        return None
    why = DEFAULT if default else ""
    return c.integer("sliding_window", default=default or 0, low=0, high=10**9, why=why) or None


def layer_kinds(
    c: Reader, count: int, kinds: tuple[str, ...], default: Callable[[int], str], pattern: str
) -> tuple[str, ...]:
    """One of `kinds` for each layer: the config's own list, else the family's `default` (said in words: `pattern`)."""
    listed = c.choices("layer_types", count, kinds)
    if listed is not None:
        return listed
    c.assume(f"layer_types is absent: {pattern}")
    return tuple(default(i) for i in range(count))


def softmax_router(*, renormalise: bool) -> Router:
    """Softmax over all experts, then the top k."""
    return Router(
        scoring="softmax", select_first=False, bias=False, correction=False, groups=1, kept_groups=1,
        renormalise=renormalise, epsilon=0.0, scale=1.0,
    )  # fmt: skip
