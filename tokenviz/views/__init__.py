"""Views: functions that turn a decode step into a drawing, a chart or a table. Nothing here imports Streamlit."""
