"""The Network page: a prompt, its continuation, the map of one prediction, and an inspector beside it.

    page()      the whole page

What a reader did lives in `st.session_state` alone: the text's `Run` is frozen and replaced, never changed. Map and
inspector are one fragment, so that a click reruns only the two; playing runs in the browser.
"""

from functools import lru_cache
from typing import Any

import streamlit as st

from tokenviz import ui, ui_canvas, ui_link, ui_network_link
from tokenviz.decoder.generate import MAX_CHARACTERS, Advance
from tokenviz.decoder.map import prediction_map
from tokenviz.decoder.model import Decoder, load_decoder
from tokenviz.decoder.past import MOST_KEPT
from tokenviz.decoder.stations import PredictionMap
from tokenviz.ui_network_ask import COLUMNS, Run, ask, checks
from tokenviz.ui_network_inspect import inspect
from tokenviz.ui_network_past import REBUILD, ask_prediction, looked_at, rebuilt
from tokenviz.views import network_html, network_scene, network_text
from tokenviz.views.canvas import scene_payload
from tokenviz.views.format import share

KEY = "network-map"
STAGE = "network-stage"
HEIGHT = 760  # of the inspector, where the page's style does not say otherwise
TICK_S = 0.4
ABOUT = (
    "**What it is.** A Transformer decoder of {parameters:,} trained numbers: 4 blocks, 4 query heads that share 2 "
    "key/value heads, rows of 128 numbers, a vocabulary of 1,024 tokens, a window of {window} tokens. It was "
    "trained on simple made-up stories; it knows some 700 words (its training text has 691 "
    "different ones); it makes things up. Large models work the same way with wider rows and more blocks.",
    "**What is real.** Every number is computed on the server when you ask, by the same graph that the other pages "
    "count and draw, in 32-bit floats. The tick says that a step was computed again from its parents by a formula of "
    "its own, in 64-bit floats, and agrees. Click any value of a heat map: its formula appears with the real numbers.",
    "**What it leaves out.** Playback follows the recorded order and does not show parallel execution: Q, K and V, for "
    "instance, could run at the same time. Attention weights say where a head looked, not why the answer came. The "
    "reading after each block forces an unfinished row through the last step; the model itself never does that.",
    "**Its window.** It sees {window} tokens. When they are full, every further token pushes the oldest one out, and "
    "the latest {window} are computed again from position 0, because a rotated key belongs to its position. Prompts "
    "may have {characters:,} characters; only their last {window} tokens are seen, and spaces at the end are left out.",
    "**Going back.** The list named Prediction opens any of the latest {kept} predictions of the text. It is computed "
    "again with the cache, the sampling and the seed of its time, so every number is the one it had.",
)


def page() -> None:
    """The whole page."""
    decoder = load_decoder()
    found = prediction_map(decoder.architecture)
    _enter()
    ui_link.expect({**checks(), "station": ui_link.one_of(found.nodes, "the list named Station")})
    st.html(network_html.themed(_dark()))
    st.title("Network")
    finding = st.container()
    run = ask(decoder)
    finding.markdown(says(decoder, run))
    going = bool(st.session_state["network.continuous"])
    st.fragment(stage, run_every=TICK_S if going else None)(decoder, found, going)
    st.html(network_html.legend(_dark()))
    _explain(decoder)


def says(decoder: Decoder, run: Run) -> str:
    """What the page shows, with the finding for this text."""
    made = run.last
    piece = decoder.tokenizer.piece(made.token)
    steps = len(prediction_map(decoder.architecture).steps)
    if st.session_state["network.continuous"]:  # the text goes on below, this sentence stands
        return (
            f"A small trained decoder reads the text and makes one token after the other, each in **{steps} recorded "
            "steps**. Open any station to stop it and see the numbers."
        )
    given, chance = share(made.draw.before[made.token]), share(1 / decoder.architecture.vocab)
    return (
        f"A small trained decoder reads the text and makes the next token in **{steps} recorded steps**. Here it "
        f"chose **{ui.plain(piece.strip() or piece)}**, at a share of **{given}** (a blind guess: {chance}). Open any "
        "station to see its numbers."
    )


def _dark() -> bool:
    return bool(st.context.theme.type == "dark")


def _enter() -> None:
    """On coming to the page nothing runs: the switch's value is lost when the page is left."""
    state = st.session_state
    if "network.continuous" not in state:
        state["network.continuous"] = False
        state["network.plays"] = 0
        ui_network_link.arrive()
    if state.pop("network.stop", False):
        state["network.continuous"] = False


# ------------------------------------------------------------------------------------------------ the stage


def stage(decoder: Decoder, found: PredictionMap, going: bool) -> None:
    """Text, map and inspector; a fragment, which makes a token each time that it runs while `going`."""
    run = _tick(decoder, found, going)
    _linked(found)
    made = looked_at(decoder, run)
    with st.container(key=STAGE, gap="small"):
        _text(decoder, run, made)
        left, right = st.columns(COLUMNS, gap="small")
    with left:
        plays = st.session_state["network.plays"]
        asked = plays > 0 and made.index == st.session_state["network.played"]
        says = made.rebuild.says(decoder.window) if made.rebuild else ""
        which = f"play {plays}" + (f" of {made.index}" if says else "")
        ui_canvas.graph_canvas(
            payload(found), key=KEY, height=network_html.ROOM, beside=STAGE, label=_label(found),
            open_at=network_scene.panel_id("input"), frames=network_scene.play(found, which, says),
            step=-1 if says else None, running=asked, rate=2, file_name="tokenviz-network",
        )  # fmt: skip
    with right, st.container(height=HEIGHT, key="network-inspector"):
        station = _choose(decoder, found, run, made)
        if station == REBUILD:
            rebuilt(decoder, found, made)
        else:
            inspect(decoder, found, made, station)


def _tick(decoder: Decoder, found: PredictionMap, going: bool) -> Run:
    """While continuous is on, one token more; an opened station or the end of the text turns it off.

    `going` is what the whole page found when it ran last: a switch that was turned off here may, for a moment, still be
    on in the browser.
    """
    state = st.session_state
    run: Run = state["network.run"]
    clicked = _look(found) or state.pop("network.opened_one", False)
    if not going:
        return run
    if clicked or run.last.session.ended:
        state["network.stop"] = True
        st.rerun()
    state["network.run"] = run = run.on(decoder)
    return run


def _linked(found: PredictionMap) -> None:
    """The station in the address is the one that was opened last."""
    state = st.session_state
    name = ui_network_link.said("station") or ""
    if name in found.nodes:
        _open(name)
    ui_network_link.tell("station", state.get("network.link", ""), "")


def _look(found: PredictionMap) -> bool:
    """Which station the inspector shows: what was clicked or played last. True when the reader did something."""
    state = st.session_state
    selected, step = state.get(f"{KEY}.selected"), state.get(f"{KEY}.step")
    seen = state.get("network.seen", (None, None))
    state["network.seen"] = selected, step
    if selected != seen[0] and selected is not None:
        if selected in found.nodes:
            state["network.shown"] = state["network.link"] = selected
        return True
    let_go = selected is None and seen[0] is not None  # playing does: the same step may be played once more
    if step is not None and (step != seen[1] or let_go):
        state["network.shown"] = REBUILD if step < 0 else found.steps[min(step, len(found.steps) - 1)]
        return bool(step >= 0)
    return False


def _choose(decoder: Decoder, found: PredictionMap, run: Run, made: Advance) -> str:
    """The inspector's two lists: the station, and whose prediction it shows."""
    left, right = st.columns([3, 2], gap="small")
    with right:
        ask_prediction(decoder, run)
    with left:
        return _station(found, made)


def _station(found: PredictionMap, made: Advance) -> str:
    """The list of all stations: what is shown, and another way to choose."""
    shown: str = st.session_state.get("network.shown", "")
    names = {REBUILD: "Cache rebuilt (before step 1)"} if made.rebuild else {}
    names |= {name: _named(found, name) for name in found.nodes}
    if shown not in names:
        shown = found.of_kind("probabilities")[0].id
    # a list of its own for each: an answer on its way cannot undo a later step
    key = f"network.station {shown} {len(names)}"
    st.selectbox(
        "Station", list(names), list(names).index(shown), key=key, format_func=names.__getitem__, on_change=_go,
        args=(key, shown),
    )  # fmt: skip
    return shown


def _named(found: PredictionMap, name: str) -> str:
    node = found.nodes[name]
    step = f"step {node.event + 1}" if node.event is not None else "no step"
    return f"{network_text.heading(node)} ({step})"


def _go(key: str, shown: str) -> None:
    chosen = st.session_state[key]
    if chosen != shown:  # a list that is on its way out tells its value once more: nobody chose that
        _open(chosen)
        st.session_state["network.opened_one"] = True


def _open(chosen: str) -> None:
    """Show a station that was not chosen on the map, and select it there."""
    state, on_map = st.session_state, None if chosen == REBUILD else chosen
    state["network.shown"] = chosen
    state["network.link"] = on_map or state.get("network.link", "")
    state["network.seen"] = on_map, state.get(f"{KEY}.step")
    ui_canvas.select(KEY, on_map)


@lru_cache(maxsize=2)
def payload(found: PredictionMap) -> dict[str, Any]:
    """The map for the canvas; the same for every token, so that it is sent once."""
    return scene_payload(network_scene.scene(found))


def _label(found: PredictionMap) -> str:
    return (
        f"One prediction as a map of {len(found.nodes)} stations and {len(found.connections)} connections in "
        f"{len(found.regions)} regions. Arrow keys move along it, Enter or Space opens a station, Escape clears; the "
        "list named Station holds the same."
    )


def _text(decoder: Decoder, run: Run, made: Advance) -> None:
    """The text so far with what the window holds, and what there is to say about it."""
    session = run.last.session
    pieces, shown = decoder.tokenizer.pieces(session.ids), len(session.prompt.ids) + made.index
    st.html(network_html.so_far(pieces, session.ids, session.first, session.drawn, shown))
    used = len(session.window)
    says = (
        f"written by the model: {session.drawn}, shaded · the number below a piece is its place in the vocabulary, a "
        "faint dot is a space"
    )
    happened, _, why = (run.rebuilt if made is run.last else "").partition(". ")
    if run.redrawn and made is run.last:
        why = "Only the last token was drawn again with these settings; Start again draws them all."
    if session.ended:  # one line, so that the map keeps its place
        why = "**The model ended its text here.** Another token would begin a new one."
    if why:
        says = f"**{happened}.** {why}" if happened else why
    st.caption(f"{min(used, decoder.window)} of {decoder.window} positions · {says}")


def _explain(decoder: Decoder) -> None:
    st.subheader("What you see, and what it leaves out")
    facts = {
        "parameters": decoder.parameters, "window": decoder.window,
        "characters": MAX_CHARACTERS, "kept": MOST_KEPT,
    }  # fmt: skip
    for paragraph in ABOUT:
        st.markdown(paragraph.format(**facts))
