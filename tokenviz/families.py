"""The only place that knows a model_type: config reader -> Architecture.

An adapter translates; it computes nothing but shapes. `@family` registers it under its model_type and aliases. A value
that the family's own config class would supply may be a default here; it then appears among the assumptions.
"""

from collections.abc import Callable
from typing import Any

from tokenviz.architecture import (
    GQA, Architecture, DenseFFN, GatedDeltaNet, Layer, MoE, OutputGate, RMSNorm, Rope, Section, SharedExpert,
)  # fmt: skip
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


def read_architecture(config: Reader) -> Architecture:
    """The architecture that a config describes; `ConfigError` names the key that stopped it."""
    if not config.has("model_type"):
        raise ConfigError("model_type is missing, so this is not a model's config.json; add it")
    name = config.model_type
    if name not in FAMILIES:
        raise ConfigError(f"model_type {name!r} has no recipe here; known: {', '.join(sorted(FAMILIES))}")
    return FAMILIES[name](config)


# ------------------------------------------------------------------------------------------------ shared readings


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
    return tuple((k, tuple(v) if isinstance(v, list) else v) for k, v in sorted(scaling.items()) if not isinstance(v, dict))


def layer_count(c: Reader) -> int:
    """How many layers; bounded so that an absurd value is an error, not a hang."""
    return c.integer("num_hidden_layers", high=10_000)


def layer(norm: RMSNorm, mixer: GQA | GatedDeltaNet, ffn: DenseFFN | MoE) -> Layer:
    """The usual pair: a mixer, then a feed-forward, each behind its norm."""
    return Layer(
        sections=(Section(name="mixer", norm=norm, body=mixer), Section(name="ffn", norm=norm, body=ffn))
    )


# ------------------------------------------------------------------------------------------------ families


@family("llama")
def llama(c: Reader) -> Architecture:
    """The plain decoder: RMSNorm, RoPE, grouped-query attention, SwiGLU."""
    norm = RMSNorm(eps=c.number("rms_norm_eps", default=1e-6, why="the family's default"), zero_centred=False)
    kv_heads, group, head_dim = head_geometry(c)
    bias = c.boolean("attention_bias", default=False)
    mixer = GQA(
        kv_heads=kv_heads, group=group, head_dim=head_dim, scale=head_dim**-0.5, bias=bias, out_bias=bias,
        qk_norm=None, rope=rope(c, head_dim), gate=None, window=None,
    )  # fmt: skip
    ffn = DenseFFN(
        width=c.integer("intermediate_size"), activation=c.string("hidden_act", default="silu", why="the family's default"),
        bias=c.boolean("mlp_bias", default=False),
    )  # fmt: skip
    return assemble(c, (layer(norm, mixer, ffn),) * layer_count(c), norm, tied_default=False)


@family("qwen3_5", "qwen3_5_text")
def qwen3_5(c: Reader) -> Architecture:
    """Qwen3.5 to 3.8, dense: three Gated DeltaNet layers, then one of gated attention."""
    ffn = DenseFFN(width=c.integer("intermediate_size"), activation=_act(c), bias=False)
    return _qwen3_5(c, ffn)


@family("qwen3_5_moe", "qwen3_5_moe_text")
def qwen3_5_moe(c: Reader) -> Architecture:
    """The same with routed experts and one gated shared expert in every layer."""
    experts = c.integer("num_experts", high=100_000)
    per_token = c.integer("num_experts_per_tok", high=100_000)
    if per_token > experts:
        raise ConfigError(f"num_experts_per_tok {per_token} is more than num_experts {experts}")
    shared = SharedExpert(width=c.integer("shared_expert_intermediate_size"), gated=True)
    ffn = MoE(
        experts=experts, per_token=per_token, width=c.integer("moe_intermediate_size"), activation=_act(c),
        renormalise=True, shared=shared,
    )  # fmt: skip
    return _qwen3_5(c, ffn)


def _act(c: Reader) -> str:
    return c.string("hidden_act", default="silu", why="the family's default")


def _qwen3_5(c: Reader, ffn: DenseFFN | MoE) -> Architecture:
    eps = c.number("rms_norm_eps", default=1e-6, why="the family's default")
    norm = RMSNorm(eps=eps, zero_centred=True)
    kv_heads, group, head_dim = head_geometry(c)
    bias = c.boolean("attention_bias", default=False)
    studied = c.string("output_gate_type", default="sigmoid")
    if studied not in ("sigmoid", "swish", "silu"):
        raise ConfigError(f"output_gate_type is {studied!r}; known: sigmoid, swish, silu")
    if not c.boolean("attn_output_gate", default=True):
        raise ConfigError("attn_output_gate is false; the family's attention always has its gate: set it to true or drop it")
    attention = GQA(
        kv_heads=kv_heads, group=group, head_dim=head_dim, scale=head_dim**-0.5, bias=bias, out_bias=bias,
        qk_norm=norm, rope=rope(c, head_dim, partial=0.25), gate=OutputGate(activation="sigmoid", as_studied=studied),
        window=None,
    )  # fmt: skip
    delta = _delta_net(c, eps)
    count = layer_count(c)
    interval = c.integer("full_attention_interval", default=4, high=10_000)
    kinds = c.choices("layer_types", count, ("linear_attention", "full_attention"))
    if kinds is None:
        c.assume(f"layer_types is absent: every {interval}th layer is full attention")
        kinds = tuple("full_attention" if (i + 1) % interval == 0 else "linear_attention" for i in range(count))
    _name_left_out(c)
    table = {"linear_attention": layer(norm, delta, ffn), "full_attention": layer(norm, attention, ffn)}
    return assemble(c, tuple(table[k] for k in kinds), norm, tied_default=False)


def _delta_net(c: Reader, eps: float) -> GatedDeltaNet:
    key_heads, value_heads = c.integer("linear_num_key_heads"), c.integer("linear_num_value_heads")
    if value_heads % key_heads:
        raise ConfigError(f"linear_num_value_heads {value_heads} is not a multiple of linear_num_key_heads {key_heads}")
    return GatedDeltaNet(
        key_heads=key_heads, value_heads=value_heads, key_dim=c.integer("linear_key_head_dim"),
        value_dim=c.integer("linear_value_head_dim"), taps=c.integer("linear_conv_kernel_dim", low=2, high=1_000),
        norm=RMSNorm(eps=eps, zero_centred=False),
    )  # fmt: skip


def _name_left_out(c: Reader) -> None:
    """Extra prediction heads are in the file but not in the step."""
    heads = c.integer("mtp_num_hidden_layers", default=0, low=0, high=1_000)
    c.read.update(("mtp_use_dedicated_embeddings", "mlp_only_layers"))
    if heads:
        c.assume(f"multi-token prediction heads ({heads}) are left out")
    if c.outer.get("vision_config"):
        c.assume("the vision tower is left out")
