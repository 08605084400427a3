"""Playing a token: which drawn operations run at each timestep of the schedule, and which are finished.

The drawing shows every kind of block once, so a block's operations light up again for each of its layers. What is
finished is what has run in the latest visit of each block: the earlier visits of a block are forgotten when it is
entered again.

    length(step) -> int                              timesteps of the whole step
    moment(step, t) -> Moment                        what runs at t, where, and what is finished
    visits(step) -> Visit, ...                       when the stream enters each block of the sequence
    parts(step) -> {drawn block: frames}             element names by local timestep, for a player
"""

from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from tokenviz.graph import Block, BlockRef, DecodeStep, Op
from tokenviz.schedule import block_starts, schedule_block

Name = Callable[[str, Op], str]
"""(key of a block, one of its operations) -> name of the element that shows it."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One run of a block: its place in the sequence, and its timesteps [start, end)."""

    ref: BlockRef
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Moment:
    """One timestep: the operations that run, those finished in each block's latest visit, and the visit it lies in."""

    t: int
    running: tuple[tuple[str, Op], ...]  # (block key, operation)
    finished: tuple[tuple[str, Op], ...]
    visit: Visit


@lru_cache(maxsize=16)
def visits(step: DecodeStep) -> tuple[Visit, ...]:
    """Every block of the sequence with the timesteps at which it starts and at which its last operation has ended."""
    starts = block_starts(step)
    return tuple(
        Visit(ref, start, start + schedule_block(step.blocks[ref.block]).length)
        for ref, start in zip(step.sequence, starts, strict=True)
    )


def length(step: DecodeStep) -> int:
    """Timesteps until the last operation has ended."""
    return max(visit.end for visit in visits(step))


@lru_cache(maxsize=256)
def frames(block: Block) -> tuple[tuple[Op, ...], ...]:
    """Operations that run at each local timestep of a block."""
    schedule = schedule_block(block)
    found: list[list[Op]] = [[] for _ in range(schedule.length)]
    for transform in block.transforms:
        for i, op in enumerate(transform.ops):
            found[schedule.spans[transform.id].start + i].append(op)
    return tuple(tuple(ops) for ops in found)


def place_at(step: DecodeStep, t: int) -> int:
    """Place in the sequence of the last visit that has begun at timestep t."""
    return max(0, bisect_right(visits(step), t, key=lambda v: v.start) - 1)


def moment(step: DecodeStep, t: int, drawn: Callable[[str], str] = str) -> Moment:
    """What runs and what is finished at timestep t, which is held between 0 and the end.

    Args:
        step: the decode step.
        t: timestep, from 0.
        drawn: block key -> key under which it is drawn; blocks drawn as one forget each other's visits.
    """
    t = max(0, min(length(step) - 1, t))
    latest: dict[str, Visit] = {}
    running: list[tuple[str, Op]] = []
    for visit in visits(step)[: place_at(step, t) + 1]:
        latest[drawn(visit.ref.block)] = visit
        if t < visit.end:
            running += ((visit.ref.block, op) for op in frames(step.blocks[visit.ref.block])[t - visit.start])
    finished = tuple(
        (visit.ref.block, op)
        for visit in sorted(latest.values(), key=lambda v: v.start)
        for ops in frames(step.blocks[visit.ref.block])[: t - visit.start]
        for op in ops
    )
    return Moment(t, tuple(running), finished, visits(step)[place_at(step, t)])


def parts(step: DecodeStep, drawn: Callable[[str], str], name: Name) -> Mapping[str, list[list[str]]]:
    """For each distinct block, the names of the elements that light up at its local timesteps."""
    return {key: [[name(drawn(key), op) for op in ops] for ops in frames(block)] for key, block in step.blocks.items()}
