"""The app: `streamlit run streamlit_app.py`."""

from tokenviz import ui

ui.run()
