"""The builder on which recipes write their mathematics.

Every method returns a `Value`. Shapes come from named dimensions, lifetimes and operation classes from the operands,
counts from the primitive: a recipe states none of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from tokenviz.graph import Block, Lifetime, Op, Operand, Role, State, StateKind, Transform, Value, Wire, check
from tokenviz.notation import GraphError, size
from tokenviz.primitives import Sizes, primitive
from tokenviz.wires import WIRES

Dims = tuple[str, ...]


@lru_cache(maxsize=1024)
def parse_equation(equation: str) -> tuple[Dims, Dims, Dims]:
    """Split ``"F D, T D -> T F"`` into its three lists of letters."""
    left, out = equation.split("->")
    a, b = left.split(",")
    return tuple(a.split()), tuple(b.split()), tuple(out.split())


class Builder:
    """Traces one block. `sizes` gives the extent of each letter; letters without one are an error."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self.sizes = dict(sizes)
        self.values: dict[str, Value] = {}
        self.program: list[Op | Wire] = []
        self.transforms: list[Transform] = []
        self.states: list[State] = []
        self.inputs: dict[str, str] = {}
        self._open: tuple[str, list[Op]] | None = None
        self._prefix = ""
        self._exports: dict[str, Value] = {}

    # ---------------------------------------------------------------- values that come from outside

    def input(self, port: str, dims: str, *, name: str, dtype: str = "activation", says: str = "") -> Value:
        """A value that enters the block through `port`; asked for twice it is one value."""
        if port in self.inputs:
            return self.values[self.inputs[port]]
        value = self._value(port, name, _dims(dims), Lifetime.EPHEMERAL, Role.INPUT, dtype, says=says)
        self.inputs[port] = value.id
        return value

    def weight(self, id: str, dims: str, *, name: str, scope: str = "", says: str = "") -> Value:
        """A parameter; asked for twice under one id it is one value. `scope` names a weight shared between blocks."""
        own = self._prefix + id
        if own in self.values:
            return self.values[own]
        return self._value(own, name, _dims(dims), Lifetime.STATIC, Role.WEIGHT, "weight", scope=scope, says=says)

    def buffer(self, id: str, dims: str, *, name: str, says: str = "") -> Value:
        """A stored value that is not a parameter, such as a router's correction bias."""
        return self._value(self._prefix + id, name, _dims(dims), Lifetime.STATIC, Role.BUFFER, "weight", says=says)

    def state(self, id: str, dims: str, *, name: str, dtype: str, says: str = "") -> Value:
        """What the step finds kept from earlier tokens."""
        return self._value(self._prefix + id, name, _dims(dims), Lifetime.STATE, Role.STATE, dtype, says=says)

    def position(self) -> Value:
        """Positions of the step's new tokens, ``T``: the input port ``position``."""
        return self.input("position", "T", name="position", dtype="index", says="Positions of the new tokens.")

    def export(self, port: str, value: Value) -> None:
        """Hand a value to later blocks through an output port of this one."""
        self._exports[port] = value

    def find(self, id: str) -> Value | None:
        """A value made earlier under this id (and the branch's prefix), or None."""
        return self.values.get(self._prefix + id)

    @contextmanager
    def prefixed(self, branch: str, sizes: Mapping[str, int] = MappingProxyType({})) -> Iterator[None]:
        """Put ``branch.`` before the ids of what is made inside; `sizes` gives letters that hold only there."""
        before, letters = self._prefix, self.sizes
        self._prefix, self.sizes = f"{before}{branch}.", {**letters, **sizes}
        try:
            yield
        finally:
            self._prefix, self.sizes = before, letters

    # ---------------------------------------------------------------- transforms

    @contextmanager
    def transform(self, id: str, kind: str, title: str, *, equation: str, says: str) -> Iterator[None]:
        """Open a transform; the operations made inside run one after the other."""
        if self._open is not None:
            raise GraphError(f"transform {id} opened inside {self._open[0]}")
        own = self._prefix + id
        unique, n = own, 2
        while any(t.id == unique for t in self.transforms):
            unique, n = f"{own}_{n}", n + 1
        ops: list[Op] = []
        self._open = (unique, ops)
        try:
            yield
        finally:
            self._open = None
        self.transforms.append(Transform(unique, kind, title, equation, says, tuple(ops)))

    def op(
        self,
        name: str,
        *operands: Value | float,
        dims: Dims,
        label: str,
        out: str = "",
        role: Role = Role.ACTIVATION,
        lifetime: Lifetime = Lifetime.EPHEMERAL,
        dtype: str = "activation",
        attrs: Mapping[str, Any] | None = None,
        extra: tuple[tuple[str, Dims, str], ...] = (),
    ) -> Value:
        """Append one operation of primitive `name`; `extra` lists further results as (name, dims, dtype)."""
        if self._open is None:
            raise GraphError(f"{name} used outside a transform")
        rule, (transform, ops) = primitive(name), self._open
        op_id = self._fresh(f"{transform}.{name}")
        result = self._value(op_id, out or label, dims, lifetime, role, dtype)
        results = [result.id]
        for extra_name, extra_dims, extra_dtype in extra:
            more = self._value(f"{op_id}.{extra_name}", extra_name, extra_dims, lifetime, role, extra_dtype)
            results.append(more.id)
        attrs = attrs or {}
        sizes = Sizes(tuple(o.size if isinstance(o, Value) else 1 for o in operands), result.size, attrs)
        op_class, reason = rule.classify(operands)
        ids: tuple[Operand, ...] = tuple(o.id if isinstance(o, Value) else o for o in operands)
        op = Op(op_id, label, name, ids, tuple(results), op_class, reason, rule.counts(sizes), transform, attrs)
        ops.append(op)
        self.program.append(op)
        return result

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
        dims = tuple(d for d in a.dims if d not in _dims(over))
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
        where = _dims(dims).index(axis)
        return self.op(
            "append", kept, new, dims=_dims(dims), label=label, dtype=kept.dtype, attrs={"axis": where, "keep": keep}
        )

    def save(self, kept: Value, new: Value, kind: StateKind, *, name: str, label: str, says: str = "") -> Value:
        """Write a fixed-size state back in place."""
        written = self.op(
            "save", new, dims=new.dims, label=label, lifetime=Lifetime.STATE, role=Role.STATE, dtype=kept.dtype
        )
        self.states.append(State(kept.id, name, kind, kept.id, written.id, kept.size, None, says))
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
        self.states.append(State(kept.id, name, kind, kept.id, written.id, new.size, window, says, used))
        return written

    # ---------------------------------------------------------------- rearrangements

    def wire(
        self, kind: str, operands: Sequence[Value], dims: Dims, *, name: str = "",
        attrs: Mapping[str, Any] | None = None, lifetime: Lifetime | None = None, role: Role | None = None,
    ) -> Value:  # fmt: skip
        """Append a rearrangement of `kind`; the result's roots are those of its operands."""
        if kind not in WIRES:
            raise GraphError(f"no rule for rearrangement {kind!r}")
        first = operands[0]
        lifetimes = {v.lifetime for v in operands}
        if lifetime is None:
            lifetime = next(x for x in (Lifetime.STATE, Lifetime.EPHEMERAL, Lifetime.STATIC) if x in lifetimes)
        roots = tuple(dict.fromkeys(r for v in operands for r in v.roots))
        value_id = self._fresh(f"{first.id}~{kind}")
        value = self._value(value_id, name or first.name, dims, lifetime, role or Role.VIEW, first.dtype, roots=roots)
        self.program.append(Wire(value_id, kind, tuple(v.id for v in operands), value_id, attrs or {}))
        return value

    def split(self, a: Value, axis: str, parts: Sequence[tuple[str, str]]) -> list[Value]:
        """Cut `axis` into parts, each (name, dims that replace the axis): ``[("q", "J P"), ("v", "U Q")]``."""
        found, start = [], 0
        for name, letters in parts:
            new = _dims(letters)
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
        return self.wire("concat", parts, _dims(dims), name=name, attrs={"axis": axis}, role=role)

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

    def coefficients(self, position: Value, table: Callable[..., Any], dims: str, name: str) -> Value:
        """Rows of a static table that the token's position selects, such as RoPE's cosines."""
        value_id = self._fresh(f"{self._prefix}coefficient.{name}")
        value = self._value(value_id, name, _dims(dims), Lifetime.STATIC, Role.COEFFICIENT, "coefficient")
        self.program.append(Wire(value_id, "positions", (position.id,), value_id, {"table": table}))
        return value

    def constant(self, array: Any, dims: str, name: str) -> Value:
        """Numbers that are part of the mathematics, such as the multipliers of a config; neither weights nor work."""
        value_id = self._fresh(f"{self._prefix}constant.{name}")
        value = self._value(value_id, name, _dims(dims), Lifetime.STATIC, Role.FOLDED, "weight")
        self.program.append(Wire(value_id, "constant", (), value_id, {"array": array}))
        return value

    # ---------------------------------------------------------------- finishing

    def build(self, *, key: str, kind: str, title: str, says: str, spec: object, outputs: Mapping[str, Value]) -> Block:
        """Freeze the block; `GraphError` unless it is well formed (see `graph.check`)."""
        ports = {port: value.id for port, value in {**self._exports, **outputs}.items()}
        block = Block(
            key=key, kind=kind, title=title, says=says, spec=spec, values=MappingProxyType(self.values),
            transforms=tuple(self.transforms), program=tuple(self.program), states=tuple(self.states),
            inputs=MappingProxyType(self.inputs), outputs=MappingProxyType(ports), sizes=MappingProxyType(self.sizes),
        )  # fmt: skip
        return check(block)

    # ---------------------------------------------------------------- helpers

    def _extent(self, letter: str) -> int:
        try:
            return self.sizes[letter]
        except KeyError:
            raise GraphError(f"no size for letter {letter!r}") from None

    def _fresh(self, id: str) -> str:
        unique, n = id, 2
        while unique in self.values:
            unique, n = f"{id}{n}", n + 1
        return unique

    def _value(
        self, id: str, name: str, dims: Dims, lifetime: Lifetime, role: Role, dtype: str,
        *, roots: tuple[str, ...] | None = None, scope: str = "", says: str = "",
    ) -> Value:  # fmt: skip
        if id in self.values:
            raise GraphError(f"value {id} is made twice")
        shape = tuple(self._extent(d) for d in dims)
        value = Value(id, name, dims, shape, lifetime, role, dtype, roots or (id,), scope, says)
        self.values[id] = value
        return value


@lru_cache(maxsize=4096)
def _dims(letters: str) -> Dims:
    return tuple(letters.split())


def _replace(dims: Dims, old: str, new: str) -> Dims:
    return tuple(new if d == old else d for d in dims)


def _wider(a: Value, b: Value | float) -> str:
    """Precision of a result: the recurrent state's when one operand has it, else that of the live operand."""
    if isinstance(b, Value):
        for dtype in ("recurrent", "activation", "kv", "conv"):
            if dtype in (a.dtype, b.dtype):
                return dtype
    return a.dtype
