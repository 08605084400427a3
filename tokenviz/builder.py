"""The builder on which recipes write their mathematics.

Every method returns a `Value`. Shapes come from named dimensions, lifetimes and operation classes from the operands,
counts from the primitive: a recipe states none of them.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokenviz.graph import Lifetime, Role, State, StateKind, Value, Wire
from tokenviz.notation import GraphError, size
from tokenviz.primitives import Dims
from tokenviz.recorder import Recorder, dims_of

Positions = NDArray[np.integer]
Coefficients = NDArray[np.float32]
Table = Callable[[Positions], Coefficients]
"""Positions of the new tokens, ``T`` -> the coefficients that they select."""


@lru_cache(maxsize=1024)
def parse_equation(equation: str) -> tuple[Dims, Dims, Dims]:
    """Split ``"F D, T D -> T F"`` into its three lists of letters."""
    left, out = equation.split("->")
    a, b = left.split(",")
    return tuple(a.split()), tuple(b.split()), tuple(out.split())


class Builder(Recorder):
    """Traces one block. `sizes` gives the extent of each letter; letters without one are an error."""

    # ---------------------------------------------------------------- arithmetic, element by element

    def binary(self, name: str, a: Value, b: Value | float, label: str, out: str = "") -> Value:
        """Combine two values that broadcast by dimension name; the result has the dimensions of the larger one."""
        dims = a.dims
        if isinstance(b, Value) and not set(b.dims) <= set(dims):
            if not set(dims) <= set(b.dims):
                raise GraphError(f"{label}: {a.dims} and {b.dims} do not broadcast by name")
            dims = b.dims
        return self.op(name, a, b, dims=dims, label=label, out=out, dtype=_wider(a, b))

    def multiply(self, a: Value, b: Value | float, label: str = "×", out: str = "") -> Value:
        """a · b."""
        return self.binary("multiply", a, b, label, out)

    def divide(self, a: Value, b: Value | float, label: str = "÷", out: str = "") -> Value:
        """a / b."""
        return self.binary("divide", a, b, label, out)

    def add(self, a: Value, b: Value | float, label: str = "+", out: str = "") -> Value:
        """a + b."""
        return self.binary("add", a, b, label, out)

    def subtract(self, a: Value, b: Value | float, label: str = "−", out: str = "") -> Value:
        """a − b."""
        return self.binary("subtract", a, b, label, out)

    def unary(self, name: str, a: Value, label: str = "", out: str = "") -> Value:
        """A function of one value, element by element: exp, log1p, rsqrt, tanh, erf, negate, reciprocal, relu."""
        return self.op(name, a, dims=a.dims, label=label or name, out=out, dtype=a.dtype)

    def reduce(self, name: str, a: Value, over: str, label: str = "", out: str = "") -> Value:
        """Reduce away one dimension, or several (``"K G H"``): sum, mean or max."""
        dims = tuple(d for d in a.dims if d not in dims_of(over))
        return self.op(name, a, dims=dims, label=label or name, out=out, dtype=a.dtype, attrs={"over": over})

    # ---------------------------------------------------------------- contractions: MAC pairs

    def contract(
        self,
        equation: str,
        a: Value,
        b: Value,
        *,
        labels: tuple[str, str] = ("products", "sum each row"),
        out: str = "",
    ) -> Value:
        """An einsum of two operands as its two operations: the products, then the sum of each row."""
        dims_a, dims_b, dims_out = parse_equation(equation)
        if a.dims != dims_a or b.dims != dims_b:
            raise GraphError(f"{equation!r} does not fit {a.id} {a.dims} and {b.id} {b.dims}")
        summed = tuple(d for d in dims_a if d in dims_b and d not in dims_out)
        dtype = b.dtype if a.dtype == "weight" else _wider(a, b)
        dtype = "activation" if dtype == "kv" else dtype
        attrs = {"equation": equation, "a": dims_a, "b": dims_b}
        made = self.op(
            "products", a, b, dims=dims_out + summed, label=labels[0], role=Role.PRODUCT, dtype=dtype, attrs=attrs
        )
        return self.op("row_sum", made, dims=dims_out, label=labels[1], out=out, dtype=dtype, attrs=attrs)

    def accumulate(
        self, into: Value, a: Value, b: Value, *, labels: tuple[str, str] = ("outer product", "+"), out: str = ""
    ) -> Value:
        """A rank-1 update of `into` as its two operations: the products of every pair, then their accumulation."""
        products = self.op("outer", a, b, dims=into.dims, label=labels[0], role=Role.PRODUCT, dtype=into.dtype)
        return self.op("accumulate", into, products, dims=into.dims, label=labels[1], out=out, dtype=into.dtype)

    # ---------------------------------------------------------------- choosing, moving, keeping

    def top_k(
        self, a: Value, k: str, over: str, *, rank_by: Value | None = None, label: str, at_most: int | None = None
    ) -> tuple[Value, Value]:
        """The k largest entries along `over` (ranked by `rank_by` when given) and their indices.

        `at_most` is given where `over` grows with the context: k is then the smaller of the two.
        """
        dims = tuple(k if d == over else d for d in a.dims)
        operands = (a,) if rank_by is None else (a, rank_by)
        attrs = {"over": over, "k": self.sizes[k], "n": self.sizes[over], "at_most": at_most}
        top = self.op("top_k", *operands, dims=dims, label=label, attrs=attrs, extra=(("index", dims, "index"),))
        return top, self.values[f"{top.id}.index"]

    def append(self, kept: Value, new: Value, dims: str, axis: str, *, label: str, keep: int | None = None) -> Value:
        """Put new entries behind the kept ones along `axis`; keep the last `keep` of them."""
        where = dims_of(dims).index(axis)
        return self.op(
            "append", kept, new, dims=dims_of(dims), label=label, dtype=kept.dtype, attrs={"axis": where, "keep": keep}
        )

    def save(self, kept: Value, new: Value, kind: StateKind, *, name: str, label: str, says: str = "") -> Value:
        """Write a fixed-size state back in place."""
        written = self.op(
            "save", new, dims=new.dims, label=label, lifetime=Lifetime.STATE, role=Role.STATE, dtype=kept.dtype
        )
        self.states.append(
            State(
                id=kept.id, name=name, kind=kind, read=kept.id, written=written.id, appended=kept.size, window=None,
                says=says,
            )
        )  # fmt: skip
        return written

    def store(
        self, kept: Value, new: Value, axis: str, *, name: str, label: str, window: int | None, says: str = "",
        used: int | None = None,
    ) -> Value:  # fmt: skip
        """Append new positions to a cache; with a window only the last ``window - 1`` stay.

        `used` is how many kept elements the step reads, when it does not read them all.
        """
        where = kept.dims.index(axis)
        keep = None if window is None else window - 1
        written = self.op(
            "append", kept, new, dims=_replace(kept.dims, axis, "next"), label=label,
            lifetime=Lifetime.STATE, role=Role.STATE, dtype=kept.dtype, attrs={"axis": where, "keep": keep},
        )  # fmt: skip
        kind = StateKind.GROWING if window is None else StateKind.WINDOW
        self.states.append(
            State(
                id=kept.id, name=name, kind=kind, read=kept.id, written=written.id, appended=new.size, window=window,
                says=says, used=used,
            )
        )  # fmt: skip
        return written

    # ---------------------------------------------------------------- rearrangements

    def split(self, a: Value, axis: str, parts: Sequence[tuple[str, str]]) -> list[Value]:
        """Cut `axis` into parts, each (name, dims that replace the axis): ``[("q", "J P"), ("v", "U Q")]``."""
        found, start = [], 0
        for name, letters in parts:
            new = dims_of(letters)
            width = size(self._extent(d) for d in new)
            dims = tuple(x for d in a.dims for x in (new if d == axis else (d,)))
            shape = tuple(-1 if d in ("S", "seen") else self._extent(d) for d in dims)
            attrs = {"axis": axis, "start": start, "stop": start + width, "shape": shape}
            found.append(self.wire("slice", (a,), dims, name=name, attrs=attrs))
            start += width
        if start != self._extent(axis):
            raise GraphError(f"{a.id}: parts of {axis} add up to {start}, not {self._extent(axis)}")
        return found

    def take(self, a: Value, axis: str, index: int) -> Value:
        """The entry `index` along `axis`."""
        return self.wire("take", (a,), tuple(d for d in a.dims if d != axis), attrs={"axis": axis, "index": index})

    def stack(self, parts: Sequence[Value], axis: str, name: str) -> Value:
        """Put equal values side by side along a new leading `axis`."""
        return self.wire("stack", parts, (axis, *parts[0].dims), name=name, attrs={"axis": axis})

    def concat(self, parts: Sequence[Value], dims: str, axis: str, name: str, role: Role | None = None) -> Value:
        """Join values along `axis`, named as in `dims`."""
        return self.wire("concat", parts, dims_of(dims), name=name, attrs={"axis": axis}, role=role)

    def repeat(self, a: Value, axis: str, to: str) -> Value:
        """Let several heads share one: each entry of `axis` is read sizes[to] // sizes[axis] times, in order."""
        attrs = {"axis": axis, "times": self._extent(to) // self._extent(axis)}
        return self.wire("repeat", (a,), _replace(a.dims, axis, to), attrs=attrs)

    def gather(self, table: Value, index: Value, axis: str) -> Value:
        """The rows of a static table that `index` chooses; `axis`, the table's first dimension, becomes index's."""
        dims = (*index.dims, *(d for d in table.dims if d != axis))
        return self.wire("gather", (table, index), dims, lifetime=table.lifetime)

    def fold(
        self, compute: Callable[..., Any], operands: Sequence[Value], name: str, dims: Dims | None = None
    ) -> Value:
        """A function of weights that is computed once, before any token."""
        return self.wire(
            "fold", operands, dims or operands[0].dims, name=name, attrs={"compute": compute}, role=Role.FOLDED
        )

    def coefficients(self, position: Value, table: Table, dims: str, name: str) -> Value:
        """Rows of a static table that the token's position selects, such as RoPE's cosines."""
        value_id = self._fresh(f"{self._prefix}coefficient.{name}")
        value = self._value(value_id, name, dims_of(dims), Lifetime.STATIC, Role.COEFFICIENT, "coefficient")
        self.program.append(
            Wire(id=value_id, kind="positions", operands=(position.id,), result=value_id, attrs={"table": table})
        )
        return value

    def constant(self, array: NDArray[np.float32], dims: str, name: str) -> Value:
        """Numbers that are part of the mathematics, such as the multipliers of a config; neither weights nor work."""
        value_id = self._fresh(f"{self._prefix}constant.{name}")
        value = self._value(value_id, name, dims_of(dims), Lifetime.STATIC, Role.FOLDED, "weight")
        self.program.append(Wire(id=value_id, kind="constant", operands=(), result=value_id, attrs={"array": array}))
        return value


def _replace(dims: Dims, old: str, new: str) -> Dims:
    return tuple(new if d == old else d for d in dims)


def _wider(a: Value, b: Value | float) -> str:
    """Precision of a result: the recurrent state's when one operand has it, else that of the live operand."""
    if isinstance(b, Value):
        for dtype in ("recurrent", "activation", "kv", "conv"):
            if dtype in (a.dtype, b.dtype):
                return dtype
    return a.dtype
