"""The section about what would help: more tokens at once, more sequences, fewer bits."""

from collections.abc import Set

import pandas as pd
import streamlit as st

from tokenviz import ui_link
from tokenviz.notation import DTYPE_BITS
from tokenviz.ui_statistics_parts import both, draw, how_to_read, sides, table
from tokenviz.views import statistics_help as helps
from tokenviz.views.format import si
from tokenviz.views.statistics import Side, prediction_note
from tokenviz.whatif import MAX_BATCH, Change, Outcome, what_if

AS_IT_IS = "as it is"
CHOICES = (
    " Tokens may choose the same experts or different ones: the bar ends where no two coincide, the tick stands where "
    "all do."
)
MOST_TOKENS = 64
LINK: ui_link.Checks = {
    "tokens": ui_link.whole(1, MOST_TOKENS), "batch": ui_link.whole(1, MAX_BATCH),
    "what_weights": ui_link.one_of((AS_IT_IS, *DTYPE_BITS)), "what_kv": ui_link.one_of((AS_IT_IS, *DTYPE_BITS)),
}  # fmt: skip


def changes(side: Side) -> dict[str, Change]:
    """The what-ifs shown first; precisions that the scenario has already are left out."""
    found = {
        AS_IT_IS: Change(),
        "4 tokens at once": Change(positions=4),
        "8 tokens at once": Change(positions=8),
        "batch 8": Change(batch=8),
        "batch 64": Change(batch=64),
        "fp8 weights": Change(weights="fp8"),
        "4-bit weights": Change(weights="int4"),
        "fp8 K/V": Change(kv="fp8"),
    }
    bits, kv_bits = DTYPE_BITS[side.precision], DTYPE_BITS[side.scenario.kv]
    return {
        name: c for name, c in found.items()
        if (c.weights is None or DTYPE_BITS[c.weights] < bits) and (c.kv is None or DTYPE_BITS[c.kv] < kv_bits)
    }  # fmt: skip


def what_would_help(this: Side, other: Side | None) -> None:
    """The same graph with more tokens, more sequences or fewer bits."""
    top = st.container()
    st.markdown("**Your own change**")
    own = _own_change(this)
    with top:
        _show_changes(this, other, own)


def outcomes(side: Side, own: Change) -> dict[str, Outcome]:
    """Every change with its outcome; the first is the base, the last the reader's own."""
    asked = {**changes(side), "your own": own} if own != Change() else changes(side)
    return {name: what_if(side.model.architecture, side.scenario, change) for name, change in asked.items()}


def _show_changes(this: Side, other: Side | None, own: Change) -> None:
    for i, (name, side) in enumerate(sides(this, other)):
        found = outcomes(side, own)
        draw(helps.whatif_chart, helps.whatif_data(found), finding=name + _best(found), key=f"whatif{i}",
             alt="Bytes per token under each change.")  # fmt: skip
        rows = helps.whatif_table(found)
        table(rows[["change", "relieves"]].iloc[1:].rename(columns={"relieves": "effect"}), side, key=f"effects{i}")
        table(rows.drop(columns="relieves"), side, key=f"what_if{i}")
    if other is not None:
        st.markdown("**Second minus first**, under the changes that both of them leave room for")
        names = outcomes(this, own).keys() & outcomes(other, own).keys()
        both(lambda side: _figures(side, own, names), this, other, ["change"], key="what_if")
    how_to_read(
        "Several tokens at once (speculative verification, multi-token prediction) share weights and cache; all of "
        "them are taken as kept; their scores are counted as full rectangles, masked ones included. A batch shares the "
        "weights, every sequence brings its own state."
        + (CHOICES if any(_ranges(side, own) for _, side in sides(this, other)) else "")
        + prediction_note(this)
    )


def _ranges(side: Side, own: Change) -> bool:
    """Whether any change has a range of bytes that the chart shows."""
    ends = helps.whatif_data(outcomes(side, own))["least"]
    return bool((ends["fewest"] < ends["most"]).any())


def _figures(side: Side, own: Change, names: Set[str]) -> pd.DataFrame:
    """The figures of some of the changes."""
    return helps.whatif_table({n: o for n, o in outcomes(side, own).items() if n in names}).drop(columns="relieves")


def _own_change(this: Side) -> Change:
    """The reader's own what-if."""
    columns = st.columns(4)
    positions = columns[0].number_input("Tokens at once", 1, MOST_TOKENS, 1, key="tokens", bind="query-params")
    batch = columns[1].number_input("Batch", 1, MAX_BATCH, 1, key="batch", bind="query-params")
    weights = columns[2].selectbox("Weights", (AS_IT_IS, *DTYPE_BITS), key="what_weights", bind="query-params")
    kv = columns[3].selectbox("K/V", (AS_IT_IS, *DTYPE_BITS), key="what_kv", bind="query-params")
    return Change(
        positions=None if positions == this.scenario.positions else int(positions), batch=int(batch),
        weights=None if weights == AS_IT_IS else weights, kv=None if kv == AS_IT_IS else kv,
    )  # fmt: skip


def _best(found: dict[str, Outcome]) -> str:
    base = next(iter(found.values()))
    name, best = min(found.items(), key=lambda item: item[1].most_bytes / item[1].tokens)
    if best is base:
        return "None of these moves fewer bytes per token"
    return (
        f"Fewest bytes per token: {name}, at most {si(best.most_bytes / best.tokens, 'B')} instead of "
        f"{si(base.most_bytes / base.tokens, 'B')}"
    )
