"""Every published config in data/configs: parameters, caches and state equal the reference's, to the last digit.

The right values are in fixtures/truths.json. A file put into the folder is tested once its values are there.
"""

import json
from collections import Counter
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from tokenviz.analysis import Analysis, analyze, report
from tokenviz.catalog import data_dir, model_from_text
from tokenviz.execute import stored
from tokenviz.graph import DecodeStep, Role, StateKind
from tokenviz.notation import ConfigError
from tokenviz.trace import trace

FILES = {path.stem: path for path in sorted((data_dir() / "configs").glob("*__*.json"))}
TRUTHS: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "fixtures" / "truths.json").read_text())
REFUSED = sorted(name for name in FILES if "refused" in TRUTHS.get(name, {}))
READ = [name for name in FILES if name not in REFUSED]
CONTEXT = 200_000  # longer than every window

each = pytest.mark.parametrize("name", READ)


@lru_cache(maxsize=64)
def analysis(name: str) -> Analysis:
    model = model_from_text(FILES[name].read_bytes(), name)
    return analyze(model, model.scenario(context=CONTEXT))


def per_layer(step: DecodeStep) -> list[int]:
    """Parameters of each layer; the first layer's norm is read by the lookup and counted where it belongs."""
    layers = {ref.layer for ref in step.sequence if ref.layer is not None}
    found = [0] * len(layers)
    for ref in step.sequence:
        block = step.blocks[ref.block]
        if ref.layer is not None:
            found[ref.layer] += sum(w.size for w in block.weights)
        elif ref.section == "lookup":
            found[0] += sum(w.size for w in block.weights if w.scope.startswith("layers.0."))
    return found


def test_every_file_has_its_right_values() -> None:
    assert [name for name in FILES if name not in TRUTHS] == []


def test_every_file_has_its_source() -> None:
    sources = json.loads((data_dir() / "configs" / "SOURCES.json").read_text())
    assert set(sources) == {path.name for path in FILES.values()}
    assert all(entry["found"] and entry["how"] for entry in sources.values())


def test_what_is_refused() -> None:
    # One mechanism has no recipe yet, so no count would be right; `test_a_refusal_names_the_key` says which.
    assert REFUSED == ["deepseek-ai__DeepSeek-V4-Flash"]


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_names_the_key(name: str) -> None:
    with pytest.raises(ConfigError, match=TRUTHS[name]["refused"]):
        model_from_text(FILES[name].read_bytes(), name)


@each
def test_parameters(name: str) -> None:
    found, right = analysis(name).parameters, TRUTHS[name]
    assert (found.total, found.embedding, found.lm_head, found.tied) == (
        right["parameters"], right["embedding"], right["lm_head"], right["tied"],
    )  # fmt: skip


@each
def test_parameters_of_each_layer(name: str) -> None:
    found, right = per_layer(analysis(name).step), TRUTHS[name]
    assert (len(found), sum(found)) == (right["layers"], right["in_layers"])
    if "kinds" in right:
        kinds: Counter[int] = Counter()
        for kind in right["kinds"]:
            kinds[kind["parameters"]] += kind["layers"]
        assert Counter(found) == kinds


@each
def test_active_parameters(name: str) -> None:
    a, right = analysis(name), TRUTHS[name]
    rows = right["active_with_tables"]
    if not right["tied"]:  # one row of the table instead of all; a tied table is read whole by the head
        rows -= right["embedding"] - a.model.architecture.d_model
    positions = a.model.architecture.embedding.positions
    if positions is not None:  # a table of learned positions is read row by row as well
        rows -= (positions - 1) * a.model.architecture.d_model
    assert a.parameters.active == rows


@each
def test_caches_and_state(name: str) -> None:
    kept, right = analysis(name).kept, TRUTHS[name]
    assert kept.kv_per_position == right["kv_bytes_per_position"]
    assert kept.kv == right["kv_bytes_per_position"] * CONTEXT
    assert kept.window_per_position == right["window_bytes_per_position"]
    assert kept.window == right["window_bytes_per_position"] * (right.get("window", 1) - 1)
    assert kept.recurrent == right.get("recurrent_bytes", 0)
    assert kept.convolution == right.get("conv_bytes", 0)


@each
def test_a_cache_grows_by_one_position_until_its_window_is_full(name: str) -> None:
    model = model_from_text(FILES[name].read_bytes(), name)
    for context in (0, 100, CONTEXT):
        step = trace(model.architecture, model.scenario(context=context))
        for block in step.blocks.values():
            for state in block.states:
                before, after = (block.values[v].shape for v in (state.read, state.written))
                if state.kind is StateKind.GROWING:
                    assert after == (before[0] + 1, *before[1:])
                elif state.kind is StateKind.WINDOW and state.window is not None:
                    assert after == (min(context + 1, state.window - 1), *before[1:])
                else:
                    assert after == before


@each
def test_layer_kinds_add_up(name: str) -> None:
    a = analysis(name)
    printed = report(a)
    listed = sum(kind.operations * kind.count for kind in a.layers)
    ends = printed["lookup_operations"] + printed["output_operations"]  # type: ignore[operator]
    assert sum(kind.count for kind in a.layers) == TRUTHS[name]["layers"]
    assert listed + ends - printed["lookup_saves"] == a.summary.operations


@each
def test_every_key_is_read(name: str) -> None:
    assert analysis(name).model.architecture.unread_keys == ()


@each
def test_stored_values_are_weights_or_buffers(name: str) -> None:
    for block in analysis(name).step.blocks.values():
        assert {value.role for value in stored(block)} <= {Role.WEIGHT, Role.BUFFER}


@pytest.mark.parametrize("positions", [2, 7])
@each
def test_several_positions_trace_too(name: str, positions: int) -> None:
    model = model_from_text(FILES[name].read_bytes(), name)
    for context in (0, 3, 10_000):
        step = trace(model.architecture, model.scenario(context=context, positions=positions))
        logits = step.blocks[step.sequence[-1].block]
        assert logits.values[logits.outputs["logits"]].shape == (positions, model.architecture.vocab)


BAD = (None, -1, 0, "x", [], {}, 10**9, True, 3.7, [1, 2], {"a": 1})


@each
def test_a_bad_value_of_any_key_is_a_sentence_or_harmless(name: str) -> None:
    """No key's value breaks the reader: it is read, or a `ConfigError` names it."""
    data = json.loads(FILES[name].read_bytes())
    inner = data.get("text_config", data)
    for key, value in inner.items():
        for wrong in BAD:
            changed = {**inner, key: wrong}
            text = json.dumps({**data, "text_config": changed} if "text_config" in data else changed)
            with suppress(ConfigError):
                assert model_from_text(text, name).architecture.layers, (key, wrong, value)
