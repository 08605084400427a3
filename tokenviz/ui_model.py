"""Streamlit glue: which model is looked at. The list, the gallery, or a config of one's own.

ask_model() -> Asked       in the sidebar: the model, and what went wrong if it is not the one that was asked for
gallery_dialog()           all bundled models by family, with size, kind, K/V slope and fixed state
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import streamlit as st

from tokenviz import ui_share
from tokenviz.catalog import DEFAULT_MODEL, Model, bundled_models, load_model
from tokenviz.gallery import KINDS, Row, gallery
from tokenviz.notation import TokenvizError
from tokenviz.views.format import plural, si
from tokenviz.views.markup import plain


@dataclass(frozen=True, slots=True)
class Asked:
    """The model to show; `trouble` is the sentence that says why it is not the one asked for."""

    model: Model
    trouble: str
    browse: bool


def ask_model() -> Asked:
    """The model that the address names: a config in it wins over the list."""
    names = bundled_models()
    name = st.selectbox(
        "Model", names, index=names.index(DEFAULT_MODEL), key="model", bind="query-params",
        on_change=ui_share.forget, help="Published configurations. Type to search.",
    )  # fmt: skip
    with st.container(key="config_in_link"):
        packed = st.text_input("Config in the link", key="config", bind="query-params")
    model, trouble = _model(name, packed)
    browse = st.button(
        f"Compare all {len(names)} models", icon=":material/view_list:", key="browse", width="stretch",
        help="By family, with size, kind and what each keeps per token.",
    )  # fmt: skip
    ui_share.ask_config()
    return Asked(model, trouble or ui_share.trouble(), browse)


def _model(name: str, packed: str) -> tuple[Model, str]:
    """The model asked for, or the last good one and the reason."""
    kept = st.session_state
    try:
        model = ui_share.own_model(packed) or load_model(name)
    except TokenvizError as error:
        return kept.get("_good_model") or load_model(DEFAULT_MODEL), str(error)
    kept["_good_model"] = model
    return model, ""


# ------------------------------------------------------------------------------------------------ the gallery


@st.dialog("All models", width="large")
def gallery_dialog() -> None:
    """Search, filter, and one button for each model; pressing it shows that model."""
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    wanted = left.text_input(
        "Search", key="gallery_search", live=True, placeholder="name or family", type="search", max_chars=80
    )
    kinds = right.pills("Kind", KINDS, selection_mode="multi", key="gallery_kinds")
    rows = matching(gallery(), wanted, kinds)
    st.caption(
        f"{plural(len(rows), 'model')}. Sizes are parameters: in total, and active for one token (of an untied "
        "embedding table one row). Kept: bytes for each cached position, plus a state that does not grow."
    )
    if not rows:
        st.info("Nothing matches. Search for a part of a name or a family, or take a kind away.")
    for family, members in groupby(rows, key=lambda row: row.family):
        title, entries = st.columns([1, 5], gap="small")
        title.markdown(f"**{plain(family)}**")
        with entries.container(gap="xsmall"):
            for row in members:
                _entry(row)


def _entry(row: Row) -> None:
    if row.refused:
        st.markdown(f"**{plain(row.name)}** is not counted: {plain(row.refused)}\\.")
    elif st.button(label(row), key=f"pick_{row.name}", on_click=_pick, args=(row.name,), width="stretch"):
        st.rerun()  # closes the dialog


def _pick(name: str) -> None:
    ui_share.forget()
    st.session_state["model"] = name


def matching(rows: Sequence[Row], wanted: str, kinds: Sequence[str] = ()) -> list[Row]:
    """Rows whose name or family holds every word of `wanted`, and which are of all `kinds`."""
    words = wanted.lower().split()
    return [
        row
        for row in rows
        if all(word in f"{row.name} {row.family} {' '.join(row.kinds)}".lower() for word in words)
        and set(kinds) <= set(row.kinds)
    ]


def label(row: Row) -> str:
    """A model on one button: name, sizes, kind, slope and fixed state, each named."""
    size = (
        f"{si(row.total)} in total, {si(row.active)} active"
        if row.active != row.total
        else f"{si(row.total)}, all active"
    )
    return f"**{plain(row.name)}** · {plain(size)} · {plain(', '.join(row.kinds))} · {plain(keeps(row))}"


def keeps(row: Row) -> str:
    """What a model keeps, in one line: K/V slope, full windows, fixed state."""
    parts = [f"K/V {si(row.kv_bytes_per_position, 'B')} per position"] if row.kv_bytes_per_position else []
    if row.full_window_bytes:
        parts.append(f"windows up to {si(row.full_window_bytes, 'B')}")
    if row.fixed_bytes:
        parts.append(f"fixed state {si(row.fixed_bytes, 'B')}")
    return " + ".join(parts)
