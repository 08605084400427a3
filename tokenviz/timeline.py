"""What runs when, read off the distinct blocks: lanes, one timestep, widths, slack, the critical path, the profile.

Nothing here expands the whole step: a timestep is found by bisection over the blocks' starts, and histograms are made
once for each distinct block and multiplied. Where operations run past a block's output the next block overlaps them;
then the profile of the whole step is the source.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from tokenviz.graph import Block, BlockRef, DecodeStep, Op
from tokenviz.schedule import Placed, block_starts, profile, schedule_block


@dataclass(frozen=True, slots=True)
class LanedOp:
    """An operation of a block with its timestep, counted from the block's start, and its lane."""

    transform: str
    op: Op
    t: int
    lane: int


@dataclass(frozen=True, slots=True)
class Run:
    """Timesteps [start, end) in which equally many operations run."""

    start: int
    end: int
    width: int


@dataclass(frozen=True, slots=True)
class Slack:
    """How much later some transforms could start: they, their operations, and the timesteps they could wait."""

    timesteps: int
    transforms: int
    operations: int


@lru_cache(maxsize=512)
def lanes(block: Block) -> tuple[LanedOp, ...]:
    """The block's operations in drawing order, each transform on the lowest lane that is free for all its ops.

    Transforms are taken by start time (the critical chain first among equals), so that as many lanes are used as
    operations ever run at once, and the critical chain stays on lane 0 as far as it can.
    """
    s = schedule_block(block)
    order = sorted(block.transforms, key=lambda t: (s.spans[t.id].start, t.id not in s.critical))
    free_at: list[int] = []
    lane_of: dict[str, int] = {}
    for transform in order:
        span = s.spans[transform.id]
        lane = next((i for i, free in enumerate(free_at) if free <= span.start), len(free_at))
        free_at[lane : lane + 1] = [span.end]  # takes a lane over, or opens one behind the last
        lane_of[transform.id] = lane
    return tuple(
        LanedOp(t.id, op, s.spans[t.id].start + i, lane_of[t.id])
        for t in block.transforms
        for i, op in enumerate(t.ops)
    )


def block_at(step: DecodeStep, t: int) -> int:
    """Place in the sequence of the last block that has started at timestep t."""
    return bisect_right(_starts(step), t) - 1


@lru_cache(maxsize=32)
def _starts(step: DecodeStep) -> tuple[int, ...]:
    return tuple(block_starts(step))


def running(step: DecodeStep, t: int) -> tuple[Placed, ...]:
    """Exactly the operations that run at timestep t, in drawing order; empty before the start and after the end."""
    if t < 0:
        return ()
    found: list[Placed] = []
    longest = max(schedule_block(b).length for b in step.blocks.values())
    for place in range(block_at(step, t), -1, -1):
        start = _starts(step)[place]
        if start + longest <= t:
            break
        ref = step.sequence[place]
        found[:0] = _running_in(step.blocks[ref.block], ref, start, t)
    return tuple(found)


def _running_in(block: Block, ref: BlockRef, start: int, t: int) -> Iterator[Placed]:
    for laned in lanes(block):
        if start + laned.t == t:
            yield Placed(ref, block, block.transform_by_id[laned.transform], laned.op, t)


def runs(step: DecodeStep) -> tuple[Run, ...]:
    """The profile, run-length encoded: far fewer rows than timesteps."""
    widths = profile(step)
    edges = np.flatnonzero(np.diff(widths)) + 1
    starts, ends = np.concatenate(([0], edges)), np.concatenate((edges, [len(widths)]))
    return tuple(Run(int(a), int(b), int(widths[a])) for a, b in zip(starts, ends, strict=True))


def widths(step: DecodeStep) -> Mapping[int, int]:
    """Operations at once -> timesteps in which that many run; weighted, they sum to the operations."""
    if all(schedule_block(b).length <= schedule_block(b).depth for b in step.blocks.values()):
        total: dict[int, int] = {}
        for block, count in step.folded():
            for width in schedule_block(block).profile:
                total[width] = total.get(width, 0) + count
    else:
        values, counts = np.unique(profile(step), return_counts=True)
        total = {int(w): int(n) for w, n in zip(values, counts, strict=True)}
    return MappingProxyType(dict(sorted(total.items())))


def slack(step: DecodeStep) -> tuple[Slack, ...]:
    """Transforms by how many timesteps each could wait without delaying anything; 0 means critical."""
    total: dict[int, tuple[int, int]] = {}
    for block, count in step.folded():
        spans = schedule_block(block).spans
        for t in block.transforms:
            transforms, operations = total.get(spans[t.id].slack, (0, 0))
            total[spans[t.id].slack] = (transforms + count, operations + count * len(t.ops))
    return tuple(Slack(n, *total[n]) for n in sorted(total))


def critical_path(step: DecodeStep) -> Iterator[Placed]:
    """One longest chain, operation by operation: as many as there are timesteps when blocks end with their output."""
    for ref, start in zip(step.sequence, _starts(step), strict=True):
        block = step.blocks[ref.block]
        spans = schedule_block(block).spans
        for key in schedule_block(block).critical:
            transform = block.transform_by_id[key]
            for i, op in enumerate(transform.ops):
                yield Placed(ref, block, transform, op, start + spans[key].start + i)


@dataclass(frozen=True, slots=True)
class CriticalShare:
    """A transform of the critical chain of a block: operations on the chain over all its layers."""

    block: Block
    transform: str
    operations: int
    count: int


def critical_shares(step: DecodeStep) -> tuple[CriticalShare, ...]:
    """The critical path folded: each distinct block's chain with its multiplicity; sums to the path's length."""
    return tuple(
        CriticalShare(block, key, len(block.transform_by_id[key].ops) * count, count)
        for block, count in step.folded()
        for key in schedule_block(block).critical
    )
