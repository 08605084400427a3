"""Specs of mixers that keep a state of fixed size: linear attention, state-space mixers, short convolutions."""

from dataclasses import dataclass

from tokenviz.architecture.norms import RMSNorm


@dataclass(frozen=True, slots=True, kw_only=True)
class GatedDeltaNet:
    """Linear attention whose state is decayed, corrected and read once per token (the gated delta rule)."""

    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int
    taps: int
    norm: RMSNorm


@dataclass(frozen=True, slots=True, kw_only=True)
class KimiDelta:
    """The gated delta rule with one decay per key channel and a short convolution each for q, k and v."""

    heads: int
    head_dim: int
    taps: int
    gate_rank: int
    norm: RMSNorm


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectiveScan:
    """Mamba-1: every channel keeps `state` values, each with a decay of its own. `norm` acts on dt, B and C."""

    channels: int
    state: int
    taps: int
    dt_rank: int
    conv_bias: bool
    bias: bool
    norm: RMSNorm | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StateSpace:
    """Mamba-2: heads with one decay each; `groups` of heads share the input and output vectors B and C.

    `norm` (None: there is none) acts on the gated read-out group by group, or before the gate with `norm_first`.
    `dt_limits` bound the time step where several positions are computed at once. `multipliers` scale the five
    parts of the input projection: z, x, B, C, dt.
    """

    heads: int
    head_dim: int
    state: int
    groups: int
    taps: int
    conv_bias: bool
    bias: bool
    out_bias: bool
    norm: RMSNorm | None
    norm_first: bool
    dt_limits: tuple[float, float | None]
    multipliers: tuple[float, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortConv:
    """A gated convolution over the last `taps` columns and nothing else."""

    channels: int
    taps: int
    bias: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearAttention:
    """Lightning attention: a matrix memory per head that fades at a stored rate and is never corrected."""

    heads: int
    head_dim: int
    activation: str
    norm: RMSNorm
