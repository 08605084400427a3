"""The graph of one decode step: values, operations, transforms, blocks.

A recipe traced on a `tokenviz.builder.Builder` yields a frozen `Block`. A `DecodeStep` is a sequence of references to
blocks, so that equal layers share one traced block. Everything that tokenviz reports is a pure function of these types.

    input ──► RMSNorm ──► products · sum ──► ... ──► residual add ──► output
              (transform)  (ops of one transform run one after the other)
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from tokenviz.notation import GraphError, size

Counts = Mapping[str, int]
"""Scalar work of an operation, by counter name (see `COUNTERS`). Exact integers; absent means none."""

COUNTERS = (
    "mac", "multiply", "add", "compare", "exp", "log", "log1p", "rsqrt", "divide", "tanh", "erf", "cos", "sin",
)  # fmt: skip
"""One MAC is one multiply-accumulate pair (2 FLOPs); the other counters leave out what is already inside a MAC."""


class Lifetime(StrEnum):
    """How long a value lives."""

    STATIC = "static"
    EPHEMERAL = "ephemeral"
    STATE = "state"


class Role(StrEnum):
    """What a value is, finer than its lifetime."""

    WEIGHT = "weight"  # a parameter of the model
    BUFFER = "buffer"  # stored beside the parameters, but not one of them
    FOLDED = "folded"  # computed once from weights, before any token
    COEFFICIENT = "coefficient"  # a table indexed by position, such as RoPE's cosines
    STATE = "state"  # read from, or written for, another token
    VIEW = "view"  # a rearrangement of other values
    INPUT = "input"  # enters the block from outside
    ACTIVATION = "activation"  # the result of an operation
    PRODUCT = "product"  # the products of a contraction, summed by the next op and never stored


class OpClass(StrEnum):
    """Which kind of unit an operation asks for; decided by its operands' lifetimes and its primitive."""

    FIXED_LINEAR = "fixed linear"
    DYNAMIC = "dynamic multiply/divide"
    ADD = "add/subtract"
    REDUCTION = "reduction"
    NONLINEAR = "nonlinear transfer"
    POSITION = "position-selected"
    SELECT = "compare/select"
    ROUTE = "route/store"


class StateKind(StrEnum):
    """How a state grows from token to token."""

    GROWING = "growing"  # one entry more for every token
    WINDOW = "window"  # grows until the window is full, then the oldest entry leaves
    RECURRENT = "recurrent"  # fixed size, rewritten in place
    CONVOLUTION = "convolution"  # fixed size, the last taps - 1 columns


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Value:
    """A tensor. Its shape follows `dims`, one letter each; `roots` are the stored or computed values it is made of.

    A value that an op, a weight, a state or an input makes has itself as only root. A rearrangement (`Wire`) computes
    nothing, so its result's roots are those of its operands.
    """

    id: str
    name: str
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    lifetime: Lifetime
    role: Role
    dtype: str  # which precision applies: "weight", "activation", "kv", "recurrent", "conv", "coefficient", "index"
    roots: tuple[str, ...]
    scope: str = ""  # weights only: "" when each layer has its own, else the name shared by all readers
    says: str = ""  # one plain sentence, for people

    @property
    def size(self) -> int:
        """Number of elements."""
        return size(self.shape)


Operand = str | float
"""A value's id, or a constant that is part of the mathematics (eps, 1, 1/sqrt(d))."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Op:
    """One operation: one unit of time in the drawn schedule."""

    id: str
    label: str
    primitive: str
    operands: tuple[Operand, ...]
    results: tuple[str, ...]
    op_class: OpClass
    reason: str  # why it has this class
    counts: Counts
    transform: str
    attrs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def result(self) -> str:
        """Id of the first result."""
        return self.results[0]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Wire:
    """A rearrangement: splits, joins, repeats or picks values, computes nothing and takes no time."""

    id: str
    kind: str
    operands: tuple[str, ...]
    result: str
    attrs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Transform:
    """A named chain of operations that run one after the other, in this order."""

    id: str
    kind: str  # the recipe's name, shared by all uses: "RMSNorm", "projection"
    title: str
    equation: str  # LaTeX
    says: str  # one plain sentence
    ops: tuple[Op, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class State:
    """Something kept between tokens: the value read, the value written back, and how it grows."""

    id: str
    name: str
    kind: StateKind
    read: str  # value id before this step
    written: str  # value id after this step
    appended: int  # elements that the step writes: those of its new positions, or the whole state where it is fixed
    window: int | None  # positions an entry stays readable, the current one included
    says: str = ""
    used: int | None = None  # elements of `read` that the step reads; None: all of them


@dataclass(frozen=True, eq=False, kw_only=True)
class Block:
    """A traced section: one residual input, one residual output, everything in between in program order."""

    key: str
    kind: str
    title: str
    says: str
    spec: object  # what it was traced from; equal specs make equal mathematics
    values: Mapping[str, Value]
    transforms: tuple[Transform, ...]
    program: tuple[Op | Wire, ...]
    states: tuple[State, ...]
    inputs: Mapping[str, str]  # port name -> value id
    outputs: Mapping[str, str]
    sizes: Mapping[str, int]

    @cached_property
    def ops(self) -> tuple[Op, ...]:
        """All operations, transform by transform, in the order drawn."""
        return tuple(op for t in self.transforms for op in t.ops)

    @cached_property
    def producers(self) -> Mapping[str, Op]:
        """Value id -> the operation that makes it (rearranged values are not listed)."""
        return {r: op for op in self.ops for r in op.results}

    @cached_property
    def consumers(self) -> Mapping[str, tuple[Op, ...]]:
        """Root value id -> the operations that read it, directly or through rearrangements, in order."""
        found: dict[str, list[Op]] = {}
        for op in self.ops:
            for root in self.roots_of(op):
                found.setdefault(root, []).append(op)
        return {k: tuple(v) for k, v in found.items()}

    @cached_property
    def transform_by_id(self) -> Mapping[str, Transform]:
        """Transform id -> transform."""
        return {t.id: t for t in self.transforms}

    @cached_property
    def feeds(self) -> Mapping[str, tuple[str, ...]]:
        """Transform id -> ids of the transforms it waits for, in the order they are drawn."""
        made_in = {r: op.transform for op in self.ops for r in op.results}
        found: dict[str, tuple[str, ...]] = {}
        for t in self.transforms:
            seen = {made_in[r]: None for op in t.ops for r in self.roots_of(op) if r in made_in}
            seen.pop(t.id, None)
            found[t.id] = tuple(x.id for x in self.transforms if x.id in seen)
        return found

    @cached_property
    def weights(self) -> tuple[Value, ...]:
        """The parameters that this block reads, in the order of first mention."""
        return tuple(v for v in self.values.values() if v.role is Role.WEIGHT)

    @cached_property
    def buffers(self) -> tuple[Value, ...]:
        """What is stored beside the parameters, such as a router's correction bias, in the order of first mention."""
        return tuple(v for v in self.values.values() if v.role is Role.BUFFER)

    @cached_property
    def label(self) -> str:
        """The title; caches with a window tell a block apart from its kin without one."""
        windows = sorted({s.window for s in self.states if s.window is not None})
        return self.title + "".join(f", window {w:,}" for w in windows)

    def roots_of(self, op: Op) -> tuple[str, ...]:
        """Ids of the root values that an operation reads, each once, in operand order."""
        return tuple(dict.fromkeys(r for o in op.operands if isinstance(o, str) for r in self.values[o].roots))

    def operand_values(self, op: Op) -> Iterator[Value | float]:
        """An operation's operands with values in place of ids."""
        for o in op.operands:
            yield self.values[o] if isinstance(o, str) else o


@dataclass(frozen=True, slots=True)
class BlockRef:
    """A place in the sequence: which traced block runs, and for which layer (None outside the layers)."""

    block: str
    layer: int | None
    section: str  # "lookup", "mixer", "ffn", "output", ...

    @property
    def name(self) -> str:
        """Prefix of this place's weights and states, for instance ``layers.3.mixer``."""
        return self.section if self.layer is None else f"layers.{self.layer}.{self.section}"


@dataclass(frozen=True, eq=False)
class DecodeStep:
    """One step of a model: distinct traced blocks and the order in which they run."""

    blocks: Mapping[str, Block]
    sequence: tuple[BlockRef, ...]
    positions: int
    context: int

    @cached_property
    def multiplicity(self) -> Mapping[str, int]:
        """Block key -> how often it runs, in order of first use."""
        found: dict[str, int] = {}
        for ref in self.sequence:
            found[ref.block] = found.get(ref.block, 0) + 1
        return found

    def folded(self) -> Iterator[tuple[Block, int]]:
        """Each distinct block with its multiplicity."""
        for key, count in self.multiplicity.items():
            yield self.blocks[key], count


def check(block: Block) -> Block:
    """The block itself; `GraphError` unless it is well formed.

    Every value has one maker and is made before it is read, every output exists, and the transforms hold exactly the
    operations of the program, in its order.
    """
    wired = {step.result for step in block.program if isinstance(step, Wire)}
    computed = wired | {r for op in block.ops for r in op.results}
    made = {v.id for v in block.values.values() if v.role not in (Role.ACTIVATION, Role.PRODUCT)} - computed
    for step in block.program:
        for operand in step.operands:
            if isinstance(operand, str) and operand not in made:
                raise GraphError(f"{block.key}: {step.id} reads {operand} before anything makes it")
        for result in (step.result,) if isinstance(step, Wire) else step.results:
            if result in made:
                raise GraphError(f"{block.key}: {result} is made twice")
            made.add(result)
    missing = [v for v in (*block.outputs.values(), *block.values) if v not in made]
    if missing:
        raise GraphError(f"{block.key}: nothing makes {missing[0]}")
    if block.ops != tuple(step for step in block.program if isinstance(step, Op)):
        raise GraphError(f"{block.key}: its transforms do not hold the program's operations in their order")
    return block


def merge_counts(total: dict[str, int], counts: Counts, times: int = 1) -> dict[str, int]:
    """Add `counts` × `times` into `total` and return it."""
    for name, n in counts.items():
        total[name] = total.get(name, 0) + n * times
    return total
