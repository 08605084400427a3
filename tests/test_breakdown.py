"""Rows of the breakdown: as many as operations, and every column adds up to the figure it splits."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import oracles_statistics as oracle
from tests.strategies import models
from tokenviz.breakdown import BYTE_COLUMNS, every_stage, stages
from tokenviz.catalog import Model, bundled_models, load_model
from tokenviz.graph import COUNTERS
from tokenviz.ledger import arithmetic, classes
from tokenviz.notation import DTYPE_BITS, ConfigError
from tokenviz.schedule import expand, summarise
from tokenviz.trace import trace
from tokenviz.traffic import traffic


def readable() -> list[str]:
    """Bundled models but those whose config is refused."""
    names = []
    for name in bundled_models():
        with suppress(ConfigError):
            names.append(load_model(name).name)
    return names


@settings(max_examples=40, deadline=None)
@given(
    models(), st.sampled_from(sorted(DTYPE_BITS)), st.sampled_from(["bf16", "fp8"]), st.booleans(), st.integers(1, 3)
)
def test_rows_add_up(model: Model, weights: str, kv: str, greedy: bool, positions: int) -> None:
    scenario = model.scenario(context=12, weights=weights, kv=kv, output="greedy" if greedy else "softmax",
                              positions=positions)  # fmt: skip
    step = trace(model.architecture, scenario)
    rows, folded = every_stage(step, scenario), stages(step, scenario)
    operations = summarise(step).operations
    assert len(rows["start"]) == operations == int(folded["count"].sum())
    moved = traffic(step, scenario)
    assert sum(int(rows[c].sum()) for c in BYTE_COLUMNS) == moved.total
    assert sum(int(folded[c].sum()) for c in BYTE_COLUMNS) == moved.total
    assert int(rows["weight bytes"].sum()) == moved.weights
    for counter, n in arithmetic(step).items():
        assert int(rows[counter].sum()) == n == int(folded[counter].sum())
    for op_class, n in classes(step).items():
        assert int((rows["class"] == op_class.value).sum()) == n


def test_rows_follow_the_drawing() -> None:
    model = load_model("qwen3.8-2.4t-a95b")
    scenario = model.scenario()
    step = trace(model.architecture, scenario)
    rows = every_stage(step, scenario)
    assert rows["position"].tolist() == list(range(10_612))
    assert rows["start"].tolist() == [p.t for p in expand(step)]
    assert (rows["end"] - rows["start"] == 1).all()
    assert rows["operation"][:2].tolist() == ["look up row pair", "fan out"]
    assert rows["layer"][[0, 2, -1]].tolist() == [-1, 0, -1]


def test_bytes_sit_where_they_move() -> None:
    model = load_model("qwen3.5-0.8b")
    scenario = model.scenario()
    step = trace(model.architecture, scenario)
    rows = stages(step, scenario)
    where = {
        (b, t, o): i
        for i, (b, t, o) in enumerate(zip(rows["block"], rows["transform"], rows["operation"], strict=True))
    }
    # 6 attention layers: 2 K/V heads x 256 x 2 bytes for each of 1,000,001 positions, keys and values apart
    scores, mix = where["Attention", "Scores", "products"], where["Attention", "Value mix", "products"]
    assert rows["state bytes read"][scores] == rows["state bytes read"][mix] == 6 * 2 * 256 * 2 * 1_000_001
    assert rows["state bytes written"][where["Attention", "K append", "store"]] == 6 * 2 * 256 * 2
    # the first DeltaNet layer is a block of its own, for its norm is looked up:
    # 16 heads x 128 x 128 in fp32, read at the decay and saved
    first = rows["operation"].tolist().index("decay S")
    assert rows["state bytes read"][first] == 16 * 128 * 128 * 4
    assert rows["operands"][first] == "state × ephemeral"
    # tied embedding: the table is read once, whole, by the output scores
    assert rows["weight bytes"][where["Output scores", "Output scores", "products"]] == 248_320 * 1_024 * 2
    assert rows["weight bytes"][where["Lookup", "Paired lookup", "look up row pair"]] < 1_024 * 2 * 2


def test_values_in_are_those_read_and_values_out_those_made() -> None:
    model = load_model("qwen3.8-2.4t-a95b")
    scenario = model.scenario()
    rows = stages(trace(model.architecture, scenario), scenario)

    def values(transform: str, operation: str) -> set[tuple[int, int]]:
        """(in, out) of one run, over the blocks that have this operation."""
        return {
            (int(i) // int(n), int(o) // int(n))
            for t, label, n, i, o in zip(rows["transform"], rows["operation"], rows["count"], rows["values in"],
                                         rows["values out"], strict=True)
            if (t, label) == (transform, operation)
        }  # fmt: skip

    # the token's number and two rows of 8,192: of 2 x 248,320 rows no other is read
    assert values("Paired lookup", "look up row pair") == {(1 + 2 * 8_192, 2 * 8_192)}
    # 10 of 512 experts, each 2,048 x 8,192, and one token of 8,192 that all ten share
    gate = 10 * 2_048 * 8_192
    assert values("Routed gate", "products") == {(gate + 8_192, gate)}
    # one new key of 4 heads x 256 is stored; the million behind it is neither read nor written
    assert values("K append", "store") == values("V append", "store") == {(4 * 256, 4 * 256)}
    # 64 queries x 256 against 1,000,001 keys of 4 heads x 256, each key once for its 16 queries
    assert values("Scores", "products") == {(64 * 256 + 1_000_001 * 4 * 256, 64 * 256 * 1_000_001)}
    # 128 heads of 128 x 128 state; 16 keys of 128, each shared by eight heads
    assert values("Delta update and read-out", "Sᵀk products") == {(128**3 + 16 * 128, 128**3)}
    # x times itself is read once
    assert values("Final RMSNorm", "square") == {(8_192, 8_192)}


def test_a_plain_lookup_reads_one_row_of_one_table() -> None:
    model = load_model("gpt2")
    scenario = model.scenario()
    rows = stages(trace(model.architecture, scenario), scenario)
    assert rows["operation"][:2].tolist() == ["look up row", "look up position row"]
    assert rows["values in"][:2].tolist() == [1 + 768, 1 + 768]


@pytest.mark.parametrize("name", ["qwen3.8-2.4t-a95b", "qwen3.8-27b", "qwen3.5-0.8b", "meta-llama-3.1-8b"])
@pytest.mark.parametrize("gate", ["study", "implemented"])
def test_scalar_counts_by_hand(name: str, gate: str) -> None:
    model = load_model(name)
    found = arithmetic(trace(model.architecture, model.scenario(context=1_000, gate=gate)))
    expected = oracle.counts(model.architecture, 1_000, gate)
    assert {c: found[c] for c in COUNTERS if c != "mac" and found[c]} == expected


@pytest.mark.parametrize("name", readable())
def test_bytes_of_every_bundled_model_add_up_as_stored(name: str) -> None:
    """Formats that a config declares, their scales, and layers stored differently included."""
    model = load_model(name)
    for metadata in (False, True):
        scenario = model.scenario(context=70_000, metadata=metadata)
        step = trace(model.architecture, scenario)
        total = traffic(step, scenario)
        for rows in (every_stage(step, scenario), stages(step, scenario)):
            assert int(rows["weight bytes"].sum()) == total.weights
            assert sum(int(rows[c].sum()) for c in BYTE_COLUMNS) == total.total
