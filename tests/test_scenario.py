"""What is asked of a model: bounds with one sentence each, and which of it decides the graph."""

from dataclasses import fields, replace
from typing import Any

import pytest

from tokenviz.catalog import load_model
from tokenviz.formats import FORMATS, Quantization
from tokenviz.graph_export import to_json
from tokenviz.notation import ScenarioError
from tokenviz.scenario import Scenario
from tokenviz.trace import trace, traced

BASE = Scenario(context=5)
OTHER: dict[str, Any] = {
    "context": 6, "positions": 2, "output": "greedy", "gate": "study", "weights": "fp8", "kv": "fp8",
    "activations": "fp32", "state": "bf16", "tokens_per_s": 7.0, "always_mask": True,
    "quantization": Quantization(layout=FORMATS["mxfp4"], kept=()), "metadata": True, "prediction": True,
}  # fmt: skip
STRUCTURAL = {"context", "positions", "output", "gate", "always_mask"}


def test_every_field_is_looked_at() -> None:
    assert set(OTHER) == {f.name for f in fields(Scenario)}
    assert all(getattr(BASE, name) != value for name, value in OTHER.items())


@pytest.mark.parametrize("name", OTHER)
def test_the_structure_holds_what_changes_the_graph_and_nothing_else(name: str) -> None:
    architecture = load_model("qwen3.8-27b").architecture  # its gate is read in two ways, its step has a mask
    changed = replace(BASE, **{name: OTHER[name]})
    same_graph = to_json(trace(architecture, changed), "") == to_json(trace(architecture, BASE), "")
    assert same_graph is (name not in STRUCTURAL)
    assert (changed.structure == BASE.structure) is same_graph
    assert (traced(architecture, changed) is traced(architecture, BASE)) is same_graph


@pytest.mark.parametrize(
    ("context", "positions", "window", "span"),
    [
        (9, 1, None, 10),  # nine kept and itself
        (9, 1, 4, 4),
        (2, 1, 4, 3),  # the window is not full yet
        (9, 3, 4, 6),  # three windows of 4, each a position further: 4 + 2
    ],
)
def test_attended_positions(context: int, positions: int, window: int | None, span: int) -> None:
    assert Scenario(context=context, positions=positions).attended(window) == span


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"context": -1}, "context is -1; give a whole number from 0 to 100,000,000"),
        ({"context": True}, "context is True; give a whole number"),
        ({"positions": 0}, "positions is 0; give a whole number from 1 to 1,024"),
        ({"output": "beam"}, "output is 'beam'; choose one of softmax, greedy"),
        ({"gate": "open"}, "gate is 'open'; choose one of study, implemented"),
        ({"kv": "fp7"}, "kv is 'fp7'; choose one of fp32, bf16"),
        ({"tokens_per_s": 0.0}, "tokens/s is 0.0; give a number above 0"),
        ({"tokens_per_s": float("nan")}, "tokens/s is nan; give a number above 0"),
    ],
)
def test_what_cannot_be_analysed_is_refused_in_one_sentence(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        replace(BASE, **change)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)
