"""What adapters share: the registry, and readings that many families spell alike."""

from collections.abc import Callable
from typing import Any

from tokenviz.architecture import GQA, Architecture, DenseFFN, GatedDeltaNet, Layer, MoE, RMSNorm, Rope, Router, Section
from tokenviz.config import Reader
from tokenviz.notation import DTYPE_BITS, ConfigError

Adapter = Callable[[Reader], Architecture]
FAMILIES: dict[str, Adapter] = {}


def family(*model_types: str) -> Callable[[Adapter], Adapter]:
    """Register an adapter under its model_type and aliases; a second one for the same name is refused."""

    def add(adapter: Adapter) -> Adapter:
        for name in model_types:
            if name in FAMILIES:
                raise ConfigError(f"model_type {name!r} is registered twice")
            FAMILIES[name] = adapter
        return adapter

    return add


def assemble(c: Reader, layers: tuple[Layer, ...], norm: RMSNorm, *, tied_default: bool) -> Architecture:
    """What every family reads alike: widths, vocabulary, tying, precision, and the list of keys left over."""
    tied = c.boolean("tie_word_embeddings", default=tied_default, why="the family's default")
    d_model, vocab = c.integer("hidden_size"), c.integer("vocab_size", high=100_000_000)
    dtype = _dtype(c)
    max_positions = c.integer("max_position_embeddings", default=0, low=0, high=10**9) or None
    return Architecture(
        family=c.model_type, d_model=d_model, vocab=vocab, layers=layers, final_norm=norm, tied=tied, dtype=dtype,
        max_positions=max_positions, assumptions=tuple(c.assumptions), unread_keys=c.unread(),
    )  # fmt: skip


def _dtype(c: Reader) -> str:
    name = c.string("dtype", "torch_dtype", default="bfloat16", why="no precision declared")
    short = {"bfloat16": "bf16", "float16": "fp16", "half": "fp16", "float32": "fp32", "float": "fp32"}.get(name, name)
    if short not in DTYPE_BITS:
        raise ConfigError(f"dtype is {name!r}; known: bfloat16, float16, float32")
    return short


def head_geometry(c: Reader) -> tuple[int, int, int]:
    """(key/value heads, query heads per key/value head, head size); the explicit head size wins over the quotient."""
    width, heads = c.integer("hidden_size"), c.integer("num_attention_heads", high=100_000)
    kv_heads = c.integer("num_key_value_heads", default=heads, high=100_000, why="as many as query heads")
    if heads % kv_heads:
        raise ConfigError(f"num_attention_heads {heads} is not a multiple of num_key_value_heads {kv_heads}")
    if not c.has("head_dim") and width % heads:
        raise ConfigError(f"hidden_size {width} is not a multiple of num_attention_heads {heads}; give head_dim")
    size = c.integer("head_dim", default=width // heads, high=100_000, why="hidden_size / num_attention_heads")
    return kv_heads, heads // kv_heads, size


def rope(c: Reader, head_dim: int, *, partial: float = 1.0) -> Rope:
    """Rotary embedding from either spelling: rope_parameters (new) or rope_theta with rope_scaling (old)."""
    parameters = {**c.mapping("rope_scaling"), **c.mapping("rope_parameters")}
    theta = parameters.pop("rope_theta", None)
    theta = c.number("rope_theta", default=10_000.0, why="the usual base") if theta is None else theta
    factor = parameters.pop("partial_rotary_factor", None)
    factor = c.number("partial_rotary_factor", default=partial) if factor is None else factor
    c.read.update(("rope_theta", "partial_rotary_factor"))
    for name, value in (("rope_theta", theta), ("partial_rotary_factor", factor)):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
            raise ConfigError(f"{name} is {value!r}; give a number above 0")
    dims = int(head_dim * factor)
    if dims < 2 or dims % 2 or dims > head_dim:
        raise ConfigError(f"partial_rotary_factor {factor} turns {dims} of {head_dim} coordinates; give an even number")
    kind = parameters.pop("rope_type", parameters.pop("type", "default"))
    scaling = {} if kind in ("default", "mrope") else {"rope_type": kind, **parameters}
    return Rope(dims=dims, theta=float(theta), pairing="half", scaling=_frozen(scaling))


def _frozen(scaling: dict[str, Any]) -> tuple[tuple[str, object], ...]:
    return tuple(
        (k, tuple(v) if isinstance(v, list) else v) for k, v in sorted(scaling.items()) if not isinstance(v, dict)
    )


def layer_count(c: Reader) -> int:
    """How many layers; bounded so that an absurd value is an error, not a hang."""
    return c.integer("num_hidden_layers", high=10_000)


def layer(norm: RMSNorm, mixer: GQA | GatedDeltaNet, ffn: DenseFFN | MoE) -> Layer:
    """The usual pair: a mixer, then a feed-forward, each behind its norm."""
    return Layer(sections=(Section(name="mixer", norm=norm, body=mixer), Section(name="ffn", norm=norm, body=ffn)))


def activation(c: Reader) -> str:
    """The feed-forward's activation."""
    return c.string("hidden_act", default="silu", why="the family's default")


def softmax_router(*, renormalise: bool) -> Router:
    """Softmax over all experts, then the top k."""
    return Router(
        scoring="softmax", select_first=False, bias=False, correction=False, groups=1, kept_groups=1,
        renormalise=renormalise, epsilon=0.0, scale=1.0,
    )  # fmt: skip
