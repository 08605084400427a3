"""The published totals: the first acceptance test."""

import pytest

from tokenviz.analysis import Analysis, analyze
from tokenviz.catalog import load_model


def analysis(name: str, **changes: object) -> Analysis:
    model = load_model(name)
    return analyze(model, model.scenario(**changes))


@pytest.mark.parametrize(
    ("name", "operations", "critical_path", "peak", "average"),
    [
        # 2 lookup + 69·(68 + 51) + 23·(53 + 51) - 6 looked-up norm + 13 output
        ("qwen3.8-2.4t-a95b", 10_612, 6_886, 4, "1.54"),
        # 2 + 48·(68 + 19) + 16·(53 + 19) - 6 + 13
        ("qwen3.8-27b", 5_337, 3_897, 4, "1.37"),
        # 2 + 18·(68 + 19) + 6·(52 + 19) - 6 + 13
        ("qwen3.5-0.8b", 2_001, 1_467, 4, "1.36"),
    ],
)
def test_totals(name: str, operations: int, critical_path: int, peak: int, average: str) -> None:
    summary = analysis(name).summary
    assert (summary.operations, summary.critical_path, summary.peak_parallelism) == (operations, critical_path, peak)
    assert f"{summary.average_parallelism:.2f}" == average


def test_the_other_reading_of_the_output_gate_has_one_operation_less_per_attention_layer() -> None:
    assert analysis("qwen3.8-2.4t-a95b", gate="implemented").summary.operations == 10_612 - 23 == 10_589
    assert analysis("qwen3.8-27b", gate="implemented").summary.operations == 5_337 - 16
    assert analysis("qwen3.5-0.8b", gate="implemented").summary.operations == 2_001


def test_greedy_output_ends_at_argmax() -> None:
    # softmax is five operations, argmax one
    summary = analysis("qwen3.8-2.4t-a95b", output="greedy").summary
    assert (summary.operations, summary.critical_path) == (10_612 - 4, 6_886 - 4)


def test_arithmetic_of_the_largest_model() -> None:
    a = analysis("qwen3.8-2.4t-a95b")
    assert a.arithmetic["mac"] // 10**9 == 847
    # 23 layers x 64 heads x 1,000,001 positions
    assert a.exponentials["attention_softmax"] == 23 * 64 * 1_000_001 == 1_472_001_472
    assert a.arithmetic["exp"] == sum(a.exponentials.values())
    assert round(a.exponentials["attention_softmax"] / a.arithmetic["exp"] * 100, 1) == 99.6
    assert round(a.exponentials["other"] / 1e6) == 5


def test_bytes_of_the_largest_model() -> None:
    a = analysis("qwen3.8-2.4t-a95b")
    assert a.traffic.total // 10**9 == 281
    assert round(a.traffic.total / 1e9) == 282
    assert a.traffic.weights // 10**9 == 186
    assert a.traffic.kv_read // 10**9 == 94
    assert round(a.traffic.total * a.scenario.tokens_per_s / 1e12) == 28
    assert (a.traffic.state_read + a.traffic.state_write) * 200 < a.traffic.total  # under 0.5 %


def test_state_of_each_layer_of_the_largest_model() -> None:
    a = analysis("qwen3.8-2.4t-a95b")
    # 128 heads x 128 x 128 x 4 bytes, rewritten in place; 4 heads x 256 x 2 (K and V) x 2 bytes, appended
    assert a.kept.recurrent == 69 * 8_388_608
    assert a.kept.kv_per_position == 23 * 4_096
    assert a.kept.kv == 23 * 4_096_000_000


@pytest.mark.parametrize(("name", "share"), [("qwen3.8-27b", 83), ("qwen3.5-0.8b", 89)])
def test_share_of_keys_and_values(name: str, share: int) -> None:
    a = analysis(name)
    assert round(100 * (a.traffic.kv_read + a.traffic.kv_write) / a.traffic.total) == share


def test_bytes_of_the_4_bit_model() -> None:
    assert round(analysis("qwen3.8-27b").traffic.total / 1e9) == 79
