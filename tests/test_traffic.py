"""Parameters, state and bytes, with the sums that give them."""

import pytest

from tokenviz.catalog import load_model
from tokenviz.notation import bytes_of
from tokenviz.scenario import Scenario
from tokenviz.trace import trace
from tokenviz.traffic import Kept, Traffic, kept, parameters, traffic


def state(name: str, context: int) -> Kept:
    model = load_model(name)
    scenario = model.scenario(context=context)
    return kept(trace(model.architecture, scenario), scenario)


@pytest.mark.parametrize(
    ("name", "total", "with_table", "embedding", "width"),
    [
        ("qwen3.8-2.4t-a95b", 2_419_804_697_984, 95_287_866_752, 2_034_237_440, 8192),
        ("qwen3.5-35b-a3b", 34_660_610_688, 3_454_988_928, 508_559_360, 2048),
        ("meta-llama-3.1-8b", 8_030_261_248, 8_030_261_248, 525_336_576, 4096),
    ],
)
def test_untied_parameters(name: str, total: int, with_table: int, embedding: int, width: int) -> None:
    model = load_model(name)
    found = parameters(trace(model.architecture, Scenario()), model.architecture.tied)
    assert (found.total, found.embedding, found.lm_head, found.tied) == (total, embedding, embedding, False)
    # what a token touches, less the table, plus the one row that is looked up
    assert found.active == with_table - embedding + width


def test_a_tied_table_is_one_parameter_that_the_output_reads_whole() -> None:
    model = load_model("qwen3.5-0.8b")
    found = parameters(trace(model.architecture, Scenario()), tied=True)
    assert (found.total, found.active, found.lm_head) == (752_393_024, 752_393_024, 0)


def test_keys_and_values_are_kept_only_by_attention_layers() -> None:
    # 16 of 64 layers x 4 heads x 256 x 2 (K, V) x 2 bytes; 262,144 positions are exactly 16,384 MiB
    found = state("qwen3.8-27b", 262_144)
    assert found.kv_per_position == 65_536
    assert found.kv == 17_179_869_184 == 16_384 * 2**20


def test_fixed_state_is_kept_only_by_recurrent_layers_and_never_grows() -> None:
    # 48 layers x 48 heads x 128 x 128 x 4 bytes; 48 x 10,240 channels x 3 columns x 2 bytes
    for context in (0, 262_144):
        found = state("qwen3.8-27b", context)
        assert (found.recurrent, found.convolution) == (150_994_944, 2_949_120)


@pytest.mark.parametrize(("precision", "bits"), [("fp32", 32), ("bf16", 16), ("fp8", 8)])
def test_state_and_cache_have_precisions_of_their_own(precision: str, bits: int) -> None:
    # 48 layers x 48 heads x 128 x 128 values of state; K/V and convolution do not follow it, nor it them
    model = load_model("qwen3.8-27b")
    for kv, slope in (("bf16", 65_536), ("fp8", 32_768)):
        scenario = model.scenario(context=4, state=precision, kv=kv)
        found = kept(trace(model.architecture, scenario), scenario)
        moved = traffic(trace(model.architecture, scenario), scenario)
        assert found.recurrent == moved.state_read == moved.state_write == 37_748_736 * bits // 8
        assert (found.kv_per_position, found.convolution) == (slope, 2_949_120)


def test_recurrent_state_is_read_and_written_whole() -> None:
    model = load_model("qwen3.8-27b")
    scenario = model.scenario()
    found = traffic(trace(model.architecture, scenario), scenario)
    assert found.state_read + found.state_write == 301_989_888
    assert found.conv_read == found.conv_write == 2_949_120


@pytest.mark.parametrize("context", [0, 1, 999_999, 100_000_000])
def test_attention_reads_every_attended_position_once(context: int) -> None:
    model = load_model("meta-llama-3.1-8b")
    scenario = model.scenario(context=context)
    found = traffic(trace(model.architecture, scenario), scenario)
    # 32 layers x 8 heads x 128 x 2 x 2 bytes
    assert found.kv_write == 131_072
    assert found.kv_read == 131_072 * (context + 1)


def test_traffic_adds_up_and_multiplies() -> None:
    one = Traffic(1, 2, 3, 4, 5, 6, 7)
    assert one.total == 28
    assert (one + one).total == one.times(2).total == 56


@pytest.mark.parametrize(("dtype", "expected"), [("fp32", 12), ("bf16", 6), ("fp8", 3), ("int4", 2)])
def test_odd_numbers_of_half_bytes_round_up(dtype: str, expected: int) -> None:
    assert bytes_of(3, dtype) == expected


def test_weight_precision_changes_weight_bytes_only() -> None:
    model = load_model("qwen3.8-27b")
    a, b = (traffic(trace(model.architecture, s), s) for s in (model.scenario(), model.scenario(weights="bf16")))
    assert b.weights == 4 * a.weights == 51_249_210_368
    assert b.kv_read == a.kv_read
