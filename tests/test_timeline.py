"""What runs when: the folded answers against every operation of every layer, one by one."""

from collections import Counter

import pytest
from hypothesis import given, settings

from tests.strategies import models
from tests.test_schedule import tail_block
from tokenviz.catalog import Model, load_model
from tokenviz.graph import BlockRef, DecodeStep
from tokenviz.schedule import expand, profile, summarise
from tokenviz.timeline import (
    block_at,
    critical_path,
    critical_shares,
    lanes,
    running,
    runs,
    slack,
    widths,
)  # fmt: skip
from tokenviz.trace import trace


def small_steps() -> list[DecodeStep]:
    tail = DecodeStep({"tail": tail_block(5)}, tuple(BlockRef("tail", i, "a") for i in range(4)), 1, 0)
    model = load_model("qwen3.5-0.8b")
    return [tail, trace(model.architecture, model.scenario())]


@pytest.mark.parametrize("step", small_steps(), ids=["blocks that overlap", "qwen3.5-0.8b"])
def test_what_runs_at_each_timestep_is_what_the_expansion_says(step: DecodeStep) -> None:
    expected: dict[int, list[tuple[str, str]]] = {}
    for p in expand(step):
        expected.setdefault(p.t, []).append((p.ref.name, p.op.id))
    end = len(profile(step))
    for t in range(end):
        assert sorted((p.ref.name, p.op.id) for p in running(step, t)) == sorted(expected[t])
        assert all(p.t == t for p in running(step, t))
    assert running(step, end) == running(step, -1) == ()


@settings(max_examples=30, deadline=None)
@given(models())
def test_runs_and_widths_are_the_profile(model: Model) -> None:
    step = trace(model.architecture, model.scenario(context=4))
    running_at = profile(step)
    decoded = [r.width for r in runs(step) for _ in range(r.start, r.end)]
    assert decoded == running_at.tolist()
    assert widths(step) == dict(sorted(Counter(decoded).items()))
    assert sum(w * n for w, n in widths(step).items()) == summarise(step).operations


def test_widths_of_overlapping_blocks() -> None:
    step = small_steps()[0]
    # out at 0..3; five beside from 0, 1, 2, 3: widths 2 3 4 5 4 3 2 1
    assert widths(step) == {1: 1, 2: 2, 3: 2, 4: 2, 5: 1}
    assert [(r.start, r.end, r.width) for r in runs(step)][:2] == [(0, 1, 2), (1, 2, 3)]


@settings(max_examples=30, deadline=None)
@given(models())
def test_lanes_are_as_many_as_operations_at_once(model: Model) -> None:
    for block in trace(model.architecture, model.scenario(context=4)).blocks.values():
        taken = [(laned.t, laned.lane) for laned in lanes(block)]
        assert len(set(taken)) == len(taken) == len(block.ops)
        at_once = Counter(t for t, _ in taken)
        assert max(lane for _, lane in taken) + 1 == max(at_once.values())


@settings(max_examples=30, deadline=None)
@given(models())
def test_slack_adds_up_and_the_critical_path_is_unbroken(model: Model) -> None:
    step = trace(model.architecture, model.scenario(context=4))
    assert sum(s.operations for s in slack(step)) == summarise(step).operations
    assert sum(s.transforms for s in slack(step)) == sum(len(b.transforms) * n for b, n in step.folded())
    path = list(critical_path(step))
    assert [p.t for p in path] == list(range(summarise(step).critical_path))
    assert sum(share.operations for share in critical_shares(step)) == len(path)
    assert slack(step)[0].timesteps == 0
    assert slack(step)[0].operations >= len(path)


def test_the_block_at_a_timestep() -> None:
    step = small_steps()[1]
    # lookup lasts 2, the first mixer 42 (its norm of 6 is looked up), the first feed-forward 17
    assert [block_at(step, t) for t in (0, 1, 2, 43, 44, 60, 61)] == [0, 0, 1, 1, 2, 2, 3]
    assert block_at(step, 10**9) == len(step.sequence) - 1
