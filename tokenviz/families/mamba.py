"""Pure state-space models, in two spellings: the library's configs and the original authors' own."""

from collections.abc import Mapping
from math import ceil
from typing import Any

from tokenviz.architecture import (
    Architecture,
    Layer,
    LayerNorm,
    Norm,
    RMSNorm,
    Section,
    SelectiveScan,
    StateSpace,
)
from tokenviz.config import Reader
from tokenviz.families.common import DEFAULT, assemble, expanded, family, layer_count
from tokenviz.notation import ConfigError

NATIVE = "mamba_ssm"
"""Name under which the original authors' configs, which have no model_type, are registered."""


@family("mamba2", title="Mamba-2")
def mamba2(c: Reader) -> Architecture:
    """One Mamba-2 mixer per layer and nothing else."""
    heads, size = c.integer("num_heads", high=100_000), c.integer("head_dim", high=100_000)
    inner = expanded(c, "expand", c.integer("hidden_size"))
    if inner != heads * size:
        raise ConfigError(f"num_heads {heads} × head_dim {size} is not expand × hidden_size {inner}")
    require_silu(c, "hidden_act")
    norm = _norm(c)
    bias = c.boolean("use_bias", default=False)
    mixer = StateSpace(
        heads=heads, head_dim=size, state=c.integer("state_size", default=128, why=DEFAULT),
        groups=groups_of(c, heads, "n_groups", 8), taps=taps_of(c, "conv_kernel"),
        conv_bias=c.boolean("use_conv_bias", default=True), bias=bias, out_bias=bias, norm=norm, norm_first=False,
        dt_limits=limits_of(c), multipliers=None,
    )  # fmt: skip
    c.ignore("time_step_rank", "time_step_min", "time_step_max")
    return assemble(c, _stack(c, norm, mixer), norm, tied_default=False)


@family("mamba", "falcon_mamba", title="Mamba")
def mamba(c: Reader) -> Architecture:
    """One Mamba-1 mixer per layer; falcon_mamba normalises dt, B and C without a weight."""
    require_silu(c, "hidden_act")
    norm, width = _norm(c), c.integer("hidden_size")
    inner = expanded(c, "expand", width)
    c.ignore("intermediate_size", "time_step_min", "time_step_max", "mixer_rms_eps")
    inside = None
    if c.model_type == "falcon_mamba":
        inside = RMSNorm(eps=c.number("mixer_rms_eps", default=1e-6), zero_centred=False, weighted=False)
    mixer = SelectiveScan(
        channels=inner, state=c.integer("state_size", default=16, why=DEFAULT),
        taps=taps_of(c, "conv_kernel"), dt_rank=rank_of(c, "time_step_rank", width),
        conv_bias=c.boolean("use_conv_bias", default=True), bias=c.boolean("use_bias", default=False), norm=inside,
    )  # fmt: skip
    return assemble(c, _stack(c, norm, mixer), norm, tied_default=True)


@family(NATIVE, title="Mamba, original format")
def native(c: Reader) -> Architecture:
    """The original authors' format: d_model, n_layer and ssm_cfg; no model_type, padded vocabulary."""
    c.assume("no model_type: read as the original Mamba format, recognised by d_model, n_layer and ssm_cfg")
    for key in ("attn_layer_idx", "d_intermediate"):
        if c.get(key):
            raise ConfigError(f"{key} is {c.get(key)}; attention and feed-forward layers of this format have no recipe")
    c.ignore("attn_cfg", "model_type")
    width = c.integer("d_model")
    norm: Norm = RMSNorm(eps=1e-5, zero_centred=False)
    if not c.boolean("rms_norm", default=True):
        norm = LayerNorm(eps=1e-5, weighted=True, bias=True)
    ssm = Reader(c.mapping("ssm_cfg"))
    mixer = _native_mixer(ssm, width)
    for key in ssm.unread():
        c.assume(f"ssm_cfg.{key} is not read")
    layers = (Layer(sections=(Section(name="mixer", norm=norm, body=mixer),)),) * c.integer("n_layer", high=10_000)
    return assemble(_renamed(c, width), layers, norm, tied_default=True)


def _native_mixer(ssm: Reader, width: int) -> StateSpace | SelectiveScan:
    inner = expanded(ssm, "expand", width)
    taps = ssm.integer("d_conv", default=4, low=2, high=1_000)
    ssm.ignore("dt_min", "dt_max", "dt_init_floor", "dt_init", "dt_scale", "A_init_range", "chunk_size")
    kind = ssm.string("layer", default="Mamba1")
    if kind == "Mamba1":
        return SelectiveScan(
            channels=inner, state=ssm.integer("d_state", default=16), taps=taps, dt_rank=rank_of(ssm, "dt_rank", width),
            conv_bias=ssm.boolean("conv_bias", default=True), bias=ssm.boolean("bias", default=False), norm=None,
        )  # fmt: skip
    if kind != "Mamba2":
        raise ConfigError(f"ssm_cfg.layer is {kind!r}; known: Mamba1, Mamba2")
    size = ssm.integer("headdim", default=64, high=100_000)
    if inner % size:
        raise ConfigError(f"ssm_cfg.headdim {size} does not divide expand × d_model {inner}")
    bias = ssm.boolean("bias", default=False)
    return StateSpace(
        heads=inner // size, head_dim=size, state=ssm.integer("d_state", default=128),
        groups=groups_of(ssm, inner // size, "ngroups", 1), taps=taps, conv_bias=ssm.boolean("conv_bias", default=True),
        bias=bias, out_bias=bias, norm=RMSNorm(eps=1e-5, zero_centred=False), norm_first=False,
        dt_limits=limits_of(ssm, "dt_limit"), multipliers=None,
    )  # fmt: skip


def _renamed(c: Reader, width: int) -> Reader:
    """The format's own spellings of what every family has, the vocabulary padded to its multiple."""
    multiple = c.integer("pad_vocab_size_multiple", default=8, high=100_000, why="the format's default")
    vocab = c.integer("vocab_size", high=100_000_000)
    padded = ceil(vocab / multiple) * multiple
    c.assume(f"the vocabulary of {vocab:,} is padded to {padded:,}, a multiple of {multiple}")
    c.assume("values that ssm_cfg leaves out have the defaults of the original implementation")
    names: Mapping[str, Any] = {
        "model_type": NATIVE, "hidden_size": width, "vocab_size": padded,
        "tie_word_embeddings": c.boolean("tie_embeddings", default=True, why="the format's default"),
    }  # fmt: skip
    own = {"d_model", "n_layer", "ssm_cfg", "rms_norm", "attn_layer_idx", "attn_cfg", "d_intermediate"}
    own |= {"pad_vocab_size_multiple", "tie_embeddings"}
    renamed = Reader({**{k: v for k, v in c.data.items() if k not in own}, **names})
    renamed.assumptions = c.assumptions
    return renamed


def _norm(c: Reader) -> RMSNorm:
    return RMSNorm(eps=c.number("layer_norm_epsilon", default=1e-5, why=DEFAULT), zero_centred=False)


def _stack(c: Reader, norm: RMSNorm, mixer: StateSpace | SelectiveScan) -> tuple[Layer, ...]:
    return (Layer(sections=(Section(name="mixer", norm=norm, body=mixer),)),) * layer_count(c)


# ------------------------------------------------------------------------------------------------ shared readings


def taps_of(c: Reader, key: str, default: int = 4) -> int:
    """Taps of the convolution."""
    return c.integer(key, default=default, low=2, high=1_000, why=DEFAULT)


def groups_of(c: Reader, heads: int, key: str, default: int) -> int:
    """Groups of heads that share B and C."""
    groups = c.integer(key, default=default, high=100_000, why=DEFAULT)
    if heads % groups:
        raise ConfigError(f"{key} {groups} does not divide the {heads} heads")
    return groups


def rank_of(c: Reader, key: str, width: int) -> int:
    """Rank of the time step's projection; ``auto`` is the width divided by 16, rounded up."""
    if c.get(key) in (None, "auto"):
        c.assume(f"{key} is auto: {ceil(width / 16)}, the width divided by 16")
        return ceil(width / 16)
    return c.integer(key)


def limits_of(c: Reader, *keys: str) -> tuple[float, float | None]:
    """Bounds of the time step: (0, none) unless the config gives others."""
    value = c.get(*(keys or ("time_step_limit",)))
    if value is None:
        return 0.0, None
    if not isinstance(value, list) or len(value) != 2 or not all(isinstance(v, (int, float)) for v in value):
        raise ConfigError("time_step_limit is not a list of two numbers; give [lowest, highest]")
    low, high = float(value[0]), float(value[1])
    return low, None if high == float("inf") else high


def require_silu(c: Reader, key: str) -> None:
    """The convolution's activation; the recipes have SiLU."""
    if c.string(key, default="silu") not in ("silu", "swish"):
        raise ConfigError(f"{key} is {c.get(key)!r}; the state-space recipes have silu")
