"""Playing a token: what lights up at t is exactly what the schedule runs at t."""

from collections import defaultdict

import pytest

from tokenviz import playback
from tokenviz.catalog import load_model
from tokenviz.graph import DecodeStep
from tokenviz.schedule import block_starts, expand, summarise
from tokenviz.timeline import running
from tokenviz.trace import traced
from tokenviz.views.pipeline_groups import cell_id, drawn_as

NAMES = ["qwen3.5-0.8b", "llama-3.2-1b-instruct", "falcon-7b"]


def step_of(name: str) -> DecodeStep:
    model = load_model(name)
    return traced(model.architecture, model.scenario(context=1_000))


@pytest.mark.parametrize("name", NAMES)
def test_every_timestep_runs_what_the_schedule_says(name: str) -> None:
    step = step_of(name)
    expected: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for placed in expand(step):
        expected[placed.t].append((placed.block.key, placed.op.id))
    assert playback.length(step) == max(expected) + 1
    for t in range(playback.length(step)):
        moment = playback.moment(step, t)
        assert sorted((b, op.id) for b, op in moment.running) == sorted(expected[t])
        assert [(p.block.key, p.op.id) for p in running(step, t)] == [(b, op.id) for b, op in moment.running]


@pytest.mark.parametrize("name", NAMES)
def test_finished_is_what_ran_before_in_the_latest_visit_of_each_block(name: str) -> None:
    step = step_of(name)
    entered: dict[str, int] = {}
    starts = block_starts(step)
    for t in range(0, playback.length(step), 7):
        for ref, start in zip(step.sequence, starts, strict=True):
            if start <= t:
                entered[ref.block] = start
        expected = {
            (p.block.key, p.op.id) for p in expand(step) if p.t < t and starts_at(step, p.ref, entered[p.block.key])
        }
        assert {(b, op.id) for b, op in playback.moment(step, t).finished} == expected


def starts_at(step: DecodeStep, ref, start: int) -> bool:
    return block_starts(step)[step.sequence.index(ref)] == start


def test_blocks_drawn_as_one_forget_each_others_visits() -> None:
    """Layer 0 (without its norm) and layer 1 share a drawing: when layer 1 starts, nothing of layer 0 stays tinted."""
    step = step_of("qwen3.5-0.8b")
    first, second = step.sequence[1].block, step.sequence[3].block
    assert first != second
    shown = {k: g.key for k, g in drawn_as(step).items()}
    assert shown[first] == shown[second]
    start = block_starts(step)[3]
    apart = {b for b, _ in playback.moment(step, start + 1).finished}
    together = {b for b, _ in playback.moment(step, start + 1, shown.__getitem__).finished}
    assert first in apart
    assert first not in together


def test_times_outside_the_step_are_held_at_its_ends() -> None:
    step = step_of("qwen3.5-0.8b")
    last = playback.length(step) - 1
    assert playback.moment(step, -5).t == 0
    assert playback.moment(step, 10**9).t == last
    assert playback.moment(step, 0).finished == ()
    assert playback.moment(step, 0).visit.ref.section == "lookup"
    assert playback.moment(step, last).visit.ref.section == "output"


@pytest.mark.parametrize("name", NAMES)
def test_the_folded_play_unfolds_to_the_schedule(name: str) -> None:
    """What a player shows at t: each visit's frame at t minus its start, under the drawn block's names."""
    step = step_of(name)
    shown = {k: g.key for k, g in drawn_as(step).items()}
    parts = playback.parts(step, shown.__getitem__, lambda block, op: cell_id(block, op.id))
    unfolded: dict[int, list[str]] = defaultdict(list)
    for visit in playback.visits(step):
        for local, names in enumerate(parts[visit.ref.block]):
            unfolded[visit.start + local] += names
    expected: dict[int, list[str]] = defaultdict(list)
    for placed in expand(step):
        expected[placed.t].append(cell_id(shown[placed.block.key], placed.op.id))
    assert unfolded == expected
    assert sum(map(len, unfolded.values())) == summarise(step).operations


def test_a_block_is_found_by_time() -> None:
    step = step_of("qwen3.5-0.8b")
    starts = block_starts(step)
    for place, start in enumerate(starts):
        assert playback.place_at(step, start) == place
        assert playback.place_at(step, max(0, start - 1)) == max(0, place - 1)
