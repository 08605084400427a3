"""Rearrangements: how numpy splits, joins, repeats and picks values.

None of them computes anything in the step, so none is an operation and none takes time. `fold` is the one that runs
arithmetic, once, on weights, before any token arrives.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from tokenviz.primitives import Array, Dims, Lower


def _slice(operands: Sequence[Dims], _result: Dims, attrs: Mapping[str, Any]) -> Callable[..., Array]:
    index = (slice(None),) * operands[0].index(attrs["axis"]) + (slice(attrs["start"], attrs["stop"]),)
    shape = attrs["shape"]  # -1 where the extent depends on the context
    return lambda a: a[index].reshape(shape)


def _take(operands: Sequence[Dims], _result: Dims, attrs: Mapping[str, Any]) -> Callable[..., Array]:
    index = (slice(None),) * operands[0].index(attrs["axis"]) + (attrs["index"],)
    return lambda a: a[index]


def _stack(_operands: Sequence[Dims], result: Dims, attrs: Mapping[str, Any]) -> Callable[..., Array]:
    axis = result.index(attrs["axis"])
    return lambda *parts: np.stack(parts, axis=axis)


def _concat(_operands: Sequence[Dims], result: Dims, attrs: Mapping[str, Any]) -> Callable[..., Array]:
    axis = result.index(attrs["axis"])
    return lambda *parts: np.concatenate(parts, axis=axis)


def _repeat(operands: Sequence[Dims], _result: Dims, attrs: Mapping[str, Any]) -> Callable[..., Array]:
    axis, times = operands[0].index(attrs["axis"]), attrs["times"]
    return lambda a: np.repeat(a, times, axis=axis)


def _rotate_half(operands: Sequence[Dims], _result: Dims, attrs: Mapping[str, Any]) -> Callable[..., Array]:
    axis = operands[0].index(attrs["axis"])
    lead = (slice(None),) * axis

    def run(a: Array) -> Array:
        half = a.shape[axis] // 2
        turned = np.negative(a)  # whole: numpy negates contiguous memory faster than the part that is needed
        return np.concatenate((turned[(*lead, slice(half, None))], a[(*lead, slice(0, half))]), axis=axis)

    return run


def _rotate_pairs(operands: Sequence[Dims], _result: Dims, attrs: Mapping[str, Any]) -> Callable[..., Array]:
    axis = operands[0].index(attrs["axis"])
    lead = (slice(None),) * axis

    def run(a: Array) -> Array:
        out = np.empty_like(a)
        out[(*lead, slice(0, None, 2))] = -a[(*lead, slice(1, None, 2))]
        out[(*lead, slice(1, None, 2))] = a[(*lead, slice(0, None, 2))]
        return out

    return run


def _gather(_operands: Sequence[Dims], _result: Dims, _attrs: Mapping[str, Any]) -> Callable[..., Array]:
    return lambda table, index: table[index]


def _windows(operands: Sequence[Dims], _result: Dims, attrs: Mapping[str, Any]) -> Callable[..., Array]:
    taps = attrs["taps"]
    return lambda a: np.lib.stride_tricks.sliding_window_view(a, taps, axis=0).swapaxes(1, 2)


def _roll(operands: Sequence[Dims], _result: Dims, attrs: Mapping[str, Any]) -> Callable[..., Array]:
    axis = operands[0].index(attrs["axis"])
    return lambda a: np.roll(a, -1, axis=axis)


def _recent(_operands: Sequence[Dims], _result: Dims, attrs: Mapping[str, Any]) -> Callable[..., Array]:
    chunk = attrs["chunk"]
    return lambda kept, positions: kept[len(kept) - int(positions[0]) % chunk :]


def _positions(_operands: Sequence[Dims], _result: Dims, attrs: Mapping[str, Any]) -> Callable[..., Array]:
    table: Callable[..., Array] = attrs["table"]
    return table


def _constant(_operands: Sequence[Dims], _result: Dims, attrs: Mapping[str, Any]) -> Callable[..., Array]:
    array = attrs["array"]
    return lambda: array


def _fold(_operands: Sequence[Dims], _result: Dims, attrs: Mapping[str, Any]) -> Callable[..., Array]:
    compute: Callable[..., Array] = attrs["compute"]
    return compute


WIRES: Mapping[str, Lower] = MappingProxyType(
    {
        "slice": _slice,
        "take": _take,
        "stack": _stack,
        "concat": _concat,
        "repeat": _repeat,
        "rotate_half": _rotate_half,
        "rotate_pairs": _rotate_pairs,
        "gather": _gather,
        "windows": _windows,
        "recent": _recent,
        "roll": _roll,
        "positions": _positions,
        "fold": _fold,
        "constant": _constant,
    }
)
