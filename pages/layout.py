"""What feeds what in one decode step, and where it would sit so that heavy hand-offs are short."""

import streamlit as st

from tokenviz import ui, ui_layout, ui_layout_graph
from tokenviz.views.layout_plan import groups
from tokenviz.views.layout_types import cards, type_table

ui.ensure()
choice = ui.chosen()

st.title("Layout")
headline = st.container()
shown = ui_layout.ask(choice)
headline.markdown(ui_layout.finding(choice, shown))

ui_layout_graph.draw(choice, shown)
st.caption(
    "A node is one operation (or a MAC pair) with its operations a token over all layers; colours are operation "
    "classes. An arrow's number is what it hands on for one token; its width grows with the fourth root of that. "
    "Dashed orange: left by earlier tokens and read now. W adds up value × distance over all arrows, in canvas units; "
    "drag a node of a placed drawing and watch it."
    + (
        " Merged types form cycles that are apparent: in one token each operation still runs once, in order."
        if shown.request.grouping == "types"
        else " Feedback from earlier tokens may point up."
    )
)

st.subheader("What is handed on")
arrows, nodes = st.tabs(["Hand-offs, ranked", "Nodes"])
with arrows:
    ui_layout.handoff_section(choice, shown)
with nodes:
    ui_layout.node_section(shown)
ui_layout.downloads(choice, shown)

st.subheader("Proposed layout types and why they differ")
st.markdown(
    "Operations with the same arithmetic ask for different places when their operands live differently long. Each of "
    f"the {len(type_table(groups(choice.model.architecture, choice.scenario), 1.0))} groups below covers operations of "
    "the whole token, every operation in exactly one group; values are those that cross a group's border."
)
found = groups(choice.model.architecture, choice.scenario)
st.html(cards(found, choice.scenario.tokens_per_s))
with st.expander("The same numbers as a table"):
    st.dataframe(type_table(found, choice.scenario.tokens_per_s), hide_index=True, key="layout_types")

st.subheader("How this informs distance, and what these counts mean")
st.markdown(
    "W is the sum over all arrows of values × distance between centres, so it says which neighbours would pay most for "
    "being apart. That is a reason to look closer, not a floorplan:\n\n"
    "- **Logical values, not routed words.** A value handed to two consumers counts twice, though one wire may serve "
    "both; a value that is broadcast to many lanes counts once, though many wires carry it.\n"
    "- **Left out:** weights and other data sources, reading and writing memories, what one block hands to the next, "
    "addresses and lookups, cache writes, what happens inside a sum of products, a top-k or a sampler, and tiling.\n"
    "- **No fusion, no port limits, no area.** Every node has the size of its label, an array of a billion "
    "coefficients like an adder. Fused operations would hand nothing on.\n"
    "- **Dashed arrows count what is read of what earlier tokens left**, so they grow with the context. If the "
    "arithmetic moves to the memory, as proposed above, they need not travel at all.\n"
    "- **A heuristic, not an optimum.** Springs make the start, exchanges refine it, and the bound says how much could "
    "at most be gained on these sites. Other sites, label sizes or distances give another W.\n"
    "- **Distance is not delay.** A long light arrow on the critical path can matter more than a short heavy one; the "
    "Statistics page has the schedule."
)
