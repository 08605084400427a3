"""The Pipeline page: the drawing of one decode step with everything around it.

    page(choice)        the whole page

The drawing, its search, its legend and its detail panel are one fragment: a click reruns only them.
"""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import streamlit as st

from tokenviz import playback, schedule, ui, ui_canvas
from tokenviz.architecture import Architecture
from tokenviz.export import to_csv
from tokenviz.graph import DecodeStep
from tokenviz.graph_export import to_graphml, to_json
from tokenviz.scenario import Scenario
from tokenviz.trace import traced
from tokenviz.ui_pipeline_card import card
from tokenviz.views import pipeline, saved
from tokenviz.views.canvas import scene_payload
from tokenviz.views.format import exact, plural
from tokenviz.views.palette import LIFETIMES, OP_CLASSES
from tokenviz.views.pipeline_groups import cell_id, drawn_as, groups, panel_id
from tokenviz.views.pipeline_strip import strip_html
from tokenviz.views.pipeline_style import style
from tokenviz.views.svg import to_svg

KEY = "pipeline"
HEIGHT = 720
LEGEND = (*LIFETIMES, *OP_CLASSES)
EXPLANATIONS = (
    "**Colours of data mean lifetimes.** *Static* values (weights, norm gains, rotation tables) are stored: known "
    "before the token, the same for every token. *Ephemeral* values are made for this token and gone when it is done. "
    "*State* is what one token leaves for the next: found at the start, written before the end, and the reason why "
    "the next token has to wait for this one.",
    "**Why W·x and q·k differ.** Both are sums of products. In W·x the matrix W is stored: it can be laid out, "
    "compressed or even wired in ahead of time (*fixed linear*). In q·k both sides are data, q from this token and k "
    "from this and earlier ones: nothing of the product can be prepared before the token arrives (*dynamic*).",
    "**What one operation means.** Every coloured cell counts once and takes one step of time, however many numbers "
    "it handles: heads, rows and experts are width inside it. A gold box starts when every box that feeds it has "
    "finished, and its cells run one after the other. The count says how long the chain is, not how much work is in "
    "it; the Statistics page counts the work.",
)
LIFETIME_NAMES = {"static": "stored", "ephemeral": "this token only", "state": "kept for the next"}


def page(choice: ui.Choice) -> None:
    """Finding, drawing, what is kept, how to read it, files."""
    step = traced(choice.model.architecture, choice.scenario)
    st.html(style(HEIGHT, _theme()))
    st.title("Pipeline")
    st.markdown(finding(choice, step))
    st.html(strip_html(step))
    drawing(choice)
    _saved(choice, step)
    _explain()
    _files(choice, step)


def _theme() -> str:
    return "dark" if st.context.theme.type == "dark" else "light"


def finding(choice: ui.Choice, step: DecodeStep) -> str:
    """What the drawing shows for this model, in one sentence."""
    total = schedule.summarise(step)
    share = total.critical_path / total.operations
    serial = "mostly serial" if share > 0.5 else "partly parallel"
    return (
        f"Making one token with **{ui.plain(choice.model.name)}** is {serial}: **{exact(total.operations)}** "
        f"operations, **{exact(total.critical_path)}** of them in one chain, so that on average "
        f"{total.average_parallelism:.2f} run at once and never more than {total.peak_parallelism}. The drawing reads "
        "from top to bottom and shows each kind of block once, with how often it runs."
    )


# ------------------------------------------------------------------------------------------------ the drawing


@st.fragment
def drawing(choice: ui.Choice) -> None:
    """Search, canvas, detail panel, timestep and legend; a click runs only this again."""
    architecture, scenario = choice.model.architecture, choice.scenario
    step = traced(architecture, scenario)
    only = _one_kind(step)
    selected = _selected(step)
    _search(step, selected)
    opened = bool(st.session_state.get("open_boxes", True))
    payload = _payload(architecture, scenario, opened, only)
    with st.container(key="pipeline-stage"):
        ui_canvas.graph_canvas(
            payload, key=KEY, height=HEIGHT, label=_label(choice, step), open_at=_first(step, only),
            dim=_dim(architecture, scenario, opened, only), frames=_play(step), step=_timestep(step),
            rate=8, file_name=file_stem(choice), covered=370 if selected else 0,
        )  # fmt: skip
        card(KEY, step, scenario, selected)
    _time(step)
    _legend(step)


def _one_kind(step: DecodeStep) -> str | None:
    """The block to draw alone, for models with more kinds of blocks than fit on one sheet."""
    if pipeline.kinds_of(step) <= pipeline.MOST_KINDS:
        return None
    names = {g.key: f"{g.block.title}, ×{g.count}" for g in groups(step)}
    return st.selectbox(
        "This model has many kinds of blocks. Draw", list(names), index=1, format_func=lambda k: ui.plain(names[k]),
        key="kind",
    )  # fmt: skip


def _selected(step: DecodeStep) -> str | None:
    """The selected element, if it belongs to this step."""
    found = st.session_state.get(f"{KEY}.selected")
    return found if found is not None and pipeline.block_of(step, found) is not None else None


@lru_cache(maxsize=32)
def _payload(architecture: Architecture, scenario: Scenario, opened: bool, only: str | None) -> dict[str, Any]:
    return scene_payload(pipeline.scene(architecture, scenario, opened, only))


def _first(step: DecodeStep, only: str | None) -> str:
    """The block that the canvas opens at: the first one with several layers."""
    return panel_id(only or max(groups(step)[1:-1], key=lambda g: (g.count > 1, -_place(step, g.key))).key)


def _place(step: DecodeStep, key: str) -> int:
    return [g.key for g in groups(step)].index(key)


def _label(choice: ui.Choice, step: DecodeStep) -> str:
    """What the picture is, for a screen reader."""
    kinds = ", ".join(f"{g.block.title} {g.count} times" for g in groups(step))
    return (
        f"One decode step of {choice.model.name} as a graph: {kinds}. Arrow keys move along it, Enter selects, Escape "
        "clears; the list above the picture holds the same elements."
    )


def _dim(architecture: Architecture, scenario: Scenario, opened: bool, only: str | None) -> tuple[str, ...]:
    wanted = st.session_state.get("legend") or ()
    return pipeline.faded(pipeline.scene(architecture, scenario, opened, only), wanted) if wanted else ()


# ------------------------------------------------------------------------------------------------ search and list


def _search(step: DecodeStep, selected: str | None) -> None:
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
def _play(step: DecodeStep) -> dict[str, Any]:
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


def _timestep(step: DecodeStep) -> int | None:
    """The timestep to show: the one at which the canvas stopped, else the one in the address; None shows none."""
    kept = st.session_state
    stopped = kept.get(f"{KEY}.step")
    if stopped != kept.get(f"{KEY}.step seen"):
        kept[f"{KEY}.step seen"] = stopped
        kept["t"] = stopped or 0
    kept["t"] = min(kept.get("t") or 0, playback.length(step) - 1)
    return kept["t"] if kept["t"] or stopped is not None else None


def _time(step: DecodeStep) -> None:
    """The timestep as a number, shared with the Statistics page, and a jump to any block of any layer."""
    left, right = st.columns([1, 3], vertical_alignment="bottom")
    left.number_input(
        "Timestep", 0, playback.length(step) - 1, key="t", step=1, bind="query-params",
        help="Which step of the schedule lights up above; the Statistics page shows the same one. 0 is the first.",
    )  # fmt: skip
    visits = playback.visits(step)
    names = [f"{_where(step, v.ref.block, v.ref.layer)} · from step {exact(v.start)}" for v in visits]
    now = playback.place_at(step, st.session_state["t"])
    st.session_state["visit"] = now if st.session_state["t"] else None
    right.selectbox(
        "Jump to a block", range(len(names)), index=None, key="visit", format_func=lambda i: ui.plain(names[i]),
        placeholder="any layer, any block", on_change=_enter, args=(step,),
    )  # fmt: skip


def _enter(step: DecodeStep) -> None:
    place = st.session_state["visit"]
    if place is None:
        return
    visit = playback.visits(step)[place]
    st.session_state["t"] = visit.start
    st.session_state[f"{KEY}.step"] = st.session_state[f"{KEY}.step seen"] = visit.start
    ui_canvas.look_at(KEY, panel_id(drawn_as(step)[visit.ref.block].key))


# ------------------------------------------------------------------------------------------------ around it


def _legend(step: DecodeStep) -> None:
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


def _saved(choice: ui.Choice, step: DecodeStep) -> None:
    """What stays for the next token, and how it grows with the context."""
    rows = saved.kept_rows(step, choice.scenario)
    st.header("Saved for the next token")
    st.markdown(ui.plain(saved.finding(rows)))
    if not rows:
        return
    left, right = st.columns([3, 2], gap="large")
    left.table(saved.ledger_frame(rows).set_index("Block"))
    left.caption(
        "One sequence. Everything else in the drawing is stored once for all tokens or gone when this one is made."
    )
    now = saved.now_bytes(rows)
    anywhere = replace(choice.scenario, context=0, tokens_per_s=100.0)
    growth = saved.growth_rows(choice.model.architecture, anywhere)
    right.vega_lite_chart(
        None, saved.growth_spec(growth, now, choice.scenario.context, _theme()), width="stretch", key="growth",
        alt="Bytes kept against cached positions; growing and fixed parts apart.",
    )  # fmt: skip


def _explain() -> None:
    """Why it is drawn this way, for someone who sees it for the first time."""
    st.header("How to read it")
    for column, text in zip(st.columns(len(EXPLANATIONS), gap="large"), EXPLANATIONS, strict=True):
        column.markdown(text)


def file_stem(choice: ui.Choice) -> str:
    """Start of every file name: model and context."""
    safe = "".join(c if c.isalnum() or c in "-._" else "-" for c in choice.model.name)
    return f"{safe}-context-{choice.scenario.context}"


def _files(choice: ui.Choice, step: DecodeStep) -> None:
    """Downloads that do not rerun the page; each is made when it is asked for."""
    st.header("Take it with you")
    stem, model, scenario = file_stem(choice), choice.model, choice.scenario
    theme = _theme()
    files = (
        ("Drawing (SVG)", lambda: to_svg(pipeline.scene(model.architecture, scenario), theme), ".svg", "image/svg+xml"),
        ("Graph (JSON)", lambda: to_json(step, model.name), ".graph.json", "application/json"),
        ("Graph (GraphML)", lambda: to_graphml(step, model.name), ".graphml", "application/xml"),
        (
            "Kept state (CSV)",
            lambda: to_csv(saved.ledger_columns(saved.kept_rows(step, scenario))),
            ".state.csv",
            "text/csv",
        ),
    )
    for column, (label, make, ending, kind) in zip(st.columns(len(files)), files, strict=True):
        column.download_button(
            label, make, f"{stem}{ending}", kind, key=f"file{ending}", on_click="ignore", width="stretch",
            icon=":material/download:",
        )  # fmt: skip
    st.caption(
        "The bar in the drawing saves the current view as PNG or SVG and the whole sheet as PNG. The JSON follows the "
        "versioned schema `tokenviz.graph_export.SCHEMA`."
    )
