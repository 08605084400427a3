"""The README cannot rot: its code runs, its output is real, its tables are up to date."""

import contextlib
import io
import json
import re

import pytest

from tests.readme import README, rendered
from tokenviz.catalog import model_from_text
from tokenviz.cli import main
from tokenviz.families.common import FAMILIES, TITLES


def code_blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README.read_text(), re.DOTALL | re.MULTILINE)


def test_the_example_prints_what_it_says() -> None:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code_blocks("python")[0], {})
    printed = README.read_text().split(code_blocks("python")[0])[1].split("```\n")[2]
    assert out.getvalue() == printed


def test_a_family_takes_one_function() -> None:
    code = code_blocks("python")[1]
    try:
        exec(code, {})
        config = {"model_type": "my_model", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
                  "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 100}  # fmt: skip
        architecture = model_from_text(json.dumps(config), "mine").architecture
    finally:
        FAMILIES.pop("my_model", None)
        TITLES.pop("my_model", None)
    assert len(architecture.layers) == 2
    assert architecture.unread_keys == ()
    function = code[code.index("@family") :]
    assert len(function.strip().split("\n")) <= 10


def test_generated_parts_are_up_to_date() -> None:
    assert README.read_text() == rendered()


def test_the_commands_exist(capsys: pytest.CaptureFixture[str]) -> None:
    commands = set(re.findall(r"^    \$ tokenviz (\w+)", README.read_text(), re.MULTILINE))
    assert commands == {"analyze", "place", "generate"}
    for command in commands:
        with pytest.raises(SystemExit) as done:
            main([command, "--help"])
        assert done.value.code == 0
        assert f"tokenviz {command}" in capsys.readouterr().out
