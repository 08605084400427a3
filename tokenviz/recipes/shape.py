"""Rearrangements that several recipes need: regroup a value's dimensions without computing anything."""

from tokenviz.builder import Builder
from tokenviz.graph import Value


def regroup(b: Builder, a: Value, dims: str, name: str = "") -> Value:
    """The same elements in the same order under other dimensions, e.g. ``T U Q`` as ``T groups members``."""
    letters = tuple(dims.split())
    shape = tuple(b.sizes[d] for d in letters)
    attrs = {"axis": a.dims[0], "start": 0, "stop": None, "shape": shape}
    return b.wire("slice", (a,), letters, name=name or a.name, attrs=attrs)
