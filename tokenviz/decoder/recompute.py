"""A second opinion on every recorded step: its value computed again from its parents, in float64, by its formula.

These functions share nothing with the graph's primitives. `check` says whether the recorded value agrees.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokenviz.architecture import GQA, RMSNorm
from tokenviz.decoder.events import Array, outputs, read
from tokenviz.decoder.generate import Advance
from tokenviz.decoder.model import Decoder
from tokenviz.decoder.stations import MapNode, PredictionMap

Floats = NDArray[np.float64]
TOLERANCE = 2e-5
"""Largest difference allowed, as a share of the largest value: float32 sums of some hundred products."""


@dataclass(frozen=True, slots=True)
class Check:
    """What recomputing one step found: the largest difference, and the largest size of a value."""

    difference: float
    largest: float

    @property
    def agrees(self) -> bool:
        """Whether the difference is rounding."""
        return self.difference <= TOLERANCE * max(1.0, self.largest)


@dataclass(frozen=True, slots=True)
class Parents:
    """What a step's formula may read: its live inputs and weights by name, and the model's constants."""

    values: Mapping[str, Floats]  # live inputs, as their makers recorded them
    weights: Mapping[str, Floats]
    spec: GQA
    eps: float
    first: int  # position of the first new token
    advance: Advance

    def only(self) -> Floats:
        """The one live input."""
        (value,) = self.values.values()
        return value

    def weight(self) -> Floats:
        """The one weight."""
        (value,) = self.weights.values()
        return value


def check(decoder: Decoder, found: PredictionMap, advance: Advance, node: MapNode) -> Check:
    """Compute a recorded step again from what its parents recorded, and compare."""
    read_from = parents(decoder, found, advance, node)
    worst = largest = 0.0
    for value, again in zip(outputs(advance, node).values(), FORMULAS[node.kind](read_from), strict=True):
        theirs = value.astype(np.float64).reshape(again.shape)
        hidden = np.isneginf(again)
        if not np.array_equal(hidden, np.isneginf(theirs)):
            return Check(np.inf, 0.0)
        shown = ~hidden
        worst = max(worst, float(np.abs(theirs[shown] - again[shown]).max(initial=0.0)))
        largest = max(largest, float(np.abs(again[shown]).max(initial=0.0)))
    return Check(worst, largest)


def parents(decoder: Decoder, found: PredictionMap, advance: Advance, node: MapNode) -> Parents:
    """What a recorded step reads: its live inputs as their makers recorded them, and its weights, in float64."""
    values: dict[str, Floats] = {}
    weights: dict[str, Floats] = {}
    for port in node.inputs:
        if port.weight:
            weights[port.name] = read(advance, port).astype(np.float64)
        elif port.source is not None:
            values[port.name] = _as_made(found, advance, port.source, port.name).astype(np.float64)
    body = next(s.body for layer in decoder.architecture.layers for s in layer.sections if isinstance(s.body, GQA))
    norm = decoder.architecture.final_norm
    eps = norm.eps if isinstance(norm, RMSNorm) else 0.0
    first = advance.attended - advance.positions
    return Parents(values, weights, body, eps, first, advance)


def _as_made(found: PredictionMap, advance: Advance, source: str, name: str) -> Array:
    """A parent's recorded value: what it is called there, or the cache's content, or the tokens of the context."""
    parent = found.nodes[source]
    if parent.kind == "context":
        return np.array(advance.window[-advance.positions :])
    if parent.kind == "sharing":
        parent = found.nodes[parent.inputs[0].source or ""]
    made = outputs(advance, parent)
    if len(made) == 1:
        return next(iter(made.values()))
    return next(value for key, value in made.items() if key[0] == name[0])


# ------------------------------------------------------------------------------------------------ the formulas


def _lookup(p: Parents) -> list[Floats]:
    return [p.weight()[p.only().astype(int)]]


def _norm(p: Parents) -> list[Floats]:
    x = p.only()
    return [x / np.sqrt((x * x).mean(-1, keepdims=True) + p.eps) * p.weight()]


def _linear(p: Parents) -> list[Floats]:
    x = p.only().reshape(len(p.only()), -1)
    w = p.weight()
    return [(x @ w.reshape(-1, x.shape[1]).T).reshape(_rows(w, x))]


def _rows(w: Floats, x: Floats) -> tuple[int, ...]:
    """The result's shape: positions, then the weight's dimensions up to those that are summed."""
    dims: list[int] = []
    for extent in w.shape:
        if w.size // int(np.prod(dims, initial=1)) == x.shape[1]:
            break
        dims.append(extent)
    return (len(x), *dims)


def _rope(p: Parents) -> list[Floats]:
    return [_turned(p, value) for value in p.values.values()]


def _turned(p: Parents, x: Floats) -> Floats:
    """Coordinates i and i + half as one complex number, turned by position · rate."""
    half = x.shape[-1] // 2
    theta = p.spec.rope.theta if p.spec.rope is not None else 1.0
    angle = np.outer(p.first + np.arange(len(x)), theta ** (-np.arange(half) / half))
    turn = np.exp(1j * angle).reshape(len(x), *(1,) * (x.ndim - 2), half)
    z = (x[..., :half] + 1j * x[..., half:]) * turn
    return np.concatenate((z.real, z.imag), -1)


def _scores(p: Parents) -> list[Floats]:
    q, keys = p.values.values()
    n, shared, group, width = q.shape
    found = np.empty((n, shared, group, len(keys)))
    for head in range(shared * group):
        k, g = divmod(head, group)
        found[:, k, g] = q[:, k, g] @ keys[:, head // group].T / np.sqrt(width)
    return [found]


def _mask(p: Parents) -> list[Floats]:
    s = p.only()
    later = np.arange(s.shape[-1]) > (p.first + np.arange(len(s)))[:, None]
    return [np.where(later[:, None, None, :], -np.inf, s)]


def _softmax(p: Parents) -> list[Floats]:
    e = np.exp(p.only() - p.only().max(-1, keepdims=True))
    return [e / e.sum(-1, keepdims=True)]


def _mix(p: Parents) -> list[Floats]:
    shares, values = p.values.values()
    return [np.stack([shares[:, k] @ values[:, k] for k in range(values.shape[1])], 1)]


def _join(p: Parents) -> list[Floats]:
    return [np.concatenate([p.only()[:, k, g] for k, g in np.ndindex(p.only().shape[1:3])], -1)]


def _add(p: Parents) -> list[Floats]:
    x, update = p.values.values()
    return [x + update]


def _act(p: Parents) -> list[Floats]:
    gate, up = p.values.values()
    return [gate / (1 + np.exp(-gate)) * up]


def _select(p: Parents) -> list[Floats]:
    """Temperature, top-k and top-p on the probabilities, then a walk along them until the drawn number is reached."""
    shares, sampling, number = p.only()[-1], p.advance.sampling, p.advance.draw.number
    ranked = sorted(range(len(shares)), key=lambda i: (-shares[i], i))
    if number is None:
        return [np.array([ranked[0]], dtype=np.float64)]
    warmed = shares ** (1 / sampling.temperature)  # e^(logit / T) but for a factor that all have in common
    kept = _until(ranked[: sampling.top_k], warmed, sampling.top_p if sampling.top_p < 1 else np.inf)
    return [np.array([_until(kept, warmed, np.nextafter(number, 1))[-1]], dtype=np.float64)]


def _until(ranked: list[int], weights: Floats, share: float) -> list[int]:
    """The first tokens whose part of all the weights reaches a share; all of them if none does."""
    whole, passed = sum(weights[i] for i in ranked), 0.0
    for count, token in enumerate(ranked, 1):
        passed += weights[token]
        if passed >= share * whole:
            return ranked[:count]
    return ranked


FORMULAS: Mapping[str, Callable[[Parents], list[Any]]] = MappingProxyType(
    {
        "lookup": _lookup, "norm": _norm, "q": _linear, "k": _linear, "v": _linear, "rope": _rope, "scores": _scores,
        "mask": _mask, "softmax": _softmax, "mix": _mix, "join": _join, "out": _linear, "residual": _add,
        "gate": _linear, "up": _linear, "act": _act, "down": _linear, "logits": _linear, "probabilities": _softmax,
        "select": _select,
    }
)  # fmt: skip
"""Kind of node -> its formula."""
