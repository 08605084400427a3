"""The first section of the Statistics page: what runs when, how much of it at once, and what could wait."""

import streamlit as st

from tokenviz import ui_link, ui_timestep
from tokenviz.schedule import block_starts
from tokenviz.timeline import critical_shares, lanes, running
from tokenviz.ui_statistics_parts import both, draw, how_to_read, sides, table
from tokenviz.views import statistics as words
from tokenviz.views import statistics_time as time
from tokenviz.views.format import exact, plural
from tokenviz.views.markup import plain
from tokenviz.views.statistics import Side
from tokenviz.views.statistics_work import kind_names

Second = Side | None
PATHS = ("by transform", "by operation")
LINK: ui_link.Checks = {"colour": ui_link.one_of(time.COLOURINGS), "path": ui_link.one_of(PATHS)}


def parallelism(this: Side, other: Second) -> None:
    """What runs when, the totals under four conventions, how often how many run at once, and the longest chain."""
    for which, (name, side) in zip(("", "second "), sides(this, other), strict=False):
        picture(side, which, name)
    _totals(this, other)
    for i, (name, side) in enumerate(sides(this, other)):
        left, right = st.columns(2)
        with left:
            draw(time.widths_chart, time.widths_data(side.step), finding=name + words.widths_finding(side),
                 key=f"widths{i}", alt="Timesteps by operations at once.")  # fmt: skip
        with right:
            draw(time.slack_chart, time.slack_data(side.step), finding=name + words.slack_finding(side),
                 key=f"slack{i}", alt="Operations by timesteps of slack.")  # fmt: skip
    how_to_read(
        "Slack is how much later a transform could start without delaying its block. No slack means critical: only a "
        "shorter chain makes the token faster, not more hardware."
    )
    both(lambda side: time.widths_data(side.step)["widths"].drop(columns=["label", "order"]), this, other, ["width"],
         ["timesteps", "operations"], key="widths")  # fmt: skip
    if other is not None:
        both(lambda side: time.slack_data(side.step)["slack"].drop(columns=["label", "order"]), this, other, ["slack"],
             ["transforms", "operations"], key="slack")  # fmt: skip
    _critical(this, other)


@st.fragment
def picture(side: Side, which: str, name: str) -> None:
    """The whole token above, a window of it below, and what runs at the chosen timestep."""
    step, last = side.step, side.summary.critical_path
    t_key = f"{which}timestep".replace(" ", "_")
    if not which:
        ui_timestep.arrive(t_key, last - 1)
    elif st.session_state.get(t_key, 0) >= last:
        st.session_state[t_key] = last - 1
    drawing = st.container()
    left, middle, right = st.columns([3, 2, 2])
    t = left.slider("Timestep", 0, last - 1, key=t_key, bind="query-params")
    if not which:
        ui_timestep.leave(t_key, t)
    with middle:
        _jump(side, t_key, which)
    if not which:
        right.segmented_control("Colour by", time.COLOURINGS, default=time.COLOURINGS[0], required=True, key="colour",
                                bind="query-params")  # fmt: skip
    with drawing:
        draw(
            time.timeline_chart, time.timeline_data(step, t), key=f"{which}timeline",
            finding=name + words.timeline_finding(side),
            alt="Operations running at each timestep, the blocks below them, and one window enlarged.",
            kinds=kind_names(step), window=time.window_at(step, t), last=last, colour=st.session_state["colour"],
            lane_count=1 + max(x.lane for b in step.blocks.values() for x in lanes(b)),
        )  # fmt: skip
    found = running(step, t)
    table(time.running_table(found), side, key=f"running{int(bool(which))}")
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


def _totals(this: Side, other: Second) -> None:
    """The four figures, and the same under three other conventions."""
    s = this.summary
    st.markdown(
        f"On unlimited hardware this token still takes {s.critical_path:,} timesteps, because each of them waits for "
        "the one before; all other operations fit beside them. That is one way to count: three others, on the same "
        "graph, say how much is the model and how much the counting."
    )
    both(lambda side: words.totals_table(side.step), this, other, ["convention"],
         ["operations", "critical path", "peak", "average"], key="totals")  # fmt: skip
    if note := words.gate_note(this):
        st.caption(note)


def _critical(this: Side, other: Second) -> None:
    """The longest chain: folded into its transforms, or operation by operation."""
    st.markdown("**The critical path**")
    shown = st.segmented_control("Critical path as", PATHS, default=PATHS[0], required=True, key="path",
                                 bind="query-params", label_visibility="collapsed")  # fmt: skip
    if shown == PATHS[0]:
        both(lambda side: time.critical_table(critical_shares(side.step)), this, other, ["block", "transform"],
             ["operations"], key="critical_path")  # fmt: skip
    else:
        for i, (name, side) in enumerate(sides(this, other)):
            if name:
                st.markdown(f"**{plain(name.rstrip(': '))}**")
            table(time.path_table(side.step), side, key=f"path{i}")
    how_to_read(
        "By transform: one block of each kind, all of its layers added up; together the "
        f"{exact(this.summary.critical_path)} operations of the path. By operation: the path itself, row by row."
    )
