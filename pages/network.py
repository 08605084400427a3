"""Walk a real decoder's prediction, value by value."""

import streamlit as st

from tokenviz import ui

ui.ensure()

st.title("Network")
st.markdown("A small trained decoder, one prediction at a time.")
