"""The Network page's past: earlier predictions of the same text, and the event that a cache was rebuilt.

looked_at(decoder, run) -> Advance      the prediction that the inspector shows: the latest, or one before
ask_prediction(decoder, run)            the list to choose it from
rebuilt(decoder, found, made)           the rebuild as an event with its own page in the inspector
"""

import streamlit as st

from tokenviz.decoder.generate import Advance
from tokenviz.decoder.model import Decoder
from tokenviz.decoder.past import MOST_KEPT
from tokenviz.decoder.stations import PredictionMap
from tokenviz.ui_network_ask import Run
from tokenviz.views import network_html
from tokenviz.views.network_panes import piece_names

REBUILD = "rebuild"
"""What stands for the event where a station's name is expected."""


def looked_at(decoder: Decoder, run: Run) -> Advance:
    """The prediction that is looked at; a new token brings the latest one back."""
    state = st.session_state
    latest = len(run.past.steps) - 1
    kept: tuple[Run, int, Advance] | None = state.get("network.looked")
    if kept is None or kept[0] is not run:
        state["network.looks"] = state.get("network.looks", 0) + 1
        kept = run, latest, run.last
    number = int(state.get(_key(), kept[1]))
    made = kept[2] if number == kept[1] else run.at(decoder, number)
    state["network.looked"] = run, number, made
    return made


def _key() -> str:
    return f"network.prediction {st.session_state['network.looks']}"


def ask_prediction(decoder: Decoder, run: Run) -> None:
    """The list of the predictions that can be opened, the latest first."""
    steps, ids = run.past.steps, run.last.session.ids
    names = {i: f"{step.drawn + 1}. {_piece(decoder, ids[step.tokens])}" for i, step in enumerate(steps)}
    number = st.selectbox(
        "Prediction", [*reversed(names)], key=_key(), format_func=names.__getitem__,
        disabled=bool(st.session_state.get("network.continuous")),  # every new token brings a new list
        help="An earlier prediction of this text is computed again, exactly as it was: the same tokens, cache and seed "
        f"give the same numbers. The latest {MOST_KEPT} can be opened.",
    )  # fmt: skip
    if later := len(steps) - 1 - number:
        st.caption(f"not the latest: {later} came after it")


def _piece(decoder: Decoder, token: int) -> str:
    return piece_names([decoder.tokenizer.piece(token)])[0]


def rebuilt(decoder: Decoder, found: PredictionMap, made: Advance) -> None:
    """What happened before step 1: which tokens left, which stayed, and what became of their keys and values."""
    rebuild = made.rebuild
    if rebuild is None:
        return
    st.markdown("#### Before step 1 · Cache rebuilt")
    st.caption(f"an event of its own, outside the {len(found.steps)} steps")
    st.markdown(rebuild.says(decoder.window))
    st.markdown(
        "A key is turned by its position (RoPE). When the oldest tokens leave, every other token moves to a new "
        "position, so no cached key is right any more and all are computed anew. The window stays full: this happens "
        "again at every further token."
    )
    kept = rebuild.kept
    st.markdown(
        "| | before | after |\n| --- | ---: | ---: |\n"
        f"| the oldest token that stayed | position {rebuild.dropped} | position 0 |\n"
        f"| the newest token | no room | position {kept - 1} |\n"
        f"| cached keys that can be reused | {decoder.window} | none, so n = {kept} |"
    )
    ids = made.session.ids[:-1]
    ids = ids[len(ids) - rebuild.dropped - kept :]
    st.markdown(f"**The window**: what is struck through left, the latest {kept} tokens stayed")
    st.html(network_html.chips(decoder.tokenizer.pieces(ids), ids, rebuild.dropped, 0))
    st.caption("The stations named Cache K/V show the new keys and values; step 1 follows with all of these tokens.")
