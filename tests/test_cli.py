"""The command line: the same numbers, one sentence for bad input."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tokenviz.catalog import bundled_models, data_dir
from tokenviz.cli import main

KEYS = {
    "model", "context", "tokens_per_s", "operations", "critical_path", "peak_parallelism", "average_parallelism",
    "layers", "parameters", "arithmetic", "exp_by", "bytes_per_token", "bytes_per_s", "kv_bytes_per_position",
    "kv_window_bytes", "recurrent_state_bytes", "conv_state_bytes", "assumptions", "unread_keys",
}  # fmt: skip


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> dict[str, object]:
    assert main(argv) == 0
    out: dict[str, object] = json.loads(capsys.readouterr().out)
    return out


def test_models_lists_one_name_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models"]) == 0
    assert capsys.readouterr().out.split("\n")[:-1] == list(bundled_models())
    assert bundled_models()[:3] == ("qwen3.8-2.4t-a95b", "qwen3.8-27b", "qwen3.5-0.8b")


def test_analyze_prints_every_promised_key(capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "analyze", "Qwen3.8-2.4T-A95B", "--json")
    assert set(out) >= KEYS
    assert set(out["parameters"]) == {"total", "active", "embedding", "lm_head", "tied"}  # type: ignore[call-overload]
    assert set(out["bytes_per_token"]) == {  # type: ignore[call-overload]
        "weights", "kv_read", "kv_write", "state_read", "state_write", "conv_read", "conv_write", "total",
    }  # fmt: skip
    assert (out["operations"], out["critical_path"]) == (10_612, 6_886)


def test_layer_kinds_reconcile_with_the_operations(capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "analyze", "qwen3.8-2.4t-a95b", "--json")
    layers = out["layers"]
    assert layers == [
        {"kind": "deltanet+moe", "count": 69, "operations": 68 + 51, "depth": 48 + 31},
        {"kind": "attention+moe", "count": 23, "operations": 53 + 51, "depth": 31 + 31},
    ]
    listed = sum(k["count"] * k["operations"] for k in layers)  # type: ignore[attr-defined]
    ends = out["lookup_operations"] + out["output_operations"]  # type: ignore[operator]
    assert listed + ends - out["lookup_saves"] == out["operations"]  # type: ignore[operator]


def test_options_reach_the_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "analyze", "qwen3.8-27b", "--context", "0", "--rate", "7.5", "--output", "greedy",
              "--weights", "bf16", "--gate", "implemented", "--json")  # fmt: skip
    assert (out["context"], out["tokens_per_s"], out["weights"]) == (0, 7.5, "bf16")
    assert out["operations"] == 5_337 - 16 - 4
    assert (out["kv_bytes_per_position"], out["recurrent_state_bytes"]) == (65_536, 150_994_944)
    out = run(capsys, "analyze", "qwen3.8-27b", "--kv", "fp8", "--state", "bf16", "--json")
    assert (out["kv"], out["state"]) == ("fp8", "bf16")
    assert (out["kv_bytes_per_position"], out["recurrent_state_bytes"]) == (65_536 // 2, 150_994_944 // 2)
    out = run(capsys, "analyze", "qwen3.8-27b", "--prediction-heads", "--json")
    assert (out["kv_bytes_per_position"], out["prediction_heads_loaded"]) == (69_632, True)
    out = run(capsys, "analyze", "qwen3.8-27b", "--context", "0", "--rate", "7.5", "--json")
    assert out["bytes_per_s"] == out["bytes_per_token"]["total"] * 7.5  # type: ignore[index]


def test_a_path_and_standard_input_get_no_profile(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = data_dir() / "configs" / "Qwen__Qwen3.8-27B.json"
    from_path = run(capsys, "analyze", str(path), "--json")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    from_stdin = run(capsys, "analyze", "-", "--json")
    assert from_path["weights"] == "bf16"
    assert from_path["operations"] == 5_337 - 16
    assert {k: v for k, v in from_path.items() if k != "model"} == {k: v for k, v in from_stdin.items() if k != "model"}


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["analyze", "nonesuch"], "no bundled model 'nonesuch'"),
        (["analyze", "qwen3.8-27"], "the nearest: qwen3.8-27b,"),
        (["analyze", "/nonesuch/config.json"], "cannot be read"),
        (["analyze", "."], "cannot be read"),
        (["analyze", "qwen3.8-27b", "--context", "-1"], "context is -1; give a whole number"),
        (["analyze", "qwen3.8-27b", "--context", "1000000000"], "100,000,000"),
        (["analyze", "qwen3.8-27b", "--context", "many"], "'many' is not a whole number"),
        (["analyze", "qwen3.8-27b", "--rate", "0"], "tokens/s"),
        (["analyze", "qwen3.8-27b", "--rate", "fast"], "'fast' is not a number"),
        (["analyze", "qwen3.8-27b", "--weights", "int3"], "invalid choice: 'int3'"),
        (["analyze"], "MODEL"),
        (["dance"], "dance"),
        ([], "COMMAND"),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(
    argv: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert sentence in captured.err
    assert captured.err.count("\n") == 1


def test_the_module_is_the_same_program(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tokenviz", "analyze", str(tmp_path / "none.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "cannot be read" in done.stderr
