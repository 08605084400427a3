"""Every operation as a row of plain numbers: where it runs, what it computes, what it reads and writes.

`stages` has one row for each operation of each distinct block (with its count per token), `every_stage` one for each
operation of each layer. Both are columns, ready for a table or a CSV. Bytes are attributed so that they add up: a
weight to the first operation that reads it, a state's read to the first operation that uses it, its write to the one
that makes the new state. A weight that several blocks share counts once, where most of it is read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokenviz.graph import COUNTERS, Block, DecodeStep, Op, State, Value
from tokenviz.notation import bytes_of
from tokenviz.scenario import Scenario
from tokenviz.schedule import block_starts, schedule_block
from tokenviz.timeline import lanes
from tokenviz.traffic import state_traffic, weight_reads

Array = NDArray[Any]
Columns = Mapping[str, Array]

BYTE_COLUMNS = ("weight bytes", "state bytes read", "state bytes written")


@dataclass(frozen=True, slots=True)
class OpBytes:
    """Bytes that one operation moves to and from memory; what is made and used within the token stays on chip."""

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


def op_bytes(step: DecodeStep, scenario: Scenario) -> Mapping[str, Mapping[str, OpBytes]]:
    """Block key -> operation id -> its bytes. Times the multiplicities they add up to `traffic.traffic`."""
    owners = _shared_weight_owners(step, scenario)
    return {key: _block_bytes(block, scenario, owners) for key, block in step.blocks.items()}


def _shared_weight_owners(step: DecodeStep, scenario: Scenario) -> dict[str, str]:
    """Scope of a shared weight -> the block that reads most of it, which carries its bytes."""
    most: dict[str, tuple[int, str]] = {}
    for key, block in step.blocks.items():
        for weight, read in weight_reads(block):
            if weight.scope and read > most.get(weight.scope, (-1, ""))[0]:
                most[weight.scope] = (read, key)
    return {scope: key for scope, (_, key) in most.items()}


def _block_bytes(block: Block, scenario: Scenario, owners: Mapping[str, str]) -> dict[str, OpBytes]:
    total = {op.id: OpBytes() for op in block.ops}
    for weight, read in weight_reads(block):
        if not weight.scope or owners[weight.scope] == block.key:
            reader = _first_reader(block, weight)
            total[reader.id] += OpBytes(weights=bytes_of(read, scenario.weights))
    for state in block.states:
        moved = _state_bytes(block, state, scenario)
        writer = block.producers[state.written]
        users = [op for op in block.consumers.get(state.read, ()) if op is not writer]
        total[(users[0] if users else writer).id] += OpBytes(state_read=moved.state_read)
        total[writer.id] += OpBytes(state_write=moved.state_write)
    return total


def _first_reader(block: Block, weight: Value) -> Op:
    """The first operation that reads a weight, directly or folded or gathered from it."""
    return block.consumers[weight.id][0]


def _state_bytes(block: Block, state: State, scenario: Scenario) -> OpBytes:
    """What one state moves, by the one rule that `traffic` has."""
    t = state_traffic(replace(block, states=(state,)), scenario)
    return OpBytes(0, t.kv_read + t.state_read + t.conv_read, t.kv_write + t.state_write + t.conv_write)


def lifetimes(block: Block, op: Op) -> str:
    """Lifetimes of the operands, constants included: ``static × ephemeral``."""
    return " × ".join("constant" if isinstance(v, float) else v.lifetime.value for v in block.operand_values(op))


def _block_columns(block: Block, moved: Mapping[str, OpBytes]) -> dict[str, list[int | str]]:
    """One row for each operation of a block, times counted from the block's start."""
    spans = schedule_block(block).spans
    rows: dict[str, list[int | str]] = {}

    def put(name: str, value: int | str) -> None:
        rows.setdefault(name, []).append(value)

    for i, laned in enumerate(lanes(block)):
        op, transform = laned.op, block.transform_by_id[laned.transform]
        put("position", i)
        put("block", block.title)
        put("transform", transform.title)
        put("operation", op.label)
        put("class", op.op_class.value)
        put("start", laned.t)
        put("end", laned.t + 1)
        put("slack", spans[transform.id].slack)
        put("lane", laned.lane)
        put("operands", lifetimes(block, op))
        put("values in", sum(v.size for v in block.operand_values(op) if not isinstance(v, float)))
        put("values out", sum(block.values[r].size for r in op.results))
        put("weight bytes", moved[op.id].weights)
        put("state bytes read", moved[op.id].state_read)
        put("state bytes written", moved[op.id].state_write)
        for counter in COUNTERS:
            put(counter, op.counts.get(counter, 0))
    return rows


@lru_cache(maxsize=16)
def _all_columns(step: DecodeStep, scenario: Scenario) -> Mapping[str, Mapping[str, list[int | str]]]:
    moved = op_bytes(step, scenario)
    return {key: _block_columns(block, moved[key]) for key, block in step.blocks.items()}


def stages(step: DecodeStep, scenario: Scenario) -> Columns:
    """One row for each operation of each distinct block; `count` says how often a token runs it.

    `start`, `end` and `position` are those of its first run.
    """
    first: dict[str, tuple[int, int]] = {}
    offset = 0
    for ref, start in zip(step.sequence, block_starts(step), strict=True):
        first.setdefault(ref.block, (offset, start))
        offset += len(step.blocks[ref.block].ops)
    parts = []
    for key, columns in _all_columns(step, scenario).items():
        position, start = first[key]
        n = len(columns["position"])
        parts.append({"count": np.full(n, step.multiplicity[key]), **_shifted(columns, position, start)})
    return _joined(parts)


def every_stage(step: DecodeStep, scenario: Scenario) -> Columns:
    """One row for each operation of each layer, in the order drawn: as many rows as operations."""
    columns_of = _all_columns(step, scenario)
    parts, offset = [], 0
    for ref, start in zip(step.sequence, block_starts(step), strict=True):
        columns = columns_of[ref.block]
        n = len(columns["position"])
        layer = np.full(n, -1 if ref.layer is None else ref.layer)
        parts.append({"layer": layer, **_shifted(columns, offset, start)})
        offset += n
    return _joined(parts)


def _shifted(columns: Mapping[str, list[int | str]], position: int, start: int) -> dict[str, Array]:
    by = {"position": position, "start": start, "end": start}
    return {name: _array(rows) + by[name] if name in by else _array(rows) for name, rows in columns.items()}


def _array(rows: list[int | str]) -> Array:
    # Words as objects: numpy's own strings would copy the longest word's width for every row.
    return np.asarray(rows, dtype=object if isinstance(rows[0], str) else np.int64)


def _joined(parts: Sequence[Mapping[str, Array]]) -> Columns:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
