"""How much arithmetic a step does: exact integers, summed over the operations of the graph."""

from collections.abc import Iterable, Mapping

from tokenviz.graph import COUNTERS, Block, DecodeStep, Op, OpClass, merge_counts

FLOPS_PER_MAC = 2
"""A multiply and an add, as makers count them when they publish a peak."""


def block_counts(block: Block) -> dict[str, int]:
    """Scalar work of one block, by counter."""
    return total_counts(block.ops)


def total_counts(ops: Iterable[Op]) -> dict[str, int]:
    """Scalar work of some operations, by counter; every counter is listed."""
    total = dict.fromkeys(COUNTERS, 0)
    for op in ops:
        merge_counts(total, op.counts)
    return total


def arithmetic(step: DecodeStep) -> dict[str, int]:
    """Scalar work of the whole step, by counter. MACs stand alone; the others leave out what is inside a MAC."""
    total = dict.fromkeys(COUNTERS, 0)
    for block, count in step.folded():
        merge_counts(total, block_counts(block), count)
    return total


def exponentials(step: DecodeStep) -> dict[str, int]:
    """Exponentials of the attention softmax (over the attended positions) and all others."""
    softmax = other = 0
    for block, count in step.folded():
        for op in block.ops:
            n = op.counts.get("exp", 0) * count
            if n and "S" in block.values[op.result].dims:
                softmax += n
            else:
                other += n
    return {"attention_softmax": softmax, "other": other}


def classes(step: DecodeStep) -> dict[OpClass, int]:
    """Operations of the step by class; sums to the operations."""
    total = dict.fromkeys(OpClass, 0)
    for block, count in step.folded():
        for op in block.ops:
            total[op.op_class] += count
    return total


def sub_operations(step: DecodeStep) -> Mapping[str, int]:
    """Operations of the step by their drawn label, most frequent first."""
    total: dict[str, int] = {}
    for block, count in step.folded():
        for op in block.ops:
            total[op.label] = total.get(op.label, 0) + count
    return dict(sorted(total.items(), key=lambda item: -item[1]))
