"""The prediction map: 90 nodes, 118 connections, 77 steps, all read off the traced graph."""

import json
from collections import Counter
from itertools import pairwise
from math import prod

import pytest

from tokenviz.cli import main
from tokenviz.decoder.events import outputs, read, recorded, sizes
from tokenviz.decoder.generate import generate
from tokenviz.decoder.map import prediction_map
from tokenviz.decoder.model import load_decoder
from tokenviz.decoder.sampling import Sampling
from tokenviz.views.network_text import lesson

DECODER = load_decoder()
MAP = prediction_map(DECODER.architecture)
PREFILL, CACHED = generate(DECODER, "The capital of France is", Sampling(temperature=0), 2)


def test_the_three_counts() -> None:
    # outside 10 nodes, 10 connections, 5 steps; in each of 4 blocks 20 nodes, 27 connections, 18 steps
    assert len(MAP.nodes) == 10 + 4 * 20 == 90
    assert len(MAP.connections) == 10 + 4 * 27 == 118
    assert len(MAP.steps) == 5 + 4 * 18 == 77


def test_a_block_has_its_nodes_in_order() -> None:
    kinds = [node.kind for node in MAP.nodes.values() if node.region == "block 3"]
    assert kinds == [
        "norm", "q", "k", "v", "rope", "cache", "sharing", "scores", "mask", "softmax", "mix", "join", "out",
        "residual", "norm", "gate", "up", "act", "down", "residual",
    ]  # fmt: skip
    silent = [n.kind for n in MAP.nodes.values() if n.region == "block 3" and n.event is None]
    assert silent == ["cache", "sharing"]


def test_outside_the_blocks() -> None:
    outside = [n for n in MAP.nodes.values() if not n.region.startswith("block")]
    assert [n.kind for n in outside] == [
        "text", "tokens", "context", "weights", "lookup", "norm", "logits", "probabilities", "select", "return"
    ]  # fmt: skip
    assert [n.kind for n in outside if n.event is not None] == ["lookup", "norm", "logits", "probabilities", "select"]


def kinds(region: str) -> Counter:
    """(kind of source, kind of target) of the connections that lead into a region's nodes."""
    ends = [(MAP.nodes[c.source], MAP.nodes[c.target]) for c in MAP.connections]
    return Counter((a.kind, b.kind) for a, b in ends if b.region == region)


@pytest.mark.parametrize("block", [1, 2, 3, 4])
def test_a_block_has_its_connections(block: int) -> None:
    before = "lookup" if block == 1 else "residual"
    assert sum(kinds(f"block {block}").values()) == 27
    expected = Counter(
        [
            (before, "norm"), ("norm", "q"), ("norm", "k"), ("norm", "v"), ("q", "rope"), ("k", "rope"),
            ("rope", "cache"), ("v", "cache"), ("cache", "sharing"), ("rope", "scores"), ("sharing", "scores"),
            ("scores", "mask"), ("mask", "softmax"), ("softmax", "mix"), ("sharing", "mix"), ("mix", "join"),
            ("join", "out"), ("out", "residual"), (before, "residual"), ("residual", "norm"), ("norm", "gate"),
            ("norm", "up"), ("gate", "act"), ("up", "act"), ("act", "down"), ("down", "residual"),
            ("residual", "residual"),
        ]
    )  # fmt: skip
    assert kinds(f"block {block}") == expected


def test_the_connections_outside() -> None:
    assert kinds("input") + kinds("output") == Counter(
        [
            ("text", "tokens"), ("tokens", "context"), ("context", "lookup"), ("weights", "lookup"),
            ("residual", "norm"), ("norm", "logits"), ("weights", "logits"), ("logits", "probabilities"),
            ("probabilities", "select"), ("select", "return"),
        ]
    )  # fmt: skip


def test_connections_lead_forward_and_join_nodes() -> None:
    order = {name: i for i, name in enumerate(MAP.nodes)}
    assert all(order[c.source] < order[c.target] for c in MAP.connections)
    assert len({(c.source, c.target) for c in MAP.connections}) == 118


def test_the_residual_stream_is_one_line() -> None:
    spine = [(c.source, c.target) for c in MAP.connections if c.kind == "residual"]
    assert len(spine) == 8
    assert all(a[1] == b[0] for a, b in pairwise(spine))


@pytest.mark.parametrize("made", [PREFILL, CACHED], ids=["prefill", "cached"])
def test_every_advance_records_77_values_of_the_right_shape(made) -> None:
    assert len(recorded(MAP, made)) == 77
    extent = sizes(made)
    assert (extent["T"], extent["S"]) == (made.positions, made.attended)
    for step in MAP.steps:
        node = MAP.nodes[step]
        for port, value in zip(node.outputs, outputs(made, node).values(), strict=False):
            wanted = tuple(prod(extent[d] for d in dims.split()) for dims in port.dims)
            assert value.shape == wanted, (step, port.name)


def test_the_cache_holds_all_positions() -> None:
    for node in MAP.of_kind("cache"):
        assert [port.name for port in node.outputs] == ["K cache", "V cache"]
        assert all(read(CACHED, port).shape == (CACHED.attended, 2, 32) for port in node.outputs)


def test_the_map_does_not_depend_on_one_config() -> None:
    # six blocks, one query head for each key/value head: nothing is shared, so 19 nodes and one hop less
    from dataclasses import replace

    layer = DECODER.architecture.layers[0]
    mixer, ffn = layer.sections
    alone = replace(mixer, body=replace(mixer.body, kv_heads=4, group=1))
    found = prediction_map(replace(DECODER.architecture, layers=(replace(layer, sections=(alone, ffn)),) * 6))
    assert len(found.nodes) == 10 + 6 * 19
    assert len(found.connections) == 10 + 6 * 26
    assert len(found.steps) == 5 + 6 * 18


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["map", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [len(report[key]) for key in ("nodes", "connections", "steps")] == [90, 118, 77]
    assert {c["source"] for c in report["connections"]} <= {n["id"] for n in report["nodes"]}
    assert [report["steps"][i]["node"] for i in (0, 76)] == ["lookup.lookup", "select"]
    assert main(["map"]) == 0
    assert capsys.readouterr().out.startswith("90 nodes, 118 connections, 77 steps\n")


def test_the_norm_that_is_looked_up_says_so() -> None:
    says = [node.id for node in MAP.nodes.values() if "looked up with it" in lesson(node)]
    assert says == ["layers.0.mixer.norm"]
