"""The four conventions: one engine, held against an expanded longest-path search and against counts made by hand."""

import math

import networkx as nx
import pytest
from hypothesis import given, settings

from tests import oracles_statistics as oracle
from tests.strategies import models
from tokenviz.catalog import Model, load_model, model_from_text
from tokenviz.conventions import CONVENTIONS, FUSION_LIST, all_totals, lay_out, profile, totals, tree_levels
from tokenviz.fusion import kernel_groups
from tokenviz.graph import Block, BlockRef, DecodeStep, Op
from tokenviz.ledger import arithmetic
from tokenviz.scenario import Scenario
from tokenviz.schedule import summarise
from tokenviz.trace import trace


def duration(block: Block, op: Op, convention: str) -> int:
    """Timesteps of one operation, from the convention's words."""
    if convention != "scalar":
        return 1
    if op.primitive in ("append", "save", "lookup", "fan_out", "causal_mask"):
        return 0
    if op.primitive == "top_k":
        return math.ceil(math.log2(op.attrs["n"])) if op.attrs["n"] > 1 else 0
    if op.primitive in ("row_sum", "sum", "max", "mean", "argmax"):
        n = block.values[str(op.operands[0])].size // block.values[op.result].size
        return (math.ceil(math.log2(n)) if n > 1 else 0) + (op.primitive == "mean")
    return 1


def expanded_depth(step: DecodeStep, convention: str) -> int:
    """Longest path over one graph of every operation of every layer; operands are the only edges."""
    graph = nx.DiGraph()
    ports: dict[str, list[tuple[int, str]]] = {}
    for place, ref in enumerate(step.sequence):
        block = step.blocks[ref.block]
        for op in block.ops:
            node = (place, op.id)
            graph.add_node(node, duration=duration(block, op, convention))
            for root in block.roots_of(op):
                if root in block.producers:
                    graph.add_edge((place, block.producers[root].id), node)
            for port, value in block.inputs.items():
                if value in block.roots_of(op):
                    graph.add_edges_from((maker, node) for maker in ports.get(port, []))
        ports = {port: [(place, block.producers[r].id) for r in block.values[v].roots if r in block.producers]
                 for port, v in block.outputs.items()}  # fmt: skip
    ends: dict[tuple[int, str], int] = {}
    for node in nx.topological_sort(graph):
        ends[node] = max((ends[p] for p in graph.predecessors(node)), default=0) + graph.nodes[node]["duration"]
    return max(ends.values())


@settings(max_examples=30, deadline=None)
@given(models())
def test_folded_equals_an_expanded_longest_path(model: Model) -> None:
    step = trace(model.architecture, model.scenario(context=5))
    for convention in ("dataflow", "scalar"):
        assert totals(step, convention).critical_path == expanded_depth(step, convention)


@settings(max_examples=30, deadline=None)
@given(models())
def test_as_drawn_is_the_schedule(model: Model) -> None:
    step = trace(model.architecture, model.scenario(context=9))
    drawn, summary = totals(step, "drawn"), summarise(step)
    assert (drawn.operations, drawn.critical_path, drawn.peak_parallelism) == (
        summary.operations, summary.critical_path, summary.peak_parallelism,
    )  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(models())
def test_work_span_and_order_of_the_conventions(model: Model) -> None:
    step = trace(model.architecture, model.scenario(context=100))
    found = {t.convention: t for t in all_totals(step)}
    assert list(found) == list(CONVENTIONS)
    assert found["dataflow"].operations == found["drawn"].operations
    assert found["dataflow"].critical_path <= found["drawn"].critical_path
    assert found["fused"].critical_path <= found["drawn"].critical_path
    assert found["fused"].operations <= found["drawn"].operations
    for t in found.values():
        running = profile(step, t.convention)
        assert int(running.sum()) == t.operations
        assert len(running) == t.critical_path <= t.operations
        assert int(running.max()) == t.peak_parallelism
        # work and span: on p units no schedule takes less than work / p or span, and peak units suffice
        assert t.operations <= t.critical_path * t.peak_parallelism


@settings(max_examples=30, deadline=None)
@given(models())
def test_scalar_work_is_the_ledger(model: Model) -> None:
    """A MAC of a row of n is n products and n - 1 adds; a rank-1 update's MAC is a product and an add."""
    step = trace(model.architecture, model.scenario(context=6))
    ledger = arithmetic(step)
    rows = sum(block.values[op.result].size * n for block, n in step.folded() for op in block.ops
               if op.primitive == "row_sum")  # fmt: skip
    assert totals(step, "scalar").operations == 2 * ledger.pop("mac") - rows + sum(ledger.values())


@pytest.mark.parametrize(("rows", "n", "levels"), [(1, 1, ()), (1, 2, (1,)), (3, 5, (6, 3, 3)), (1, 8, (4, 2, 1))])
def test_a_tree_over_n_values_has_n_minus_one_operations_in_ceil_log2_n_levels(
    rows: int, n: int, levels: tuple[int, ...]
) -> None:
    assert tree_levels(rows, n) == levels
    assert sum(levels) == rows * (n - 1)
    assert len(levels) == oracle.clog(n)


LLAMA = """{"model_type":"llama","hidden_size":24,"intermediate_size":40,"num_hidden_layers":3,
    "num_attention_heads":4,"num_key_value_heads":2,"head_dim":10,"vocab_size":50,"tie_word_embeddings":false,
    "rms_norm_eps":1e-6,"max_position_embeddings":64,"hidden_act":"silu","dtype":"bfloat16"}"""


@pytest.mark.parametrize("context", [0, 1, 6, 7, 8, 1_000_000])
def test_scalar_depth_by_hand(context: int) -> None:
    step = trace(model_from_text(LLAMA, "small").architecture, Scenario(context=context))
    depth = oracle.llama_scalar_depth(24, 40, 4, 10, 50, 3, context + 1)
    assert totals(step, "scalar").critical_path == depth


@pytest.mark.parametrize(
    ("name", "operations", "depth"),
    [
        # kernels of a DeltaNet mixer: norm, qkv, z, b, a, conv, delta, gated norm, out = 9, six of them in a chain;
        # attention: norm, q, gate, k, v, q/k norm + RoPE, cache write, attention, gate, out = 10, six in a chain;
        # dense feed-forward: norm, gate, up, SwiGLU, down = 5, four in a chain;
        # experts: norm, router, score, shared gate, shared up, softmax + top-k, gate, up, SwiGLU, down,
        # shared SwiGLU, shared down, combine = 13, seven in a chain; lookup 1; output 3; the first norm is looked up
        ("qwen3.5-0.8b", 18 * 9 + 6 * 10 + 24 * 5 + 4 - 1, 18 * 6 + 6 * 6 + 24 * 4 + 4 - 1),
        ("qwen3.8-27b", 48 * 9 + 16 * 10 + 64 * 5 + 4 - 1, 48 * 6 + 16 * 6 + 64 * 4 + 4 - 1),
        ("qwen3.8-2.4t-a95b", 69 * 9 + 23 * 10 + 92 * 13 + 4 - 1, 69 * 6 + 23 * 6 + 92 * 7 + 4 - 1),
    ],
)
def test_fused_kernels_by_hand(name: str, operations: int, depth: int) -> None:
    model = load_model(name)
    fused = totals(trace(model.architecture, model.scenario()), "fused")
    assert (fused.operations, fused.critical_path) == (operations, depth)


@settings(max_examples=30, deadline=None)
@given(models())
def test_every_operation_is_in_one_kernel(model: Model) -> None:
    for block in trace(model.architecture, model.scenario(context=2)).blocks.values():
        inside = [op.id for group in kernel_groups(block) for op in group.ops]
        assert sorted(inside) == sorted(op.id for op in block.ops)


def test_every_fusion_is_stated_and_used() -> None:
    step = trace(load_model("qwen3.8-2.4t-a95b").architecture, Scenario())
    used = {g.name for b in step.blocks.values() for g in kernel_groups(b)}
    assert {name for name, _ in FUSION_LIST} <= used
    assert all(says for _, says in FUSION_LIST)


@pytest.mark.parametrize(
    ("name", "drawn"),
    [
        ("qwen3.8-2.4t-a95b", (10_612, 6_886, 4)),
        ("qwen3.8-27b", (5_337, 3_897, 4)),
        ("qwen3.5-0.8b", (2_001, 1_467, 4)),
    ],
)
def test_published_totals_as_drawn(name: str, drawn: tuple[int, int, int]) -> None:
    model = load_model(name)
    t = totals(trace(model.architecture, model.scenario()), "drawn")
    assert (t.operations, t.critical_path, t.peak_parallelism) == drawn


def test_blocks_with_a_tail_overlap_the_next() -> None:
    from tests.test_schedule import tail_block

    step = DecodeStep({"tail": tail_block(3)}, (BlockRef("tail", 0, "a"), BlockRef("tail", 1, "b")), 1, 0)
    for convention in ("drawn", "dataflow"):
        assert profile(step, convention).tolist() == [2, 3, 2, 1]
        assert totals(step, convention).critical_path == 4
        assert totals(step, convention).peak_parallelism == 3
        assert lay_out(step.blocks["tail"], convention).depth == 1
