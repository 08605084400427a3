"""Every page with every kind of model, deep links, addresses with bad values, and sessions side by side."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tokenviz import share, ui, ui_share
from tokenviz.catalog import bundled_models, config_text
from tokenviz.gallery import gallery

ROOT = Path(__file__).parent.parent
PAGES = [path for path, _, _ in ui.PAGES]
KINDS = {row.kinds: row.name for row in reversed(gallery()) if not row.refused}
"""One model for each combination of mechanisms."""
SMALL = json.dumps(
    {"model_type": "llama", "hidden_size": 64, "intermediate_size": 172, "num_hidden_layers": 2,
     "num_attention_heads": 4, "vocab_size": 320, "torch_dtype": "bfloat16"}
)  # fmt: skip


def app(**query: str) -> AppTest:
    test = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60)
    for name, value in query.items():
        test.query_params[name] = value
    return test.run()


def asked(test: AppTest) -> ui.Choice:
    found: ui.Choice = test.session_state["_choice"]
    return found


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("name", KINDS.values(), ids=["+".join(kinds) for kinds in KINDS])
def test_every_page_draws_every_kind_of_model(name, page):
    test = app(model=name).switch_page(page).run()
    assert not test.exception
    assert not test.error
    assert asked(test).model.name == name
    assert len(test.title) == 1


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("context", ["0", "1", "100000000"])
def test_every_page_draws_the_ends_of_the_context(page, context):
    test = app(model="qwen3.5-0.8b", context=context).switch_page(page).run()
    assert not test.exception
    assert asked(test).scenario.context == int(context)


def test_every_bundled_model_opens_on_the_first_page():
    test = app()
    for name in bundled_models():
        test.selectbox(key="model").set_value(name).run()
        assert not test.exception, name
        refused = next(row.refused for row in gallery() if row.name == name)
        assert bool(test.error) == bool(refused), name


@pytest.mark.parametrize("page", PAGES)
def test_a_smallest_config_of_ones_own_is_drawn_everywhere(page):
    test = app(config=share.pack(SMALL), context="0").switch_page(page).run()
    assert not test.exception
    assert not test.error
    assert asked(test).model.architecture.d_model == 64


def test_a_value_that_no_reader_names_gives_a_sentence_too(monkeypatch):
    def stumble(text, name):
        return [][0]

    monkeypatch.setattr(ui_share, "model_from_text", stumble)
    test = app(model="gpt2")
    test.text_area(key="own_config").set_value(SMALL).run()
    assert not test.exception
    assert "form that is not understood" in test.main.error[0].value
    assert asked(test).model.name == "gpt2"


BAD = {
    "model": "../../etc/passwd", "config": "%00<script>", "context": "many", "rate": "-5", "weights": "int3",
    "kv": "<img src=x>", "state": "huge", "metadata": "maybe", "output": "beam", "gate": "open", "unknown": "1",
}  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_an_address_full_of_nonsense_gives_the_default_question(page):
    test = app(**BAD).switch_page(page).run()
    assert not test.exception
    assert asked(test).scenario == asked(test).model.scenario()


@pytest.mark.parametrize("name", BAD)
def test_each_bad_value_leaves_the_others_alone(name):
    good = {"model": "qwen3.5-0.8b", "context": "4096", "weights": "fp8", "kv": "int8", "output": "greedy"}
    test = app(**{**good, name: BAD[name]})
    assert not test.exception
    scenario = asked(test).scenario
    found = {"model": asked(test).model.name, "context": str(scenario.context), "weights": scenario.weights,
             "kv": scenario.kv, "output": scenario.output}  # fmt: skip
    assert {key: found[key] for key in good if key != name and name != "config"} == {
        key: value for key, value in good.items() if key != name and name != "config"
    }


def test_the_question_is_the_same_on_every_page_and_back():
    test = app(model="gpt-oss-20b", context="12345", rate="7.5", weights="fp8", kv="int8", metadata="true",
               output="greedy")  # fmt: skip
    before = asked(test)
    assert (before.scenario.context, before.scenario.tokens_per_s, before.scenario.kv) == (12_345, 7.5, "int8")
    for page in [*PAGES, PAGES[0]]:
        assert asked(test.switch_page(page).run()) == before


def test_another_model_keeps_the_rest_of_the_question():
    test = app(model="gpt-oss-20b", context="12345", kv="int8")
    test.selectbox(key="model").set_value("mamba2-2.7b").run()
    assert (asked(test).scenario.context, asked(test).scenario.kv) == (12_345, "int8")


def test_sessions_have_questions_of_their_own():
    first, second = app(model="gpt2", context="10"), app(model="qwen3-0.6b", context="20")
    first.text_area(key="own_config").set_value(config_text("falcon-7b")).run()
    second.number_input(key="context").set_value(30).run()
    assert (asked(first).model.name, asked(first).scenario.context) == ("pasted config", 10)
    assert (asked(second).model.name, asked(second).scenario.context) == ("qwen3-0.6b", 30)
    assert not second.text_area(key="own_config").value
