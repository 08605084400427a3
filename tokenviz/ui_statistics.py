"""The Statistics page: where the work goes, and how much of it can run at once."""

from dataclasses import replace

import streamlit as st

from tokenviz import ui, ui_link
from tokenviz import ui_statistics_sections as sections
from tokenviz.catalog import bundled_models, load_model
from tokenviz.conventions import CONVENTIONS, FUSION_LIST
from tokenviz.notation import DTYPE_BITS, TokenvizError
from tokenviz.scenario import MAX_CONTEXT
from tokenviz.ui_statistics_help import LINK as HELP
from tokenviz.ui_statistics_help import what_would_help
from tokenviz.ui_statistics_machine import checks, on_a_machine
from tokenviz.ui_statistics_parallelism import LINK as PARALLELISM
from tokenviz.ui_statistics_parallelism import parallelism
from tokenviz.ui_statistics_sections import LINK as SECTIONS
from tokenviz.views import statistics as words
from tokenviz.views.statistics import Side
from tokenviz.views.statistics_compare import compared_sentence

NOTHING = "nothing"
SAME = "the same"
TABS = {
    "Parallelism": parallelism,
    "Operations": sections.operations,
    "Arithmetic": sections.arithmetic,
    "Data movement": sections.data_movement,
    "What would help": what_would_help,
    "On a machine": on_a_machine,
    "Every operation": sections.every_operation,
}


def page(choice: ui.Choice) -> None:
    """The whole page: the finding, one section at a time, and how all of it is counted."""
    this = Side(choice.model, choice.scenario)
    ui_link.expect(_link(this))
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="bottom"):
        st.title("Statistics", width="content")
        other = _second(this)
    st.markdown(
        f"**{ui.plain(this.model.name)}.** {words.finding(this)} Counted [as drawn](#how-this-is-counted), one of four "
        "ways."
    )
    if other is not None:
        ui_link.expect({"second_timestep": ui_link.whole(0, other.summary.critical_path - 1)})
        st.markdown(f"Beside it **{ui.plain(other.label)}**. Second minus first: {compared_sentence(this, other)}.")
    tabs = st.tabs(list(TABS), key="section", on_change="rerun", bind="query-params")
    for tab, section in zip(tabs, TABS.values(), strict=True):
        if tab.open:
            with tab:
                section(this, other)
    _how_it_is_counted()


def _link(this: Side) -> ui_link.Checks:
    """What the page's keys take in an address, for this model."""
    kinds = sorted({b.label for b in this.step.blocks.values()})
    return {
        "section": ui_link.one_of(TABS), "vs": ui_link.one_of((NOTHING, *bundled_models())),
        "vs_context": ui_link.optional(ui_link.whole(0, MAX_CONTEXT)),
        "vs_weights": ui_link.one_of((SAME, *DTYPE_BITS)),
        "timestep": ui_link.whole(0, this.summary.critical_path - 1), **PARALLELISM, **SECTIONS,
        "blocks": ui_link.optional(ui_link.one_of(kinds)), **HELP, **checks(),
    }  # fmt: skip


def _second(this: Side) -> Side | None:
    """What to compare with: any model, the same one included, at another context or precision."""
    with st.popover("Compare with …", icon=":material/compare_arrows:"):
        name = st.selectbox("Second model", (NOTHING, *bundled_models()), key="vs", bind="query-params",
                            help="The same model twice gives differences of zero.")  # fmt: skip
        context = st.number_input("Its cached positions", 0, MAX_CONTEXT, None, key="vs_context", bind="query-params",
                                  placeholder=SAME)  # fmt: skip
        weights = st.selectbox("Its weight precision", (SAME, *DTYPE_BITS), key="vs_weights", bind="query-params",
                               help="The same: as the sidebar says, or as published for another model.")  # fmt: skip
    if name == NOTHING:
        return None
    try:
        model = this.model if name == this.model.name else load_model(name)
    except TokenvizError as error:
        st.warning(ui.plain(f"{name} cannot be compared: {error}."))
        return None
    scenario = this.scenario
    if model is not this.model:
        scenario = model.scenario(
            context=scenario.context, output=scenario.output, tokens_per_s=scenario.tokens_per_s, kv=scenario.kv,
            metadata=scenario.metadata,
        )  # fmt: skip
    if context is not None:
        scenario = replace(scenario, context=int(context))
    if weights != SAME:
        scenario = replace(scenario, weights=weights, quantization=None)
    return Side(model, scenario)


def _how_it_is_counted() -> None:
    """The conventions in words, below every section; the page's first sentence links here."""
    st.subheader("How this is counted", anchor="how-this-is-counted")
    st.markdown("\n".join(f"- **{c.title.capitalize()}.** {c.says}" for c in CONVENTIONS.values()))
    with st.expander("What one kernel of the fused convention holds"):
        st.markdown("Besides one kernel for each transform not named here:")
        st.markdown("\n".join(f"- **{name}**: {says}" for name, says in FUSION_LIST))
