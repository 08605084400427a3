"""When each operation runs: the drawn schedule of one step.

One operation takes one unit of time. A transform starts when every transform that feeds it has finished (its ASAP
time); its own operations then run one after the other:

    norm ──┬─► q ──► q norm ──► RoPE ──┐
           ├─► k ──► k norm ──► RoPE ──┼─► scores ──► softmax ──► mix ──► ...
           └─► v ──────────────────────┘   (v waits, k append runs beside)

A block starts when its residual input is ready. Depth, work and the profile of a whole step are combined from its
distinct blocks; `expand` lists every operation with its timestep, for tables and for checking the folded result.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tokenviz.graph import Block, BlockRef, DecodeStep, Op, Transform


@dataclass(frozen=True, slots=True)
class Span:
    """A transform's place in its block: start and end (exclusive), and how much later it could start."""

    start: int
    end: int
    slack: int


@dataclass(frozen=True, eq=False)
class BlockSchedule:
    """Timesteps of one block, counted from the moment its input is ready."""

    spans: Mapping[str, Span]  # by transform id
    depth: int  # when the residual output is ready
    length: int  # when the last operation has finished; more than depth if something runs past the output
    profile: tuple[int, ...]  # operations running at each timestep
    critical: tuple[str, ...]  # one longest chain of transforms, first to last


@dataclass(frozen=True, slots=True)
class Summary:
    """The four totals of a step."""

    operations: int
    critical_path: int
    peak_parallelism: int

    @property
    def average_parallelism(self) -> float:
        """Work over span."""
        return self.operations / self.critical_path


@dataclass(frozen=True, slots=True)
class Placed:
    """An operation of the expanded step with its timestep."""

    ref: BlockRef
    block: Block
    transform: Transform
    op: Op
    t: int


@lru_cache(maxsize=512)
def schedule_block(block: Block) -> BlockSchedule:
    """ASAP times, slack and one critical chain of a block's transforms."""
    end: dict[str, int] = {}
    start: dict[str, int] = {}
    for t in block.transforms:
        start[t.id] = max((end[f] for f in block.feeds[t.id]), default=0)
        end[t.id] = start[t.id] + len(t.ops)
    depth = max(end[t] for t in _output_transforms(block))
    latest = _latest_ends(block, depth, max(end.values()))
    spans = {t.id: Span(start[t.id], end[t.id], latest[t.id] - end[t.id]) for t in block.transforms}
    profile = np.zeros(max(end.values()), dtype=int)
    for span in spans.values():
        profile[span.start : span.end] += 1
    chain = _critical_chain(block, start, end)
    return BlockSchedule(spans, depth, len(profile), tuple(int(n) for n in profile), chain)


def _output_transforms(block: Block) -> set[str]:
    """Transforms that make one of the block's outputs."""
    roots = {r for v in block.outputs.values() for r in block.values[v].roots}
    return {block.producers[r].transform for r in roots if r in block.producers}


def _latest_ends(block: Block, depth: int, length: int) -> dict[str, int]:
    """ALAP: the latest end of each transform that delays neither an output nor the end of the block."""
    outputs = _output_transforms(block)
    latest = {t.id: depth if t.id in outputs else length for t in block.transforms}
    for t in reversed(block.transforms):
        for feeder in block.feeds[t.id]:
            latest[feeder] = min(latest[feeder], latest[t.id] - len(t.ops))
    return latest


def _critical_chain(block: Block, start: Mapping[str, int], end: Mapping[str, int]) -> tuple[str, ...]:
    """Walk back from the output, always to the feeder that finished last (the first drawn, on a tie)."""
    at = max(_output_transforms(block), key=lambda t: end[t])
    chain = [at]
    while start[at] > 0:
        at = next(f for f in block.feeds[at] if end[f] == start[at])
        chain.append(at)
    return tuple(reversed(chain))


def summarise(step: DecodeStep) -> Summary:
    """Operations, critical path and peak parallelism, combined from the distinct blocks."""
    operations = sum(len(block.ops) * count for block, count in step.folded())
    schedules = {key: schedule_block(block) for key, block in step.blocks.items()}
    if all(s.length == s.depth for s in schedules.values()):
        depth = sum(schedules[key].depth * count for key, count in step.multiplicity.items())
        peak = max(max(s.profile) for s in schedules.values())
        return Summary(operations, depth, peak)
    running = profile(step)
    return Summary(operations, len(running), int(running.max()))


def block_starts(step: DecodeStep) -> list[int]:
    """Timestep at which each block of the sequence starts."""
    starts, t = [], 0
    for ref in step.sequence:
        starts.append(t)
        t += schedule_block(step.blocks[ref.block]).depth
    return starts


def profile(step: DecodeStep) -> NDArray[np.int64]:
    """Operations running at each timestep of the whole step; sums to the operations, as long as the critical path."""
    profiles = {key: np.array(schedule_block(b).profile, dtype=np.int64) for key, b in step.blocks.items()}
    starts = block_starts(step)
    ends = [t + len(profiles[ref.block]) for t, ref in zip(starts, step.sequence, strict=True)]
    running = np.zeros(max(ends), dtype=np.int64)
    for ref, start, end in zip(step.sequence, starts, ends, strict=True):
        running[start:end] += profiles[ref.block]
    return running


def expand(step: DecodeStep) -> Iterator[Placed]:
    """Every operation of every layer with its timestep, in drawing order."""
    for ref, t0 in zip(step.sequence, block_starts(step), strict=True):
        block = step.blocks[ref.block]
        spans = schedule_block(block).spans
        for transform in block.transforms:
            start = t0 + spans[transform.id].start
            for i, op in enumerate(transform.ops):
                yield Placed(ref, block, transform, op, start + i)
