"""What a model of many equal layers costs: comparisons are counted, not timed, so the answer is exact everywhere."""

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from tokenviz.analysis import analyze, report
from tokenviz.architecture import Section
from tokenviz.builder import Builder
from tokenviz.catalog import config_text, load_model, model_from_text
from tokenviz.prediction import prediction_heads
from tokenviz.trace import remembered, trace


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Function () -> how often a section has been hashed since the last call."""
    calls: list[int] = []
    original = Section.__hash__

    def counting(section: Section) -> int:
        calls.append(1)
        return original(section)

    monkeypatch.setattr(Section, "__hash__", counting)

    def taken() -> int:
        n = len(calls)
        calls.clear()
        return n

    return taken


def figures(name: str, **changes: Any) -> dict[str, object]:
    """Every figure of a bundled config with some keys changed, nothing remembered."""
    remembered.cache_clear()
    config = {**json.loads(config_text(name)), **changes}
    model = model_from_text(json.dumps({k: v for k, v in config.items() if v is not None}), "many")
    return report(analyze(model, model.scenario()))


@pytest.mark.parametrize("name", ["meta-llama-3.1-8b", "qwen3.8-2.4t-a95b", "deepseek-v3", "gpt-oss-20b"])
def test_more_equal_layers_take_no_more_comparisons(hashed: Callable[[], int], name: str) -> None:
    counts = []
    for layers in (24, 240):
        figures(name, num_hidden_layers=layers, layer_types=None)
        counts.append(hashed())
    assert counts[0] == counts[1] > 0


@pytest.mark.parametrize("name", ["meta-llama-3.1-8b", "qwen3.5-0.8b", "gemma-3-27b-it", "deepseek-v3"])
def test_layers_that_are_one_object_or_equal_ones_make_the_same_step(name: str) -> None:
    architecture = load_model(name).architecture
    apart = replace(architecture, layers=tuple(deepcopy(layer) for layer in architecture.layers))
    scenario = load_model(name).scenario(context=9)
    assert trace(architecture, scenario).sequence == trace(apart, scenario).sequence
    assert (hash(architecture), architecture) == (hash(apart), apart)


def test_prediction_heads_do_not_trace_the_model_again() -> None:
    model = load_model("qwen3.8-27b")
    scenario = model.scenario(context=9)
    analyze(model, scenario)
    before = remembered.cache_info().misses
    assert prediction_heads(model.architecture, scenario).parameters == 424_699_392
    assert remembered.cache_info().misses == before


class Asked(dict[str, Any]):
    """A dictionary that counts how often it is asked whether it holds a key."""

    times = 0

    def __contains__(self, key: object) -> bool:
        self.times += 1
        return super().__contains__(key)


def test_a_name_used_a_thousand_times_is_numbered_without_trying_all_numbers() -> None:
    b = Builder({"D": 4})
    b.values = asked = Asked()
    x = b.input("residual", "D", name="x")
    with b.transform("t", "t", "T", equation="", says=""):
        for _ in range(1_000):
            x = b.add(x, 1.0, "+ 1")
    ids = [value for value in b.values if value != "residual"]
    assert ids == [f"{ids[0]}{'' if n == 1 else n}" for n in range(1, 1_001)]
    assert asked.times < 10_000  # trying all numbers would ask 500,000 times
