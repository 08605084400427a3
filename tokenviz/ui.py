"""Streamlit glue: the frame around every page, and the question that all pages answer.

    run()               streamlit_app.py calls it: navigation, sidebar, the page, the footer
    ensure()            first line of every page: puts the page into its frame when a visitor opened it directly
    chosen() -> Choice  what the sidebar asks: .model (name, architecture, profile) and .scenario
    plain(text) -> str  text that must stay text inside Markdown: config strings, model names, error sentences

The sidebar's values live in the address bar, so that a link restores the view: `model` or `config`, `context`, `rate`,
`weights`, `kv`, `state`, `metadata`, `prediction`, `output`, `gate`. Values equal to the default are left out.
"""

import gc
from dataclasses import dataclass

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from tokenviz import __version__, ui_link, ui_share
from tokenviz.analysis import assumptions
from tokenviz.catalog import Model, bundled_models
from tokenviz.gallery import recurs
from tokenviz.notation import DTYPE_BITS, TokenvizError
from tokenviz.scenario import GATES, MAX_CONTEXT, OUTPUTS, Scenario
from tokenviz.trace import traced
from tokenviz.ui_model import ask_model, gallery_dialog
from tokenviz.ui_style import DARK_STYLE, ICON, STYLE
from tokenviz.views.facts import fact_line
from tokenviz.views.markup import plain

__all__ = ["AS_PUBLISHED", "PAGES", "STOPS", "Choice", "chosen", "ensure", "plain", "run"]

PAGES = (
    ("pages/pipeline.py", "Pipeline", ""),
    ("pages/statistics.py", "Statistics", "statistics"),
    ("pages/layout.py", "Layout", "layout"),
    ("pages/network.py", "Network", "network"),
)
AS_PUBLISHED = "as published"
_MOST_KEYS = 12  # named in the banner; further ones are counted
_OWN = "Network"  # this page runs a small decoder of its own: nothing that the sidebar asks concerns it
RATES = (0.1, 1e6)
GATE_NAMES = {"study": "as the study read it", "implemented": "as implemented"}
STOPS: tuple[int, ...] = (0, *(digit * 10**power for power in range(8) for digit in range(1, 10)), MAX_CONTEXT)


@dataclass(frozen=True, slots=True)
class Choice:
    """The question that every page answers: which model, in which scenario."""

    model: Model
    scenario: Scenario


# ------------------------------------------------------------------------------------------------ the frame


def run() -> None:
    """Draw the frame and the chosen page in it. A wrong input shows one sentence and leaves the last good model."""
    page = st.navigation(
        [st.Page(path, title=title, url_path=url or None, default=not url) for path, title, url in PAGES],
        position="top",
    )
    st.set_page_config(
        page_title=f"{page.title} · tokenviz", page_icon=ICON, layout="wide",
        initial_sidebar_state="collapsed" if page.title == _OWN else "auto",
    )  # fmt: skip
    if not st.session_state.get("_navigated"):
        # A cold server runs pages/*.py by itself until a session has declared its navigation: declare it, start over.
        st.session_state["_navigated"] = True
        st.rerun()
    ui_link.remember(page.title)
    ui_link.expect(checks())
    st.html(STYLE + (DARK_STYLE if st.context.theme.type == "dark" else ""))
    with st.sidebar:
        note = st.container()  # on every page, so that what follows keeps its place in the browser
        if page.title == _OWN:
            note.info("This page runs a small decoder of its own. What is chosen here is for the other pages.")
        asked = ask_model()
        choice = st.session_state["_choice"] = Choice(asked.model, _ask_scenario(asked.model))
        ui_share.copy_link()
    if asked.browse:
        gallery_dialog()
    said = st.empty()
    if asked.trouble:
        st.error(plain(f"{asked.trouble}. Still shown: {choice.model.name}."))
    if page.title != _OWN:
        _in_plain_sight(choice)
    _run_page(page)
    ui_link.tell(said)
    _settle(page.title)
    st.divider()
    st.caption(
        f"tokenviz {__version__} · what happens when a language model produces one token, read off an executable "
        "graph of its mathematics · logical counts, not measurements · MIT licence"
    )


def checks() -> ui_link.Checks:
    """What the sidebar's keys take, in the words that an address holds."""
    return {
        "model": ui_link.one_of(bundled_models(), "the list in the sidebar"),
        "context": ui_link.whole(0, MAX_CONTEXT), "rate": ui_link.number(*RATES),
        "weights": ui_link.one_of((AS_PUBLISHED, *DTYPE_BITS)), "kv": ui_link.one_of(DTYPE_BITS),
        "state": ui_link.one_of(DTYPE_BITS), "metadata": ui_link.yes_or_no, "prediction": ui_link.yes_or_no,
        "output": ui_link.one_of(OUTPUTS), "gate": ui_link.one_of(GATE_NAMES.values()),
        "own_gate": ui_link.one_of(GATE_NAMES.values()),
    }  # fmt: skip


def ensure() -> None:
    """Make sure that this page runs inside the frame; a page opened directly on a fresh server does not."""
    if not st.session_state.get("_inside"):
        run()
        st.stop()


def chosen() -> Choice:
    """The model and the scenario that the sidebar asks for."""
    choice: Choice = st.session_state["_choice"]
    return choice


def _in_plain_sight(choice: Choice) -> None:
    """Above every page about the model: what may not be exact, what it is and what was assumed."""
    model, scenario = choice.model, choice.scenario
    if keys := model.architecture.unread_keys:
        listed = ", ".join(keys[:_MOST_KEYS]) + (
            f" and {len(keys) - _MOST_KEYS} more" if len(keys) > _MOST_KEYS else ""
        )
        st.warning(
            f"The counts may not be exact: {plain(listed)} in this config {'is' if len(keys) == 1 else 'are'} not "
            "understood here and had no influence."
        )
    kept = st.session_state.get("_line")
    if kept is None or kept[0] is not model or kept[1] != scenario:
        step = traced(model.architecture, scenario)
        kept = model, scenario, fact_line(model, step, scenario, assumptions(model, scenario))
        st.session_state["_line"] = kept
    st.html(kept[2])


def _run_page(page: StreamlitPage) -> None:
    st.session_state["_inside"] = True
    try:
        page.run()
    except TokenvizError as error:
        st.error(plain(str(error)))
    finally:
        st.session_state["_inside"] = False


@st.cache_resource(show_spinner=False)
def _settle(title: str) -> None:
    """Once for each page that a server shows: what its modules made stays, so the collector need not visit it again.

    A full collection walks through every live object of the libraries, 100 ms in the middle of somebody's run.
    """
    gc.collect()
    gc.freeze()


# ------------------------------------------------------------------------------------------------ the sidebar


def _ask_scenario(model: Model) -> Scenario:
    """Ask what is asked of the model: context, speed, precisions, output, gate."""
    context = _ask_context()
    rate = st.number_input(
        "Tokens per second", min_value=RATES[0], max_value=RATES[1], value=100.0, step=10.0, format="%g", key="rate",
        bind="query-params", help="Turns bytes per token into bytes per second; changes nothing else.",
    )  # fmt: skip
    weights, kv, state = _ask_precisions(model)
    metadata = st.toggle(
        "Count scales and zero points", key="metadata", bind="query-params",
        help="What block formats store beside the values: fp8, int8, int4, mxfp4 and nvfp4 have it, bf16 has none.",
    )  # fmt: skip
    heads = model.architecture.prediction is not None and st.toggle(
        "Load prediction heads", key="prediction", bind="query-params",
        help="Counts their weights and their cache in what is stored and kept. One step does not run them.",
    )  # fmt: skip
    output = st.segmented_control(
        "Output", OUTPUTS, default=OUTPUTS[0], required=True, key="output", bind="query-params",
        help="softmax ends at the probabilities of all next tokens, greedy at the most likely token.",
    )  # fmt: skip
    return model.scenario(
        context=context, tokens_per_s=float(rate), weights=weights, kv=kv, state=state, metadata=metadata,
        prediction=heads, output=output, gate=_ask_gate(model),
    )  # fmt: skip


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


def _ask_precisions(model: Model) -> tuple[str | None, str, str | None]:
    """Precision of the weights (None: as published), of the K/V cache, and of recurrent state where there is any."""
    left, right = st.columns([3, 2], gap="xsmall")
    weights = left.selectbox(
        "Weights", (AS_PUBLISHED, *DTYPE_BITS), key="weights", bind="query-params",
        help=f"Precision of the weights. This model as published: {_published(model)}.",
    )  # fmt: skip
    kv = right.selectbox(
        "K/V cache", tuple(DTYPE_BITS), index=tuple(DTYPE_BITS).index("bf16"), key="kv", bind="query-params",
        help="Precision of cached keys and values.",
    )  # fmt: skip
    state = None
    if recurs(model.architecture):
        state = st.selectbox(
            "Recurrent state", tuple(DTYPE_BITS), key="state", bind="query-params",
            help="Precision of the state that recurrent layers rewrite in place; implementations keep it in fp32.",
        )  # fmt: skip
    return None if weights == AS_PUBLISHED else weights, kv, state


def _published(model: Model) -> str:
    declared = model.architecture.quantization
    own = model.profile.weights or model.architecture.dtype
    if declared is None or model.profile.weights:
        return own
    return f"{declared.format} where its quantization_config says so, else {own}"


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
