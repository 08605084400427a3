"""An oracle for hand-offs: number every element, push the numbers through the wires, count who reads which."""

from dataclasses import dataclass, field

import numpy as np

from tokenviz.graph import Block, Op, Role, Wire
from tokenviz.handoffs_block import stages_of
from tokenviz.wires import WIRES


@dataclass
class Numbers:
    """Element numbers of every value of a block, and (stage, retained) for each element that a stage hands on."""

    block: Block
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    owner: dict[int, tuple[str, bool]] = field(default_factory=dict)
    used: int = 0

    def fresh(self, name: str, source: str | None, *, retained: bool = False) -> None:
        """Give a value new element numbers; without a source nobody hands them on."""
        value = self.block.values[name]
        array = np.arange(self.used + 1, self.used + 1 + value.size).reshape(value.shape)
        self.used += value.size
        self.arrays[name] = array
        if source is not None and value.dtype != "index":
            self.owner.update((int(e), (source, retained)) for e in array.flat)


def delivered(block: Block) -> dict[tuple[str, str, bool], int]:
    """(source stage, target stage, retained) -> distinct elements that the target reads."""
    numbers = _number(block)
    found: dict[tuple[str, str, bool], set[int]] = {}
    for stage, _, ops in stages_of(block):
        for op in ops:
            if block.values[op.result].role is Role.STATE:
                continue
            for operand in op.operands[1:] if op.primitive == "append" else op.operands:
                read = np.unique(numbers.arrays[operand]).tolist() if isinstance(operand, str) else ()
                for element in read:
                    source, retained = numbers.owner.get(element, (stage, False))
                    if source != stage:
                        found.setdefault((source, stage, retained), set()).add(element)
    return {key: len(elements) for key, elements in found.items()}


def _number(block: Block) -> Numbers:
    numbers = Numbers(block)
    stage_of = {op.id: stage for stage, _, ops in stages_of(block) for op in ops}
    keeper = {s.read: stage_of[block.producers[s.written].id] for s in block.states}
    made = {r for op in block.ops for r in op.results} | {w.result for w in block.program if isinstance(w, Wire)}
    for name in block.values:
        if name not in made:
            numbers.fresh(name, keeper.get(name), retained=True)
    for step in block.program:
        if isinstance(step, Wire):
            _rearrange(numbers, step)
            continue
        for result in step.results:
            numbers.fresh(result, None if step.primitive == "lookup" else stage_of[step.id])
        if step.primitive == "append" and step.attrs["keep"] is None:
            _keep(numbers, step)
    return numbers


def _keep(numbers: Numbers, op: Op) -> None:
    """What an append leaves in place keeps its numbers."""
    kept = numbers.arrays[str(op.operands[0])]
    array = numbers.arrays[op.result].copy()
    array[tuple(slice(0, extent) for extent in kept.shape)] = kept
    numbers.arrays[op.result] = array


def _rearrange(numbers: Numbers, wire: Wire) -> None:
    values = numbers.block.values
    if wire.kind in ("fold", "positions", "constant"):  # known before the token: nobody hands it on
        numbers.arrays[wire.result] = np.zeros(values[wire.result].shape, int)
        return
    operands = [numbers.arrays[o] for o in wire.operands]
    if wire.kind == "gather":
        operands[1] = operands[1] % operands[0].shape[0]
    run = WIRES[wire.kind]([values[o].dims for o in wire.operands], values[wire.result].dims, wire.attrs)
    numbers.arrays[wire.result] = np.abs(run(*operands))  # a quarter turn changes signs
