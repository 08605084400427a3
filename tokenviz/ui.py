"""Streamlit glue: the frame around every page, and the question that all pages answer.

    run()               streamlit_app.py calls it: navigation, sidebar, the page, the footer
    ensure()            first line of every page: puts the page into its frame when a visitor opened it directly
    chosen() -> Choice  what the sidebar asks: .model (name, architecture, profile) and .scenario
    plain(text) -> str  text that must stay text inside Markdown: config strings, model names, error sentences

The sidebar's values live in the address bar, so that a link restores the view: `model`, `context`, `rate`, `weights`,
`output`, `gate`. Values equal to the default are left out.
"""

import re
from dataclasses import dataclass

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from tokenviz import __version__
from tokenviz.catalog import DEFAULT_MODEL, Model, bundled_models, load_model, model_from_text
from tokenviz.notation import DTYPE_BITS, TokenvizError
from tokenviz.scenario import GATES, MAX_CONTEXT, OUTPUTS, Scenario

PAGES = (
    ("pages/pipeline.py", "Pipeline", ""),
    ("pages/statistics.py", "Statistics", "statistics"),
    ("pages/layout.py", "Layout", "layout"),
    ("pages/network.py", "Network", "network"),
)
AS_PUBLISHED = "as published"
GATE_NAMES = {"study": "as the study read it", "implemented": "as implemented"}
STOPS: tuple[int, ...] = (0, *(digit * 10**power for power in range(8) for digit in range(1, 10)), MAX_CONTEXT)

_ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#E69F00"/>'
    '<path d="M5 12h6v8H5z" fill="#77AADD"/><path d="M13 12h6v8h-6z" fill="#BBCC33"/>'
    '<path d="M21 12h6v8h-6z" fill="#FFAABB"/></svg>'
)
_STYLE = """<style>
[data-testid="stMainBlockContainer"] { padding-top: 4.5rem; padding-bottom: 2rem; max-width: 1600px; }
[data-testid="stSidebarUserContent"] { padding-bottom: 1rem; }
[class*="st-key-canvas-loader"] { position: absolute; height: 0; overflow: hidden; }
table { font-variant-numeric: tabular-nums; }
@media (max-width: 640px) {
  [data-testid="stMainBlockContainer"] { padding-left: 0.75rem; padding-right: 0.75rem; }
}
</style>"""


@dataclass(frozen=True, slots=True)
class Choice:
    """The question that every page answers: which model, in which scenario."""

    model: Model
    scenario: Scenario


# ------------------------------------------------------------------------------------------------ the frame


def run() -> None:
    """Draw the frame and the chosen page in it. A wrong input shows one sentence and leaves the last good model."""
    st.set_page_config(page_title="tokenviz", page_icon=_ICON, layout="wide")
    page = st.navigation(
        [st.Page(path, title=title, url_path=url or None, default=not url) for path, title, url in PAGES],
        position="top",
    )
    if not st.session_state.get("_navigated"):
        # A cold server runs pages/*.py by itself until a session has declared its navigation: declare it, start over.
        st.session_state["_navigated"] = True
        st.rerun()
    st.html(_STYLE)
    with st.sidebar:
        st.session_state["_choice"] = _ask()
    _run_page(page)
    st.divider()
    st.caption(
        f"tokenviz {__version__} · what happens when a language model produces one token, read off an executable "
        "graph of its mathematics · logical counts, not measurements · MIT licence"
    )


def ensure() -> None:
    """Make sure that this page runs inside the frame; a page opened directly on a fresh server does not."""
    if not st.session_state.get("_inside"):
        run()
        st.stop()


def chosen() -> Choice:
    """The model and the scenario that the sidebar asks for."""
    choice: Choice = st.session_state["_choice"]
    return choice


def plain(text: str) -> str:
    """Markdown that shows exactly `text`: no formatting, no links, no images, no HTML."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|<>$~:&@=/])", r"\\\1", text.replace("\n", " "))


def _run_page(page: StreamlitPage) -> None:
    st.session_state["_inside"] = True
    try:
        page.run()
    except TokenvizError as error:
        st.error(plain(str(error)))
    finally:
        st.session_state["_inside"] = False


# ------------------------------------------------------------------------------------------------ the sidebar


def _ask() -> Choice:
    """Ask for the model and the scenario; on a wrong answer say why and keep the last good one."""
    name = st.selectbox(
        "Model", bundled_models(), index=bundled_models().index(DEFAULT_MODEL), key="model", bind="query-params",
        help="Published configurations. Type to search.",
    )  # fmt: skip
    model = _model(name)
    context = _ask_context()
    rate = st.number_input(
        "Tokens per second", min_value=0.1, max_value=1e6, value=100.0, step=10.0, format="%g", key="rate",
        bind="query-params", help="Turns bytes per token into bytes per second; changes nothing else.",
    )  # fmt: skip
    weights = _ask_weights(model)
    output = st.segmented_control(
        "Output", OUTPUTS, default=OUTPUTS[0], required=True, key="output", bind="query-params",
        help="softmax ends at the probabilities of all next tokens, greedy at the most likely token.",
    )  # fmt: skip
    scenario = model.scenario(
        context=context, tokens_per_s=float(rate), weights=weights, output=output, gate=_ask_gate(model)
    )
    _ask_config()
    return Choice(model, scenario)


def _ask_context() -> int:
    """Cached positions: a logarithmic slider, and a number beside it that can be exact."""
    slider, number = st.container(), st.container()
    with number:
        context = number.number_input(
            "Cached positions, exactly", min_value=0, max_value=MAX_CONTEXT, value=1_000_000, step=1, key="context",
            bind="query-params",
        )  # fmt: skip
    st.session_state["_stop"] = _nearest_stop(context)
    slider.select_slider(
        "Context (cached positions, log scale)", STOPS, key="_stop", format_func=_short, on_change=_slide,
        help="How many tokens came before this one. Attention reads all of them; recurrent state does not grow.",
    )  # fmt: skip
    return int(context)


def _slide() -> None:
    st.session_state["context"] = st.session_state["_stop"]


def _nearest_stop(context: int) -> int:
    """The stop with the nearest ratio; 0 only for 0."""
    if context == 0:
        return 0
    stop, _ = min(((stop, max(stop, context) / min(stop, context)) for stop in STOPS[1:]), key=lambda pair: pair[1])
    return stop


def _short(count: int) -> str:
    """2000000 -> "2 M"."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if count >= size:
            return f"{count // size} {unit}"
    return str(count)


def _ask_weights(model: Model) -> str | None:
    own = model.profile.weights or model.architecture.dtype
    answer = st.selectbox(
        "Weight precision", (AS_PUBLISHED, *DTYPE_BITS), key="weights", bind="query-params",
        help=f"Bytes per weight. This model as published: {own}. Block scales are left out.",
    )  # fmt: skip
    return None if answer == AS_PUBLISHED else answer


def _ask_gate(model: Model) -> str | None:
    """The reading of the attention output gate, asked only where the two readings differ."""
    if not model.gate_differs:
        return None
    study = model.profile.gate == "study"
    answer = st.radio(
        "Attention output gate", tuple(GATE_NAMES.values()), index=GATES.index(model.profile.gate),
        key="gate" if study else "own_gate", bind="query-params",
        help="The published study counts one multiplication more per attention layer than the reference "
        "implementation, whose gate is always a sigmoid.",
    )  # fmt: skip
    return next(gate for gate, shown in GATE_NAMES.items() if shown == answer)


def _ask_config() -> None:
    """A place for a config.json of one's own."""
    with st.expander("Use your own config.json", expanded=bool(st.session_state.get("own_config"))):
        st.text_area(
            "Paste its text", key="own_config", height=120, persist_state="session",
            help="Read here and never stored; it is not part of the link. Empty it to return to the list.",
        )  # fmt: skip


def _model(name: str) -> Model:
    """The pasted model if there is one, else the bundled one; when it cannot be read, the last good one."""
    text = st.session_state.get("own_config") or ""
    try:
        model = model_from_text(text, "pasted config") if text.strip() else load_model(name)
    except TokenvizError as error:
        last: Model = st.session_state.get("_good_model") or load_model(DEFAULT_MODEL)
        st.error(f"{plain(str(error))}. Still shown: {plain(last.name)}.")
        return last
    st.session_state["_good_model"] = model
    return model
