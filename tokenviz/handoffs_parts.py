"""Which elements of a stored or computed value reach an operation through rearrangements.

A slice hands on only its part, a repeat hands on each element once, a concatenation hands on what it joins. The answer
is exact: for each axis of the source, the set of indices that arrive. An unknown rearrangement hands on everything.

    pieces = trace_pieces(block)      value id -> the pieces of sources it is made of
    count(block, pieces)              distinct elements of one source in some pieces
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from tokenviz.graph import Block, Value, Wire
from tokenviz.notation import size

Dims = tuple[str, ...]
Index = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """Where one axis of a source went: `index` holds its indices over the value's axes `dims`; None is all of them."""

    dims: Dims
    index: Index | None


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Elements of `root` inside a value: one track for each axis of the root, and the part of the value they fill."""

    root: str
    tracks: tuple[Track, ...]
    where: Mapping[str, tuple[int, int]]  # value axis -> (start, stop); an axis that is not named is filled whole


def trace_pieces(block: Block) -> Mapping[str, tuple[Piece, ...]]:
    """Value id -> the pieces it is made of, for every value of the block."""
    found: dict[str, tuple[Piece, ...]] = {}
    wires = {step.result: step for step in block.program if isinstance(step, Wire)}
    for value in block.values.values():
        wire = wires.get(value.id)
        if wire is None or value.roots == (value.id,):
            found[value.id] = (whole(value),)
        else:
            found[value.id] = _RULES.get(wire.kind, _anything)(block, wire, found)
    return found


def whole(value: Value) -> Piece:
    """The piece that is all of a value."""
    return Piece(value.id, tuple(Track((d,), None) for d in value.dims), {})


def narrowed(block: Block, piece: Piece, axis: int, start: int, stop: int) -> Piece | None:
    """What of a piece lies in [start, stop) along an axis of its root; None when nothing does."""
    track = piece.tracks[axis]
    extent = block.values[piece.root].shape[axis]
    index = np.arange(extent) if track.index is None else np.unique(track.index)
    index = index[(index >= start) & (index < stop)]
    if not index.size:
        return None
    tracks = (*piece.tracks[:axis], Track((), index), *piece.tracks[axis + 1 :])
    return replace(piece, tracks=tracks)


def count(block: Block, pieces: Iterable[Piece]) -> int:
    """Distinct elements of one root that some pieces of it hold together."""
    pieces = tuple(pieces)
    if not pieces:
        return 0
    shape = block.values[pieces[0].root].shape
    sets = [tuple(None if t.index is None else np.unique(t.index) for t in p.tracks) for p in pieces]
    if any(all(s is None for s in axes) for axes in sets):
        return size(shape)
    unique = list({tuple(None if s is None else s.tobytes() for s in axes): axes for axes in sets}.values())
    total = 0
    for n in range(1, len(unique) + 1):  # inclusion and exclusion
        for group in combinations(unique, n):
            total += (-1) ** (n + 1) * size(
                _common(axes, e) for axes, e in zip(zip(*group, strict=True), shape, strict=True)
            )
    return total


def _common(sets: Sequence[Index | None], extent: int) -> int:
    """Indices that all sets of one axis share; None stands for the whole axis."""
    given = [s for s in sets if s is not None]
    if not given:
        return extent
    shared = given[0]
    for other in given[1:]:
        shared = np.intersect1d(shared, other, assume_unique=True)
    return len(shared)


# ------------------------------------------------------------------------------------------------ rearrangements

Found = dict[str, tuple[Piece, ...]]


def _anything(block: Block, wire: Wire, found: Found) -> tuple[Piece, ...]:
    """Everything of every operand, with no memory of where it went."""
    return tuple(_settled(piece) for o in wire.operands for piece in found[o])


def _settled(piece: Piece) -> Piece:
    tracks = tuple(Track((), t.index) for t in piece.tracks)
    return Piece(piece.root, tracks, {})


def _slice(block: Block, wire: Wire, found: Found) -> tuple[Piece, ...]:
    """[start, stop) along an axis, which may become several letters (or none)."""
    operand, result = block.values[wire.operands[0]], block.values[wire.result]
    at = operand.dims.index(wire.attrs["axis"])
    extent = operand.shape[at]
    start, stop, _ = slice(wire.attrs["start"], wire.attrs["stop"]).indices(extent)
    end = at + len(result.dims) - len(operand.dims) + 1
    beside = (operand.dims[:at], operand.dims[at + 1 :]) == (result.dims[:at], result.dims[max(end, at) :])
    if not beside or size(result.shape[at:end]) != stop - start:  # a regrouping over several axes
        return tuple(_settled(piece) for piece in _cut(found[operand.id], operand, at, (start, stop), (), None))
    return _cut(found[operand.id], operand, at, (start, stop), result.dims[at:end], result.shape[at:end])


def _take(block: Block, wire: Wire, found: Found) -> tuple[Piece, ...]:
    operand = block.values[wire.operands[0]]
    at = operand.dims.index(wire.attrs["axis"])
    index = wire.attrs["index"] % operand.shape[at]
    return _cut(found[operand.id], operand, at, (index, index + 1), (), ())


def _cut(
    pieces: Iterable[Piece], operand: Value, at: int, span: tuple[int, int], dims: Dims, shape: tuple[int, ...] | None
) -> tuple[Piece, ...]:
    """The pieces inside `span` of axis `at`, that axis reshaped to `dims` (with no `shape`: forgotten)."""
    axis, found = operand.dims[at], []
    for piece in pieces:
        low, high = piece.where.get(axis, (0, operand.shape[at]))
        first, last = max(low, span[0]), min(high, span[1])
        if first >= last:
            continue
        part = slice(first - low, last - low)
        filled = (first, last) == span
        tracks = tuple(_cut_track(t, axis, part, high - low, dims, shape if filled else None) for t in piece.tracks)
        where = {k: v for k, v in piece.where.items() if k != axis}
        if not filled and len(dims) == 1:
            where[dims[0]] = (first - span[0], last - span[0])
        found.append(Piece(piece.root, tracks, where))
    return tuple(found)


def _cut_track(track: Track, axis: str, part: slice, extent: int, dims: Dims, shape: tuple[int, ...] | None) -> Track:
    """A track after its value's axis was cut; `shape` is that of `dims`, None when the cut is filled only in part."""
    if axis not in track.dims:
        return track
    k = track.dims.index(axis)
    if track.index is None and (part.start, part.stop) == (0, extent) and len(dims) == 1:
        return Track(dims, None)
    index = np.arange(extent) if track.index is None else track.index
    index = index[(slice(None),) * k + (part,)]
    if shape is None:
        return Track((*track.dims[:k], *dims, *track.dims[k + 1 :]), index) if len(dims) == 1 else Track((), index)
    index = index.reshape((*index.shape[:k], *shape, *index.shape[k + 1 :]))
    return Track((*track.dims[:k], *dims, *track.dims[k + 1 :]), index)


def _repeat(block: Block, wire: Wire, found: Found) -> tuple[Piece, ...]:
    operand, result = block.values[wire.operands[0]], block.values[wire.result]
    axis, times = wire.attrs["axis"], wire.attrs["times"]
    new = result.dims[operand.dims.index(axis)]
    pieces = []
    for piece in found[operand.id]:
        low, high = piece.where.get(axis, (0, operand.shape[operand.dims.index(axis)]))
        tracks = tuple(_repeat_track(t, axis, new, times, high - low) for t in piece.tracks)
        where = {(new if k == axis else k): v for k, v in piece.where.items()}
        if axis in piece.where:
            where[new] = (low * times, high * times)
        pieces.append(Piece(piece.root, tracks, where))
    return tuple(pieces)


def _repeat_track(track: Track, axis: str, new: str, times: int, extent: int) -> Track:
    if axis not in track.dims:
        return track
    dims = tuple(new if d == axis else d for d in track.dims)
    if times == 1:
        return Track(dims, track.index)
    index = np.arange(extent) if track.index is None else track.index
    return Track(dims, np.repeat(index, times, axis=track.dims.index(axis)))


def _stack(block: Block, wire: Wire, found: Found) -> tuple[Piece, ...]:
    axis = wire.attrs["axis"]
    return tuple(
        replace(piece, where={**piece.where, axis: (i, i + 1)})
        for i, operand in enumerate(wire.operands)
        for piece in found[operand]
    )


def _concat(block: Block, wire: Wire, found: Found) -> tuple[Piece, ...]:
    """Operands side by side along an axis; each may call that axis by a letter of its own."""
    axis = wire.attrs["axis"]
    at = block.values[wire.result].dims.index(axis)
    pieces, offset = [], 0
    for name in wire.operands:
        operand = block.values[name]
        own, extent = operand.dims[at], operand.shape[at]
        for piece in found[name]:
            low, high = piece.where.get(own, (0, extent))
            tracks = tuple(Track(tuple(axis if d == own else d for d in t.dims), t.index) for t in piece.tracks)
            where = {k: v for k, v in piece.where.items() if k != own}
            pieces.append(Piece(piece.root, tracks, {**where, axis: (low + offset, high + offset)}))
        offset += extent
    return tuple(pieces)


def _gather(block: Block, wire: Wire, found: Found) -> tuple[Piece, ...]:
    """As many rows of a table as there are indices; which ones shows at run time, so the newest stand for them.

    The index is an address, not a hand-off.
    """
    table, index = (block.values[o] for o in wire.operands)
    rows = table.shape[0]
    return _cut(found[table.id], table, 0, (rows - min(rows, index.size), rows), (), None)


_Rule = Callable[[Block, Wire, Found], tuple[Piece, ...]]
_RULES: Mapping[str, _Rule] = MappingProxyType(
    {
        "slice": _slice, "take": _take, "repeat": _repeat, "stack": _stack, "concat": _concat,
        "gather": _gather,
    }
)  # fmt: skip
