"""What a step reads and writes: parameters, state and bytes, read off the graph.

An ideal streaming pass at batch 1: each active weight is read once (the chosen experts only; of the embedding table one
row), each key and value that attention spans is read once, one of each is appended, recurrent and convolution state is
read and written whole. Activations stay on chip. Decimal units; quantisation metadata is left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields

from tokenviz.graph import Block, DecodeStep, Role, State, StateKind, Value, Wire
from tokenviz.notation import bytes_of
from tokenviz.scenario import Scenario

RECURRENT_DTYPE = "fp32"


@dataclass(frozen=True, slots=True)
class Parameters:
    """Unique parameters of the text model. `active` is what one step reads: chosen experts, one embedding row."""

    total: int
    active: int
    embedding: int
    lm_head: int
    tied: bool


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes that one step moves, by origin."""

    weights: int = 0
    kv_read: int = 0
    kv_write: int = 0
    state_read: int = 0
    state_write: int = 0
    conv_read: int = 0
    conv_write: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        return sum(getattr(self, f.name) for f in fields(self))

    def __add__(self, other: "Traffic") -> "Traffic":
        return Traffic(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def times(self, n: int) -> "Traffic":
        """n blocks' worth."""
        return Traffic(*(getattr(self, f.name) * n for f in fields(self)))


@dataclass(frozen=True, slots=True)
class Kept:
    """What one sequence keeps between tokens, in bytes."""

    kv_per_position: int  # growth per token over layers without a window
    window_per_position: int  # the same for windowed layers, until the window is full
    kv: int  # growing caches, after `context` positions
    window: int  # windowed caches, after `context` positions
    recurrent: int
    convolution: int


def dtype_of(value: Value, scenario: Scenario) -> str:
    """Precision of a value in a scenario."""
    return {
        "weight": scenario.weights, "kv": scenario.kv, "recurrent": RECURRENT_DTYPE,
        "coefficient": "fp32", "index": "fp32",
    }.get(value.dtype, scenario.activations)  # fmt: skip


def value_bytes(value: Value, scenario: Scenario) -> int:
    """Bytes of a whole value at the scenario's precision."""
    return bytes_of(value.size, dtype_of(value, scenario))


def weight_reads(block: Block) -> Iterator[tuple[Value, int]]:
    """Each weight of a block with the elements of it that one step reads.

    A lookup or a gather reads the rows it picks; any other reader reads the whole weight. A value folded from weights
    is read in their place: a folded table row by row, a folded gain whole.
    """
    made = {w.result: w for w in block.program if isinstance(w, Wire)}
    picked: dict[str, int] = {}
    for step in block.program:
        if isinstance(step, Wire) and step.kind == "gather":
            table = block.values[step.operands[0]]
            rows = min(block.values[step.result].size, table.size)
            picked[table.id] = max(picked.get(table.id, 0), rows)
    whole = {r for op in block.ops if op.primitive != "lookup" for o in op.operands if isinstance(o, str)
             for r in _weights_behind(block, made, o)}  # fmt: skip
    for op in block.ops:
        if op.primitive == "lookup":
            tables = [o for o in op.operands[1:] if isinstance(o, str)]
            for table_id in tables:
                # The twin is not a parameter: its row stands for the first norm's gain, folded into it.
                weight = _weights_behind(block, made, table_id)[-1]
                picked[weight] = block.values[op.result].size // len(tables)
    for weight in block.weights:
        yield weight, weight.size if weight.id in whole else min(picked.get(weight.id, 0), weight.size)


def _weights_behind(block: Block, made: dict[str, Wire], value_id: str) -> tuple[str, ...]:
    """Weights read whole through `value_id`: itself, or those folded into it (a gather stops the search)."""
    value = block.values[value_id]
    if value.role is Role.WEIGHT:
        return (value_id,)
    wire = made.get(value_id)
    if wire is None or wire.kind in ("gather", "positions"):
        return ()
    return tuple(w for o in wire.operands for w in _weights_behind(block, made, o))


def parameters(step: DecodeStep, tied: bool) -> Parameters:
    """Count parameters: each layer's own once per layer, shared ones once."""
    total = active = 0
    shared: dict[str, tuple[int, int]] = {}
    for block, count in step.folded():
        for weight, read in weight_reads(block):
            if weight.scope:
                before = shared.get(weight.scope, (0, 0))
                shared[weight.scope] = (weight.size, max(before[1], read))
            else:
                total += weight.size * count
                active += read * count
    total += sum(n for n, _ in shared.values())
    active += sum(n for _, n in shared.values())
    embedding = shared["embedding"][0]
    return Parameters(total, active, embedding, 0 if tied else shared["head"][0], tied)


def weight_bytes(step: DecodeStep, scenario: Scenario) -> int:
    """Bytes of weights that one step reads, each active weight once."""
    total = 0
    shared: dict[str, int] = {}
    for block, count in step.folded():
        for weight, read in weight_reads(block):
            n = bytes_of(read, scenario.weights)
            if weight.scope:
                shared[weight.scope] = max(shared.get(weight.scope, 0), n)
            else:
                total += n * count
    return total + sum(shared.values())


def state_traffic(block: Block, scenario: Scenario) -> Traffic:
    """Bytes of state that one block reads and writes."""
    total = Traffic()
    for state in block.states:
        total += _one_state(block, state, scenario)
    return total


def _one_state(block: Block, state: State, scenario: Scenario) -> Traffic:
    read = block.values[state.read]
    dtype = dtype_of(read, scenario)
    whole = bytes_of(read.size, dtype)
    if state.kind is StateKind.RECURRENT:
        return Traffic(state_read=whole, state_write=whole)
    if state.kind is StateKind.CONVOLUTION:
        return Traffic(conv_read=whole, conv_write=whole)
    new = bytes_of(state.appended, dtype)
    # Attention spans the kept positions and the new ones; each is read once.
    return Traffic(kv_read=whole + new, kv_write=new)


def traffic(step: DecodeStep, scenario: Scenario) -> Traffic:
    """Bytes that the whole step moves, by origin."""
    total = Traffic(weights=weight_bytes(step, scenario))
    for block, count in step.folded():
        total += state_traffic(block, scenario).times(count)
    return total


def kept(step: DecodeStep, scenario: Scenario) -> Kept:
    """What one sequence keeps once `context` positions are cached."""
    totals = dict.fromkeys(("kv_per_position", "window_per_position", "kv", "window", "recurrent", "convolution"), 0)
    for block, count in step.folded():
        for state in block.states:
            read = block.values[state.read]
            dtype = dtype_of(read, scenario)
            whole = bytes_of(read.size, dtype) * count
            grows = bytes_of(state.appended // step.positions, dtype) * count
            if state.kind is StateKind.RECURRENT:
                totals["recurrent"] += whole
            elif state.kind is StateKind.CONVOLUTION:
                totals["convolution"] += whole
            elif state.kind is StateKind.WINDOW:
                totals["window"] += whole
                totals["window_per_position"] += grows
            else:
                totals["kv"] += whole
                totals["kv_per_position"] += grows
    return Kept(**totals)
