"""From scores to one token: temperature, top-k, top-p, and a draw that a seed repeats.

All shares are computed in float64 from the model's scores and add up to 1.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tokenviz.notation import TokenvizError

Floats = NDArray[np.float64]
MAX_TEMPERATURE = 10.0
MAX_SEED = 2**32 - 1


class SamplingError(TokenvizError):
    """A temperature, top-k, top-p or seed outside what can be drawn from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How the next token is chosen. Temperature 0 is greedy: the most likely token, whatever the other values."""

    temperature: float = 0.8
    top_k: int | None = None
    top_p: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.temperature <= MAX_TEMPERATURE:
            raise SamplingError(f"temperature is {self.temperature!r}; give a number from 0 (greedy) to 10")
        if self.top_k is not None and self.top_k < 1:
            raise SamplingError(f"top-k is {self.top_k!r}; give a whole number of at least 1")
        if not 0 < self.top_p <= 1:
            raise SamplingError(f"top-p is {self.top_p!r}; give a number above 0 and at most 1")
        if not 0 <= self.seed <= MAX_SEED:
            raise SamplingError(f"seed is {self.seed!r}; give a whole number from 0 to {MAX_SEED:,}")

    @property
    def greedy(self) -> bool:
        """Whether the most likely token is taken."""
        return self.temperature == 0


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """One choice: the shares ``V`` before and after the controls, the number drawn, and where it fell."""

    before: Floats
    after: Floats
    order: NDArray[np.int64]  # token ids, most likely first
    number: float | None  # from [0, 1); None when greedy
    token: int


def softmax(scores: NDArray[np.floating], temperature: float = 1.0) -> Floats:
    """Shares of ``V`` scores divided by the temperature, in float64."""
    scaled = scores.astype(np.float64) / temperature
    e = np.exp(scaled - scaled.max())
    shares: Floats = e / e.sum()
    return shares


def shaped(scores: NDArray[np.floating], sampling: Sampling) -> Floats:
    """Shares after the controls: temperature, then the k most likely, then the fewest that reach the share p.

    Ties go to the lower token number. Greedy is the one share of 1.
    """
    order = np.argsort(-scores, kind="stable")
    if sampling.greedy:
        kept = np.zeros(len(scores))
        kept[order[0]] = 1.0
        return kept
    shares = softmax(scores, sampling.temperature)
    allowed = order[: sampling.top_k]
    if sampling.top_p < 1:
        reached = np.cumsum(shares[allowed] / shares[allowed].sum())
        allowed = allowed[: int(np.searchsorted(reached, sampling.top_p)) + 1]
    kept = np.zeros(len(scores))
    kept[allowed] = shares[allowed]
    after: Floats = kept / kept.sum()
    return after


def number(seed: int, index: int) -> float:
    """The `index`-th number of a seed, from [0, 1); it depends on nothing else."""
    return float(np.random.default_rng((seed, index)).random())


def draw(scores: NDArray[np.floating], sampling: Sampling, index: int) -> Draw:
    """Choose a token by scores ``V``. `index` counts the tokens drawn before in this text.

    The shares lie end to end, most likely first, from 0 to 1; the token is the one in whose share the number falls.
    """
    order = np.argsort(-scores, kind="stable")
    after = shaped(scores, sampling)
    before = softmax(scores)
    if sampling.greedy:
        return Draw(before, after, order, None, int(order[0]))
    drawn = number(sampling.seed, index)
    ends = np.cumsum(after[order])
    last = int(np.count_nonzero(after)) - 1  # rounding must not let the number fall behind the last share
    return Draw(before, after, order, drawn, int(order[min(int(np.searchsorted(ends, drawn, side="right")), last)]))
