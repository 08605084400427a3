"""Whatever is handed to the command line, there are figures or one sentence: never a traceback, never a raw control."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tokenviz.catalog import config_text, data_dir
from tokenviz.cli import main

LLAMA: dict[str, Any] = json.loads(config_text("meta-llama-3.1-8b"))
PARAMETERS = 8_030_261_248  # 128,256 · 4,096 · 2 + 4,096 + 32 · (41,943,040 + 176,160,768 + 2 · 4,096)


def analyze(capsys: pytest.CaptureFixture[str], path: Path) -> dict[str, Any]:
    assert main(["analyze", str(path), "--json"]) == 0
    out: dict[str, Any] = json.loads(capsys.readouterr().out)
    return out


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    """The one sentence about a bad input, with nothing else printed."""
    assert main(argv) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err[:-1].isprintable()
    return captured.err


def program(*argv: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "tokenviz", *argv], text=True, check=False, **options)


@pytest.mark.parametrize(
    "encode",
    [lambda t: b"\xef\xbb\xbf" + t.encode(), lambda t: t.replace("\n", "\r\n").encode(), lambda t: t.encode("utf-16")],
    ids=["byte order mark", "CRLF", "UTF-16"],
)
def test_encodings_change_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path, encode: Any) -> None:
    path = tmp_path / "config"  # no .json at the end
    path.write_bytes(encode(config_text("meta-llama-3.1-8b")))
    assert analyze(capsys, path)["parameters"]["total"] == PARAMETERS


def test_half_a_surrogate_pair_as_a_key(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**LLAMA, "\ud800": 1}))
    assert analyze(capsys, path)["unread_keys"] == ["\ud800"]
    done = program("analyze", str(path), capture_output=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_terminals_without_the_signs_still_get_valid_json() -> None:
    argv = ("place", "gpt2", "--chain", "attention", "--json")
    done = program(*argv, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")
    labels = [node["label"] for node in json.loads(done.stdout)["nodes"]]
    assert any(not label.isascii() for label in labels)  # or the test proves nothing
    done = program("map", capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")


def test_control_characters_of_a_config_do_not_reach_the_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**LLAMA, "\x1b[2Jkey\n\u202e": 1}))
    assert main(["analyze", str(path)]) == 0
    lines = capsys.readouterr().out.split("\n")
    assert all(line.isprintable() for line in lines)
    assert lines[-2].endswith(r"\x1b[2Jkey\n\u202e")


def test_many_unread_keys_are_counted_not_listed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**LLAMA, **{f"key{i:04}": i for i in range(1_500)}}))
    assert main(["analyze", str(path)]) == 0
    assert capsys.readouterr().out.endswith("key0018, key0019 and 1,480 more\n")


def test_long_values_are_cut(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**LLAMA, "hidden_act": "z\n" * 100_000}))
    assert 600 < len(refused(capsys, "analyze", str(path))) < 650


@pytest.mark.parametrize("name", ["a" * 5_000, "x/" * 5_000, "no\nsuch"])
def test_names_that_no_file_can_have(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert "no bundled model" in refused(capsys, "analyze", name)


def test_a_device_without_end_is_not_read_to_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert "at most 5,000,000" in refused(capsys, "analyze", "/dev/zero")


def test_standard_input_that_is_closed_or_fails(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, _buffer: Any) -> int:
            raise OSError(5, "Input/output error")

    monkeypatch.setattr("sys.stdin", None)
    assert "this is not JSON" in refused(capsys, "analyze", "-")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(Broken())))
    assert "standard input cannot be read (Input/output error)" in refused(capsys, "analyze", "-")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_disk_is_said_in_a_sentence() -> None:
    with Path("/dev/full").open("w") as full:
        done = program("models", stdout=full, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (2, "tokenviz: the output cannot be written (No space left on device)\n")


def test_a_reader_that_leaves_early_is_no_fault() -> None:
    command = [sys.executable, "-m", "tokenviz", "models"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == 0


@pytest.mark.parametrize("seed", ["-1", str(2**32)])
def test_seeds_that_no_generator_takes(capsys: pytest.CaptureFixture[str], seed: str) -> None:
    assert "seed is" in refused(capsys, "place", "gpt2", "--chain", "attention", "--seed", seed)


# ------------------------------------------------------------------------------------------------ values in configs


def bundled_with(name: str, path: str, value: Any) -> str:
    """A bundled config with one value replaced; `path` is dotted, `name` that of its file."""
    config = json.loads((data_dir() / "configs" / f"{name}.json").read_text())
    *parents, last = path.split(".")
    inner = config
    for key in parents:
        inner = inner[key]
    inner[last] = value
    return json.dumps(config)


SENTENCES = [
    ("Qwen__Qwen3.5-0.8B", "text_config.rope_parameters.partial_rotary_factor", 1e308, "partial_rotary_factor is"),
    ("Qwen__Qwen3.5-0.8B", "text_config.rope_parameters.partial_rotary_factor", float("inf"), "is inf; give a share"),
    ("ai21labs__AI21-Jamba-Mini-1.5", "mamba_expand", -1, "mamba_expand is -1; give a number above 0"),
    ("ai21labs__AI21-Jamba-Mini-1.5", "mamba_expand", 0, "mamba_expand is 0; give a number above 0"),
    ("ai21labs__AI21-Jamba-Mini-1.5", "mamba_expand", 1e-9, "channels at width 4096"),
    ("ibm-granite__granite-4.0-h-tiny", "mamba_expand", 1e308, "channels at width 1536"),
    ("state-spaces__mamba2-2.7b", "ssm_cfg.expand", 1e308, "channels at width 2560"),
    ("deepseek-ai__DeepSeek-V3", "rope_scaling.mscale_all_dim", 1e308, "mscale_all_dim 1e+308"),
    ("deepseek-ai__DeepSeek-V3", "rope_scaling.factor", float("inf"), "factor inf"),
    ("mosaicml__mpt-7b", "attn_config.alibi_bias_max", [1], "attn_config.alibi_bias_max is [1]; give a number"),
    ("mosaicml__mpt-7b", "attn_config.clip_qkv", "x", "attn_config.clip_qkv is 'x'; give a number"),
    ("mosaicml__mpt-7b", "attn_config.softmax_scale", {"a": 1}, "attn_config.softmax_scale is {'a': 1}; give a"),
    ("nvidia__NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "hybrid_override_pattern", [{}], "contains {}; known: "),
    ("meta-llama__Meta-Llama-3.1-8B", "rms_norm_eps", 10**400, "has 401 digits; give one of at most 300"),
]


@pytest.mark.parametrize(("name", "path", "value", "sentence"), SENTENCES)
def test_values_that_no_model_has(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, path: str, value: Any, sentence: str
) -> None:
    config = tmp_path / "config.json"
    config.write_text(bundled_with(name, path, value))
    assert sentence in refused(capsys, "analyze", str(config))


def test_a_key_given_twice_counts_once_and_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(config_text("meta-llama-3.1-8b").rstrip().removesuffix("}") + ', "num_hidden_layers": 2}')
    out = analyze(capsys, path)
    assert [kind["count"] for kind in out["layers"]] == [2]
    assert '"num_hidden_layers" is given more than once: the last one counts' in out["assumptions"]
