"""The Statistics page: where the work goes, and how much of it can run at once."""

from dataclasses import replace

import streamlit as st

from tokenviz import ui
from tokenviz import ui_statistics_sections as sections
from tokenviz.catalog import bundled_models, load_model
from tokenviz.conventions import CONVENTIONS, FUSION_LIST
from tokenviz.notation import DTYPE_BITS
from tokenviz.scenario import MAX_CONTEXT
from tokenviz.schedule import block_starts
from tokenviz.timeline import lanes, running
from tokenviz.ui_statistics_help import what_would_help
from tokenviz.ui_statistics_machine import on_a_machine
from tokenviz.ui_statistics_parts import both, draw, how_to_read, table
from tokenviz.views import statistics as words
from tokenviz.views import statistics_time as time
from tokenviz.views.format import plural
from tokenviz.views.statistics import Side
from tokenviz.views.statistics_compare import compared_sentence
from tokenviz.views.statistics_work import kind_names

NOTHING = "nothing"
SAME = "the same"
TABS = {
    "Parallelism": sections.parallelism,
    "Operations": sections.operations,
    "Arithmetic": sections.arithmetic,
    "Data movement": sections.data_movement,
    "What would help": what_would_help,
    "On a machine": on_a_machine,
    "Every operation": sections.every_operation,
}


def page(choice: ui.Choice) -> None:
    """The whole page: finding, picture, totals, then one section at a time."""
    this = Side(choice.model, choice.scenario)
    st.title("Statistics")
    st.markdown(f"**{ui.plain(this.model.name)}.** {words.finding(this)}")
    other = _second(this)
    if other is not None:
        st.markdown(f"Beside it **{ui.plain(other.label)}**. Second minus first: {compared_sentence(this, other)}.")
    picture(this, "")
    if other is not None:
        picture(other, "second ")
    _totals(this, other)
    tabs = st.tabs(list(TABS), key="section", on_change="rerun", bind="query-params")
    for tab, section in zip(tabs, TABS.values(), strict=True):
        if tab.open:
            with tab:
                section(this, other)


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
    model = this.model if name == this.model.name else load_model(name)
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


# ------------------------------------------------------------------------------------------------ the picture


@st.fragment
def picture(side: Side, which: str) -> None:
    """The whole token above, a window of it below, and what runs at the chosen timestep."""
    step, last = side.step, side.summary.critical_path
    t_key = f"{which}timestep".replace(" ", "_")
    if st.session_state.get(t_key, 0) >= last:
        st.session_state[t_key] = last - 1
    drawing = st.container()
    left, middle, right = st.columns([3, 2, 2])
    t = left.slider("Timestep", 0, last - 1, key=t_key, bind="query-params")
    with middle:
        _jump(side, t_key, which)
    if not which:
        right.segmented_control("Colour by", time.COLOURINGS, default=time.COLOURINGS[0], required=True, key="colour",
                                bind="query-params")  # fmt: skip
    with drawing:
        finding = words.timeline_finding(side)
        draw(
            time.timeline_chart, time.timeline_data(step, t), key=f"{which}timeline",
            finding=f"{side.model.name}: {finding[0].lower()}{finding[1:]}" if which else finding,
            alt="Operations running at each timestep, the blocks below them, and one window enlarged.",
            kinds=kind_names(step), window=time.window_at(step, t), last=last, colour=st.session_state["colour"],
            lane_count=1 + max(x.lane for b in step.blocks.values() for x in lanes(b)),
        )  # fmt: skip
    found = running(step, t)
    table(time.running_table(found), key=f"{which}running")
    how_to_read(
        f"Timestep {t:,}: {plural(len(found), 'operation')} at once. Above, drag the grey window to look elsewhere (no "
        "reload); a cell below is one operation, a row one parallel lane, and a strong outline marks the critical path."
    )


def _jump(side: Side, t_key: str, which: str) -> None:
    """Zoom to a block: moves the timestep to its start."""
    step = side.step
    starts = block_starts(step)
    names = [f"{ref.name} · {step.blocks[ref.block].title}" for ref in step.sequence]

    def go() -> None:
        chosen = st.session_state[f"{which}jump"]
        if chosen is not None:
            st.session_state[t_key] = starts[names.index(chosen)]

    st.selectbox("Zoom to block", names, index=None, key=f"{which}jump", on_change=go, placeholder="choose a block")


# ------------------------------------------------------------------------------------------------ totals


def _totals(this: Side, other: Side | None) -> None:
    """The four figures, and the same under three other conventions."""
    s = this.summary
    st.markdown(
        f"On unlimited hardware this token still takes {s.critical_path:,} timesteps, because each of them waits for "
        "the one before; all other operations fit beside them. This is counted [as drawn](#how-this-is-counted). It "
        "is one way to count: three others, on the same graph, say how much is the model and how much the counting."
    )
    both(lambda side: words.totals_table(side.step), this, other, ["convention"],
         ["operations", "critical path", "peak", "average"], key="totals")  # fmt: skip
    if note := words.gate_note(this):
        st.caption(note)
    st.subheader("How this is counted", anchor="how-this-is-counted")
    with st.expander("The four conventions, and what one fused kernel holds"):
        st.markdown("\n".join(f"- **{c.title.capitalize()}.** {c.says}" for c in CONVENTIONS.values()))
        st.markdown("Kernels of the fused convention, besides one for each transform not named here:")
        st.markdown("\n".join(f"- **{name}**: {says}" for name, says in FUSION_LIST))
