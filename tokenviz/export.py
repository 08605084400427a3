"""The schedule and the tables as files: Chrome trace JSON (opens in Perfetto) and CSV, raw units."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tokenviz.graph import DecodeStep
from tokenviz.schedule import block_starts, schedule_block
from tokenviz.timeline import lanes

OPERATIONS, BLOCKS = 1, 2
"""Process ids of the trace: the parallel lanes, and the blocks above them."""
BLOCK_TRACK = 1_000
"""Thread id of the blocks. Lanes count from 1: readers take thread 0 for an idle processor, and ids are used once."""


def chrome_trace(step: DecodeStep, name: str) -> str:
    """The drawn schedule in the Trace Event Format, one timestep as one microsecond.

    Each parallel lane is a thread: a transform is a slice, its operations are slices inside it. Blocks have a thread
    of their own.
    """
    events = [*_names(step), *_blocks(step), *_slices(step)]
    document = {
        "displayTimeUnit": "ns",
        "otherData": {"model": name, "unit": "1 us = 1 timestep"},
        "traceEvents": events,
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def _names(step: DecodeStep) -> Iterator[dict[str, Any]]:
    count = max(laned.lane for b in step.blocks.values() for laned in lanes(b)) + 1
    for place, (pid, tid, name) in enumerate(((BLOCKS, BLOCK_TRACK, "blocks"), (OPERATIONS, 1, "operations"))):
        yield _meta("process_name", pid, tid, name=name)
        yield _meta("process_sort_index", pid, tid, sort_index=place)
    yield _meta("thread_name", BLOCKS, BLOCK_TRACK, name="blocks in order")
    for lane in range(count):
        yield _meta("thread_name", OPERATIONS, lane + 1, name=f"lane {lane + 1}")
        yield _meta("thread_sort_index", OPERATIONS, lane + 1, sort_index=lane)


def _meta(what: str, pid: int, tid: int, **args: str | int) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": pid, "tid": tid, "args": args}


def _blocks(step: DecodeStep) -> Iterator[dict[str, Any]]:
    for ref, start in zip(step.sequence, block_starts(step), strict=True):
        block = step.blocks[ref.block]
        yield _slice(
            BLOCKS, BLOCK_TRACK, f"{ref.name}: {block.title}", block.kind, start, schedule_block(block).depth, {}
        )


def _slices(step: DecodeStep) -> Iterator[dict[str, Any]]:
    for ref, start in zip(step.sequence, block_starts(step), strict=True):
        block = step.blocks[ref.block]
        spans = schedule_block(block).spans
        opened = ""
        for laned in lanes(block):
            if laned.transform != opened:
                opened = laned.transform
                transform, span = block.transform_by_id[opened], spans[opened]
                args = {"place": ref.name, "slack": span.slack}
                yield _slice(OPERATIONS, laned.lane + 1, transform.title, "transform", start + span.start,
                             span.end - span.start, args)  # fmt: skip
            args = {"place": ref.name, "class": laned.op.op_class.value, **laned.op.counts}
            yield _slice(OPERATIONS, laned.lane + 1, laned.op.label, laned.op.op_class.value, start + laned.t, 1, args)


def _slice(pid: int, tid: int, name: str, cat: str, ts: int, dur: int, args: dict[str, Any]) -> dict[str, Any]:
    return {"ph": "X", "name": name, "cat": cat, "ts": ts, "dur": dur, "pid": pid, "tid": tid, "args": args}


def to_csv(columns: Mapping[str, Sequence[Any]]) -> str:
    """Columns of equal length as CSV with a header; text is quoted, numbers are raw."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(getattr(c, "tolist", lambda c=c: c)() for c in columns.values()), strict=True))
    return out.getvalue()
