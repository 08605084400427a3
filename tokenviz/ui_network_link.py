"""What the Network page keeps in its address, beside the widgets that are bound to it: the prompt and the station.

    arrive()                        on coming to the page: what the address says is to be taken over, once
    said(name) -> str | None        what it said, when asked for the first time; None when it did not say anything
    tell(name, value, default)      write a value into the address; the default and what is too long are left out

The address is read on coming only: while somebody types, the one that a browser sends may be older than the text.
"""

import streamlit as st

NAMES = ("prompt", "station")
MAX_LINKED = 1_500
"""Longest text, in bytes, that is put into the address: percent signs make it up to three times as long."""


def arrive() -> None:
    """Note what the address says."""
    found = {name: st.query_params[name] for name in NAMES if name in st.query_params}
    st.session_state["network.opened"] = found


def said(name: str) -> str | None:
    """What the address said on coming to the page; None after the first time."""
    found: dict[str, str] = st.session_state["network.opened"]
    return found.pop(name, None)


def fits(value: str) -> bool:
    """Whether a text is short enough for an address."""
    return len(value.encode("utf-8", "surrogatepass")) <= MAX_LINKED


def tell(name: str, value: str, default: str) -> None:
    """Write `value` into the address; the default and what does not fit are left out."""
    if value == default or not fits(value):
        st.query_params.pop(name, None)
    elif st.query_params.get(name) != value:
        st.query_params[name] = value
