"""Streamlit glue of the Layout page: its questions, the drawing with its readout, tables and downloads."""

import json
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from tokenviz import ui_link
from tokenviz.cli_place import placement_report
from tokenviz.handoffs import GROUPINGS, chains
from tokenviz.placement import DISTANCES, SITES, baselines
from tokenviz.trace import traced
from tokenviz.ui import Choice, plain
from tokenviz.ui_layout_graph import NUMBERS, in_percent, scene_of
from tokenviz.views import layout_tables as tables
from tokenviz.views.format import share, si
from tokenviz.views.layout_plan import FLOW, MEASURES, REFINED, START, Plan, Request, Shown, chain_title, gap, plan
from tokenviz.views.svg import to_svg

GROUPING_NAMES = {"stages": "Execution stages", "types": "Operation types"}
CHAIN_NAMES = {"ffn": "Feed-forward or experts", "output": "Output", "token": "Whole token"}
"""The same in every model, because the address bar keeps the names that are shown."""
VIEW_NAMES = {FLOW: "Downward", START: "Placed: start", REFINED: "Placed: refined"}
LINK: ui_link.Checks = {
    "grouping": ui_link.one_of(GROUPING_NAMES.values()), "view": ui_link.one_of(VIEW_NAMES.values()),
    "types_view": ui_link.one_of(VIEW_NAMES.values()), "sites": ui_link.one_of(SITES),
    "distance": ui_link.one_of(DISTANCES), "measure": ui_link.one_of(MEASURES),
}  # fmt: skip


def ask(choice: Choice) -> Shown:
    """The page's own questions; their answers live in the address bar."""
    found = {c.name: c for c in chains(traced(choice.model.architecture, choice.scenario))}
    titles = {name: CHAIN_NAMES.get(name, chain.title) for name, chain in found.items()}
    ui_link.expect({**LINK, "chain": ui_link.one_of(titles.values())})
    first, second, third = st.columns([1.1, 1.2, 1.5], vertical_alignment="bottom")
    chain = first.selectbox(
        "Chain", tuple(found), format_func=titles.__getitem__, key="chain", bind="query-params",
        help="The blocks of one kind, summed over their layers, or all of them.",
    )  # fmt: skip
    grouping = second.segmented_control(
        "Nodes", GROUPINGS, format_func=GROUPING_NAMES.__getitem__, default=GROUPINGS[0], required=True,
        key="grouping", bind="query-params", help="Single operations, or all operations of one name merged.",
    )  # fmt: skip
    stages = grouping == GROUPINGS[0]
    view = third.segmented_control(
        "Drawing", (FLOW, START, REFINED), format_func=VIEW_NAMES.__getitem__, default=FLOW if stages else REFINED,
        required=True, key="view" if stages else "types_view", bind="query-params",
        help="As the token flows, or placed: where springs and repulsion put the nodes, and after exchanges.",
    )  # fmt: skip
    request = _ask_options(Request(chain, grouping))
    with st.spinner(f"Placing {chain_title(found[chain])} so that heavy hand-offs are short …"):
        return Shown(request, plan(choice.model.architecture, choice.scenario, request), view)


def _ask_options(request: Request) -> Request:
    with st.expander("Placement options"):
        first, second, third = st.columns(3)
        sites = first.radio("Places", SITES, key="sites", bind="query-params", horizontal=True,
                            help="On a grid of labels, or anywhere with clearance.")  # fmt: skip
        distance = second.radio("Distance", DISTANCES, key="distance", bind="query-params", horizontal=True,
                                help="Straight between centres, or along the axes.")  # fmt: skip
        measure = third.radio("Arrows count", MEASURES, key="measure", bind="query-params", horizontal=True,
                              help="Values, or values times their bytes at the chosen precisions.")  # fmt: skip
    return replace(request, sites=sites, distance=distance, measure=measure)


def finding(choice: Choice, shown: Shown) -> str:
    """One sentence: what carries most in this chain, and what placing it gains."""
    graph, placement = shown.plan.graph, shown.plan.placement
    title, unit = chain_title(graph.chain), shown.request.measure
    if not graph.arrows:
        return f"Nothing is handed on in {plain(title)}."
    names = tables.names_of(graph)
    top = graph.arrows[0]
    left = ", left by earlier tokens" if top.retained else ""
    gain = 1 - placement.objective / placement.start_objective if placement.start_objective else 0.0
    return (
        f"In {plain(title)} of {plain(choice.model.name)}, one token hands on **{si(graph.values)}** {unit} along "
        f"{len(graph.arrows)} arrows; the heaviest, **{plain(names[top.source])} → {plain(names[top.target])}**, "
        f"carries {share(top.values / graph.values)} of them{left}. Placing heavy hand-offs close cuts {unit} × "
        f"distance by **{share(gain)}**, to within {gap(placement.objective, placement.lower_bound)} of a bound that "
        "no placement on these sites can beat."
    )


def handoff_section(choice: Choice, shown: Shown) -> None:
    """The ranked table; a selected row opens into its stages."""
    values, graph_ = shown.plan.values, shown.plan.graph
    table = tables.handoff_table(values, choice.scenario, graph_)
    picked = st.dataframe(
        in_percent(table), column_config=_columns(table), hide_index=True, on_select="rerun",
        selection_mode="single-row", key="layout_arrows", height=420,
    )  # fmt: skip
    st.caption(_reconciled(shown))
    rows = picked["selection"]["rows"]
    if rows and rows[0] < len(table):
        at = {(a.source, a.target, a.retained): a for a in values.arrows}
        ranked = graph_.arrows[rows[0]]
        parts = tables.part_table(
            at[ranked.source, ranked.target, ranked.retained],
            {**tables.names_of(values), **tables.names_of(shown.plan.stages)},
            choice.scenario,
        )
        st.markdown(f"**Stages in this row** ({len(parts)})")
        st.dataframe(in_percent(parts), column_config=_columns(parts), hide_index=True, key="layout_parts")


def _reconciled(shown: Shown) -> str:
    stages, graph_ = shown.plan.stages.values, shown.plan.values
    if shown.request.grouping == "stages":
        return f"{len(graph_.arrows)} rows, {stages:,} values a token. Choose a row to see where it comes from."
    return (
        f"{len(graph_.arrows)} rows, {graph_.values:,} values, and {graph_.folded_values:,} that merging folded into "
        f"self-loops: together {stages:,}, the sum over the execution stages. Choose a row to see its stages."
    )


def _columns(table: pd.DataFrame) -> dict[str, Any]:
    counts = [c for c in table.columns if table[c].dtype.kind in "iu"]
    return {**NUMBERS, **{c: st.column_config.NumberColumn(format="localized") for c in counts}}


def node_section(shown: Shown) -> None:
    """All nodes with their operations, values and fan-out."""
    table = tables.node_table(shown.plan.values)
    st.dataframe(table, column_config=_columns(table), hide_index=True, height=420, key="layout_nodes")


def downloads(choice: Choice, shown: Shown) -> None:
    """The tables as CSV, the drawing as SVG, and the JSON that `tokenviz place --json` prints."""
    p, r = shown.plan, shown.request
    stem = f"{choice.model.name}-{r.chain}-{r.grouping}"
    spots = tables.position_table(p.graph, p.placement.positions, p.placement.start_positions)
    files = (
        (
            "Hand-offs (CSV)",
            "handoffs.csv",
            lambda: tables.handoff_table(p.values, choice.scenario).to_csv(index=False),
        ),
        ("Nodes (CSV)", "nodes.csv", lambda: tables.node_table(p.values).to_csv(index=False)),
        ("Positions (CSV)", "positions.csv", lambda: spots.to_csv(index=False)),
        ("Drawing (SVG)", "drawing.svg", lambda: to_svg(scene_of(choice, shown))),
        ("All (JSON)", "placement.json", lambda: _report(p)),
    )
    for column, (label, name, make) in zip(st.columns(len(files)), files, strict=True):
        column.download_button(label, make, f"{stem}-{name}", on_click="ignore", width="stretch", key=f"layout_{name}")
    st.caption("The drawing's own tool bar saves what you see as PNG.")


def _report(p: Plan) -> str:
    found = placement_report(p.graph, p.problem, p.placement, baselines(p.problem))
    return json.dumps(found, indent=2, ensure_ascii=False)
