"""Rotary position embedding: the coefficients, and the three operations that apply them. Su et al. 2021."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from tokenviz.architecture import Rope
from tokenviz.builder import Builder, Coefficients, Table
from tokenviz.graph import Value
from tokenviz.recipes.rope_scaling import inverse_frequencies

Angles = NDArray[np.float64]


def coefficients(b: Builder, rope: Rope) -> tuple[Value, Value]:
    """Cosines and sines for the step's positions, each ``T rotated``; made once per block."""
    cos, sin = b.find("coefficient.cos"), b.find("coefficient.sin")
    if cos is not None and sin is not None:
        return cos, sin
    position = b.position()

    def table(wave: str) -> Table:
        return lambda positions: _waves(rope, tuple(positions.tolist()))[wave]

    cos = b.coefficients(position, table("cos"), "T rotated", "cos")
    sin = b.coefficients(position, table("sin"), "T rotated", "sin")
    return cos, sin


@lru_cache(maxsize=4)
def _waves(rope: Rope, positions: tuple[int, ...]) -> Mapping[str, Coefficients]:
    """Both tables for these positions; the sections of one step ask for the same ones."""
    angle, factor = angles(rope, positions)
    tables = {name: (wave(angle) * factor).astype(np.float32) for name, wave in (("cos", np.cos), ("sin", np.sin))}
    for table in tables.values():
        table.flags.writeable = False
    return MappingProxyType(tables)


def angles(rope: Rope, positions: tuple[int, ...]) -> tuple[Angles, float]:
    """(angles ``T rotated``, factor on their cosines and sines)."""
    frequency, factor = inverse_frequencies(rope, positions[-1] + 1)
    angle = np.multiply.outer(np.array(positions, dtype=np.float64), frequency)
    return np.concatenate((angle, angle), -1) if rope.pairing == "half" else np.repeat(angle, 2, -1), factor


def apply_rope(b: Builder, x: Value, rope: Rope, *, id: str, name: str) -> Value:
    """Turn the first `rope.dims` coordinates of each head of x (``... H``) by the token's position."""
    whole = rope.dims == b.sizes["H"]
    if whole:
        (turning,) = b.split(x, "H", [(name, "rotated")])
        rest = None
    else:
        turning, rest = b.split(x, "H", [(name, "rotated"), (f"{name} unturned", "passed")])
    done = turn(b, turning, rope, id=id, name=name)
    dims = " ".join(x.dims)
    if rest is None:
        return b.wire("slice", (done,), x.dims, name=f"{name}′", attrs=_rename("rotated", x))
    return b.concat((done, rest), dims, "H", f"{name}′")


def turn(b: Builder, turning: Value, rope: Rope, *, id: str, name: str) -> Value:
    """Turn all coordinates of a value (``... rotated``) by the token's position: three operations."""
    cos, sin = coefficients(b, rope)
    kind = "rotate_half" if rope.pairing == "half" else "rotate_pairs"
    turned = b.wire(kind, (turning,), turning.dims, name=f"{name} turned by 90°", attrs={"axis": "rotated"})
    with b.transform(
        id,
        "RoPE",
        f"RoPE on {name}",
        equation=rf"{name}' = {name} \odot \cos(p\theta) + \operatorname{{rot}}({name}) \odot \sin(p\theta)",
        says="Turns pairs of coordinates by an angle that grows with the position, so that dot products see distance.",
    ):
        first = b.multiply(turning, cos, "× cos")
        second = b.multiply(turned, sin, "rotated × sin")
        return b.add(first, second, "add", f"{name}′")


def _rename(axis: str, like: Value) -> dict[str, object]:
    return {"axis": axis, "start": 0, "stop": None, "shape": like.shape}
