"""RoPE's frequencies under the published ways of stretching them to longer contexts.

They change the coefficients that a position selects, never which operations run. A scaling is the config's own
(key, value) pairs; each function here takes the plain frequencies and those pairs.
"""

from collections.abc import Callable, Mapping
from math import ceil, floor, log, pi, sqrt
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokenviz.architecture import Rope
from tokenviz.notation import ConfigError

Scaling = Mapping[str, Any]
Frequencies = NDArray[np.float64]
Scaled = tuple[Frequencies, float]
"""Radians per position for each pair of coordinates, and the factor on cosines and sines."""


def inverse_frequencies(rope: Rope, length: int) -> Scaled:
    """Radians per position for each pair of coordinates [dims / 2], and the factor on cosines and sines.

    `length` is how many positions there are so far; two of the scalings look at it.
    """
    check_scaling(rope)
    frequency = rope.theta ** -(np.arange(0, rope.dims, 2, dtype=np.float64) / rope.dims)
    scaling = dict(rope.scaling)
    return SCALINGS[str(scaling.get("rope_type", "default"))][0](frequency, scaling, rope, length)


def check_scaling(rope: Rope) -> None:
    """`ConfigError` unless the scaling is known and has the keys that it needs."""
    scaling: dict[str, Any] = dict(rope.scaling)
    kind = str(scaling.get("rope_type", "default"))
    if kind not in SCALINGS:
        raise ConfigError(f"rope_type {kind!r} has no coefficients here; known: {', '.join(SCALINGS)}")
    missing = [key for key in SCALINGS[kind][1] if key not in scaling]
    if missing:
        raise ConfigError(f"rope scaling {kind!r} lacks {missing[0]}; add it")
    for key in ("short_factor", "long_factor"):
        if key in scaling and len(scaling[key]) != rope.dims // 2:
            raise ConfigError(f"{key} has {len(scaling[key])} entries; RoPE turns {rope.dims // 2} pairs: give as many")


def _default(frequency: Frequencies, _scaling: Scaling, _rope: Rope, _length: int) -> Scaled:
    return frequency, 1.0


def _linear(frequency: Frequencies, scaling: Scaling, _rope: Rope, _length: int) -> Scaled:
    """Positions are divided by `factor`. Chen et al. 2023."""
    return frequency / scaling["factor"], 1.0


def _proportional(_frequency: Frequencies, scaling: Scaling, rope: Rope, _length: int) -> Scaled:
    """Only the first part of the pairs turns, at the speeds of the whole head; the others keep angle 0."""
    turning = int(scaling.get("partial_rotary_factor", 1.0) * rope.dims // 2)
    frequency = np.zeros(rope.dims // 2)
    frequency[:turning] = rope.theta ** -(np.arange(0, 2 * turning, 2, dtype=np.float64) / rope.dims)
    return frequency / scaling.get("factor", 1.0), 1.0


def _dynamic(_frequency: Frequencies, scaling: Scaling, rope: Rope, length: int) -> Scaled:
    """The base grows with the length once it exceeds what the model was trained on."""
    trained, factor, dims = scaling["max_position_embeddings"], scaling["factor"], rope.dims
    base = rope.theta * (factor * max(length, trained) / trained - (factor - 1)) ** (dims / (dims - 2))
    return base ** -(np.arange(0, dims, 2, dtype=np.float64) / dims), 1.0


def _llama3(frequency: Frequencies, scaling: Scaling, _rope: Rope, _length: int) -> Scaled:
    """Long waves are slowed by `factor`, short ones kept, those between blended (as Llama 3.1 was released)."""
    low, high, factor = scaling["low_freq_factor"], scaling["high_freq_factor"], scaling["factor"]
    turns = scaling["original_max_position_embeddings"] * frequency / (2 * pi)
    if high == low:  # no blend: one threshold
        return np.where(turns < low, frequency / factor, frequency), 1.0
    smooth = np.clip((turns - low) / (high - low), 0, 1)
    return (1 - smooth) * frequency / factor + smooth * frequency, 1.0


def magnitude(factor: float, scale: float = 1.0) -> float:
    """YaRN's temperature as a factor on cosines and sines: 0.1 · scale · ln(factor) + 1."""
    return 1.0 if factor <= 1 else 0.1 * scale * log(factor) + 1.0


def _yarn(frequency: Frequencies, scaling: Scaling, rope: Rope, _length: int) -> Scaled:
    """Slow waves are interpolated, fast ones kept, with a ramp between two turn counts. Peng et al. 2023."""
    original, factor = scaling["original_max_position_embeddings"], scaling["factor"]

    def pair_that_turns(times: float) -> float:
        return rope.dims * log(original / (times * 2 * pi)) / (2 * log(rope.theta))

    low = pair_that_turns(scaling.get("beta_fast") or 32)
    high = pair_that_turns(scaling.get("beta_slow") or 1)
    if scaling.get("truncate", True):
        low, high = floor(low), ceil(high)
    low, high = max(low, 0), min(high, rope.dims - 1)
    ramp = np.clip((np.arange(rope.dims // 2) - low) / (high - low or 0.001), 0, 1)
    return frequency / factor * ramp + frequency * (1 - ramp), yarn_factor(scaling)


def yarn_factor(scaling: Scaling) -> float:
    """What multiplies YaRN's cosines and sines: the declared attention factor, else derived from the stretch."""
    declared = scaling.get("attention_factor")
    if declared is not None:
        return float(declared)
    factor, scale, scale_all = scaling["factor"], scaling.get("mscale"), scaling.get("mscale_all_dim")
    if scale and scale_all:
        return magnitude(factor, scale) / magnitude(factor, scale_all)
    return magnitude(factor)


def _longrope(frequency: Frequencies, scaling: Scaling, _rope: Rope, length: int) -> Scaled:
    """A factor of its own for each pair: one set for short contexts, one for long. Ding et al. 2024."""
    original = scaling["original_max_position_embeddings"]
    stretch = scaling["long_factor"] if length > original else scaling["short_factor"]
    factor = scaling.get("factor") or scaling["max_position_embeddings"] / original
    declared = scaling.get("attention_factor")
    if declared is None:
        declared = 1.0 if factor <= 1 else sqrt(1 + log(factor) / log(original))
    return frequency / np.asarray(stretch, dtype=np.float64), float(declared)


Rule = Callable[[Frequencies, Scaling, Rope, int], Scaled]
SCALINGS: Mapping[str, tuple[Rule, tuple[str, ...]]] = MappingProxyType(
    {
        "default": (_default, ()),
        "linear": (_linear, ("factor",)),
        "proportional": (_proportional, ()),
        "dynamic": (_dynamic, ("factor", "max_position_embeddings")),
        "llama3": (_llama3, ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings")),
        "yarn": (_yarn, ("factor", "original_max_position_embeddings")),
        "longrope": (_longrope, ("short_factor", "long_factor", "original_max_position_embeddings")),
    }
)
"""Kind -> its rule, and the keys without which it cannot be computed."""
