"""What a model is made of: frozen specs, one type per mechanism, no family names.

An `Architecture` is a tuple of layers; a `Layer` is a tuple of sections; a `Section` is one residual update,
``x = x + body(norm(x))``. Equal sections share one traced block.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RMSNorm:
    """x / sqrt(mean(x²) + eps) · weight; a zero-centred weight is stored as weight - 1."""

    eps: float
    zero_centred: bool


Norm = RMSNorm


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


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputGate:
    """A gate on the attention output: the activation that runs, and what the published study read in the config."""

    activation: str
    as_studied: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GQA:
    """Attention over a key/value cache; `group` query heads share each key/value head (1 is multi-head)."""

    kv_heads: int
    group: int
    head_dim: int
    scale: float
    bias: bool
    out_bias: bool
    qk_norm: Norm | None
    rope: Rope | None
    gate: OutputGate | None
    window: int | None


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
class DenseFFN:
    """Gated feed-forward: down(activation(gate x) · up x)."""

    width: int
    activation: str
    bias: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedExpert:
    """A feed-forward that every token passes; `gated` scales it by a sigmoid of one score."""

    width: int
    gated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MoE:
    """Routed experts: `per_token` of `experts` gated feed-forwards of `width`, and an optional shared one."""

    experts: int
    per_token: int
    width: int
    activation: str
    renormalise: bool
    shared: SharedExpert | None


Body = GQA | GatedDeltaNet | DenseFFN | MoE


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One residual update; `name` is ``mixer`` or ``ffn`` and prefixes its weights."""

    name: str
    norm: Norm
    body: Body


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """The sections of one layer, in order."""

    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """A whole text model, and what was assumed on the way to it."""

    family: str
    d_model: int
    vocab: int
    layers: tuple[Layer, ...]
    final_norm: Norm
    tied: bool
    dtype: str
    max_positions: int | None
    assumptions: tuple[str, ...]
    unread_keys: tuple[str, ...]
