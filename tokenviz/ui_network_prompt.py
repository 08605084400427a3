"""The Network page's prompt: a text field of its own that shows its tokens while they are typed.

    prompt(decoder, examples) -> str    the field and its tokens; gives the text that the model is to read
    take() -> str                       the text that stands in the field now, also in the callback of a button
    put(text)                           write a text into the field

Streamlit's own field of several lines tells what is typed when it is left. This one tells it after a short pause; the
tokens are made here, so that there is one tokenizer. The field never takes back what was typed: only `put` writes.
"""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import streamlit as st

from tokenviz import ui_network_link
from tokenviz.decoder.generate import MAX_CHARACTERS
from tokenviz.decoder.model import Decoder
from tokenviz.decoder.tokenizer import END_ID

KEY = "network-prompt"
TEXT, READ = "network.text", "network.prompt"  # what stands in the field; what the model has read


def _source(name: str) -> str:
    return (files("tokenviz.views") / name).read_text(encoding="utf-8")


_field = st.components.v2.component(
    "tokenviz_prompt",
    html="""<div class="head"><label for="prompt">Prompt</label>
<small id="how">its tokens follow as you type; the model reads it when you pause</small></div>
<textarea id="prompt" rows="1" spellcheck="false" aria-describedby="how said"></textarea>
<ol tabindex="0" aria-label="Tokens of the text: piece and number"></ol>
<p class="said" id="said"></p>
""",
    css=_source("network_prompt.css"),
    js=_source("network_prompt.js"),
)


def prompt(decoder: Decoder, examples: Mapping[str, str]) -> str:
    """Draw the field, which at first holds the first example; the answer changes when a text is to be read.

    `examples` are texts with what each of them shows, which is said while it stands in the field.
    """
    state = st.session_state
    first = next(iter(examples))
    state.setdefault(READ, first)
    if (linked := ui_network_link.said("prompt")) is not None:
        put(linked[:MAX_CHARACTERS])
    state["network.read"] = state[READ]
    st.fragment(_draw)(decoder, examples)
    text: str = state[READ]
    ui_network_link.tell("prompt", text, first)
    return text


def put(text: str) -> None:
    """Write a text into the field and have it read."""
    _listen()  # what was typed before is older than this text, even if its message comes in the same run
    state = st.session_state
    state[TEXT] = state[READ] = text
    state["network.made"] = state.get("network.made", 0) + 1


def take() -> str:
    """What stands in the field is what the model is to read."""
    _listen()
    state = st.session_state
    read: str = state.get(TEXT, state[READ])
    state[READ] = read
    return read


def _listen() -> None:
    """Keep what the field told last: a text, and whether it is to be read. Each message counts once."""
    state = st.session_state
    told = (state.get(KEY) or {}).get("typed")
    if not isinstance(told, dict) or told.get("n") == state.get("network.told"):
        return
    state["network.told"] = told.get("n")
    text = told.get("text")
    if not isinstance(text, str):
        return
    state[TEXT] = text[:MAX_CHARACTERS]
    if told.get("read"):
        state[READ] = state[TEXT]


def _draw(decoder: Decoder, examples: Mapping[str, str]) -> None:
    """The field with the tokens of what stands in it; a fragment, so that typing draws nothing else."""
    state = st.session_state
    read = state[READ]
    text = state.setdefault(TEXT, read)
    if state["network.read"] != read:  # the page around this fragment has the model read it
        st.rerun()
    data = field_data(decoder, text, state.get("network.made", 0), examples.get(text, ""))
    _field(key=KEY, data=data, on_typed_change=_listen)


def field_data(decoder: Decoder, text: str, made: int, shows: str = "") -> dict[str, Any]:
    """What the field shows: its text, every token as [piece, id, look], how many there are, what the example shows."""
    tokenizer = decoder.tokenizer
    ids = (END_ID, *tokenizer.encode(text.rstrip(" ")))
    out = max(0, len(ids) - decoder.window)
    says = f"{len(ids)} of {decoder.window} positions taken (the start mark counts as one)"
    if out:
        says = (
            f"{len(ids)} tokens, {out} more than the window's {decoder.window}: the first {out}, struck through, are "
            "left out"
        )
    if len(text) >= MAX_CHARACTERS:
        says += f" · {MAX_CHARACTERS:,} characters are the most that the field takes"
    if text.endswith(" "):
        says += " · spaces at the end are left out: the next token brings its own"
    if not ui_network_link.fits(text):
        says += " · too long for the link, so a reload will not bring it back"
    if shows:
        says += f" · this example shows: {shows[0].lower()}{shows[1:].rstrip('.')}"
    return {
        "text": text, "made": made, "most": MAX_CHARACTERS, "over": out > 0, "says": says,
        "tokens": [
            ["start" if i == 0 else piece, token, "out" if i < out else "start" if i == 0 else ""]
            for i, (piece, token) in enumerate(zip(tokenizer.pieces(ids), ids, strict=True))
        ],
    }  # fmt: skip
