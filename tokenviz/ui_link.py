"""Streamlit glue: a link that asks for something impossible is answered in one sentence, and the page is still shown.

    remember(page)        before any widget of a page: what the link asks for
    expect(checks)        what a page or the frame understands: key -> check
    tell(place)           after the page: the sentences, as long as nothing was changed since the first view

A widget bound to a key of the address drops a value that it cannot take, silently. Here is said what was dropped, why,
and what is shown instead. A key that nobody on this page expects is none of its business.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches
from math import isfinite
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tokenviz.views.markup import plain

Check = Callable[[str], str]
"""A value as it stands in the link -> what to give in its place; empty when it is good."""
Checks = Mapping[str, Check]

_MOST_NAMED = 12  # of more choices only the nearest are named
_MOST_CHARS = 60  # of a value, when it is quoted


def one_of(choices: Iterable[str], where: str = "the field has them all") -> Check:
    """One of some names, spelt exactly."""
    names = tuple(choices)

    def check(value: str) -> str:
        return "" if value in names else f"give {_named(value, names, where)}"

    return check


def number(low: float, high: float) -> Check:
    """A number between two others, both included."""

    def check(value: str) -> str:
        found = _number(value)
        good = found is not None and low <= found <= high
        return "" if good else f"give a number from {_figure(low)} to {_figure(high)}"

    return check


def whole(low: int, high: int) -> Check:
    """A whole number between two others, both included."""

    def check(value: str) -> str:
        found = _number(value)
        good = found is not None and found == int(found) and low <= found <= high
        return "" if good else f"give a whole number from {low:,} to {high:,}"

    return check


def optional(check: Check) -> Check:
    """The same, or nothing at all."""
    return lambda value: check(value) if value else ""


def yes_or_no(value: str) -> str:
    """A switch."""
    return "" if value.lower() in ("true", "false") else "give true or false"


def remember(page: str) -> None:
    """Keep what the link asks for, before widgets take it over; once for each visit of a page."""
    kept = st.session_state
    if kept.get("_link_page") != page:
        kept["_link_page"], kept["_link_view"] = page, None
        kept["_link"] = {key: tuple(st.query_params.get_all(key)) for key in st.query_params}
    elif kept["_link_view"] not in (None, _view()):
        kept["_link"] = {}  # the reader has moved on
    kept["_link_checks"] = {}


def expect(checks: Checks) -> None:
    """The page that runs understands these keys."""
    st.session_state["_link_checks"].update(checks)


def tell(where: DeltaGenerator) -> None:
    """Say in `where` what of the link could not be used; an empty place keeps what follows where it is."""
    kept = st.session_state
    asked = kept["_link"]
    wrong = [
        f"The link asks for {key}={_quoted(value)}: {advice}. Shown: {_shown(key)}."
        for key, check in kept["_link_checks"].items()
        for value in asked.get(key, ())
        if (advice := check(value))
    ]
    if wrong:
        where.warning("  \n".join(plain(sentence) for sentence in wrong))
    if kept["_link_view"] is None:
        kept["_link_view"] = _view()


def _view() -> dict[str, Any]:
    """Everything that the address of this page could hold, as it is now."""
    return {key: st.session_state.get(key) for key in st.session_state.get("_link_checks", ())}


def _number(value: str) -> float | None:
    try:
        found = float(value)
    except ValueError:
        return None
    return found if isfinite(found) else None


def _figure(number: float) -> str:
    return f"{int(number):,}" if number == int(number) else f"{number:g}"


def _named(value: str, names: Collection[str], where: str) -> str:
    if len(names) <= _MOST_NAMED:
        return f"one of {', '.join(names)}"
    lower = {name.lower(): name for name in names}
    near = [lower[name] for name in get_close_matches(value.lower(), lower, n=3, cutoff=0.5)]
    such = f", such as {', '.join(near)}" if near else ""
    return f"one of {len(names)} names{such} ({where})"


def _quoted(value: str) -> str:
    return value if len(value) <= _MOST_CHARS else value[: _MOST_CHARS - 1] + "…"


def _shown(key: str) -> str:
    """The value that the widget took instead."""
    value = st.session_state.get(key)
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int | float):
        return _figure(value)
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "all"
    return str(value) if value is not None else "the default"
