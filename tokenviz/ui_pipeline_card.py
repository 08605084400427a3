"""The detail panel of the Pipeline page: a card over the right side of the drawing, below it on a phone."""

from html import escape

import streamlit as st

from tokenviz import ui, ui_canvas
from tokenviz.graph import DecodeStep
from tokenviz.scenario import Scenario
from tokenviz.views.pipeline_cards import Card, Link, describe

TRACES = {"before": "all it waits for", "after": "all that waits for it"}


def card(key: str, step: DecodeStep, scenario: Scenario, selected: str | None) -> None:
    """Describe what is selected on the canvas `key`; nothing when nothing is."""
    found = describe(step, scenario, selected)
    if found is None:
        return
    with st.container(key="pipeline-card"):
        with st.container(
            horizontal=True, horizontal_alignment="distribute", vertical_alignment="top", key="card-head"
        ):
            st.markdown(f"**{ui.plain(found.title)}**  \n:small[{ui.plain(found.what)} · {ui.plain(found.where)}]")
            st.button(
                "", icon=":material/close:", key="close-card", type="tertiary", help="Clear the selection (Esc)",
                on_click=ui_canvas.select, args=(key, None),
            )  # fmt: skip
        st.markdown(ui.plain(found.says))
        if found.equation:
            st.latex(found.equation)
        st.html(facts_html(found))
        for heading, links in found.links:
            _links(key, found.id, heading, links)
        if found.what not in ("block",):
            _trace(key, found.id)


def facts_html(found: Card) -> str:
    """The card's facts and notes as a list of definitions; all text is escaped."""
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in found.facts)
    notes = "".join(f"<p>{escape(note)}</p>" for note in found.notes)
    return f'<dl class="tokenviz-facts">{rows}</dl>{notes}'


def _links(key: str, card_id: str, heading: str, links: tuple[Link, ...]) -> None:
    """Ways to other elements; choosing one selects it in the drawing."""
    texts = {link.id: link.text for link in links}
    name = f"to {card_id} {heading}"
    st.pills(
        heading, list(texts), key=name, format_func=lambda i: ui.plain(texts[i]), on_change=_follow, args=(key, name)
    )


def _follow(key: str, name: str) -> None:
    if st.session_state[name]:
        ui_canvas.select(key, st.session_state[name])


def _trace(key: str, selected: str) -> None:
    """Show every ancestor or every descendant in the drawing."""
    name = f"trace {selected}"
    st.pills(
        "Highlight", list(TRACES), key=name, format_func=lambda t: TRACES[t], on_change=_show,
        args=(key, selected, name), help="Within this block; the keys A and D do the same in the drawing.",
    )  # fmt: skip


def _show(key: str, selected: str, name: str) -> None:
    ui_canvas.select(key, selected, zoom=False, trace=st.session_state[name])
