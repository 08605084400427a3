"""Every operation as a row of plain numbers: where it runs, what it computes, what it reads and writes.

`every_stage` has one row for each operation of each layer, `stages` one for each operation of each distinct block,
summed over all its layers. Both are columns, ready for a table or a CSV, and every column of amounts adds up to the
step's total: a weight's bytes go to the first operation that reads it, a state's read to the first operation that uses
it, its write to the one that makes the new state. A weight that several blocks share counts once, where most is read.

`values in` are the distinct elements that an operation reads: of a table the rows it picks, of what several heads share
each element once, of a cache that it only appends to none. `values out` are those it makes or writes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokenviz.graph import COUNTERS, Block, BlockRef, DecodeStep, Op, Role
from tokenviz.handoffs_parts import Piece, trace_pieces
from tokenviz.handoffs_parts import count as distinct
from tokenviz.scenario import Scenario
from tokenviz.schedule import block_starts, schedule_block
from tokenviz.storage import Load, places, weight_loads
from tokenviz.timeline import lanes
from tokenviz.traffic import one_state

Array = NDArray[Any]
Columns = Mapping[str, Array]

BYTE_COLUMNS = ("weight bytes", "state bytes read", "state bytes written")
AMOUNTS = (*BYTE_COLUMNS, "values in", "values out", *COUNTERS)


@dataclass(frozen=True, slots=True)
class OpBytes:
    """Bytes that an operation moves to and from memory; what is made and used within the token stays on chip."""

    weights: int = 0
    state_read: int = 0
    state_write: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.weights + self.state_read + self.state_write

    def __add__(self, other: "OpBytes") -> "OpBytes":
        return OpBytes(
            self.weights + other.weights, self.state_read + other.state_read, self.state_write + other.state_write
        )

    def times(self, n: int) -> "OpBytes":
        """n runs' worth."""
        return OpBytes(self.weights * n, self.state_read * n, self.state_write * n)


@dataclass(frozen=True, eq=False)
class Moved:
    """Bytes of every operation: of one run at a place, and over all layers of a distinct block."""

    by_place: Mapping[BlockRef, Mapping[str, OpBytes]]
    first_place: Mapping[str, BlockRef]
    by_block: Mapping[str, Mapping[str, OpBytes]]

    def at(self, ref: BlockRef) -> Mapping[str, OpBytes]:
        """Operation id -> bytes of its run at this place."""
        return self.by_place.get(ref) or self.by_place[self.first_place[ref.block]]


@lru_cache(maxsize=32)
def moved(step: DecodeStep, scenario: Scenario) -> Moved:
    """Who moves which bytes; over all blocks and layers they add up to `traffic.traffic`."""
    at: dict[BlockRef, list[Load]] = {}
    for load in weight_loads(step, scenario):
        at.setdefault(load.ref, []).append(load)
    owner = _owners(load for loads in at.values() for load in loads)
    by_place: dict[BlockRef, dict[str, OpBytes]] = {}
    first: dict[str, BlockRef] = {}
    total: dict[str, dict[str, OpBytes]] = {}
    for ref, count in places(step, scenario.quantization):
        block = step.blocks[ref.block]
        run = _state_bytes(block, scenario)
        for load in at.get(ref, ()):
            if not load.weight.scope or owner[load.weight.scope] is load:
                reader = block.consumers[load.weight.id][0].id
                run[reader] += OpBytes(weights=load.bytes_of(load.read))
        by_place[ref] = run
        first.setdefault(ref.block, ref)
        summed = total.setdefault(ref.block, dict.fromkeys(run, OpBytes()))
        for op, n in run.items():
            summed[op] += n.times(count)
    return Moved(by_place, first, total)


def _owners(loads: Iterable[Load]) -> dict[str, Load]:
    """Scope of a shared weight -> the load that reads most of it and carries its bytes."""
    most: dict[str, Load] = {}
    for load in loads:
        scope = load.weight.scope
        if scope and (scope not in most or load.read > most[scope].read):
            most[scope] = load
    return most


def _state_bytes(block: Block, scenario: Scenario) -> dict[str, OpBytes]:
    """Operation id -> bytes of state that it reads and writes in one run of the block."""
    total = {op.id: OpBytes() for op in block.ops}
    for state in block.states:
        t = one_state(block, state, scenario)
        writer = block.producers[state.written]
        users = [op for op in block.consumers.get(state.read, ()) if op is not writer]
        total[(users[0] if users else writer).id] += OpBytes(state_read=t.kv_read + t.state_read + t.conv_read)
        total[writer.id] += OpBytes(state_write=t.kv_write + t.state_write + t.conv_write)
    return total


def lifetimes(block: Block, op: Op) -> str:
    """Lifetimes of the operands, constants included: ``static × ephemeral``."""
    return " × ".join("constant" if isinstance(v, float) else v.lifetime.value for v in block.operand_values(op))


def values_in(block: Block, op: Op) -> int:
    """Distinct elements that an operation reads of its operands."""
    operands = list(dict.fromkeys(o for o in op.operands if isinstance(o, str)))
    if op.primitive == "append" and block.values[op.result].role is Role.STATE:
        operands = operands[1:]  # the cache grows by what is new; nothing of it is read
    most = block.values[op.result].size // max(1, len(operands) - 1) if op.primitive == "lookup" else None
    total = 0
    for operand in operands:
        elements = _elements(block, operand)
        total += elements if most is None else min(elements, most)
    return total


def values_out(block: Block, op: Op) -> int:
    """Elements that an operation makes, or writes into what it keeps."""
    appended = _appended(block).get(op.result)
    return sum(block.values[r].size for r in op.results) if appended is None else appended


@lru_cache(maxsize=512)
def _appended(block: Block) -> dict[str, int]:
    """Written state -> elements that the step writes of it."""
    return {state.written: state.appended for state in block.states}


@lru_cache(maxsize=8_192)
def _elements(block: Block, value: str) -> int:
    """Distinct elements of what a value is made of: of gathered rows those chosen, of repeated heads each once."""
    by_root: dict[str, list[Piece]] = {}
    for piece in _pieces(block)[value]:
        by_root.setdefault(piece.root, []).append(piece)
    return min(block.values[value].size, sum(distinct(block, pieces) for pieces in by_root.values()))


_pieces = lru_cache(maxsize=64)(trace_pieces)


def _block_columns(block: Block) -> dict[str, Array]:
    """One row for each operation of a block but for its bytes, times counted from the block's start."""
    spans = schedule_block(block).spans
    rows: dict[str, list[int | str]] = {}

    def put(name: str, value: int | str) -> None:
        rows.setdefault(name, []).append(value)

    for i, laned in enumerate(lanes(block)):
        op, transform = laned.op, block.transform_by_id[laned.transform]
        put("position", i)
        put("block", block.label)
        put("transform", transform.title)
        put("operation", op.label)
        put("class", op.op_class.value)
        put("start", laned.t)
        put("end", laned.t + 1)
        put("slack", spans[transform.id].slack)
        put("lane", laned.lane)
        put("operands", lifetimes(block, op))
        put("values in", values_in(block, op))
        put("values out", values_out(block, op))
        for counter in COUNTERS:
            put(counter, op.counts.get(counter, 0))
    # Words as objects: numpy's own strings would copy the longest word's width for every row.
    return {name: np.asarray(c, dtype=object if isinstance(c[0], str) else np.int64) for name, c in rows.items()}


def _byte_columns(run: Mapping[str, OpBytes]) -> dict[str, Array]:
    amounts = np.array([(n.weights, n.state_read, n.state_write) for n in run.values()], dtype=np.int64)
    return dict(zip(BYTE_COLUMNS, amounts.T, strict=True))


def stages(step: DecodeStep, scenario: Scenario) -> Columns:
    """One row for each operation of each distinct block; amounts are those of a token, over all `count` runs.

    `start`, `end` and `position` are those of its first run.
    """
    first: dict[str, tuple[int, int]] = {}
    offset = 0
    for ref, start in zip(step.sequence, block_starts(step), strict=True):
        first.setdefault(ref.block, (offset, start))
        offset += len(step.blocks[ref.block].ops)
    parts, bytes_of = [], moved(step, scenario).by_block
    for block, count in step.folded():
        columns = _block_columns(block)
        summed = {name: columns[name] * count for name in AMOUNTS if name in columns}
        counts = np.full(len(block.ops), count)
        shifted = _shifted({**columns, **summed}, *first[block.key])
        parts.append({"count": counts, **shifted, **_byte_columns(bytes_of[block.key])})
    return _joined(parts)


def every_stage(step: DecodeStep, scenario: Scenario) -> Columns:
    """One row for each operation of each layer, in the order drawn: as many rows as operations."""
    columns_of = {key: _block_columns(block) for key, block in step.blocks.items()}
    found = moved(step, scenario)
    bytes_of = {ref: _byte_columns(run) for ref, run in found.by_place.items()}
    parts, offset = [], 0
    for ref, start in zip(step.sequence, block_starts(step), strict=True):
        columns = columns_of[ref.block]
        n = len(columns["position"])
        layer = np.full(n, -1 if ref.layer is None else ref.layer)
        run = bytes_of.get(ref) or bytes_of[found.first_place[ref.block]]
        parts.append({"layer": layer, **_shifted(columns, offset, start), **run})
        offset += n
    return _joined(parts)


def _shifted(columns: Mapping[str, Array], position: int, start: int) -> dict[str, Array]:
    by = {"position": position, "start": start, "end": start}
    return {name: column + by[name] if name in by else column for name, column in columns.items()}


def _joined(parts: list[dict[str, Array]]) -> Columns:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
