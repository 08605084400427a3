"""Streamlit glue: a config.json of one's own, and the link that carries it.

    own_model(link) -> Model | None    the model of a pasted, uploaded or linked config; None: use the list
    ask_config(model)                  where it is pasted or uploaded, and what became of it
    forget()                           back to the list; what was typed stays in its field
    copy_link()                        a button that copies the address

A config is read once for each text, kept for this session only, and goes nowhere but into this session's own address.
"""

import json
from dataclasses import dataclass

import streamlit as st

from tokenviz.catalog import Model, model_from_text
from tokenviz.config import MAX_CONFIG_BYTES
from tokenviz.notation import ConfigError, TokenvizError
from tokenviz.share import ShareError, pack, unpack
from tokenviz.trace import trace
from tokenviz.views.markup import plain

OWN_NAME = "pasted config"
_EDITABLE_CHARS = 100_000  # a longer file is not put into the text field

_link = st.components.v2.component(
    "tokenviz_link",
    html="""<button type="button">Copy link</button>
<span role="status" aria-live="polite"></span>
<input readonly hidden aria-label="Link to this view">
""",
    css="""
:host, div { font-family: var(--st-font); }
button { font: inherit; font-size: 0.875rem; color: var(--st-text-color); background: var(--st-background-color);
  border: 1px solid var(--st-border-color); border-radius: var(--st-base-radius);
  padding: 0.4rem 0.8rem; cursor: pointer; }
button:hover { border-color: var(--st-primary-color); color: var(--st-primary-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
span { margin-left: 0.6rem; font-size: 0.875rem; color: var(--st-text-color); }
input { width: 100%; margin-top: 0.4rem; font: inherit; font-size: 0.875rem; box-sizing: border-box; }
input[hidden] { display: none; }
""",
    js="""
export default function ({ parentElement }) {
  const button = parentElement.querySelector("button");
  const said = parentElement.querySelector("[role=status]");
  const field = parentElement.querySelector("input");
  button.onclick = async () => {
    const link = window.location.href;
    try {
      await navigator.clipboard.writeText(link);
      field.hidden = true;
      said.textContent = "Copied.";
    } catch {
      // without https or permission a page may not write: show the link, selected
      field.hidden = false;
      field.value = link;
      field.focus();
      field.select();
      said.textContent = "Press Ctrl+C.";
    }
  };
}
""",
)


@dataclass(frozen=True, slots=True)
class Own:
    """A config of one's own, read: its model, its form in the address, and why it has none."""

    model: Model
    packed: str
    no_link: str


def own_model(packed: str) -> Model | None:
    """The model of the config in use, read again only when the address holds another one.

    Raises:
        TokenvizError: when the address holds something that is not a config.
    """
    kept = st.session_state
    own: Own | None = kept.get("_own")
    if packed and (own is None or own.packed != packed):
        text = unpack(packed)
        own = kept["_own"] = Own(_checked(text), packed, "")
        if not kept.get("own_config"):
            kept["own_config"] = json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    elif not packed and own is not None and own.packed:
        own = kept["_own"] = None  # the address was changed by hand or by the back button
    return own.model if own else None


def _checked(text: str) -> Model:
    """A config's model, traced once, so that nothing is taken over that cannot be drawn."""
    try:
        model = model_from_text(text, OWN_NAME)
        trace(model.architecture, model.scenario(context=0))
    except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError) as error:
        # no reader names this value: still one sentence for the person, not a traceback
        raise ConfigError(
            f"a value in this config has a form that is not understood ({error}); compare it with a published config"
        ) from None
    return model


def use(text: str) -> None:
    """Take a config over, into the link too if it fits; when it cannot be read, say why and change nothing."""
    kept = st.session_state
    kept["_own_error"] = ""
    if not text.strip():
        forget()
        return
    try:
        model = _checked(text)
    except TokenvizError as error:
        kept["_own_error"] = str(error)
        return
    try:
        packed, no_link = pack(text), ""
    except ShareError as error:
        packed, no_link = "", str(error)
    kept["_own"], kept["config"] = Own(model, packed, no_link), packed


def forget() -> None:
    """Back to the list. What was typed stays in its field."""
    kept = st.session_state
    kept["_own"], kept["config"], kept["_own_error"] = None, "", ""


def trouble() -> str:
    """Why the last config was not taken over; empty when it was."""
    return str(st.session_state.get("_own_error") or "")


def shortened(sentence: str, chars: int = 200) -> str:
    """The beginning of a long sentence; all of it stands above the page."""
    return sentence if len(sentence) <= chars else sentence[: chars - 1] + "…"


def ask_config() -> None:
    """A place to paste or upload a config.json, and what became of it."""
    own: Own | None = st.session_state.get("_own")
    with st.expander("Use your own config.json", expanded=bool(own or trouble())):
        st.text_area(
            "Paste its text", key="own_config", height=120, persist_state="session", on_change=_pasted,
            help="Read, never run; kept for this session only, and in the link when it is small.",
        )  # fmt: skip
        st.file_uploader(
            "or upload the file", type=["json"], key="own_file", on_change=_uploaded,
            max_upload_size=MAX_CONFIG_BYTES // 1_000_000,
        )  # fmt: skip
        if trouble():
            st.error(plain(shortened(trouble())))
        if own is None:
            st.button("Use this text", on_click=_pasted, key="own_use", disabled=not st.session_state.get("own_config"))
            return
        st.button("Back to the list", on_click=forget, key="own_forget")
        if own.no_link:
            st.warning(plain(f"Not part of the link: {own.no_link}."))


def copy_link() -> None:
    """A button that copies the address of this view; where that is forbidden, it shows the address, selected."""
    _link(key="copy_link", height="content")


def _pasted() -> None:
    use(st.session_state.get("own_config") or "")


def _uploaded() -> None:
    file = st.session_state.get("own_file")
    if file is None:
        return
    try:
        text = file.getvalue().decode("utf-8")
    except UnicodeDecodeError:
        st.session_state["_own_error"] = "the file is not text; give a config.json in UTF-8"
        return
    if len(text) <= _EDITABLE_CHARS:
        st.session_state["own_config"] = text
    use(text)
