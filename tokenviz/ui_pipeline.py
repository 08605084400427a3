"""The Pipeline page: the drawing of one decode step with everything around it.

    page(choice)        the whole page

The drawing, its search, its legend and its detail panel are one fragment: a click reruns only them.
"""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import streamlit as st

from tokenviz import schedule, ui, ui_canvas
from tokenviz.architecture import Architecture
from tokenviz.export import to_csv
from tokenviz.graph import DecodeStep
from tokenviz.graph_export import to_graphml, to_json
from tokenviz.scenario import Scenario
from tokenviz.trace import traced
from tokenviz.ui_pipeline_card import card
from tokenviz.ui_pipeline_controls import KEY, legend, play, search, timestep
from tokenviz.views import pipeline, saved
from tokenviz.views.canvas import scene_payload
from tokenviz.views.format import exact, serial
from tokenviz.views.pipeline_groups import groups, panel_id
from tokenviz.views.pipeline_sheet import sheet
from tokenviz.views.pipeline_strip import strip_html
from tokenviz.views.pipeline_style import ROOM, style
from tokenviz.views.rows import rows_html
from tokenviz.views.svg import to_svg

HEIGHT = 720
STAGE = "pipeline-stage"
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
    return (
        f"Making one token with **{ui.plain(choice.model.name)}** is {serial(total.average_parallelism)}: "
        f"**{exact(total.operations)}** operations, **{exact(total.critical_path)}** of them in one chain, so that on "
        f"average {total.average_parallelism:.2f} run at once and never more than {total.peak_parallelism}. The "
        "drawing reads from top to bottom and shows each kind of block once, with how often it runs."
    )


# ------------------------------------------------------------------------------------------------ the drawing


@st.fragment
def drawing(choice: ui.Choice) -> None:
    """Search, canvas, detail panel, timestep and legend; a click runs only this again."""
    architecture, scenario = choice.model.architecture, choice.scenario
    step = traced(architecture, scenario)
    only = _one_kind(step)
    selected = _selected(step)
    search(step, selected)
    opened = bool(st.session_state.get("open_boxes", True))
    payload = _payload(architecture, scenario, opened, only)
    stage = st.container(key=STAGE)
    lit = timestep(step)
    with stage:
        ui_canvas.graph_canvas(
            payload, key=KEY, height=ROOM, beside=STAGE, label=_label(choice, step), open_at=_first(step, only),
            dim=_dim(architecture, scenario, opened, only), frames=play(step), step=lit,
            rate=8, file_name=file_stem(choice), covered=370 if selected else 0,
        )  # fmt: skip
        card(KEY, step, scenario, selected)
    legend(step)


def _one_kind(step: DecodeStep) -> str | None:
    """The block to draw alone, for models with more kinds of blocks than fit on one sheet."""
    if pipeline.kinds_of(step) <= pipeline.MOST_KINDS:
        return None
    names = {g.key: f"{g.block.label}, ×{g.count}" for g in groups(step)}
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
    kinds = ", ".join(f"{g.block.label} {g.count} times" for g in groups(step))
    return (
        f"One decode step of {choice.model.name} as a graph: {kinds}. Arrow keys move along it, Enter selects, Escape "
        "clears; the list above the picture holds the same elements."
    )


def _dim(architecture: Architecture, scenario: Scenario, opened: bool, only: str | None) -> tuple[str, ...]:
    wanted = st.session_state.get("legend") or ()
    return pipeline.faded(pipeline.scene(architecture, scenario, opened, only), wanted) if wanted else ()


# ------------------------------------------------------------------------------------------------ around it


def _saved(choice: ui.Choice, step: DecodeStep) -> None:
    """What stays for the next token, and how it grows with the context."""
    rows = saved.kept_rows(step, choice.scenario)
    st.header("Saved for the next token")
    st.markdown(ui.plain(saved.finding(rows)))
    if not rows:
        return
    st.html(rows_html(*saved.ledger_cells(rows), headings=2))
    st.caption(
        "One sequence. Everything else in the drawing is stored once for all tokens or gone when this one is made."
    )
    now = saved.now_bytes(rows)
    anywhere = replace(choice.scenario, context=0, tokens_per_s=100.0)
    growth = saved.growth_rows(choice.model.architecture, anywhere)
    st.vega_lite_chart(
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


def _svg(choice: ui.Choice, theme: str) -> str:
    """The whole drawing with its title and legend."""
    scenario, step = choice.scenario, traced(choice.model.architecture, choice.scenario)
    total = schedule.summarise(step)
    subtitle = (
        f"One token after {exact(scenario.context)} cached positions: {exact(total.operations)} operations, "
        f"{exact(total.critical_path)} of them in one chain; weights {scenario.weights}, K/V cache {scenario.kv}"
    )
    whole, region = sheet(pipeline.scene(choice.model.architecture, scenario), choice.model.name, subtitle)
    return to_svg(whole, theme, region)


def _files(choice: ui.Choice, step: DecodeStep) -> None:
    """Downloads that do not rerun the page; each is made when it is asked for."""
    st.header("Take it with you")
    stem, model, scenario = file_stem(choice), choice.model, choice.scenario
    theme = _theme()
    files = (
        ("Drawing (SVG)", lambda: _svg(choice, theme), ".svg", "image/svg+xml"),
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
