"""The frame around the pages: addresses, the context's two controls, and answers to bad input."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tokenviz import ui
from tokenviz.catalog import DEFAULT_MODEL

ROOT = Path(__file__).parent.parent
TITLES = [title for _, title, _ in ui.PAGES]


def app(**query: str) -> AppTest:
    test = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=30)
    for name, value in query.items():
        test.query_params[name] = value
    return test.run()


def choice(test: AppTest) -> ui.Choice:
    found: ui.Choice = test.session_state["_choice"]
    return found


def test_the_address_asks_the_question():
    asked = choice(app(model="qwen3.5-0.8b", context="12345", output="greedy", weights="int4"))
    assert asked.model.name == "qwen3.5-0.8b"
    assert (asked.scenario.context, asked.scenario.output, asked.scenario.weights) == (12345, "greedy", "int4")


def test_without_an_address_the_question_is_the_default_one():
    asked = choice(app())
    assert asked.model.name == DEFAULT_MODEL
    assert asked.scenario == asked.model.scenario()


@pytest.mark.parametrize("bad", [{"context": "-1"}, {"context": "many"}, {"context": "100000001"}, {"model": "none"}])
def test_a_bad_address_falls_back_to_the_default(bad):
    test = app(**bad)
    assert not test.exception
    assert choice(test).scenario.context == 1_000_000


@pytest.mark.parametrize("page", [path for path, _, _ in ui.PAGES])
def test_every_page_runs_in_its_frame(page):
    test = app().switch_page(page).run()
    assert not test.exception
    assert not test.error
    assert test.selectbox(key="model").value == DEFAULT_MODEL


def test_the_slider_moves_the_field_and_the_field_moves_the_slider():
    test = app()
    test.select_slider(key="_stop").set_value(20_000).run()
    assert test.number_input(key="context").value == 20_000
    test.number_input(key="context").set_value(54_321).run()
    assert choice(test).scenario.context == 54_321
    assert test.select_slider(key="_stop").value == 50_000


@pytest.mark.parametrize(
    ("context", "stop"),
    [
        (0, 0),
        (1, 1),
        (12, 10),
        (14, 10),
        (15, 20),
        (99_999_999, 100_000_000),
        (1_414_213, 1_000_000),
        (1_414_214, 2_000_000),
    ],
)
def test_nearest_stop_is_nearest_by_ratio(context, stop):
    # between 10 and 20 the border is sqrt(10 * 20) = 14.14; between 1 M and 2 M it is 1,414,213.56
    assert ui._nearest_stop(context) == stop


def test_stops_are_a_logarithmic_scale():
    assert ui.STOPS[:3] == (0, 1, 2)
    assert len(ui.STOPS) == 1 + 8 * 9 + 1
    assert list(ui.STOPS) == sorted(set(ui.STOPS))
    assert [ui._short(n) for n in (0, 7, 1_000, 300_000, 1_000_000)] == ["0", "7", "1 k", "300 k", "1 M"]


def test_the_gate_is_asked_only_where_its_readings_differ():
    assert app(model="qwen3.8-27b").radio(key="gate").value == "as the study read it"
    assert not app(model="qwen3.5-0.8b").radio
    assert choice(app(model="qwen3.8-27b", gate="as implemented")).scenario.gate == "implemented"


def test_a_bad_config_is_named_and_the_last_good_model_stays():
    test = app(model="qwen3.5-0.8b")
    test.text_area(key="own_config").set_value('{"model_type": "<img src=x>"').run()
    assert choice(test).model.name == "qwen3.5-0.8b"
    (error,) = test.error
    assert "not JSON" in error.value
    test.text_area(key="own_config").set_value("").run()
    assert not test.error


def test_a_pasted_config_is_used_as_it_is():
    text = (ROOT / "data" / "configs" / "Qwen__Qwen3.5-0.8B.json").read_text(encoding="utf-8")
    test = app()
    test.text_area(key="own_config").set_value(text).run()
    assert not test.error
    assert choice(test).model.name == "pasted config"
    assert choice(test).scenario.gate == "implemented"


def test_plain_text_has_no_markup():
    assert ui.plain("![x](http://a.b) <b>*y*\n:red[z]") == (
        "\\!\\[x\\]\\(http\\:\\/\\/a\\.b\\) \\<b\\>\\*y\\* \\:red\\[z\\]"
    )
