"""One value of the inspected station, worked out: the cell that was clicked, its formula with the real numbers.

choose(node, shown, part) -> Cell             the cell to mark in the heat map
on_click(key)                                 what a click on the heat map does
worked(…), more(…)                            its formula; on demand the choice by number and all products
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
import pandas as pd
import streamlit as st

from tokenviz.decoder.generate import Advance
from tokenviz.decoder.model import Decoder
from tokenviz.decoder.stations import MapNode, PredictionMap
from tokenviz.decoder.worked import Worked, work_out
from tokenviz.views import network_values as values
from tokenviz.views.network_panes import numbered, piece_names, place, window_pieces

STATE = "network.cell"


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: of which station and value, in which pane, row and column; counted from 0."""

    of: str
    pane: int
    row: int
    column: int

    @property
    def at(self) -> tuple[int, int, int]:
        """Pane, row, column."""
        return self.pane, self.row, self.column


def choose(node: MapNode, output: int, shown: values.Grid, part: values.Window) -> Cell:
    """The cell that was chosen last; at first the largest value of the last row that is drawn, in the first pane."""
    rows, columns = shown.shape
    of = f"{node.id} {output} {rows} {columns}"
    kept: Cell | None = st.session_state.get(STATE)
    if kept is not None and kept.of == of:
        return kept
    row = part.row + part.height - 1
    line = shown.panes[0].values[row, part.column : part.column + part.width]
    best = part.column + int(np.argmax(np.where(np.isfinite(line), np.abs(line), -1)))
    return Cell(of, 0, row, best)


def on_click(key: str, of: str) -> None:
    """A click on the heat map `key` chooses its cell."""
    picked = st.session_state[key].selection.get("cell") or []
    if picked:
        _keep(Cell(of, *(int(picked[0][field]) for field in ("order", "row", "column"))))


def _keep(cell: Cell) -> None:
    st.session_state[STATE] = cell
    st.session_state["network.opened_one"] = True  # who looks at a value does not want it to run away
    for field, value in zip(("pane", "row", "column"), cell.at, strict=True):
        st.session_state[_key(field, cell.of)] = value


def _key(field: str, of: str) -> str:
    return f"network.{field} of {of}"


def worked(
    decoder: Decoder, found: PredictionMap, made: Advance, node: MapNode, output: int, shown: values.Grid, cell: Cell
) -> Worked | None:
    """The cell's formula with its numbers. It stays in sight above the heat map that is clicked."""
    dims = len(node.outputs[output].dims)
    group = len(shown.panes) // 2 if dims == 4 else 1
    answer = work_out(decoder, found, made, node, output, place(dims, group, *cell.at))
    if answer is None:
        return None
    pane = [shown.panes[cell.pane].title] if len(shown.panes) > 1 else []
    names = (shown.row_title, shown.rows[cell.row]), (shown.column_title, shown.columns[cell.column])
    where = [*pane, *(f"{title} {name}" for title, name in names)]
    with st.container(key="network-worked", gap=None):
        st.html(
            f'<div class="tv-worked"><b>The framed value</b> <span>{escape(" · ".join(where))}</span> '
            "<i>click another one</i></div>"
        )
        st.latex(answer.formula)
    return answer


def more(decoder: Decoder, made: Advance, shown: values.Grid, cell: Cell, answer: Worked) -> None:
    """On demand: the choice of the cell by number, and all that its formula adds up."""
    with st.expander("The framed value: choose it by number, see all that it adds up", key="network.adds",
                     on_change="rerun") as opened:  # fmt: skip
        if opened.open:
            _by_number(shown, cell)
            _terms(decoder, made, answer)


def _by_number(shown: values.Grid, cell: Cell) -> None:
    """The choice for the keyboard: pane, row and column as numbers."""
    most = len(shown.panes) - 1, len(shown.rows) - 1, len(shown.columns) - 1
    names = "head", shown.row_title or "row", shown.column_title or "column"
    fields = [f for f in zip(("pane", "row", "column"), names, most, cell.at, strict=True) if f[2] > 0]
    for place_, (field, name, last, value) in zip(st.columns(max(1, len(fields))), fields, strict=False):
        key = _key(field, cell.of)
        st.session_state.setdefault(key, value)
        place_.number_input(
            f"{name.capitalize()} (0 to {last:,})", 0, last, key=key, on_change=_typed, args=(cell, field, key)
        )


def _typed(cell: Cell, field: str, key: str) -> None:
    changed = {"pane": cell.pane, "row": cell.row, "column": cell.column, field: int(st.session_state[key])}
    _keep(Cell(cell.of, **changed))


def _terms(decoder: Decoder, made: Advance, answer: Worked) -> None:
    """All that is added up, the largest first."""
    if answer.terms is None:
        st.caption("Nothing is added up here.")
        return
    pieces, count = decoder.tokenizer, len(answer.terms)
    names: Sequence[str] = [str(i) for i in range(count)]
    if answer.axis == "key":
        names = numbered(window_pieces(pieces.pieces(made.window)))
    elif answer.axis == "token":
        names = [f"{piece} ({i})" for i, piece in enumerate(piece_names(pieces.pieces(range(count))))]
    order = np.argsort(-np.abs(answer.terms[:, -1]), kind="stable")
    frame = pd.DataFrame(answer.terms[order], columns=list(answer.columns))
    frame.insert(0, answer.axis, [names[i] for i in order])
    st.dataframe(frame, hide_index=True, height=220, key="network.terms")
    st.caption(f"{len(order):,} lines, the largest first; their {answer.columns[-1]} column is what is added up.")
