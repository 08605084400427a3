"""What feeds what, and where it would sit."""

import streamlit as st

from tokenviz import ui

ui.ensure()
choice = ui.chosen()

st.title("Layout")
st.markdown(f"What feeds what in one decode step of {ui.plain(choice.model.name)}, and where it would sit.")
