"""Specs of norms and of rotary positions."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RMSNorm:
    """x / sqrt(mean(x²) + eps) · weight; a zero-centred weight is stored as weight - 1, or there is no weight."""

    eps: float
    zero_centred: bool
    weighted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerNorm:
    """(x - mean) / sqrt(variance + eps) · weight + bias, the last two where the model has them."""

    eps: float
    weighted: bool
    bias: bool


Norm = RMSNorm | LayerNorm


@dataclass(frozen=True, slots=True, kw_only=True)
class Rope:
    """Rotary position embedding of the first `dims` coordinates of each head.

    `pairing` says which coordinates turn together: ``half`` (i with i + dims/2) or ``pairs`` (2i with 2i + 1).
    `scaling` changes the coefficients, never the counts; it holds the config's own (key, value) pairs.
    """

    dims: int
    theta: float
    pairing: str
    scaling: tuple[tuple[str, object], ...]
