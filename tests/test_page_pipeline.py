"""The Pipeline page without a browser: every model, selection, search, list, legend, playing, untrusted names."""

import json
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tokenviz.catalog import PROFILES, bundled_models, load_model
from tokenviz.notation import ConfigError
from tokenviz.trace import traced
from tokenviz.views import pipeline
from tokenviz.views.pipeline_groups import box_id, bubble_id, groups

ROOT = Path(__file__).parent.parent
BIG = "qwen3.8-2.4t-a95b"


def app(**query: str) -> AppTest:
    test = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60)
    for name, value in query.items():
        test.query_params[name] = value
    return test.run()


def said(test: AppTest) -> str:
    return "\n".join(m.value for m in test.markdown).replace("\\", "")


def canvas(test: AppTest) -> dict:
    (found,) = [c for c in test.get("bidi_component") if "graph" in c.proto.component_name]
    return json.loads(found.proto.json)


def key_of(kind: str, name: str = BIG) -> str:
    model = load_model(name)
    step = traced(model.architecture, model.scenario())
    return next(g.key for g in groups(step) if g.block.kind == kind)


def pills(test: AppTest, label: str):
    return next(b for b in test.button_group if b.label == label)


def select(test: AppTest, element: str | None) -> AppTest:
    test.session_state["pipeline.selected"] = element
    return test.run()


def loadable(name: str) -> bool:
    try:
        load_model(name)
    except ConfigError:
        return False
    return True


@pytest.mark.parametrize("name", [n for n in bundled_models() if loadable(n)])
def test_every_model_has_a_page(name: str) -> None:
    test = app(model=name)
    assert not test.exception
    assert not test.error
    assert name in said(test)
    model = load_model(name)
    scene = pipeline.scene(model.architecture, model.scenario())
    assert {n["id"] for n in canvas(test)["scene"]["nodes"]} == set(scene.items)


@pytest.mark.parametrize("name", PROFILES)
def test_the_finding_states_the_totals(name: str) -> None:
    from tokenviz.schedule import summarise

    model = load_model(name)
    total = summarise(traced(model.architecture, model.scenario()))
    words = said(app(model=name))
    assert f"**{total.operations:,}** operations, **{total.critical_path:,}** of them in one chain" in words
    assert "almost entirely serial" in words


def test_selecting_opens_the_card_and_nothing_else_does() -> None:
    test = app()
    assert "**Scores**" not in said(test)
    select(test, box_id(key_of("attention"), "scores"))
    assert "**Scores**" in said(test)
    assert test.latex[0].value.strip("$\n") == r"s_j = \frac{q \cdot k_j}{\sqrt{d}}"
    assert "K cache \\(cached K H\\)" in pills(test, "Reads").options
    select(test, "nothing/t:norm")
    assert "**Scores**" not in said(test)


def test_a_link_in_the_card_selects_what_it_names() -> None:
    test = select(app(), box_id(key_of("attention"), "scores"))
    target = bubble_id(key_of("attention"), "K_cache")
    pills(test, "Reads").set_value(target).run()
    assert test.session_state["pipeline.selected"] == target
    assert "**K cache**" in said(test)
    assert canvas(test)["focus"]["id"] == target
    assert canvas(test)["focus"]["select"] is True


def test_the_card_shows_ancestors_and_descendants_in_the_drawing() -> None:
    element = box_id(key_of("attention"), "scores")
    test = select(app(), element)
    pills(test, "Highlight").set_value("before").run()
    assert canvas(test)["focus"]["trace"] == "before"
    assert test.session_state["pipeline.selected"] == element


def test_closing_the_card_clears_the_selection() -> None:
    test = select(app(), box_id(key_of("attention"), "scores"))
    test.button(key="close-card").click().run()
    assert test.session_state["pipeline.selected"] is None
    assert "**Scores**" not in said(test)


def test_search_jumps_to_the_first_match_and_offers_the_others() -> None:
    test = app()
    test.text_input(key="find").set_value("softmax").run()
    assert "softmax" in test.session_state["pipeline.selected"]
    assert any(b.label.endswith("matches, the first 12") for b in test.button_group)
    test.text_input(key="find").set_value("zebra").run()
    assert any("Nothing drawn here matches zebra" in c.value for c in test.caption)


def test_the_list_follows_the_selection_and_selects() -> None:
    element = bubble_id(key_of("deltanet"), "S")
    test = select(app(), element)
    assert test.selectbox(key="everything").value == element
    other = box_id(key_of("moe"), "router")
    test.selectbox(key="everything").set_value(other).run()
    assert test.session_state["pipeline.selected"] == other
    assert "**Router**" in said(test)


def test_the_legend_fades_everything_else() -> None:
    test = app()
    assert canvas(test)["dim"] == []
    pills(test, "How to read the colours: choose entries to see only them").set_value(["state"]).run()
    nodes = canvas(test)["scene"]["nodes"]
    lit = {n["id"] for n in nodes} - set(canvas(test)["dim"])
    assert lit == {n["id"] for n in nodes if n["kind"] == "bubble" and n["life"] == "state"}


def test_operations_can_be_hidden_and_shown() -> None:
    test = app()
    cells = [n for n in canvas(test)["scene"]["nodes"] if n["kind"] == "cell"]
    assert cells
    test.toggle(key="open_boxes").set_value(False).run()
    assert [n for n in canvas(test)["scene"]["nodes"] if n["kind"] == "cell"] == []
    test.toggle(key="open_boxes").set_value(True).run()
    assert [n["id"] for n in canvas(test)["scene"]["nodes"] if n["kind"] == "cell"] == [n["id"] for n in cells]


def test_the_timestep_of_the_address_lights_up() -> None:
    test = app(t="700")
    assert canvas(test)["play"]["step"] == 700
    assert test.number_input(key="t").value == 700
    assert canvas(app())["play"]["step"] is None


def test_stopping_the_player_moves_the_timestep_and_a_block_can_be_entered() -> None:
    test = app()
    test.session_state["pipeline.step"] = 55
    test.run()
    assert test.number_input(key="t").value == 55
    play = canvas(test)["play"]
    test.selectbox(key="visit").set_value(3).run()
    assert test.number_input(key="t").value == play["visits"][3][1]
    assert canvas(test)["play"]["step"] == play["visits"][3][1]
    assert canvas(test)["focus"]["id"] == f"{play['visits'][3][2]}/p:"


def test_a_timestep_beyond_a_smaller_model_is_held_at_its_end() -> None:
    test = app(t="6000")
    test.selectbox(key="model").set_value("qwen3.5-0.8b").run()
    assert not test.exception
    assert test.number_input(key="t").value == canvas(test)["play"]["length"] - 1


def test_a_change_of_context_keeps_selection_and_places() -> None:
    element = bubble_id(key_of("attention"), "K_cache")
    test = select(app(), element)
    before = canvas(test)["scene"]
    test.number_input(key="context").set_value(5_000).run()
    after = canvas(test)["scene"]
    assert test.session_state["pipeline.selected"] == element
    assert [(n["id"], n["x"], n["y"], n["w"], n["h"]) for n in after["nodes"]] == [
        (n["id"], n["x"], n["y"], n["w"], n["h"]) for n in before["nodes"]
    ]
    assert after["id"] == before["id"]
    sizes = {n["id"]: n.get("bytes") for n in after["nodes"]}
    assert sizes[element] == "10.2 MB kept"  # 5,000 positions × 4 heads × 256 × 2 bytes = 10,240,000


def test_saved_for_the_next_token() -> None:
    test = app()
    assert "Saved for the next token" in [h.value for h in test.header]
    words = said(test)
    assert "8.39 MB of recurrent state (fp32) in place" in words
    assert "appends 4.10 kB per token to 4.10 GB" in words
    ledger = next(h.proto.body for h in test.get("html") if "tv-rows" in h.proto.body)
    assert re.findall(r'data-name="layers">(.*?)<', ledger) == ["69", "69", "23", "23", ""]


def test_file_names_carry_model_and_context() -> None:
    test = app(context="5000")
    names = [b.proto.url for b in test.get("download_button")]
    assert len(names) == 4
    assert canvas(test)["name"] == f"{BIG}-context-5000"


def test_many_kinds_are_drawn_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "MOST_KINDS", 2)
    test = app()
    assert [p["heading"] for p in canvas(test)["scene"]["panels"]] == ["DeltaNet ×69"]
    test.selectbox(key="kind").set_value(key_of("attention")).run()
    assert [p["heading"] for p in canvas(test)["scene"]["panels"]] == ["Attention ×23"]


def test_markup_in_a_pasted_config_stays_text() -> None:
    config = json.loads((ROOT / "data" / "configs" / "Qwen__Qwen3.5-0.8B.json").read_text())
    attack = "<img src=x onerror=alert(1)>"
    text = config.get("text_config", config)
    text["hidden_act"] = attack
    test = app()
    test.text_area(key="own_config").set_value(json.dumps(config)).run()
    assert not test.exception
    shown = [e.value for e in (*test.error, *test.markdown, *test.caption)]
    assert any("onerror" in s for s in shown)
    assert all(attack not in s for s in shown)
    assert all(attack not in h.proto.body for h in test.get("html"))
