"""A recorded value as a file: every number with its place on each named axis, and the tokens along those that have any.

named_axes(port, shape, ...) -> axes     what the dimensions count
csv(value, axes) -> str                  one line for each number
npz(value, axes) -> bytes                the array, `axes`, and `tokens_i` for axis i
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokenviz.decoder.stations import Port
from tokenviz.export import to_csv

Array = NDArray[Any]
NAMES = {
    "T": "position", "S": "key position", "cached": "key position", "next": "position", "K": "key/value head",
    "G": "query head of its group", "V": "token id", "K G H": "joined heads",
}  # fmt: skip
"""Letter of a dimension -> what it counts; all others are coordinates."""
POSITIONS = ("T", "S", "cached", "next")
"""Letters of dimensions whose places hold tokens of the window."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One dimension of a value: its name, the number of its first entry, and the text of each where there is one."""

    name: str
    first: int = 0
    pieces: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Name of the column of texts."""
        return "vocabulary token" if self.name == "token id" else f"{self.name.removesuffix(' position')} token"


def named_axes(
    port: Port, shape: tuple[int, ...], pieces: Sequence[str], new: int, vocabulary: Sequence[str]
) -> tuple[Axis, ...]:
    """A value's dimensions with their names: `pieces` are all in the window, the last `new` were computed now."""
    found: list[Axis] = []
    for letter, extent in zip(port.dims, shape, strict=True):
        name = NAMES.get(letter, "coordinate")
        while any(axis.name == name for axis in found):
            name += " 2"
        first = len(pieces) - new if letter == "T" else 0
        text = vocabulary if letter == "V" else pieces[first : first + extent] if letter in POSITIONS else ()
        found.append(Axis(name, first, tuple(text)))
    return tuple(found)


def csv(value: Array, axes: Sequence[Axis]) -> str:
    """A whole value as text: one line for each number, its place on every axis first; -inf where not allowed."""
    columns: dict[str, Sequence[Any]] = {}
    for axis, place in zip(axes, np.indices(value.shape).reshape(value.ndim, -1), strict=True):
        columns[axis.name] = (place + axis.first).tolist()
        if axis.pieces:
            columns[axis.text] = [axis.pieces[i] for i in place]
    return to_csv({**columns, "value": value.astype(np.float64).ravel().tolist()})


def npz(value: Array, axes: Sequence[Axis]) -> bytes:
    """A whole value as numpy's compressed file."""
    arrays = {"value": value, "axes": np.array([axis.name for axis in axes])}
    arrays |= {f"tokens_{i}": np.array(axis.pieces) for i, axis in enumerate(axes) if axis.pieces}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()
