"""Streamlit glue: the Pipeline and the Statistics page look at the same timestep, each with a widget of its own.

arrive(key, last)    before the widget: takes over what the other page showed, and stays inside the step
leave(key, t)        after the widget: this is what the page shows
"""

import streamlit as st


def arrive(key: str, last: int) -> None:
    """Set the widget `key` to the timestep that another page showed since; a link's own value wins on a first visit."""
    kept = st.session_state
    shown_by, t = kept.get("_timestep", (key, 0))
    if shown_by != key:
        kept[key] = t
    if kept.get(key, 0) > last:
        kept[key] = last


def leave(key: str, t: int) -> None:
    """Keep what the page shows for the other one."""
    st.session_state["_timestep"] = key, t
