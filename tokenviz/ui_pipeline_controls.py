"""Controls around the Pipeline drawing: search and list, timestep and player, legend.

search(step, selected)      a search that jumps, and a list that follows the selection
play(step) -> dict          the schedule, folded for the canvas's player
timestep(step) -> int|None  which timestep is lit, shared with the Statistics page
legend(step)                colours with counts; chosen entries stand out
"""

from functools import lru_cache
from typing import Any

import streamlit as st

from tokenviz import playback, ui, ui_canvas, ui_link, ui_timestep
from tokenviz.graph import DecodeStep
from tokenviz.views import pipeline
from tokenviz.views.format import exact, plural
from tokenviz.views.palette import LIFETIMES, OP_CLASSES
from tokenviz.views.pipeline_groups import cell_id, drawn_as, panel_id

KEY = "pipeline"
LEGEND = (*LIFETIMES, *OP_CLASSES)
LIFETIME_NAMES = {"static": "stored", "ephemeral": "this token only", "state": "kept for the next"}


# ------------------------------------------------------------------------------------------------ search and list


def search(step: DecodeStep, selected: str | None) -> None:
    """A search that jumps, a list of everything that follows the selection, and the switch for the operations."""
    entries = pipeline.entries(step)
    names = {e.id: f"{e.name} · {e.what} · {e.where}" for e in entries}
    st.session_state["everything"] = selected if selected in names else None
    left, middle, right = st.columns([3, 4, 2], vertical_alignment="bottom")
    left.text_input(
        "Search", key="find", placeholder="Search names, equations, classes", label_visibility="collapsed",
        icon=":material/search:", on_change=_jump_to_first, args=(step,),
        help="Every word must occur in a name, an equation, an operation class, a lifetime or a block. Enter jumps.",
    )  # fmt: skip
    middle.selectbox(
        "Everything drawn", list(names), index=None, key="everything", format_func=lambda i: ui.plain(names[i]),
        placeholder="List of everything drawn; choosing selects it", label_visibility="collapsed",
        on_change=_jump_to_listed,
    )  # fmt: skip
    right.toggle("Show operations", value=True, key="open_boxes", help="Off: every transform is one closed box.")
    words = st.session_state.get("find") or ""
    if words:
        _results(pipeline.find(entries, words), words)


def _results(found: tuple[pipeline.Entry, ...], words: str) -> None:
    if not found:
        st.caption(f"Nothing drawn here matches {ui.plain(words)}; try softmax, outer, rotated or K cache.")
        return
    shown = found[:12]
    names = {e.id: f"{e.name} · {e.where}" for e in shown}
    more = f", the first {len(shown)}" if len(found) > len(shown) else ""
    st.pills(
        f"{plural(len(found), 'match').replace('matchs', 'matches')}{more}", list(names), key=f"found {words}",
        format_func=lambda i: ui.plain(names[i]), on_change=_jump, args=(f"found {words}",),
    )  # fmt: skip


def _jump_to_first(step: DecodeStep) -> None:
    found = pipeline.find(pipeline.entries(step), st.session_state["find"])
    if found:
        ui_canvas.select(KEY, found[0].id)


def _jump_to_listed() -> None:
    ui_canvas.select(KEY, st.session_state["everything"])


def _jump(key: str) -> None:
    if st.session_state[key]:
        ui_canvas.select(KEY, st.session_state[key])


# ------------------------------------------------------------------------------------------------ playing


@lru_cache(maxsize=16)
def play(step: DecodeStep) -> dict[str, Any]:
    """The whole schedule, folded: frames of each distinct block and when the stream enters it."""
    shown = {key: group.key for key, group in drawn_as(step).items()}
    visits = [
        [v.ref.block, v.start, shown[v.ref.block], _where(step, v.ref.block, v.ref.layer)]
        for v in playback.visits(step)
    ]
    frames = playback.parts(step, shown.__getitem__, lambda block, op: cell_id(block, op.id))
    return {"id": "|".join(step.multiplicity), "length": playback.length(step), "parts": frames, "visits": visits}


def _where(step: DecodeStep, block: str, layer: int | None) -> str:
    title = step.blocks[block].title
    return title if layer is None else f"layer {layer}, {title}"


def timestep(step: DecodeStep) -> int | None:
    """The timestep as a number, shared with the Statistics page, and a jump to any block; None when nothing is lit."""
    kept, last = st.session_state, playback.length(step) - 1
    ui_link.expect({"t": ui_link.whole(0, last)})
    stopped = kept.get(f"{KEY}.step")
    if stopped != kept.get(f"{KEY}.step seen"):
        kept[f"{KEY}.step seen"] = stopped
        kept["t"] = stopped or 0
    ui_timestep.arrive("t", last)
    left, right = st.columns([1, 3], vertical_alignment="bottom")
    t = left.number_input(
        "Timestep", 0, last, key="t", step=1, bind="query-params",
        help="Which step of the schedule lights up above; the Statistics page shows the same one. 0 is the first.",
    )  # fmt: skip
    ui_timestep.leave("t", t)
    names = _visit_names(step)
    kept["visit"] = playback.place_at(step, t) if t else None
    right.selectbox(
        "Jump to a block", range(len(names)), index=None, key="visit", format_func=names.__getitem__,
        placeholder="any layer, any block", on_change=_enter, args=(step,),
    )  # fmt: skip
    return t if t or stopped is not None else None


@lru_cache(maxsize=16)
def _visit_names(step: DecodeStep) -> tuple[str, ...]:
    """Every block of the sequence in words, with the timestep at which it starts."""
    return tuple(
        ui.plain(f"{_where(step, v.ref.block, v.ref.layer)} · from step {exact(v.start)}")
        for v in playback.visits(step)
    )


def _enter(step: DecodeStep) -> None:
    place = st.session_state["visit"]
    if place is None:
        return
    visit = playback.visits(step)[place]
    st.session_state["t"] = visit.start
    st.session_state[f"{KEY}.step"] = st.session_state[f"{KEY}.step seen"] = visit.start
    ui_canvas.look_at(KEY, panel_id(drawn_as(step)[visit.ref.block].key))


def legend(step: DecodeStep) -> None:
    """Colours with counts; a chosen entry fades everything else."""
    counts = {**pipeline.lifetime_counts(step), **pipeline.class_counts(step)}
    names = {n: f"{n}, {LIFETIME_NAMES[n]}" if n in LIFETIME_NAMES else n for n in LEGEND}
    with st.container(key="legend-box"):
        st.pills(
            "How to read the colours: choose entries to see only them", LEGEND, selection_mode="multi", key="legend",
            format_func=lambda n: f"{names[n]} · {exact(counts[n])}",
            help="Bubbles are data, coloured by how long they live; the counts are the values drawn. Cells are "
            "operations, coloured by the kind of unit they ask for; the counts are operations per token.",
        )  # fmt: skip
