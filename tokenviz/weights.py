"""Which parameters a model has, and which elements of them one step reads: counted on the graph."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from tokenviz.graph import Block, DecodeStep, Role, Value, Wire


@dataclass(frozen=True, slots=True)
class Parameters:
    """Unique parameters of the text model. `active` is what one step reads: chosen experts, one embedding row."""

    total: int
    active: int
    embedding: int
    lm_head: int
    tied: bool


@lru_cache(maxsize=512)
def weight_reads(block: Block) -> tuple[tuple[Value, int], ...]:
    """Each weight of a block with the elements of it that one step reads.

    A lookup or a gather reads the rows it picks, any other reader the whole weight. What is folded from weights is read
    in their place: a gain whole, a table row by row. A weight with several readers is read once, at its widest.
    """
    wires = {w.result: w for w in block.program if isinstance(w, Wire)}
    widest = {weight.id: 0 for weight in block.weights}
    for op in block.ops:
        tables = [o for o in op.operands if isinstance(o, str)]
        rows = block.values[op.result].size // (len(tables) - 1) if op.primitive == "lookup" else None
        for operand in tables:
            for weight_id, elements in _behind(block, wires, operand, rows):
                widest[weight_id] = max(widest[weight_id], elements)
    return tuple((weight, widest[weight.id]) for weight in block.weights)


def _behind(block: Block, wires: Mapping[str, Wire], id: str, limit: int | None) -> Iterator[tuple[str, int]]:
    """Weights read through a value, with the elements read of each; `limit` caps them once rows are picked."""
    value, wire = block.values[id], wires.get(id)
    if value.role is Role.WEIGHT:
        yield id, value.size if limit is None else min(limit, value.size)
    elif wire is not None:
        if wire.kind == "gather":
            limit = value.size if limit is None else min(limit, value.size)
        for operand in wire.operands:
            yield from _behind(block, wires, operand, limit)


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
