"""The canvas in the app: what it is told, what it tells, and where the selection lives."""

import json

from streamlit.testing.v1 import AppTest


def page():
    import streamlit as st

    from tests.test_svg import drawing
    from tokenviz.ui_canvas import graph_canvas, look_at, select

    st.button("pick", on_click=select, args=("net", "b.0"))
    st.button("clear", on_click=select, args=("net", None))
    st.button("panel", on_click=look_at, args=("net", "p"))
    frames = (("b.0",), ("b.1",)) if st.toggle("play") else ()
    state = graph_canvas(drawing(), key="net", label="Decode step", frames=frames, dim=("w",), open_at="p")
    st.json({"selected": state.selected, "step": state.step, "positions": dict(state.positions or {})})


def data(test: AppTest) -> dict:
    (graph,) = (e for e in test.get("bidi_component") if e.proto.component_name == "tokenviz_graph")
    return json.loads(graph.proto.json or graph.proto.mixed.json)


def told(test: AppTest) -> dict:
    return json.loads(test.json[0].value)


def press(test: AppTest, label: str) -> AppTest:
    return next(button for button in test.button if button.label == label).click().run()


def test_at_first_nothing_is_selected():
    test = AppTest.from_function(page).run()
    assert not test.exception
    assert told(test) == {"selected": None, "step": None, "positions": {}}
    sent = data(test)
    assert (sent["key"], sent["label"], sent["open"], sent["dim"]) == ("net", "Decode step", "p", ["w"])
    assert (sent["focus"], sent["play"]) == (None, None)


def test_a_selection_from_python_is_a_focus_with_a_new_number():
    test = press(AppTest.from_function(page).run(), "pick")
    assert told(test)["selected"] == "b.0"
    assert data(test)["focus"] == {"id": "b.0", "select": True, "zoom": True, "trace": None, "n": 1}
    press(test, "clear")
    assert told(test)["selected"] is None
    assert data(test)["focus"] == {"id": None, "select": True, "zoom": False, "trace": None, "n": 2}


def test_looking_at_a_panel_leaves_the_selection():
    test = press(press(AppTest.from_function(page).run(), "pick"), "panel")
    assert told(test)["selected"] == "b.0"
    assert data(test)["focus"] == {"id": "p", "select": False, "zoom": True, "n": 2}


def test_what_is_sent_does_not_depend_on_the_selection():
    # a click must not send the whole drawing back
    test = AppTest.from_function(page).run()
    before = data(test)
    test.session_state["net.selected"] = "k"
    assert data(test.run()) == before
    assert told(test)["selected"] == "k"


def test_frames_make_a_play_bar():
    test = AppTest.from_function(page).run()
    test.toggle[0].set_value(True).run()
    assert data(test)["play"]["frames"] == [["b.0"], ["b.1"]]
    assert data(test)["play"]["step"] is None
