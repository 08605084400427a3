"""The folded schedule equals one that is expanded and computed by an independent longest-path search."""

import itertools

import networkx as nx
import pytest
from hypothesis import given, settings

from tests.strategies import models
from tokenviz.builder import Builder
from tokenviz.catalog import Model, load_model
from tokenviz.graph import Block, BlockRef, DecodeStep
from tokenviz.scenario import Scenario
from tokenviz.schedule import block_starts, expand, profile, schedule_block, summarise
from tokenviz.trace import trace


def expanded_ends(step: DecodeStep) -> dict[tuple[int, str], int]:
    """End of every transform of every layer, by longest path over one graph of the whole step."""
    graph = nx.DiGraph()
    previous: list[tuple[int, str]] = []
    for place, ref in enumerate(step.sequence):
        block = step.blocks[ref.block]
        makers = {block.producers[r].transform for v in block.outputs.values() for r in block.values[v].roots
                  if r in block.producers}  # fmt: skip
        for t in block.transforms:
            node = (place, t.id)
            graph.add_node(node, duration=len(t.ops))
            graph.add_edges_from(((place, f), node) for f in block.feeds[t.id])
            reads = {r for op in t.ops for r in block.roots_of(op)}
            if reads & set(block.inputs.values()):
                graph.add_edges_from((p, node) for p in previous)
        previous = [(place, m) for m in makers]
    ends: dict[tuple[int, str], int] = {}
    for node in nx.topological_sort(graph):
        start = max((ends[p] for p in graph.predecessors(node)), default=0)
        ends[node] = start + graph.nodes[node]["duration"]
    return ends


@settings(max_examples=40, deadline=None)
@given(models())
def test_folded_equals_expanded(model: Model) -> None:
    step = trace(model.architecture, model.scenario(context=5))
    ends = expanded_ends(step)
    placed = list(expand(step))
    summary = summarise(step)
    assert summary.operations == len(placed)
    assert summary.critical_path == max(ends.values()) == max(p.t for p in placed) + 1
    running = profile(step)
    assert running.sum() == summary.operations
    assert len(running) == summary.critical_path
    assert running.max() == summary.peak_parallelism
    assert running.min() >= 1


@pytest.mark.parametrize("name", ["qwen3.8-2.4t-a95b", "meta-llama-3.1-8b"])
def test_every_transform_of_every_layer_ends_when_the_expanded_search_says(name: str) -> None:
    model = load_model(name)
    step = trace(model.architecture, model.scenario())
    ends = expanded_ends(step)
    for place, (ref, t0) in enumerate(zip(step.sequence, block_starts(step), strict=True)):
        for transform, span in schedule_block(step.blocks[ref.block]).spans.items():
            assert t0 + span.end == ends[place, transform]


@settings(max_examples=30, deadline=None)
@given(models())
def test_slack_is_what_a_transform_can_wait_without_delaying_the_block(model: Model) -> None:
    step = trace(model.architecture, model.scenario(context=3))
    for block in step.blocks.values():
        s = schedule_block(block)
        chain = [s.spans[t] for t in s.critical]
        assert chain[0].start == 0
        assert chain[-1].end == s.depth
        assert all(a.end == b.start for a, b in itertools.pairwise(chain))
        assert all(span.slack == 0 for span in chain)
        assert all(span.slack >= 0 for span in s.spans.values())
        for t in block.transforms:
            assert all(s.spans[f].end <= s.spans[t.id].start for f in block.feeds[t.id])


def tail_block(tail: int) -> Block:
    """One operation to the output, and `tail` operations beside it that nothing waits for."""
    b = Builder({"T": 1, "D": 2})
    x = b.input("residual", "T D", name="x")
    with b.transform("out", "", "", equation="", says=""):
        y = b.add(x, 1.0)
    with b.transform("beside", "", "", equation="", says=""):
        z = x
        for _ in range(tail):
            z = b.add(z, 1.0)
    return b.build(key="tail", kind="tail", title="", says="", spec=None, outputs={"residual": y})


def test_operations_that_run_past_the_output_overlap_the_next_block() -> None:
    step = DecodeStep({"tail": tail_block(3)}, (BlockRef("tail", 0, "a"), BlockRef("tail", 1, "b")), 1, 0)
    # out at 0 and 1; beside at 0, 1, 2 and at 1, 2, 3
    assert profile(step).tolist() == [2, 3, 2, 1]
    assert summarise(step).critical_path == 4
    assert summarise(step).peak_parallelism == 3


def test_cost_does_not_grow_with_equal_layers() -> None:
    model = load_model("qwen3.8-2.4t-a95b")
    step = trace(model.architecture, Scenario())
    assert len(step.blocks) == 6
