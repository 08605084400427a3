"""Attention and a state-space mixer side by side in every layer, each scaled by constants of the config."""

from dataclasses import replace

from tokenviz.architecture import Architecture, Branch, Embedding, Head, Layer, Parallel, Section, StateSpace
from tokenviz.config import Reader
from tokenviz.families.common import DEFAULT, assemble, family, gated_ffn, gqa, head_geometry, layer_count, rms
from tokenviz.families.hybrid import prefixed_mamba2
from tokenviz.families.mamba import require_silu
from tokenviz.families.rope import rope
from tokenviz.notation import ConfigError


@family("falcon_h1", title="Falcon-H1")
def falcon_h1(c: Reader) -> Architecture:
    """Every layer runs both mixers on one normalised x; constants scale what goes in, what comes out, and keys."""
    norm = rms(c, default=1e-5)
    require_silu(c, "hidden_act")
    if c.get("attn_layer_indices") is not None:
        raise ConfigError("attn_layer_indices is given; in this family every layer has attention: set it to null")
    kv_heads, group, size = head_geometry(c)
    bias = c.boolean("attention_bias", default=False)
    attention = gqa(
        kv_heads, group, size, bias=bias, out_bias=bias, rope=rope(c, size),
        key_scale=c.number("key_multiplier", default=1.0, why=DEFAULT),
    )  # fmt: skip
    branches = (
        Branch(
            name="mamba", norm=None, body=_mixer(c), in_scale=c.number("ssm_in_multiplier", default=1.0, why=DEFAULT),
            out_scale=c.number("ssm_out_multiplier", default=1.0, why=DEFAULT),
        ),
        Branch(
            name="attention", norm=None, body=attention,
            in_scale=c.number("attention_in_multiplier", default=1.0, why=DEFAULT),
            out_scale=c.number("attention_out_multiplier", default=1.0, why=DEFAULT),
        ),
    )  # fmt: skip
    gate, down = numbers(c, "mlp_multipliers", 2)
    ffn = replace(gated_ffn(c, bias=c.boolean("mlp_bias", default=False)), gate_scale=gate)
    sections = (
        Section(name="mixer", norm=norm, body=Parallel(branches=branches)),
        Section(name="ffn", norm=norm, body=ffn, residual_scale=down),
    )
    c.ignore("mamba_use_mlp")
    return assemble(
        c, (Layer(sections=sections),) * layer_count(c), norm, tied_default=False,
        embedding=Embedding(scale=c.number("embedding_multiplier", default=1.0, why=DEFAULT)),
        head=Head(scale=c.number("lm_head_multiplier", default=1.0, why=DEFAULT)),
    )  # fmt: skip


def _mixer(c: Reader) -> StateSpace:
    inside = c.boolean("mamba_rms_norm", default=False, why=DEFAULT)
    plain = prefixed_mamba2(c, rms(c, default=1e-5), c.integer("hidden_size"), state=256, norm_inside=inside)
    factors = numbers(c, "ssm_multipliers", 5)
    return replace(
        plain, out_bias=c.boolean("projectors_bias", default=False),
        norm_first=c.boolean("mamba_norm_before_gate", default=True),
        multipliers=None if factors == (1.0,) * 5 else factors,
    )  # fmt: skip


def numbers(c: Reader, key: str, count: int) -> tuple[float, ...]:
    """A list of `count` numbers; all 1 when absent."""
    value = c.get(key)
    if value is None:
        return (1.0,) * count
    if not isinstance(value, list) or len(value) != count or not all(isinstance(v, (int, float)) for v in value):
        raise ConfigError(f"{key} is not a list of {count} numbers")
    return tuple(float(v) for v in value)
