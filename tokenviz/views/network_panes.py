"""From a recorded value to panes: which dimension is a head, which are rows and columns, and how they are named."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokenviz.decoder.stations import Port
from tokenviz.decoder.tokenizer import END
from tokenviz.views.network_values import Grid, Pane

Array = NDArray[Any]


def piece_names(pieces: Sequence[str]) -> tuple[str, ...]:
    """Text pieces with their spaces made visible."""
    return tuple(piece.replace(" ", "·") for piece in pieces)


def window_pieces(pieces: Sequence[str]) -> tuple[str, ...]:
    """The pieces of a window; the end token in first place marks the start of a text."""
    return tuple("start" if i == 0 and piece == END else piece for i, piece in enumerate(pieces))


def numbered(pieces: Sequence[str]) -> tuple[str, ...]:
    """Pieces with their positions, counted from 0."""
    return tuple(f"{i} {piece}" for i, piece in enumerate(piece_names(pieces)))


def grid(port: Port, value: Array, pieces: Sequence[str], new: int, vocabulary: Sequence[str]) -> Grid:
    """A value as panes.

    Rows are positions: `pieces` are all in the window, the last `new` were computed now. Attention by head has keys as
    columns; scores over the vocabulary have tokens as columns; all else has numbered coordinates.
    """
    dims, keys = port.dims, numbered(pieces)
    queries, cached = keys[len(keys) - new :], len(keys) - new
    named = {"T": ("position", queries), "S": ("position", keys), "next": ("position", keys)}
    if value.ndim == 1:
        values, title = (value[:, None], dims[0]) if dims[0] in named else (value[None], "")
        dims = (dims[0], "one") if dims[0] in named else ("", dims[0])
        return _plain(values, dims, named, vocabulary)
    if dims == ("T", "V") and _are_shares(value):
        return replace(_plain(value, dims, named, vocabulary), shares=True)
    if len(dims) == 4 and dims[0] == "T":
        return replace(_by_head(value, dims, queries, keys), new_column=cached if dims[3] == "S" else None)
    if len(dims) == 3 and dims[1] == "K":
        title, names = named[dims[0]]
        panes = tuple(Pane(f"key/value head {k}", value[:, k]) for k in range(value.shape[1]))
        kept = cached if dims[0] in ("S", "next") else None
        return Grid(panes, tuple(names), _numbers(value.shape[2]), title, "coordinate", new_row=kept)
    if dims[0] not in named and value.ndim > 2:  # a weight by heads: rows of the matrix as it is multiplied
        tail = value.shape[-1] if dims[-1] == "D" else int(np.prod(value.shape[1:]))
        value, dims = value.reshape(-1, tail), ("row", "column")
    return _plain(value, dims, named, vocabulary)


def _by_head(value: Array, dims: tuple[str, ...], queries: Sequence[str], keys: Sequence[str]) -> Grid:
    """T K G and keys or coordinates: one pane for each query head, named with the head that it shares."""
    group = value.shape[2]
    heads = [(k, g) for k in range(value.shape[1]) for g in range(group)]
    panes = tuple(Pane(f"head {k * group + g} · key/value head {k}", value[:, k, g]) for k, g in heads)
    if dims[3] == "S":
        return Grid(panes, tuple(queries), tuple(keys), "query", "key", _are_shares(value))
    return Grid(panes, tuple(queries), _numbers(value.shape[3]), "position", "coordinate")


def place(dims: int, group: int, pane: int, row: int, column: int) -> tuple[int, ...]:
    """The index of a pane's cell in a value of 2 dimensions, of 3 (by key/value head) or of 4 (by query head).

    >>> place(2, 2, 0, 5, 7), place(3, 2, 1, 5, 7), place(4, 2, 3, 5, 7)
    ((5, 7), (5, 1, 7), (5, 1, 1, 7))
    """
    if dims == 2:
        return row, column
    return (row, pane, column) if dims == 3 else (row, *divmod(pane, group), column)


def _are_shares(value: Array) -> bool:
    """Whether all entries lie from 0 to 1; minus infinity stands for what is not allowed."""
    allowed = value[~np.isneginf(value)]
    return bool(np.isfinite(allowed).all() and allowed.min(initial=0.0) >= 0 and allowed.max(initial=0.0) <= 1)


def not_allowed(value: Array, new: int) -> Array:
    """Shares of attention ``T K G S`` with the keys that come after their query marked as minus infinity."""
    queries, keys = np.arange(value.shape[0]), np.arange(value.shape[3])
    later = keys[None, :] > (value.shape[3] - new + queries)[:, None]
    return np.where(later[:, None, None, :], -np.inf, value)


def _plain(
    value: Array, dims: tuple[str, ...], named: Mapping[str, tuple[str, Sequence[str]]], vocabulary: Sequence[str]
) -> Grid:
    titles, names = [], []
    for letter, extent in zip(dims, value.shape, strict=True):
        if letter in named:
            titles.append(named[letter][0])
            names.append(tuple(named[letter][1]))
        elif letter == "V":
            titles.append("token")
            names.append(tuple(f"{piece} ({i})" for i, piece in enumerate(piece_names(vocabulary))))
        else:
            titles.append({"": "", "one": "", "row": "row"}.get(letter, "coordinate"))
            names.append(_numbers(extent))
    return Grid((Pane("all", value),), names[0], names[1], titles[0], titles[1])


def _numbers(extent: int) -> tuple[str, ...]:
    return tuple(str(i) for i in range(extent))
