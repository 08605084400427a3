"""Sections of the Statistics page: a picture that states its finding, the numbers behind it, and how to read them."""

import streamlit as st

from tokenviz import ui_link
from tokenviz.export import chrome_trace
from tokenviz.graph import OpClass
from tokenviz.ui_statistics_parts import both, by_block, download, draw, file_name, how_to_read, sides, table
from tokenviz.views import statistics as words
from tokenviz.views import statistics_bytes as moved
from tokenviz.views import statistics_work as work
from tokenviz.views.format import exact, si
from tokenviz.views.markup import plain
from tokenviz.views.statistics import Side

Second = Side | None
DEPENDENCE = "Finding how every count depends on the context"
DISTINCT, EVERY = "each distinct block", "every layer"
LINK: ui_link.Checks = {
    "rows": ui_link.one_of((DISTINCT, EVERY)), "classes": ui_link.optional(ui_link.one_of(c.value for c in OpClass)),
}  # fmt: skip


def operations(this: Side, other: Second) -> None:
    """Operations by class and by name, for each block kind times its multiplicity."""
    for i, (name, side) in enumerate(sides(this, other)):
        rows = work.classes_table(side.step)
        draw(work.classes_chart, work.classes_data(side.step), finding=name + words.classes_finding(rows),
             key=f"classes{i}", alt="Operations by class.")  # fmt: skip
    how_to_read(
        "An operation counts once, whatever its tensors' sizes: rows, heads and experts are width inside it. Its class "
        "follows from its operands' lifetimes and its primitive: a product with a static operand is fixed linear, a "
        "product of two live values is dynamic."
    )
    both(lambda side: work.classes_table(side.step), this, other, ["class"], ["operations"], key="classes")
    by_block(lambda side: work.classes_table(side.step), this, other, "class", "operations", key="classes_by_block")
    st.markdown("**By the name in the drawing**")
    both(lambda side: work.labels_table(side.step), this, other, ["operation"], ["operations"], key="operation_names")
    by_block(lambda side: work.labels_table(side.step), this, other, "operation", "operations", key="names_by_block")
    st.markdown(_assumptions(sides(this, other)))


def _assumptions(shown: list[tuple[str, Side]]) -> str:
    kinds = [
        plain(name) + ", ".join(f"{n} × {b.title} ({len(b.ops)} operations)" for b, n in side.step.folded())
        for name, side in shown
    ]  # fmt: skip
    return (
        "**Assumptions of the schedule.** One operation takes one unit of time. A transform starts when all that feed "
        "it have finished; its operations run in the order drawn. Reading weights, state and data is an input, not an "
        "operation; stores and routing drawn inside a transform count. Equal layers are counted as often as they "
        "occur. " + "; ".join(kinds) + "."
    )  # fmt: skip


def arithmetic(this: Side, other: Second) -> None:
    """Scalar work by family, and how it depends on the context."""
    for i, (name, side) in enumerate(sides(this, other)):
        with st.spinner(DEPENDENCE):
            found = side.dependence
        draw(work.families_chart, work.families_data(found, side.scenario.context), alt="Scalar operations.",
             finding=name + words.families_finding(side), key=f"families{i}")  # fmt: skip
    how_to_read(
        "One MAC is one multiply and one add, 2 FLOP; the other families leave out what is inside a MAC. The axis is "
        "logarithmic: each gridline is a factor. The gap in a bar marks the part that no context changes; what lies to "
        "its right grows with the cache." + "".join(plain(words.bend_note(side)) for _, side in sides(this, other))
    )
    values = ["total", "fixed part", "per cached position"]
    both(lambda side: work.families_table(side.dependence, side.scenario.context), this, other, ["family"], values,
         key="families")  # fmt: skip
    by_block(lambda side: work.families_table(side.dependence, side.scenario.context), this, other, "family", "total",
             key="families_by_block")  # fmt: skip
    if other is not None:
        both(lambda side: work.exponentials_table(side.dependence, side.scenario.context), this, other,
             ["exponentials"], ["total"], key="exponentials")  # fmt: skip
    split = work.exponentials_split(this.dependence, this.scenario.context)
    st.markdown(
        f"Exponentials{'' if other is None else ' of the first'}: "
        + ", ".join(f"{name} **{n:,}**" for name, n in split.items())
        + ". Every total is its fixed part plus the number of cached positions times its slope, exactly. The new token "
        "is not one of them: what it does with itself is in the fixed part."
    )  # fmt: skip
    with st.expander("Every row of the ledger: family, block kind, transform"):
        both(lambda side: work.ledger_table(side.dependence, side.scenario.context), this, other,
             ["family", "block", "transform"], values, key="ledger")  # fmt: skip


def data_movement(this: Side, other: Second) -> None:
    """Bytes of one token, the bandwidth they ask for, and their growth with the context."""
    for i, (name, side) in enumerate(sides(this, other)):
        with st.spinner(DEPENDENCE):
            found, n = side.dependence, side.scenario.context
        draw(moved.split_chart, moved.split_data(found, n), finding=name + words.split_finding(side), key=f"split{i}",
             alt="Bytes of one token by origin.")  # fmt: skip
        draw(moved.growth_chart, moved.growth_data(found, n), finding=name + words.growth_finding(side),
             key=f"growth{i}", alt="Bytes per token against cached positions, both logarithmic.")  # fmt: skip
    for name, side in sides(this, other):
        rate = side.scenario.tokens_per_s
        st.markdown(
            f"{plain(name)}At {rate:,.3g} tokens/s this asks for **{si(side.traffic.total * rate, 'B/s')}**. "
            + words.growth_words(side)
        )
    how_to_read(
        "An ideal pass: each active weight is read once, of the experts only the chosen ones, of the embedding one "
        "row; each cached key and value is read once, and so is the new token's own, which is appended; fixed-size "
        "state is read and written. Cached positions are the tokens before the new one. "
        "What is made and used within the token stays on chip. A filled dot is the chosen context, a ring the "
        f"first crossing.{words.prediction_note(this)}"
        + "".join(plain(words.bend_note(side)) for _, side in sides(this, other))
    )
    values = ["bytes", "bytes/s", "fixed part", "per cached position"]
    both(lambda side: moved.traffic_table(side.dependence, side.scenario.context, side.scenario.tokens_per_s), this,
         other, ["origin", "lifetime"], values, key="traffic")  # fmt: skip
    by_block(lambda side: moved.traffic_table(side.dependence, side.scenario.context, side.scenario.tokens_per_s),
             this, other, "origin", "bytes", key="traffic_by_block")  # fmt: skip


def every_operation(this: Side, other: Second) -> None:
    """The whole table, filterable, and the schedule as files."""
    chosen = st.segmented_control("Rows", (DISTINCT, EVERY), default=DISTINCT, required=True, key="rows",
                                  bind="query-params")  # fmt: skip
    rows = words.rows_table(this, folded=chosen == DISTINCT)
    left, middle, right = st.columns(3)
    search = left.text_input("Contains", key="contains", placeholder="delta products", bind="query-params")
    kinds = middle.multiselect("Block", sorted(set(rows["block"])), key="blocks", bind="query-params")
    classes = right.multiselect("Class", [c.value for c in OpClass], key="classes", bind="query-params")
    shown = words.matching(rows, search, {"block": kinds, "class": classes})
    if shown.empty:
        st.info("No row matches. Remove a word or a filter.")
    else:
        first = ["operation", "transform", "block"]
        table(shown[[*first, *(c for c in shown if c not in first)]], this, key="every", height=520)
    summed = "; amounts are summed over all layers (count)" if chosen == DISTINCT else ""
    how_to_read(
        f"{exact(len(shown))} of {exact(len(rows))} rows{summed}. Bytes are attributed so that they add up: a "
        "weight to the first operation that reads it, a state's read to the first that uses it, its write to the one "
        "that makes it. Values are elements: those read, each once, and those made or written."
    )
    _files(this)
    if other is not None:
        st.markdown("**Both, operation by operation**, over all layers")
        both(words.rows_summary, this, other, ["block", "transform", "operation"], key="every_operation")


def _files(this: Side) -> None:
    """Downloads that do not run the page again."""
    one, two, three = st.columns(3)
    with one:
        download("All rows as CSV", lambda: words.rows_table(this, folded=False),
                 file_name(this, what="operations"), key="rows_csv")  # fmt: skip
    with two:
        download("Distinct blocks as CSV", lambda: words.rows_table(this, folded=True),
                 file_name(this, what="blocks"), key="blocks_csv")  # fmt: skip
    three.download_button(
        "Schedule for Perfetto (Chrome trace)", lambda: chrome_trace(this.step, this.model.name),
        file_name(this, what="trace", ending="json"), "application/json", key="trace", on_click="ignore",
        icon=":material/download:",
    )  # fmt: skip
    how_to_read("In the trace one timestep is one microsecond and each parallel lane is a track.")
