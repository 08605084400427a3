"""Specs of attention over a cache: of keys and values, or of a shared latent."""

from dataclasses import dataclass

from tokenviz.architecture.norms import LayerNorm, Norm, RMSNorm, Rope


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputGate:
    """A gate on the attention output: the activation that runs, and what the published study read in the config."""

    activation: str
    as_studied: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QKNorm:
    """A norm on queries and keys: of each ``head``, or of the whole ``projection``.

    With `own_gain` every head has its own gain; `after_rope` puts the norm behind the rotation.
    """

    norm: Norm
    over: str
    own_gain: bool
    after_rope: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Alibi:
    """A penalty on the scores that grows linearly with distance, with a slope for each query head."""

    slopes: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Temperature:
    """Queries times 1 + scale · ln(1 + floor((position + offset) / step)), for attention over very long contexts."""

    scale: float
    step: int
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GQA:
    """Attention over a key/value cache; `group` query heads share each key/value head (1 is multi-head).

    `window` keeps the last so many positions, `chunk` those since the last multiple of it. `sinks` adds a learned score
    for each head to the softmax; `softcap` squashes the scores to ±softcap; `clip` bounds q, k and v;
    `value_scale` multiplies v.
    With `value_is_key` the values are the keys' projection. `share` names a cache that other layers read
    (`reads_shared`: this layer is one of them and computes neither keys nor values). `key_scale` multiplies the keys.
    """

    kv_heads: int
    group: int
    head_dim: int
    value_dim: int
    scale: float
    bias: bool
    out_bias: bool
    qk_norm: QKNorm | None
    value_norm: RMSNorm | None
    value_scale: float
    rope: Rope | None
    alibi: Alibi | None
    temperature: Temperature | None
    gate: OutputGate | None
    window: int | None
    chunk: int | None
    sinks: bool
    softcap: float | None
    clip: float | None
    value_is_key: bool
    share: str | None
    reads_shared: bool
    key_scale: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexer:
    """Scores every position cheaply, so that attention reads only the best `top_k` of them."""

    heads: int
    head_dim: int
    top_k: int
    rope: Rope
    norm: LayerNorm


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentAttention:
    """Attention whose heads share one cached latent of `rank` values and `rope_dim` turned coordinates per position.

    `query_rank` compresses the queries likewise (None: they are projected directly). `rope` None leaves the
    `rope_dim` coordinates as they are. A layer with an indexer may lend its choice of positions to later ones
    (`lends`); one that borrows it has no indexer and reads `borrows` positions at most.
    """

    heads: int
    nope_dim: int
    rope_dim: int
    value_dim: int
    rank: int
    query_rank: int | None
    scale: float
    rope: Rope | None
    bias: bool
    norm: RMSNorm
    indexer: Indexer | None
    lends: bool = False
    borrows: int | None = None
