"""See one token being made: the decode step of the chosen model as a drawing."""

import streamlit as st

from tokenviz import schedule, ui
from tokenviz.trace import traced

ui.ensure()
choice = ui.chosen()
step = traced(choice.model.architecture, choice.scenario)
summary = schedule.summarise(step)

st.title("Pipeline")
st.markdown(
    f"One token of {ui.plain(choice.model.name)} takes **{summary.operations:,}** operations, "
    f"**{summary.critical_path:,}** of them in one chain."
)
