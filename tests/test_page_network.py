"""The Network page without a browser: every station opens, the text grows, odd text is harmless, nothing is shared."""

import csv
import io
import json
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block, Selectbox

from tokenviz import ui_network
from tokenviz.decoder.events import read
from tokenviz.decoder.generate import advance, begin, generate
from tokenviz.decoder.map import prediction_map
from tokenviz.decoder.model import load_decoder
from tokenviz.decoder.sampling import Sampling
from tokenviz.ui_network import KEY
from tokenviz.ui_network_ask import examples
from tokenviz.ui_network_prompt import field_data
from tokenviz.views import network_files as files
from tokenviz.views import network_html, network_scene, network_text
from tokenviz.views import network_values as values
from tokenviz.views.network_panes import grid, not_allowed
from tokenviz.views.scene import edges_through, overlaps

ROOT = Path(__file__).parent.parent
DECODER = load_decoder()
MAP = prediction_map(DECODER.architecture)
STORY, AFTER = generate(DECODER, "Once upon a time there was a girl called Lucy.", Sampling(), 2)
ODD = ["", "a", "😀 שלום", "\x00\x1b[31m\u202e<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "word " * 300]


def open_page() -> AppTest:
    test = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60).run()
    test = test.switch_page("pages/network.py").run()
    assert not test.exception
    return test


def write(test: AppTest, text: str) -> None:
    """What the field does when a text was typed and the typing pauses."""
    test.session_state["network.text"] = test.session_state["network.prompt"] = text
    test.run()


def html(test: AppTest) -> str:
    return "".join(element.proto.body for element in test.get("html"))


def component(test: AppTest, name: str) -> dict:
    found = [e for e in test.get("bidi_component") if e.proto.component_name == name]
    return json.loads(found[0].proto.json or found[0].proto.mixed.json)


def canvas(test: AppTest) -> dict:
    return component(test, "tokenviz_graph")


def field(test: AppTest) -> dict:
    return component(test, "tokenviz_prompt")


def words(test: AppTest) -> str:
    return "\n".join(e.value for e in (*test.markdown, *test.caption, *test.info))


# ------------------------------------------------------------------------------------------------ the page


@pytest.mark.parametrize("region", MAP.regions)
def test_every_station_opens(region: str) -> None:
    test = open_page()
    for name, node in MAP.nodes.items():
        if node.region != region:
            continue
        test.session_state[f"{KEY}.selected"] = name
        test.run()
        assert not test.exception, name
        assert f"#### {network_text.heading(node)}" in [m.value for m in test.markdown]
        assert ("✓ recomputed" in words(test)) == (node.event is not None), name
        assert "✗" not in words(test)


def test_the_shared_table_says_who_reads_it_and_how_large_it_is() -> None:
    test = open_page()
    test.session_state[f"{KEY}.selected"] = "weight.embedding"
    test.run()
    table = next(h.proto.body for h in test.get("html") if "read by" in h.proto.body)
    assert table.count("read by") == 2
    assert table.count("1,024 × 128") == 2


def test_the_map_is_sent_once_and_does_not_change_with_the_token() -> None:
    test = open_page()
    before = canvas(test)
    assert len(before["scene"]["nodes"]) == 90
    assert len(before["scene"]["edges"]) == 118
    assert len(before["play"]["frames"]) == len(before["play"]["captions"]) == 77
    test.button(key="network.one").click().run()
    assert canvas(test) == before


def test_next_token_ten_tokens_and_start_again() -> None:
    test = open_page()
    assert test.session_state["network.run"].last.session.drawn == 1
    test.button(key="network.one").click().run()
    assert test.session_state["network.run"].last.session.drawn == 2
    test.button(key="network.many").click().run()
    assert test.session_state["network.run"].last.session.drawn == 12
    test.button(key="network.again").click().run()
    assert test.session_state["network.run"].last.session.drawn == 1


def test_slow_playing_starts_with_a_new_token() -> None:
    test = open_page()
    assert canvas(test)["play"]["running"] is False
    test.button(key="network.slow").click().run()
    assert canvas(test)["play"]["running"] is True
    assert test.session_state["network.run"].last.session.drawn == 2
    test.button(key="network.one").click().run()
    assert canvas(test)["play"]["running"] is False  # another token is not played unasked


def test_continuous_runs_until_a_station_is_selected() -> None:
    test = open_page()
    test.toggle(key="network.continuous").set_value(True).run()
    assert test.session_state["network.run"].last.session.drawn == 2
    test.run()
    assert test.session_state["network.run"].last.session.drawn == 3
    test.session_state[f"{KEY}.selected"] = "layers.1.mixer.softmax"
    test.run()
    assert not test.toggle(key="network.continuous").value
    count = test.session_state["network.run"].last.session.drawn
    test.run()
    assert test.session_state["network.run"].last.session.drawn == count


def test_leaving_the_page_stops_it() -> None:
    test = open_page()
    test.toggle(key="network.continuous").set_value(True).run()
    test.button(key="network.slow").click().run()
    test.toggle(key="network.continuous").set_value(True).run()
    test.switch_page("pages/statistics.py").run()
    count = test.session_state["network.run"].last.session.drawn
    test.switch_page("pages/network.py").run()
    assert not test.toggle(key="network.continuous").value
    assert canvas(test)["play"]["running"] is False
    assert test.session_state["network.run"].last.session.drawn == count


def test_a_step_that_was_played_is_shown() -> None:
    test = open_page()
    test.session_state[f"{KEY}.step"] = 9
    test.run()
    assert f"#### {network_text.heading(MAP.nodes[MAP.steps[9]])}" in [m.value for m in test.markdown]


def test_greedy_takes_the_likeliest_and_the_same_seed_the_same_token() -> None:
    test = open_page()
    write(test, "My name is")
    first = test.session_state["network.run"].last.token
    test.number_input(key="seed").set_value(12).run()
    test.number_input(key="seed").set_value(0).run()
    assert test.session_state["network.run"].last.token == first
    test.toggle(key="greedy").set_value(True).run()
    run = test.session_state["network.run"]
    assert run.last.token == int(run.last.draw.before.argmax())
    assert run.sampling.greedy


@pytest.mark.parametrize("text", ODD, ids=["empty", "one", "emoji", "controls and script", "image", "long"])
def test_odd_prompts_are_read_and_shown_as_text(text: str) -> None:
    test = open_page()
    write(test, text)
    for name in ("text", "context", "output.softmax", "layers.0.mixer.softmax", "layers.0.mixer.cache", "select"):
        test.session_state[f"{KEY}.selected"] = name
        test.run()
        assert not test.exception
    assert "<script" not in html(test).replace("<style>", "")
    assert "<img" not in html(test)
    if text.startswith("word"):
        assert "are left out" in field(test)["says"]


def test_a_rebuild_is_said_at_the_moment_it_happens() -> None:
    test = open_page()
    write(test, "word " * 300)
    assert "rebuilt" not in words(test)
    test.button(key="network.one").click().run()
    assert "**n = 128 again: the cache was rebuilt.**" in words(test)
    write(test, "My name is")
    assert "rebuilt" not in words(test)


def test_the_rebuild_is_an_event_before_the_77_steps() -> None:
    test = open_page()
    write(test, "word " * 300)
    assert "before" not in canvas(test)["play"]
    test.button(key="network.one").click().run()
    play = canvas(test)["play"]
    assert play["before"]["name"] == "cache rebuilt"
    assert play["before"]["words"].startswith("Before step 1 · n = 128 again: the cache was rebuilt.")
    assert play["before"]["lit"] == [f"layers.{i}.mixer.cache" for i in range(4)]
    assert len(play["frames"]) == 77  # it is none of the steps
    assert play["step"] == -1  # the time line stands at it
    test.session_state[f"{KEY}.step"] = -1
    test.run()
    assert "#### Before step 1 · Cache rebuilt" in [m.value for m in test.markdown]
    assert "| position 1 | position 0 |" in words(test)
    assert "| none, so n = 128 |" in words(test)
    chips = next(h.proto.body for h in test.get("html") if 'class="tv-chip out"' in h.proto.body)
    assert chips.count('class="tv-chip out"') == 1
    assert chips.count('class="tv-chip"') == 128
    write(test, "My name is")
    assert "before" not in canvas(test)["play"]
    assert "#### Before step 1 · Cache rebuilt" not in [m.value for m in test.markdown]


def list_of(test: AppTest, label: str) -> Selectbox:
    (found,) = (s for s in test.selectbox if s.label == label)
    return found


def test_a_station_from_the_list_stops_the_text_and_its_own_value_changes_nothing() -> None:
    test = open_page()
    test.toggle(key="network.continuous").set_value(True).run()
    assert "one token after the other" in words(test)  # the sentence above does not name a token that is gone
    assert list_of(test, "Prediction").disabled
    list_of(test, "Station").set_value("layers.2.ffn.act").run()
    assert test.session_state["network.continuous"] is False
    assert "#### Block 3 · SwiGLU" in [m.value for m in test.markdown]
    assert "Here it chose" in words(test)
    test.session_state["some list"] = "layers.0.mixer.q"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ui_network.st, "session_state", test.session_state)
        ui_network._go("some list", "layers.0.mixer.q")  # what a list says that is on its way out
    assert test.session_state["network.shown"] == "layers.2.ffn.act"


def test_the_sampling_button_names_what_is_set() -> None:
    assert button_of(open_page()) == "temperature 0.8, seed 0"
    test = opened(temperature="2", seed="4", top_k="7", top_p="0.5")
    assert button_of(test) == "temperature 2, top-k 7, top-p 0.5, seed 4"
    test.number_input(key="seed").set_value(9).run()
    assert button_of(test) == "temperature 2, top-k 7, top-p 0.5, seed 9"
    assert test.session_state["network.run"].sampling == Sampling(temperature=2.0, top_k=7, top_p=0.5, seed=9)
    test.toggle(key="greedy").set_value(True).run()
    assert button_of(test) == "greedy"


def button_of(test: AppTest) -> str:
    (found,) = (block.proto.popover.label for block in blocks(test.main) if block.type == "popover")
    return found


def blocks(block: Block) -> Iterator[Block]:
    for child in block.children.values():
        if isinstance(child, Block):
            yield child
            yield from blocks(child)


def test_changed_sampling_says_that_one_token_was_drawn_again() -> None:
    test = open_page()
    test.number_input(key="seed").set_value(5).run()
    assert "drawn again" not in words(test)  # it was the only one
    test.button(key="network.many").click().run()
    test.number_input(key="seed").set_value(6).run()
    assert "Only the last token was drawn again" in words(test)
    test.button(key="network.one").click().run()
    assert "drawn again" not in words(test)


def test_an_example_can_be_taken_again() -> None:
    test = open_page()
    for _ in range(2):
        test.button_group(key="network.example").set_value(2).run()
        assert test.session_state["network.run"].text == examples()[2][0]
        write(test, "My name is")


def test_softmax_marks_what_is_not_allowed_and_probabilities_open_at_the_best_token() -> None:
    port = MAP.nodes["layers.1.mixer.softmax"].outputs[0]
    array = read(STORY, port)
    seen = not_allowed(array, STORY.positions)
    n = STORY.positions
    assert values.statistics(seen).hidden == 4 * n * (n - 1) // 2
    np.testing.assert_array_equal(seen[np.isfinite(seen)], array[np.isfinite(seen)])
    assert (array[np.isneginf(seen)] == 0).all()
    np.testing.assert_array_equal(not_allowed(read(AFTER, port), 1), read(AFTER, port))
    port = MAP.nodes["output.softmax"].outputs[0]
    pieces = DECODER.tokenizer.pieces(range(1024))
    shown = grid(port, read(STORY, port), DECODER.tokenizer.pieces(STORY.window), n, pieces)
    assert shown.shares
    best = int(np.argmax(read(STORY, port)[-1]))
    assert shown.columns[best] == f"{pieces[best].replace(' ', '·')} ({best})"
    logits = MAP.nodes["output.scores"].outputs[0]
    assert not grid(logits, read(STORY, logits), DECODER.tokenizer.pieces(STORY.window), n, pieces).shares


# ------------------------------------------------------------------------------------------------ the link


def opened(**link: str) -> AppTest:
    """The page as somebody sees it who opened a link."""
    test = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60).run()
    for name, value in link.items():
        test.query_params[name] = value
    test = test.switch_page("pages/network.py").run()
    assert not test.exception
    return test


def test_a_link_brings_prompt_sampling_and_station_back() -> None:
    test = opened(prompt="My name is", seed="3", top_k="40", station="layers.1.mixer.softmax")
    run = test.session_state["network.run"]
    assert (run.text, run.sampling.seed, run.sampling.top_k) == ("My name is", 3, 40)
    assert field(test)["text"] == "My name is"
    assert "#### Block 2 · Softmax" in [m.value for m in test.markdown]
    assert test.session_state[f"{KEY}.selected"] == "layers.1.mixer.softmax"  # it is marked on the map, too


def test_what_is_asked_stands_in_the_link() -> None:
    test = open_page()
    assert dict(test.query_params) == {}
    write(test, "Once upon")
    assert test.query_params["prompt"] == "Once upon"
    test.session_state[f"{KEY}.selected"] = "layers.0.mixer.q"
    test.run()
    assert test.query_params["station"] == "layers.0.mixer.q"
    write(test, examples()[0][0])  # the default needs no words
    assert "prompt" not in test.query_params
    write(test, "")
    assert test.query_params["prompt"] == ""
    write(test, "word " * 400)
    assert "prompt" not in test.query_params
    assert "too long for the link" in field(test)["says"]


def test_an_empty_prompt_comes_back_from_its_link() -> None:
    assert opened(prompt="").session_state["network.run"].text == ""


def test_what_a_link_asks_in_vain_is_named() -> None:
    test = opened(station="<b>nope</b>", temperature="9", seed="abc")
    (said,) = (w.value.replace("\\", "") for w in test.warning)
    assert "station=<b>nope</b>: give one of 90 names" in said
    assert "temperature=9: give a number from 0.05 to 2. Shown: 0.8." in said
    assert "seed=abc: give a whole number from 0 to" in said
    assert "<b>" not in test.warning[0].value.replace("\\<", "")


def test_the_page_says_that_the_sidebar_is_for_the_others() -> None:
    assert "for the other pages" in open_page().sidebar.info[0].value
    assert not AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60).run().sidebar.info


# ------------------------------------------------------------------------------------------------ the prompt


def test_the_tokens_of_the_prompt_are_shown_with_pieces_and_numbers() -> None:
    sent = field(open_page())
    ids = begin(DECODER, sent["text"]).ids
    assert [token for _, token, _ in sent["tokens"]] == list(ids)
    assert sent["tokens"][0] == ["start", 0, "start"]
    assert [piece for piece, _, _ in sent["tokens"][1:]] == list(DECODER.tokenizer.pieces(ids[1:]))
    assert sent["says"] == (
        f"{len(ids)} of 128 positions taken (the start mark counts as one) · this example shows: a name is copied from "
        "the text before"
    )


def test_typing_shows_tokens_and_the_model_waits_for_the_pause() -> None:
    test = open_page()
    before = test.session_state["network.run"]
    test.session_state["network.text"] = "Tom"
    test.run()
    assert [piece for piece, _, _ in field(test)["tokens"]] == [
        "start",
        *DECODER.tokenizer.pieces(begin(DECODER, "Tom").ids[1:]),
    ]
    assert test.session_state["network.run"] is before
    test.session_state["network.prompt"] = "Tom"
    test.run()
    assert test.session_state["network.run"].text == "Tom"


def test_a_button_reads_what_was_typed_a_moment_ago() -> None:
    test = open_page()
    test.session_state["network.text"] = "My name is"
    test.button(key="network.one").click().run()
    run = test.session_state["network.run"]
    assert run.text == "My name is"
    assert run.last.session.drawn == 1


def test_an_example_is_written_into_the_field_and_typing_is_not() -> None:
    test = open_page()
    made = field(test)["made"]
    test.session_state["network.text"] = "Tom"
    assert field(test.run())["made"] == made  # the field keeps what is in it
    test.button_group(key="network.example").set_value(2).run()
    assert field(test)["text"] == examples()[2][0]
    assert field(test)["made"] == made + 1
    assert test.session_state["network.run"].text == examples()[2][0]


def test_an_example_wins_over_what_was_typed_just_before() -> None:
    def page() -> None:
        import streamlit as st

        from tokenviz.ui_network_prompt import KEY, _listen, put

        def clicked() -> None:
            st.session_state[KEY] = {"typed": {"text": "older", "read": True, "n": 1}}
            put("newer")
            _listen()  # the field's own callback comes after the button's

        st.button("example", on_click=clicked)
        st.text(st.session_state.get("network.prompt", ""))

    test = AppTest.from_function(page).run()
    test.button[0].click().run()
    assert test.text[0].value == "newer"


def test_a_prompt_beyond_the_window_strikes_its_beginning_through() -> None:
    sent = field_data(DECODER, "word " * 300, 0)
    count = len(DECODER.tokenizer.encode(("word " * 300).rstrip())) + 1
    assert [kind for *_, kind in sent["tokens"]] == ["out"] * (count - 128) + [""] * 128
    assert sent["says"].startswith(f"{count} tokens, {count - 128} more than the window's 128")
    assert sent["over"]


def test_the_field_survives_a_visit_to_another_page() -> None:
    test = open_page()
    test.session_state["network.text"] = "half a sen"
    test.switch_page("pages/statistics.py").run()
    test.switch_page("pages/network.py").run()
    assert field(test)["text"] == "half a sen"


# ------------------------------------------------------------------------------------------------ earlier predictions


def test_an_earlier_prediction_is_computed_again_exactly() -> None:
    test = open_page()
    first = test.session_state["network.run"].last
    test.button(key="network.many").click().run()
    run = test.session_state["network.run"]
    (choice,) = (s for s in test.selectbox if s.label == "Prediction")
    assert len(choice.options) == 11
    choice.set_value(0).run()
    assert not test.exception
    seen = test.session_state["network.looked"][2]
    np.testing.assert_array_equal(seen.result.logits, first.result.logits)
    assert (seen.token, seen.positions) == (first.token, first.positions)
    assert "not the latest: 10 came after it" in words(test)
    assert test.session_state["network.run"] is run  # looking back changes nothing
    test.button(key="network.one").click().run()
    assert test.session_state["network.looked"][2] is test.session_state["network.run"].last


def test_two_visitors_share_nothing() -> None:
    one, two = open_page(), open_page()
    write(one, "My name is")
    one.button(key="network.many").click().run()
    assert (
        two.session_state["network.run"].last.session.ids == open_page().session_state["network.run"].last.session.ids
    )


def test_missing_weights_are_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from tokenviz import ui_network

    monkeypatch.setattr(ui_network, "load_decoder", lambda: load_decoder(tmp_path))
    test = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60).run()
    test = test.switch_page("pages/network.py").run()
    assert not test.exception
    (error,) = test.error
    assert "config" in error.value


# ------------------------------------------------------------------------------------------------ its parts


def test_nothing_in_the_drawing_covers_anything() -> None:
    drawn = network_scene.scene(MAP)
    assert overlaps(drawn) == ()
    assert edges_through(drawn) == ()
    assert [p.tab for p in drawn.panels] == ["Input", "Block 1", "Block 2", "Block 3", "Block 4", "Output"]


def test_the_stream_is_straight_inside_a_block() -> None:
    drawn = network_scene.scene(MAP)
    for block in range(4):
        a, b = (drawn.items[f"layers.{block}.{part}.residual"].rect.cx for part in ("mixer", "ffn"))
        assert a == b


def test_every_kind_has_its_words() -> None:
    kinds = {node.kind for node in MAP.nodes.values()}
    assert kinds == set(network_text.LABELS) == set(network_text.LESSONS)


@pytest.mark.parametrize("made", [STORY, AFTER], ids=["prefill", "cached"])
def test_every_value_fits_the_limit_and_is_shown_exactly(made) -> None:
    window = DECODER.tokenizer.pieces(made.window)
    vocabulary = DECODER.tokenizer.pieces(range(1024))
    for node in MAP.nodes.values():
        for port in node.outputs:
            array = read(made, port)
            shown = grid(port, array, window, made.positions, vocabulary)
            assert sum(p.values.size for p in shown.panes) == array.size
            part = values.window(shown, 10_000, 0)
            frame = values.cells(shown, part)
            assert len(frame) <= values.MAX_CELLS
            assert part.row + part.height == shown.shape[0]
            first = shown.panes[0].values[part.row, part.column]
            assert frame["text"][0] == ("not allowed" if first == -np.inf else values.exact(first))


def test_the_window_says_what_it_leaves_out() -> None:
    shown = values.Grid((values.Pane("all", np.zeros((128, 352))),), *(tuple(map(str, range(n))) for n in (128, 352)),
                        "position", "coordinate")  # fmt: skip
    part = values.window(shown, 100, 300)
    assert (part.height, part.width) == (32, 64)  # 32 · 64 = 2,048 cells
    assert (part.row, part.column) == (96, 288)
    assert part.says(shown) == (
        "Shown: rows 96 to 127 of 128, columns 288 to 351 of 352, counted from 0. At most 2,048 cells are drawn."
    )


def test_cached_positions_are_marked_as_reused_or_new() -> None:
    window, m = DECODER.tokenizer.pieces(AFTER.window), AFTER.attended
    cache = MAP.of_kind("cache")[0]
    shown = grid(cache.outputs[0], read(AFTER, cache.outputs[0]), window, 1, ())
    assert (shown.new_row, shown.new_column) == (m - 1, None)
    frame = values.cells(shown, values.window(shown, 0, 0))
    assert set(frame["row_new"][frame["row"] < m - 1]) == {"◇ reused"}
    assert set(frame["row_new"][frame["row"] == m - 1]) == {"◆ new"}
    softmax = MAP.of_kind("softmax")[0]
    shares = grid(softmax.outputs[0], read(AFTER, softmax.outputs[0]), window, 1, ())
    assert (shares.new_row, shares.new_column) == (None, m - 1)
    first = grid(cache.outputs[0], read(STORY, cache.outputs[0]), window[:-1], STORY.positions, ())
    assert set(values.cells(first, values.window(first, 0, 0))["row_new"]) == {"◆ new"}
    chart = values.heat(shown, values.window(shown, 0, 0), values.statistics(read(AFTER, cache.outputs[0])), "light")
    assert [layer["mark"]["type"] for layer in chart["spec"]["layer"]] == ["rect", "point"]
    fill = chart["spec"]["layer"][1]["encoding"]["fill"]  # filled or hollow: no colour is needed to tell
    assert fill["condition"] == {"test": "datum.row_new === '◆ new'", "value": fill["condition"]["value"]}
    assert fill["value"] == "transparent"


def test_the_cache_says_which_positions_are_new() -> None:
    test = open_page()
    test.session_state[f"{KEY}.selected"] = "layers.0.mixer.cache"
    test.run()
    m = test.session_state["network.run"].last.attended
    assert f"◆ the keys and values of all {m} positions are new in this advance; nothing was reused" in words(test)
    test.button(key="network.one").click().run()
    assert f"◇ keys and values of positions 0 to {m - 1} were reused from the cache" in words(test)
    assert f"◆ position {m} is new in this advance" in words(test)


def test_statistics_leave_out_what_is_not_allowed() -> None:
    found = values.statistics(np.array([1.0, -np.inf, 3.0]))
    assert (found.count, found.hidden, found.least, found.most, found.mean) == (2, 1, 1.0, 3.0, 2.0)


def test_masked_cells_are_marked_not_coloured() -> None:
    mask = MAP.of_kind("mask")[0]
    array = read(STORY, mask.outputs[0])
    shown = grid(mask.outputs[0], array, DECODER.tokenizer.pieces(STORY.window), STORY.positions, ())
    chart = values.heat(shown, values.window(shown, 0, 0), values.statistics(array), "light")
    marks = [layer["mark"] for layer in chart["spec"]["layer"]]
    assert marks[0]["type"] == "rect"
    assert (marks[1]["type"], marks[1]["text"]) == ("text", "×")
    n = STORY.positions
    # above the diagonal of each of four heads
    assert (values.cells(shown, values.window(shown, 0, 0))["text"] == "not allowed").sum() == 4 * n * (n - 1) // 2


def test_only_a_heat_map_with_a_frame_can_be_clicked() -> None:
    shown = values.Grid((values.Pane("all", np.eye(3)),), ("a", "b", "c"), ("x", "y", "z"), "row", "column")
    stats, part = values.statistics(np.eye(3)), values.window(shown, 0, 0)
    plain = values.heat(shown, part, stats, "light")
    framed = values.heat(shown, part, stats, "light", (0, 2, 1))
    assert "params" not in plain
    assert [param["name"] for param in framed["params"]] == ["cell"]
    assert framed["params"][0]["select"]["fields"] == ["order", "row", "column"]
    frames = [layer["transform"][0]["filter"] for layer in framed["layer"][-2:]]
    assert frames == ["datum.order === 0 && datum.row === 2 && datum.column === 1"] * 2


def test_a_value_is_worked_out_and_another_is_chosen_by_number() -> None:
    page = opened(station="layers.1.mixer.scores")
    (formula,) = [latex.value for latex in page.latex if "5.657" in latex.value]
    assert r"\sum q_c\,k_c" in formula
    page.session_state["network.adds"] = True
    page.run()
    by_number = [field for field in page.number_input if " of layers.1.mixer.scores" in field.key]
    fields = {field.label.split(" (")[0]: field for field in by_number}
    assert set(fields) == {"Head", "Query", "Key"}
    fields["Key"].set_value(3).run()
    (after,) = [latex.value for latex in page.latex if "5.657" in latex.value]
    assert after != formula
    assert page.session_state["network.cell"].column == 3
    assert page.session_state["network.cell"].row == int(fields["Query"].value)


def test_a_station_says_where_its_result_goes() -> None:
    page = opened(station="layers.0.mixer.rope")
    (table,) = [html.body for html in page.get("html") if "from, to" in html.body]
    assert "to Scores" in table
    assert "to Cache K/V" in table


def test_the_files_hold_every_value() -> None:
    port = MAP.nodes["layers.2.mixer.softmax"].outputs[0]
    array, pieces = read(AFTER, port), DECODER.tokenizer.pieces(AFTER.window)
    axes = files.named_axes(port, array.shape, pieces, AFTER.positions, ())
    rows = list(csv.reader(io.StringIO(files.csv(array, axes))))
    assert rows[0] == [
        "position", "position token", "key/value head", "query head of its group", "key position", "key token", "value",
    ]  # fmt: skip
    assert len(rows) == 1 + array.size
    last = AFTER.attended - 1  # one position was computed, the last one
    assert rows[1][:6] == [str(last), pieces[-1], "0", "0", "0", pieces[0]]
    assert rows[-1][:6] == [str(last), pieces[-1], "1", "1", str(last), pieces[-1]]
    assert float(rows[-1][-1]) == float(array[-1, -1, -1, -1])
    with np.load(io.BytesIO(files.npz(array, axes))) as stored:
        np.testing.assert_array_equal(stored["value"], array)
        assert stored["axes"].tolist() == ["position", "key/value head", "query head of its group", "key position"]
        assert stored["tokens_3"].tolist() == list(pieces)


def test_every_value_has_named_axes_of_its_shape() -> None:
    vocabulary = DECODER.tokenizer.pieces(range(1024))
    for made in (STORY, AFTER):
        pieces = DECODER.tokenizer.pieces(made.window)
        for node in MAP.nodes.values():
            for port in (*node.outputs, *node.inputs):
                if node.role == "text" or node.kind in ("sharing", "select") or port.dims == ("T",):
                    continue
                array = read(made, port)
                axes = files.named_axes(port, array.shape, pieces, made.positions, vocabulary)
                head = next(csv.reader(io.StringIO(files.csv(array[(slice(0, 1),) * array.ndim], axes))))
                assert len(set(head)) == len(head) == 1 + array.ndim + sum(bool(axis.pieces) for axis in axes)
                assert all(not a.pieces or len(a.pieces) == n for a, n in zip(axes, array.shape, strict=True))


def test_chips_and_the_draw_escape_their_text() -> None:
    made = advance(DECODER, begin(DECODER, "<b>x</b>"), Sampling())
    ids = made.session.ids
    chips = network_html.chips(DECODER.tokenizer.pieces(ids), ids, 0, 1)
    assert "<b>" not in chips
    assert "&lt;" in chips
    assert chips.count("<small>") == len(ids)
    vocabulary = DECODER.tokenizer.pieces(range(1024))
    bar = network_html.draw_bar(made.draw, vocabulary)
    assert f"▲ {made.draw.number:.4f}" in bar
    assert bar.count('class="hit"') == 1


def test_the_drawn_token_is_never_hidden_among_the_others() -> None:
    flat = Sampling(temperature=10, seed=3)
    made = advance(DECODER, begin(DECODER, "My name is"), flat)
    vocabulary = DECODER.tokenizer.pieces(range(1024))
    assert made.token not in made.draw.order[:12]  # so that the test tests something
    hits = re.findall(r'<span class="hit"[^>]*title="([^"]*)"', network_html.draw_bar(made.draw, vocabulary))
    assert hits == [f"{escape(vocabulary[made.token])} {made.draw.after[made.token] * 100:.4f} %"]


def test_the_text_station_shows_control_characters_as_bytes() -> None:
    test = opened(prompt="say \u202eevil\x07", station="text")
    (said,) = [element.proto.body for element in test.get("html") if 'class="tv-said"' in element.proto.body]
    assert "\u202e" not in said
    assert "\x07" not in said
    assert "&lt;U+0007&gt;" in said
    assert "&lt;0xAE&gt;" in said


def test_what_is_not_allowed_is_empty_in_the_table() -> None:
    shown = values.Grid((values.Pane("all", np.array([[1.0, -np.inf]])),), ("a",), ("x", "y"), "query", "key")
    table = values.table(shown, values.window(shown, 0, 0))
    assert table["x"][0] == 1
    assert np.isnan(table["y"][0])


def test_the_same_step_played_again_brings_its_station_back() -> None:
    test = opened(station="layers.0.mixer.q")
    test.session_state[f"{KEY}.step"], test.session_state[f"{KEY}.selected"] = 18, None  # it was played
    test.run()
    played = [m.value for m in test.markdown if m.value.startswith("####")]
    test.session_state[f"{KEY}.selected"] = "layers.0.mixer.k"
    test.run()
    assert "#### Block 1 · K" in [m.value for m in test.markdown]
    test.session_state[f"{KEY}.selected"] = None  # the same step once more
    test.run()
    assert [m.value for m in test.markdown if m.value.startswith("####")] == played


def test_attention_over_the_text_writes_what_matters() -> None:
    shown = network_html.attention(["a", "<b>"], [0.25, 0.75], 1, dark=False)
    assert "25 %" in shown
    assert "75 %" in shown
    assert "&lt;b&gt;" in shown
    assert shown.count('class="query"') == 1


def test_captions_name_every_step_in_order() -> None:
    played = network_scene.play(MAP, "p")
    assert played["captions"][0].startswith("1 of 77 · Input · Embedding: ")
    assert played["captions"][76].startswith("77 of 77 · Output · Selection: ")
    assert [mark[:2] for mark in played["marks"]] == [[1, "1"], [19, "2"], [37, "3"], [55, "4"], [73, "Output"]]


def test_from_afar_each_section_has_a_name() -> None:
    drawn = network_scene.scene(MAP)
    named = {note.id: note.text for note in drawn.notes if note.far}
    assert named == {
        f"note layers.{block}.{part}": name
        for block in range(4)
        for part, name in (("mixer", "attention"), ("ffn", "feed-forward"))
    }
    panels = {panel.id: panel.rect for panel in drawn.panels}
    for note in drawn.notes:
        if note.far:
            home = panels[f"region block {int(note.id.split('.')[1]) + 1}"]
            assert home.x < note.x < home.right


def test_the_sharing_of_heads_is_drawn() -> None:
    drawn = network_html.sharing(4, 2)
    first, second = drawn.split("</b>")[:2]
    assert [f"query {h}<" in first for h in range(4)] == [True, True, False, False]
    assert [f"query {h}<" in second for h in range(4)] == [False, False, True, True]
    assert "key/value 0" in first
    assert "key/value 1" in second
