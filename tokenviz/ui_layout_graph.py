"""Streamlit glue of the Layout page: the drawing, W beside it, and what the selected node takes and gives."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from tokenviz.placement import Point, objective
from tokenviz.ui import Choice, plain
from tokenviz.ui_canvas import graph_canvas, select
from tokenviz.views import layout_tables as tables
from tokenviz.views.format import si
from tokenviz.views.layout import centres_of, neighbours, placed
from tokenviz.views.layout_plan import DRAGGED, FLOW, START, Shown, chain_title, drawn_downward, readout
from tokenviz.views.scene import Scene

KEY = "layout_graph"
NUMBERS = {
    "share, %": st.column_config.ProgressColumn(format="%.2f", min_value=0.0, max_value=100.0),
    "share of W, %": st.column_config.ProgressColumn(format="%.2f", min_value=0.0, max_value=100.0),
    "distance": st.column_config.NumberColumn(format="%.0f"),
    "values": st.column_config.NumberColumn(format="localized"),
}


def in_percent(table: pd.DataFrame) -> pd.DataFrame:
    """The table with its shares in percent, and that unit in their headers."""
    shares = [str(name) for name in table if str(name).startswith("share")]
    return table.assign(**{name: table[name] * 100 for name in shares}).rename(columns={n: f"{n}, %" for n in shares})


@st.fragment
def draw(choice: Choice, shown: Shown) -> None:
    """W of what is drawn, the drawing, and what the selected node takes and gives."""
    scene = scene_of(choice, shown)
    name = f"{choice.model.name}/{shown.request}/{shown.view}"
    if st.session_state.get(f"{KEY}.of") != name:
        st.session_state[f"{KEY}.of"] = name
        st.session_state.pop(f"{KEY}.positions", None)
    moved = _dragged(scene)
    at = moved or centres_of(scene)
    p, graph = shown.plan.placement, shown.plan.graph
    now = list(p.positions) if shown.view == FLOW else [at[s.id] for s in graph.nodes]
    _readout(shown, now, moved is not None)
    state = graph_canvas(
        scene.placed(moved) if moved else scene,
        key=KEY,
        label=f"Hand-offs in {chain_title(graph.chain)} of {choice.model.name}",
        height=760,
        open_at=_first_panel(shown, scene),
        animate=True,
        draggable=shown.view != FLOW,
        file_name=f"{choice.model.name}-{shown.request.chain}-{shown.request.grouping}",
    )
    _selected(shown, state.selected)
    with st.expander("Ten costliest arrows"):
        table = tables.costly_table(graph, now, shown.plan.problem.distance)
        st.dataframe(in_percent(table), column_config=NUMBERS, hide_index=True, key="layout_costly")


def _first_panel(shown: Shown, scene: Scene) -> str:
    """Open a tall drawing at the top of its largest panel, at a size at which it can be read; fit the others."""
    tall = max((panel.rect.height for panel in scene.panels), default=0.0) > 1200
    if not tall:
        return ""
    kinds = [s.kind for s in shown.plan.graph.nodes] if shown.request.grouping == "stages" else [""]
    return f"panel/{max(dict.fromkeys(kinds), key=kinds.count)}"


def _dragged(scene: Scene) -> Mapping[str, Point] | None:
    """Where the reader put the nodes, if that is this drawing's and differs from it."""
    kept = st.session_state.get(f"{KEY}.positions")
    at = centres_of(scene)
    if not kept or set(kept) != set(at):
        return None
    moved = {name: (float(x), float(y)) for name, (x, y) in kept.items()}
    far = max(abs(moved[n][k] - at[n][k]) for n in at for k in (0, 1))
    return moved if far > 0.5 else None


def _readout(shown: Shown, now: list[Point], moved: bool) -> None:
    """W where the nodes are now, against the start, the bound and, after a drag, the refined placement."""
    p, problem = shown.plan.placement, shown.plan.problem
    said = readout(objective(now, problem.flows, problem.distance), p, DRAGGED if moved else shown.view)
    st.html(f'<p id="layout-w">{said}</p>')
    if moved:
        st.button(
            "Snap back", on_click=lambda: st.session_state.pop(f"{KEY}.positions", None), key="layout_snap",
            help="Dragged labels may overlap; the bound holds for the sites only.",
        )  # fmt: skip


def _selected(shown: Shown, selected: str | None) -> None:
    """A list to choose a node from, in step with the drawing; then its inputs and outputs."""
    names = tables.names_of(shown.plan.graph)
    st.session_state["layout_node"] = selected if selected in names else None
    st.selectbox(
        "Follow a node", tuple(names), index=None, format_func=lambda node: names[node], key="layout_node",
        placeholder="click one, or choose here", on_change=lambda: select(KEY, st.session_state["layout_node"]),
    )  # fmt: skip
    if selected not in names:
        return
    came, went = neighbours(shown.plan.graph, selected)
    for title, arrows, end in (("takes", came, "source"), ("gives", went, "target")):
        lines = [
            f"- {plain(names[getattr(a, end)])}: {si(a.values)}{' (retained)' if a.retained else ''}" for a in arrows
        ]
        st.markdown(f"**{title} {si(sum(a.values for a in arrows))}**\n" + "\n".join(lines or ["- nothing"]))


def scene_of(choice: Choice, shown: Shown) -> Scene:
    """The drawing that is asked for."""
    if shown.view == FLOW:
        return drawn_downward(choice.model.architecture, choice.scenario, shown.request)
    p = shown.plan.placement
    positions = p.start_positions if shown.view == START else p.positions
    # Both drawings and every dragged one keep the same frame, so that nodes glide and the view stays.
    frame = (*p.start_positions, *p.positions)
    return placed(shown.plan.graph, positions, f"{shown.request.chain}/{shown.request.grouping}/placed", frame)
