"""Where the work goes, and how much of it can run at once."""

import streamlit as st

from tokenviz import schedule, ui
from tokenviz.trace import traced

ui.ensure()
choice = ui.chosen()
summary = schedule.summarise(traced(choice.model.architecture, choice.scenario))

st.title("Statistics")
st.markdown(
    f"On average {summary.average_parallelism:.2f} operations of {ui.plain(choice.model.name)} can run at once, "
    f"and never more than {summary.peak_parallelism:,}."
)
