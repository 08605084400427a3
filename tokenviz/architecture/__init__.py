"""What a model is made of: frozen specs, one type per mechanism, no family names.

An `Architecture` is a tuple of layers; a `Layer` is a tuple of sections; a `Section` is one residual update,
``x = x + scale · post_norm(body(norm(x)))``. Equal sections share one traced block.
"""

from dataclasses import dataclass

from tokenviz.architecture.attention import GQA, Alibi, Indexer, LatentAttention, OutputGate, QKNorm, Temperature
from tokenviz.architecture.feedforward import (
    Activation,
    ClampedSwiGLU,
    DenseFFN,
    MoE,
    PerLayerInput,
    Router,
    RouterInput,
    SharedExpert,
)
from tokenviz.architecture.norms import LayerNorm, Norm, RMSNorm, Rope
from tokenviz.architecture.recurrent import (
    GatedDeltaNet,
    KimiDelta,
    LinearAttention,
    SelectiveScan,
    ShortConv,
    StateSpace,
)
from tokenviz.formats import Quantization

__all__ = [
    "GQA",
    "Activation",
    "Alibi",
    "Architecture",
    "Body",
    "Branch",
    "ClampedSwiGLU",
    "DenseFFN",
    "Embedding",
    "GatedDeltaNet",
    "Head",
    "Indexer",
    "KimiDelta",
    "LatentAttention",
    "Layer",
    "LayerNorm",
    "LinearAttention",
    "MoE",
    "Norm",
    "OutputGate",
    "Parallel",
    "PerLayerInput",
    "PerLayerTable",
    "Prediction",
    "QKNorm",
    "RMSNorm",
    "Rope",
    "Router",
    "RouterInput",
    "Section",
    "SelectiveScan",
    "SharedExpert",
    "ShortConv",
    "StateSpace",
    "Temperature",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """One of several bodies that read the same x: its own norms (if any), its input and output multipliers."""

    name: str
    norm: Norm | None
    body: "Body"
    in_scale: float = 1.0
    out_scale: float = 1.0
    post_norm: Norm | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parallel:
    """Bodies side by side on one x; their outputs are summed into one update."""

    branches: tuple[Branch, ...]


Body = (
    GQA | GatedDeltaNet | DenseFFN | MoE | Parallel | PerLayerInput
    | LatentAttention | KimiDelta | SelectiveScan | StateSpace | ShortConv | LinearAttention
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One residual update; `name` is ``mixer`` or ``ffn`` and prefixes its weights.

    `norm` acts on the input (None: the body reads x itself), `post_norm` on the update before it is added;
    `residual_scale` multiplies the update (1.0 costs nothing); with `output_scalar` a stored number multiplies the sum.
    With `carries_norm` the update is added to `carry_scale` times the normalised input, not to x.
    """

    name: str
    norm: Norm | None
    body: Body
    post_norm: Norm | None = None
    residual_scale: float = 1.0
    output_scalar: bool = False
    carries_norm: bool = False
    carry_scale: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """The sections of one layer, in order."""

    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PerLayerTable:
    """A second embedding table: its rows hold `width` values for each layer; `norm` acts on those projected from x."""

    vocab: int
    layers: int
    width: int
    norm: RMSNorm


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding:
    """How a token id becomes x: the row times `scale`, normalised (both folded into the table), plus a position row.

    `positions` is the number of learned position rows (None: there are none), `offset` the row of position 0.
    """

    scale: float = 1.0
    norm: Norm | None = None
    positions: int | None = None
    offset: int = 0
    per_layer: PerLayerTable | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """How the final vector becomes logits: times `scale`, squashed to ±softcap where given, plus a bias."""

    scale: float = 1.0
    softcap: float | None = None
    bias: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """Extra heads that guess further tokens; not part of the step. Each joins x and an embedding, then runs `layer`."""

    layer: Layer
    count: int


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
    prediction: Prediction | None = None
    quantization: Quantization | None = None

    def __hash__(self) -> int:
        """From a few fields, so that a look-up costs the same for any number of layers; equality reads them all."""
        return hash((self.family, self.d_model, self.vocab, len(self.layers), self.layers[:1], self.layers[-1:]))
