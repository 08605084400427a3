"""What a model is made of: frozen specs, one type per mechanism, no family names.

An `Architecture` is a tuple of layers; a `Layer` is a tuple of sections; a `Section` is one residual update,
``x = x + scale · post_norm(body(norm(x)))``. Equal sections share one traced block.
"""

from dataclasses import dataclass

# ------------------------------------------------------------------------------------------------ norms, positions


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


# ------------------------------------------------------------------------------------------------ attention


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
    for each head to the softmax; `softcap` squashes the scores to ±softcap; `clip` bounds q, k and v.
    With `value_is_key` the values are the keys' projection. `share` names a cache that other layers read
    (`reads_shared`: this layer is one of them and computes neither keys nor values).
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


@dataclass(frozen=True, slots=True, kw_only=True)
class GatedDeltaNet:
    """Linear attention whose state is decayed, corrected and read once per token (the gated delta rule)."""

    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int
    taps: int
    norm: RMSNorm


# ------------------------------------------------------------------------------------------------ feed-forward


@dataclass(frozen=True, slots=True, kw_only=True)
class ClampedSwiGLU:
    """gate · sigmoid(alpha · gate) · (up + offset), with gate and up clamped to ±limit (gate from above only)."""

    limit: float
    alpha: float
    offset: float


Activation = str | ClampedSwiGLU
"""A published name (silu, gelu, relu2, ...) or a spec with its own constants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DenseFFN:
    """Feed-forward: down(activation(gate_scale · gate x) · up x) when gated, down(activation(up x)) when plain."""

    width: int
    activation: Activation
    gated: bool
    bias: bool
    out_bias: bool
    gate_scale: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedExpert:
    """A feed-forward that every token passes; `gated` scales it by a sigmoid of one score."""

    width: int
    gated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Router:
    """How a token's experts and their weights are chosen.

    `scoring` turns the router's products into scores (softmax over all experts, or each score's own sigmoid);
    with `select_first` the top k are picked before that and scored among themselves. `correction` is a stored bias that
    ranks experts but does not weigh them; `groups` of experts compete first and `kept_groups` of them stay.
    The weights of the chosen are divided by their sum (plus `epsilon`) when `renormalise`, then times `scale`.
    """

    scoring: str
    select_first: bool
    bias: bool
    correction: bool
    groups: int
    kept_groups: int
    renormalise: bool
    epsilon: float
    scale: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MoE:
    """Routed experts: `per_token` of `experts` feed-forwards of `width`, and an optional shared one.

    With `weigh_input` an expert's weight multiplies what enters it, not what leaves it. With `latent` the routed
    experts work on a projection of x to that width, and their sum is projected back.
    """

    experts: int
    per_token: int
    width: int
    activation: Activation
    gated: bool
    bias: bool
    router: Router
    weigh_input: bool
    shared: SharedExpert | None
    latent: int | None = None


# ------------------------------------------------------------------------------------------------ latent attention


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
    `rope_dim` coordinates as they are.
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


# ------------------------------------------------------------------------------------------------ state-space mixers


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
    multipliers: tuple[float, float, float, float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortConv:
    """A gated convolution over the last `taps` columns and nothing else."""

    channels: int
    taps: int
    bias: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearAttention:
    """Lightning attention: a matrix memory per head that fades at a fixed rate, `decays`, and is never corrected."""

    heads: int
    head_dim: int
    activation: str
    decays: tuple[float, ...]
    norm: RMSNorm


# ------------------------------------------------------------------------------------------------ composition


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """One of several bodies that read the same x: its own norm (if any), its input and output multipliers."""

    name: str
    norm: Norm | None
    body: "Body"
    in_scale: float = 1.0
    out_scale: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Parallel:
    """Bodies side by side on one x; their outputs are summed into one update."""

    branches: tuple[Branch, ...]


Body = (
    GQA | GatedDeltaNet | DenseFFN | MoE | Parallel
    | LatentAttention | KimiDelta | SelectiveScan | StateSpace | ShortConv | LinearAttention
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One residual update; `name` is ``mixer`` or ``ffn`` and prefixes its weights.

    `norm` acts on the input (None: the body reads x itself), `post_norm` on the update before it is added;
    `residual_scale` multiplies the update (1.0 costs nothing); with `output_scalar` a stored number multiplies the sum.
    """

    name: str
    norm: Norm | None
    body: Body
    post_norm: Norm | None = None
    residual_scale: float = 1.0
    output_scalar: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """The sections of one layer, in order."""

    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding:
    """How a token id becomes x: the row times `scale`, normalised (both folded into the table), plus a position row.

    `positions` is the number of learned position rows (None: there are none), `offset` the row of position 0.
    """

    scale: float = 1.0
    norm: Norm | None = None
    positions: int | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """How the final vector becomes logits: times `scale`, squashed to ±softcap where given, plus a bias."""

    scale: float = 1.0
    softcap: float | None = None
    bias: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """A whole text model, and what was assumed on the way to it."""

    family: str
    d_model: int
    vocab: int
    layers: tuple[Layer, ...]
    final_norm: Norm | None
    tied: bool
    dtype: str
    max_positions: int | None
    assumptions: tuple[str, ...]
    unread_keys: tuple[str, ...]
    embedding: Embedding = Embedding()
    head: Head = Head()
