"""The bundled models side by side: what each is made of, how large it is, and what it keeps for each token.

gallery() -> rows by family        read off the graphs once, remembered
kinds(architecture) -> tags        from the mechanisms: nobody types them in
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from tokenviz.architecture import (
    GQA,
    Architecture,
    Body,
    GatedDeltaNet,
    KimiDelta,
    LatentAttention,
    LinearAttention,
    MoE,
    Parallel,
    SelectiveScan,
    ShortConv,
    StateSpace,
)
from tokenviz.catalog import bundled_models, config_text, load_model
from tokenviz.config import parse
from tokenviz.families import known
from tokenviz.notation import TokenvizError
from tokenviz.scenario import MAX_CONTEXT
from tokenviz.trace import trace
from tokenviz.traffic import kept, parameters

KINDS = ("dense", "experts", "hybrid", "state space", "latent attention", "windows")
"""Tags in the order in which they are shown."""
RECURRENT = (GatedDeltaNet, KimiDelta, LinearAttention, SelectiveScan, StateSpace)
"""Mixers that keep a recurrent state."""
STATEFUL = (*RECURRENT, ShortConv)
"""Mixers that keep a state of fixed size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One bundled model. Sizes are parameters and bytes; all are 0 where `refused` says why there are none."""

    name: str
    family: str
    kinds: tuple[str, ...]
    layers: int
    total: int
    active: int
    kv_bytes_per_position: int
    window_bytes_per_position: int
    full_window_bytes: int
    recurrent_bytes: int
    conv_bytes: int
    refused: str = ""

    @property
    def fixed_bytes(self) -> int:
        """State that does not grow with the context: recurrent and convolution state."""
        return self.recurrent_bytes + self.conv_bytes


def bodies(architecture: Architecture) -> Iterator[Body]:
    """Every mixer and feed-forward, those side by side included."""
    waiting = [section.body for layer in architecture.layers for section in layer.sections]
    while waiting:
        body = waiting.pop()
        if isinstance(body, Parallel):
            waiting.extend(branch.body for branch in body.branches)
        else:
            yield body


def recurs(architecture: Architecture) -> bool:
    """Whether a model has recurrent state, so that its precision matters."""
    return any(isinstance(body, RECURRENT) for body in bodies(architecture))


def kinds(architecture: Architecture) -> tuple[str, ...]:
    """Tags of a model: feed-forward (dense or experts), mixers (hybrid, state space, latent attention), windows.

    A hybrid has both growing caches and states of fixed size; `state space` has only the latter.
    """
    found = tuple(bodies(architecture))
    attends = any(isinstance(b, (GQA, LatentAttention)) for b in found)
    stateful = any(isinstance(b, STATEFUL) for b in found)
    experts = any(isinstance(b, MoE) for b in found)
    tags = {
        "experts": experts,
        "hybrid": attends and stateful,
        "state space": stateful and not attends,
        "latent attention": any(isinstance(b, LatentAttention) for b in found),
        "windows": any(isinstance(b, GQA) and (b.window is not None or b.chunk is not None) for b in found),
    }
    tags["dense"] = attends and not experts
    return tuple(kind for kind in KINDS if tags[kind])


@lru_cache(maxsize=1)
def gallery() -> tuple[Row, ...]:
    """A row for each bundled model, by family and then by size; a refused model is listed with the reason."""
    return tuple(sorted(map(_row, bundled_models()), key=lambda row: (row.family.lower(), row.total, row.name)))


def _row(name: str) -> Row:
    try:
        model = load_model(name)
    except TokenvizError as error:
        nothing = dict.fromkeys(_SIZES, 0)
        return Row(name=name, family=_family(name), kinds=(), refused=str(error), **nothing)
    family = model.architecture.family
    step = trace(model.architecture, model.scenario(context=MAX_CONTEXT))  # every window is full
    size, keeps = parameters(step, model.architecture.tied), kept(step, model.scenario())
    return Row(
        name=name, family=known().get(family, family), kinds=kinds(model.architecture),
        layers=len(model.architecture.layers), total=size.total, active=size.active,
        kv_bytes_per_position=keeps.kv_per_position, window_bytes_per_position=keeps.window_per_position,
        full_window_bytes=keeps.window, recurrent_bytes=keeps.recurrent, conv_bytes=keeps.convolution,
    )  # fmt: skip


_SIZES = (
    "layers", "total", "active", "kv_bytes_per_position", "window_bytes_per_position", "full_window_bytes",
    "recurrent_bytes", "conv_bytes",
)  # fmt: skip


def _family(name: str) -> str:
    config = parse(config_text(name))
    return known().get(config.model_type, config.model_type) if config.has("model_type") else name
