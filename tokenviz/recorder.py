"""What a builder has recorded so far: values, operations, transforms, states; and the checks while they are added.

`op` and `wire` are the only ways in which a value is made of others. Shapes come from named dimensions, classes and
counts from the primitive, roots and lifetimes of a rearrangement from its operands.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from tokenviz.graph import Block, Lifetime, Op, Operand, Role, State, Transform, Value, Wire, check
from tokenviz.notation import GraphError
from tokenviz.primitives import Dims, Sizes, primitive
from tokenviz.wires import WIRES


class Recorder:
    """Records one block. `sizes` gives the extent of each letter; letters without one are an error."""

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
        self._next: dict[str, int] = {}  # id -> the first number that may still be free behind it

    # ---------------------------------------------------------------- values that come from outside

    def input(self, port: str, dims: str, *, name: str, dtype: str = "activation", says: str = "") -> Value:
        """A value that enters the block through `port`; asked for twice it is one value."""
        if port in self.inputs:
            return self.values[self.inputs[port]]
        value = self._value(port, name, dims_of(dims), Lifetime.EPHEMERAL, Role.INPUT, dtype, says=says)
        self.inputs[port] = value.id
        return value

    def weight(self, id: str, dims: str, *, name: str, scope: str = "", says: str = "") -> Value:
        """A parameter; asked for twice under one id it is one value. `scope` names a weight shared between blocks."""
        own = self._prefix + id
        if own in self.values:
            if self.values[own].dims != dims_of(dims):
                raise GraphError(f"weight {own} is {' '.join(self.values[own].dims)!r}, asked for as {dims!r}")
            return self.values[own]
        return self._value(own, name, dims_of(dims), Lifetime.STATIC, Role.WEIGHT, "weight", scope=scope, says=says)

    def buffer(self, id: str, dims: str, *, name: str, says: str = "") -> Value:
        """A stored value that is not a parameter, such as a router's correction bias."""
        return self._value(self._prefix + id, name, dims_of(dims), Lifetime.STATIC, Role.BUFFER, "weight", says=says)

    def state(self, id: str, dims: str, *, name: str, dtype: str, says: str = "") -> Value:
        """What the step finds kept from earlier tokens."""
        return self._value(self._prefix + id, name, dims_of(dims), Lifetime.STATE, Role.STATE, dtype, says=says)

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

    # ---------------------------------------------------------------- transforms, operations, rearrangements

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
        self.transforms.append(
            Transform(id=unique, kind=kind, title=title, equation=equation, says=says, ops=tuple(ops))
        )

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
        op = Op(
            id=op_id, label=label, primitive=name, operands=ids, results=tuple(results), op_class=op_class,
            reason=reason, counts=rule.counts(sizes), transform=transform, attrs=attrs,
        )  # fmt: skip
        ops.append(op)
        self.program.append(op)
        return result

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
        ids = tuple(v.id for v in operands)
        self.program.append(Wire(id=value_id, kind=kind, operands=ids, result=value_id, attrs=attrs or {}))
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
        unique, n = id, self._next.get(id, 2)
        while unique in self.values:
            unique, n = f"{id}{n}", n + 1
        self._next[id] = n
        return unique

    def _value(
        self, id: str, name: str, dims: Dims, lifetime: Lifetime, role: Role, dtype: str,
        *, roots: tuple[str, ...] | None = None, scope: str = "", says: str = "",
    ) -> Value:  # fmt: skip
        if id in self.values:
            raise GraphError(f"value {id} is made twice")
        shape = tuple(self._extent(d) for d in dims)
        value = Value(
            id=id, name=name, dims=dims, shape=shape, lifetime=lifetime, role=role, dtype=dtype, roots=roots or (id,),
            scope=scope, says=says,
        )  # fmt: skip
        self.values[id] = value
        return value


@lru_cache(maxsize=4096)
def dims_of(letters: str) -> Dims:
    """``"T D"`` -> ``("T", "D")``."""
    return tuple(letters.split())
