"""What a step reads and writes, in bytes, read off the graph.

An ideal streaming pass at batch 1: each active weight is read once (the chosen experts only; of the embedding table one
row), each key and value that attention spans is read once, one of each is appended, recurrent and convolution state is
read and written whole. Activations stay on chip. Decimal units; quantisation metadata is left out.
"""

from dataclasses import dataclass, fields

from tokenviz.graph import Block, DecodeStep, State, StateKind, Value, Wire
from tokenviz.notation import bytes_of
from tokenviz.scenario import Scenario
from tokenviz.storage import weight_bytes
from tokenviz.weights import Parameters, parameters, weight_reads

__all__ = [
    "Kept",
    "Parameters",
    "Traffic",
    "dtype_of",
    "kept",
    "one_state",
    "parameters",
    "precision_of",
    "state_traffic",
    "traffic",
    "value_bytes",
    "weight_bytes",
    "weight_reads",
]


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


def precision_of(dtype: str, scenario: Scenario) -> str:
    """The precision that a scenario gives to values whose `dtype` says which one applies."""
    return {
        "weight": scenario.weights, "activation": scenario.activations, "kv": scenario.kv,
        "recurrent": scenario.state, "conv": scenario.activations, "coefficient": "fp32", "index": "fp32",
    }[dtype]  # fmt: skip


def dtype_of(value: Value, scenario: Scenario) -> str:
    """Precision of a value in a scenario."""
    return precision_of(value.dtype, scenario)


def value_bytes(value: Value, scenario: Scenario) -> int:
    """Bytes of a whole value at the scenario's precision."""
    return bytes_of(value.size, dtype_of(value, scenario))


def state_traffic(block: Block, scenario: Scenario) -> Traffic:
    """Bytes of state that one block reads and writes."""
    total = Traffic()
    for state in block.states:
        total += one_state(block, state, scenario)
    return total


def one_state(block: Block, state: State, scenario: Scenario) -> Traffic:
    """Bytes that one run of a block reads of one of its states, and writes back."""
    read = block.values[state.read]
    dtype = dtype_of(read, scenario)
    whole = bytes_of(read.size, dtype)
    if state.kind is StateKind.RECURRENT:
        return Traffic(state_read=whole, state_write=whole)
    if state.kind is StateKind.CONVOLUTION:
        return Traffic(conv_read=whole, conv_write=whole)
    new = bytes_of(state.appended, dtype)
    chosen = _gathered(block, state)
    if chosen is not None:
        return Traffic(kv_read=bytes_of(min(chosen, read.size + state.appended), dtype), kv_write=new)
    # Attention spans the kept positions (or those of them that it uses) and the new ones; each is read once.
    used = whole if state.used is None else bytes_of(state.used, dtype)
    return Traffic(kv_read=used + new, kv_write=new)


def _gathered(block: Block, state: State) -> int | None:
    """Elements read of a cache of which only chosen rows are read; None when it is read whole."""
    wires = [w for w in block.program if isinstance(w, Wire)]
    joined = {state.read} | {w.result for w in wires if w.kind == "concat" and state.read in w.operands}
    rows = [block.values[w.result].size for w in wires if w.kind == "gather" and w.operands[0] in joined]
    return max(rows, default=None)


def traffic(step: DecodeStep, scenario: Scenario) -> Traffic:
    """Bytes that the whole step moves, by origin."""
    total = Traffic(weights=weight_bytes(step, scenario)[1])
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
