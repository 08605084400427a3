"""The frame around the pages: addresses, the context's two controls, and answers to bad input."""

import json
from html import escape
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tokenviz import share, ui
from tokenviz.analysis import assumptions
from tokenviz.catalog import DEFAULT_MODEL
from tokenviz.gallery import gallery
from tokenviz.ui_model import label, matching

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


CONFIG = (ROOT / "data" / "configs" / "Qwen__Qwen3.5-0.8B.json").read_text(encoding="utf-8")
EVIL = "<img src=x onerror=alert(1)>"


def pasted(test: AppTest, text: str) -> AppTest:
    return test.text_area(key="own_config").set_value(text).run()


def warnings(test: AppTest) -> str:
    return " ".join(element.value for element in test.warning)


def line(test: AppTest) -> str:
    (found,) = (e.proto.body for e in test.get("html") if "tv-model" in e.proto.body and "<details" in e.proto.body)
    return str(found)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('{"model_type": "<img src=x>"', "not JSON"),
        ("[]", "a list"),
        ("{}", "model\\_type is missing"),
        ('{"model_type": "llama"}', "is missing"),
        (json.dumps({"model_type": EVIL}), "has no recipe"),
        (CONFIG.replace('"hidden_size": 1024', '"hidden_size": null'), "hidden\\_size"),
        (CONFIG.replace('"hidden_size": 1024', '"hidden_size": -3'), "hidden\\_size"),
        (CONFIG.replace('"hidden_size": 1024', '"hidden_size": "wide"'), "hidden\\_size"),
        ('{"a": "' + "x" * 5_000_001 + '"}', "bytes"),
    ],
)
def test_a_bad_config_is_named_and_the_last_good_model_stays(text, named):
    test = pasted(app(model="qwen3.5-0.8b"), text)
    assert not test.exception
    assert choice(test).model.name == "qwen3.5-0.8b"
    above = test.main.error[0].value
    assert named in above
    assert "Still shown\\: qwen3\\.5\\-0\\.8b" in above
    assert "<img" not in above.replace("\\<", "")
    assert test.text_area(key="own_config").value == text  # nothing that was typed is lost
    assert not pasted(test, "").error


def test_the_last_good_model_is_the_last_good_config():
    test = pasted(pasted(app(), CONFIG), CONFIG[:-5])
    assert choice(test).model.name == "pasted config"
    assert test.main.error[0].value.endswith("Still shown\\: pasted config\\.")


def test_a_pasted_config_is_used_as_it_is():
    test = pasted(app(), CONFIG)
    assert not test.error
    assert choice(test).model.name == "pasted config"
    assert choice(test).scenario.gate == "implemented"


def test_a_link_restores_a_pasted_config_and_shows_its_text():
    before = pasted(app(context="4096", kv="fp8"), CONFIG)
    packed = before.text_input(key="config").value
    after = app(config=packed, context="4096", kv="fp8")
    assert not after.error
    assert choice(after) == choice(before)
    assert json.loads(after.text_area(key="own_config").value) == json.loads(CONFIG)


def test_a_damaged_link_is_named_and_the_list_is_shown():
    test = app(config=share.pack(CONFIG)[:-9], model="gpt2")
    assert "damaged or cut off" in test.main.error[0].value
    assert choice(test).model.name == DEFAULT_MODEL


def test_choosing_from_the_list_leaves_the_config_and_keeps_its_text():
    test = pasted(app(), CONFIG)
    test.selectbox(key="model").set_value("gpt2").run()
    assert choice(test).model.name == "gpt2"
    assert (test.text_input(key="config").value, test.text_area(key="own_config").value) == ("", CONFIG)
    test.button(key="own_use").click().run()
    assert choice(test).model.name == "pasted config"
    test.button(key="own_forget").click().run()
    assert choice(test).model.name == "gpt2"


def test_a_config_too_large_for_a_link_is_used_and_the_app_says_why():
    large = json.loads(CONFIG) | {"notes": "".join(f"{(i * i * 2654435761) % 2**32:08x}" for i in range(2_500))}
    test = pasted(app(), json.dumps(large))
    assert choice(test).model.name == "pasted config"
    assert "Not part of the link" in warnings(test)
    assert test.text_input(key="config").value == ""
    assert choice(test.switch_page("pages/statistics.py").run()).model.name == "pasted config"


ABOUT_THE_MODEL = [path for path, title, _ in ui.PAGES if title != "Network"]


def test_unread_keys_are_named_on_every_page_about_the_model():
    test = pasted(app(), json.dumps(json.loads(CONFIG) | {"surprising_key": 1, EVIL: 2}))
    for page in ABOUT_THE_MODEL:
        test.switch_page(page).run()
        assert not test.exception
        assert "The counts may not be exact" in warnings(test)
        assert "surprising\\_key" in warnings(test)
        assert "<img" not in warnings(test).replace("\\<", "")


def test_many_unread_keys_are_counted():
    test = pasted(app(), json.dumps(json.loads(CONFIG) | {f"key{i}": i for i in range(40)}))
    assert "key11 and 28 more" in warnings(test)


@pytest.mark.parametrize("page", ABOUT_THE_MODEL)
def test_facts_and_assumptions_are_above_every_page_about_the_model(page):
    test = app(model="qwen3.8-27b").switch_page(page).run()
    said = assumptions(choice(test).model, choice(test).scenario)
    assert f"{len(said)} assumptions" in line(test)
    assert all(escape(sentence) in line(test) for sentence in said)
    assert "K/V cache, slope" in line(test)
    assert "Fixed state, recurrent" in line(test)


def test_the_page_with_a_model_of_its_own_keeps_what_was_chosen_for_the_others():
    test = app(model="gpt2", context="5000").switch_page("pages/network.py").run()
    assert not [e for e in test.get("html") if "<details" in e.proto.body]
    asked = choice(test.switch_page("pages/statistics.py").run())
    assert (asked.model.name, asked.scenario.context) == ("gpt2", 5000)


def test_precisions_are_separate_choices_in_the_address():
    asked = choice(app(model="gpt-oss-20b", kv="fp8", metadata="true")).scenario
    assert (asked.kv, asked.metadata, asked.weights) == ("fp8", True, "bf16")
    assert asked.quantization is not None
    assert asked.quantization.format == "mxfp4"
    asked = choice(app(model="gpt-oss-20b", weights="int8")).scenario
    assert (asked.weights, asked.quantization) == ("int8", None)


def test_the_state_has_a_precision_of_its_own_where_there_is_one():
    test = app(model="qwen3.8-27b", kv="fp8", state="bf16")
    assert (choice(test).scenario.kv, choice(test).scenario.state) == ("fp8", "bf16")
    assert "recurrent state is bf16" in line(test)
    assert choice(app(model="qwen3.8-27b")).scenario.state == "fp32"
    assert "state" not in {box.key for box in app(model="lfm2-2.6b", state="bf16").selectbox}  # convolutions only


def test_prediction_heads_are_a_switch_where_there_are_some():
    assert choice(app(model="qwen3.8-27b", prediction="true")).scenario.prediction
    assert not choice(app(model="qwen3.8-27b")).scenario.prediction
    assert "prediction" not in {switch.key for switch in app(model="gpt2", prediction="true").toggle}


def test_a_refused_model_says_why():
    test = app(model="deepseek-v4-flash")
    assert not test.exception
    assert test.main.error[0].value.startswith("hc\\_mult is 4")
    assert choice(test).model.name == DEFAULT_MODEL


def test_the_gallery_lists_every_model_and_choosing_sets_it():
    test = pasted(app(context="4096"), CONFIG)
    test.button(key="browse").click().run()
    assert not test.exception
    shown = {button.key for button in test.button if str(button.key).startswith("pick_")}
    assert shown == {f"pick_{row.name}" for row in gallery() if not row.refused}
    assert any("hc\\_mult is 4" in element.value for element in test.markdown)
    test.button(key="pick_gpt2").click().run()
    assert (choice(test).model.name, choice(test).scenario.context) == ("gpt2", 4_096)
    assert test.selectbox(key="model").value == "gpt2"


@pytest.mark.parametrize(
    ("wanted", "kinds", "expected"),
    [
        ("QWEN 27b", (), {"qwen3.8-27b", "qwen3.5-27b"}),
        ("gpt", ("experts",), {"gpt-oss-20b"}),
        ("", ("state space",), {"mamba2-2.7b"}),
        ("command", (), {"c4ai-command-r-v01"}),  # by the name of its family
        ("<img", (), set()),
    ],
)
def test_the_gallery_is_searched_by_words_and_kinds(wanted, kinds, expected):
    assert {row.name for row in matching(gallery(), wanted, kinds)} == expected


def test_a_button_names_what_each_number_is():
    row = next(row for row in gallery() if row.name == "kimi-linear-48b-a3b-instruct")
    said = label(row).replace("\\", "")
    assert "49.1 G in total, 3.11 G active" in said
    assert "K/V 8.06 kB per position + fixed state 43.4 MB" in said


def test_sessions_do_not_see_each_other():
    mine, yours = pasted(app(), CONFIG), app()
    assert choice(mine).model.name == "pasted config"
    assert choice(yours.run()).model.name == DEFAULT_MODEL
    assert yours.text_area(key="own_config").value in ("", None)
    assert "_own" not in yours.session_state


def test_plain_text_has_no_markup():
    assert ui.plain("![x](http://a.b) <b>*y*\n:red[z]") == (
        "\\!\\[x\\]\\(http\\:\\/\\/a\\.b\\) \\<b\\>\\*y\\* \\:red\\[z\\]"
    )
