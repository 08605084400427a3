"""The same graph counted four ways, so that nobody takes one way of counting for the truth.

    as drawn       one unit for each operation; a transform waits for all that feed it, then runs its own in order
    dataflow       one unit for each operation; an operation waits for its own operands only
    scalar depth   one unit for each level of a balanced binary tree: what unlimited hardware could not beat
    fused          one unit for each kernel that common fused implementations launch (`KERNELS`)

One engine (`lay_out`) serves all four: a convention says how operations are grouped into units, what a unit waits for,
and how wide the unit is at each timestep it lasts. Blocks follow each other: nothing of a block starts before its
residual input is ready. Equal blocks are laid out once, whatever the number of layers.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from tokenviz.fusion import KERNELS, kernel_groups
from tokenviz.graph import Block, DecodeStep, Op, OpClass
from tokenviz.notation import GraphError

Levels = tuple[int, ...]
"""How many scalar or drawn operations run at each timestep of a unit; its length is the unit's duration."""


@dataclass(frozen=True, slots=True)
class Unit:
    """Operations that start together: what they wait for (indices of earlier units) and how wide they are in time."""

    ops: tuple[Op, ...]
    waits: tuple[int, ...]
    levels: Levels


@dataclass(frozen=True, slots=True)
class Convention:
    """One way of counting. `units` groups a block's operations, in an order in which every wait points back."""

    name: str
    title: str
    unit: str  # what one unit of time, and one operation, is
    says: str  # the assumption, in one or two sentences
    units: Callable[[Block], tuple[Unit, ...]]


@dataclass(frozen=True, eq=False)
class Layout:
    """One block under a convention, in timesteps from the moment its residual input is ready."""

    units: tuple[Unit, ...]
    starts: tuple[int, ...]
    depth: int  # when the last output is ready
    profile: NDArray[np.int64]  # width at each timestep


@dataclass(frozen=True, slots=True)
class Totals:
    """The four figures of a step under one convention."""

    convention: str
    operations: int
    critical_path: int
    peak_parallelism: int

    @property
    def average_parallelism(self) -> float:
        """Work over span."""
        return self.operations / self.critical_path


# ------------------------------------------------------------------------------------------------ durations


def tree_levels(rows: int, n: int) -> Levels:
    """Width of each level of `rows` balanced binary trees over n values: n // 2, then half of what is left, ..."""
    levels = []
    while n > 1:
        levels.append(rows * (n // 2))
        n -= n // 2
    return tuple(levels)


def scalar_levels(block: Block, op: Op) -> Levels:
    """Scalar operations of one op, level by level, on hardware with as many units as it wants.

    Products, and all work element by element, are one level. A sum, a mean, a maximum or the row sum of a contraction
    is a balanced tree: ceil(log2 n) levels. Moving and masking values is wiring: no level. A top-k must see all n
    scores, so ceil(log2 n) levels; its comparisons are spread evenly over them.
    """
    rows = block.values[op.result].size
    if op.primitive in ("row_sum", "sum", "max", "mean", "argmax"):
        first = next(v for v in block.operand_values(op) if not isinstance(v, float))
        tree = tree_levels(rows, first.size // rows)
        return (*tree, rows) if op.primitive == "mean" else tree
    if op.primitive == "top_k":
        depth = (op.attrs["n"] - 1).bit_length()
        return tuple(_share(op.counts["compare"], depth))
    if op.op_class in (OpClass.ROUTE, OpClass.SELECT) and not op.counts:
        return ()
    return (rows,)


def _share(total: int, parts: int) -> Iterator[int]:
    """Whole numbers that differ by one at most and add up to `total`."""
    for i in range(parts):
        yield total * (i + 1) // parts - total * i // parts


# ------------------------------------------------------------------------------------------------ grouping


def _one(_block: Block, _op: Op) -> Levels:
    return (1,)


def drawn_units(block: Block) -> tuple[Unit, ...]:
    """Each op alone: the first of a transform waits for the transforms that feed it, the others for the one before."""
    units: list[Unit] = []
    last: dict[str, int] = {}
    for transform in block.transforms:
        waits = tuple(last[feeder] for feeder in block.feeds[transform.id])
        for op in transform.ops:
            units.append(Unit((op,), waits, (1,)))
            waits = (len(units) - 1,)
        last[transform.id] = len(units) - 1
    return tuple(units)


def _operand_units(levels: Callable[[Block, Op], Levels]) -> Callable[[Block], tuple[Unit, ...]]:
    """Each op alone, waiting for whatever computes its operands."""

    def units(block: Block) -> tuple[Unit, ...]:
        at = {op.id: i for i, op in enumerate(block.ops)}
        return tuple(Unit((op,), tuple(at[p] for p in _producers(block, op)), levels(block, op)) for op in block.ops)

    return units


def _producers(block: Block, op: Op) -> tuple[str, ...]:
    makers = block.producers
    return tuple(dict.fromkeys(makers[r].id for r in block.roots_of(op) if r in makers))


def fused_units(block: Block) -> tuple[Unit, ...]:
    """Each kernel alone: it waits for the kernels that make what it reads. A group without a launch takes no time."""
    groups = kernel_groups(block)
    kernel_of = {op.id: i for i, group in enumerate(groups) for op in group.ops}
    units = []
    for i, group in enumerate(groups):
        waits = {kernel_of[p] for op in group.ops for p in _producers(block, op)} - {i}
        if any(w > i for w in waits):
            raise GraphError(f"{block.key}: kernel {group.name!r} waits for a kernel that comes after it")
        units.append(Unit(group.ops, tuple(sorted(waits)), (1,) if group.launches else ()))
    return tuple(units)


_ALL = (
    Convention(
        "drawn", "as drawn", "operation",
        "Every operation of the drawing takes one unit of time. A transform starts when all transforms that feed "
        "it have finished; its own operations run one after the other.",
        drawn_units,
    ),
    Convention(
        "dataflow", "dataflow", "operation",
        "The same operations, but each one starts as soon as its own operands exist, inside a transform too.",
        _operand_units(_one),
    ),
    Convention(
        "scalar", "scalar depth", "scalar operation",
        "Every scalar multiply, add, compare and function is counted. Products run all at once, a sum of n values "
        "is a balanced tree of ceil(log2 n) levels, moving data is free: no hardware has a shorter chain.",
        _operand_units(scalar_levels),
    ),
    Convention(
        "fused", "fused", "kernel",
        "One unit for each kernel that common fused implementations launch, as listed; a kernel waits for those "
        "whose results it reads.",
        fused_units,
    ),
)  # fmt: skip
CONVENTIONS: Mapping[str, Convention] = MappingProxyType({c.name: c for c in _ALL})

FUSION_LIST = tuple((kernel.name, kernel.says) for kernel in KERNELS)
"""What `fused` merges, in words: (kernel, what is inside). Every transform not named is one kernel."""


# ------------------------------------------------------------------------------------------------ the engine


@lru_cache(maxsize=512)
def lay_out(block: Block, convention: str) -> Layout:
    """Start of every unit of a block (its longest chain of waits), and the width at each timestep."""
    units = CONVENTIONS[convention].units(block)
    ends: list[int] = []
    starts: list[int] = []
    for unit in units:
        starts.append(max((ends[w] for w in unit.waits), default=0))
        ends.append(starts[-1] + len(unit.levels))
    outputs = {r for v in block.outputs.values() for r in block.values[v].roots}
    depth = max(end for unit, end in zip(units, ends, strict=True) if _makes(unit, outputs))
    profile = np.zeros(max(ends), dtype=np.int64)
    for unit, start in zip(units, starts, strict=True):
        profile[start : start + len(unit.levels)] += np.array(unit.levels, dtype=np.int64)
    return Layout(units, tuple(starts), depth, profile)


def _makes(unit: Unit, values: set[str]) -> bool:
    return any(r in values for op in unit.ops for r in op.results)


def totals(step: DecodeStep, convention: str) -> Totals:
    """Operations, critical path and peak of a step, combined from its distinct blocks."""
    layouts = {key: lay_out(block, convention) for key, block in step.blocks.items()}
    operations = sum(int(layouts[b.key].profile.sum()) * count for b, count in step.folded())
    if all(len(x.profile) <= x.depth for x in layouts.values()):
        depth = sum(layouts[b.key].depth * count for b, count in step.folded())
        return Totals(convention, operations, depth, max(int(x.profile.max()) for x in layouts.values() if x.depth))
    running = profile(step, convention)
    return Totals(convention, operations, len(running), int(running.max()))


def all_totals(step: DecodeStep) -> tuple[Totals, ...]:
    """The four figures under each convention, `drawn` first."""
    return tuple(totals(step, name) for name in CONVENTIONS)


def profile(step: DecodeStep, convention: str) -> NDArray[np.int64]:
    """Width at each timestep of the whole step; sums to the operations, as long as the critical path."""
    placed, t = [], 0
    for ref in step.sequence:
        layout = lay_out(step.blocks[ref.block], convention)
        placed.append((t, layout.profile))
        t += layout.depth
    running = np.zeros(max(t, *(start + len(p) for start, p in placed)), dtype=np.int64)
    for start, widths in placed:
        running[start : start + len(widths)] += widths
    return running
