"""Values as pictures and tables: windows into large matrices, heat maps, attention by head, bars of shares.

A value is shown as panes: one matrix for each head, or a single one. Only the cells inside the window are handed over.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import altair as alt
import numpy as np
import pandas as pd
from altair.utils.schemapi import debug_mode
from numpy.typing import NDArray

from tokenviz.views.charts import theme_of
from tokenviz.views.palette import Theme

MAX_CELLS = 2_048
"""Cells that are drawn at once, over all panes."""
MAX_ROWS, MAX_COLUMNS = 48, 64
USUAL_WIDTH = 420
"""CSS pixels that a single pane has for its columns, about: so many names fit below."""
NEW, REUSED = "◆ new", "◇ reused"
"""How cached positions are marked: computed in this advance, or read from the cache. Filled and hollow, no colour."""
Array = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Pane:
    """One matrix with a title: a head, or everything."""

    title: str
    values: Array  # two dimensions


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Panes of equal size with the names of their rows and columns."""

    panes: tuple[Pane, ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    row_title: str
    column_title: str
    shares: bool = False  # from 0 to 1, all of one sign
    new_row: int | None = None  # rows are cached positions: the first that is new in this advance
    new_column: int | None = None  # the same for columns

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of each pane."""
        return len(self.rows), len(self.columns)


@dataclass(frozen=True, slots=True)
class Window:
    """The part of each pane that is shown: first row and column, and how many of each."""

    row: int
    column: int
    height: int
    width: int

    def says(self, grid: Grid) -> str:
        """Which part it is, in words; "" when it is everything."""
        rows, columns = grid.shape
        if (self.height, self.width) == (rows, columns):
            return ""
        return (
            f"Shown: rows {self.row} to {self.row + self.height - 1} of {rows}, columns {self.column} to "
            f"{self.column + self.width - 1} of {columns}, counted from 0. At most {MAX_CELLS:,} cells are drawn."
        )


@dataclass(frozen=True, slots=True)
class Statistics:
    """Figures of a whole value, the masked entries left out."""

    count: int
    hidden: int
    least: float
    most: float
    mean: float
    deviation: float
    p1: float
    p99: float


def room(grid: Grid) -> tuple[int, int]:
    """Rows and columns that fit one pane's window."""
    rows, columns = grid.shape
    cells = MAX_CELLS // max(1, len(grid.panes))
    width = min(columns, MAX_COLUMNS, max(8, cells // max(1, min(rows, 16))))
    return min(rows, MAX_ROWS, max(1, cells // width)), width


def window(grid: Grid, row: int, column: int) -> Window:
    """The window nearest to a first row and column."""
    height, width = room(grid)
    rows, columns = grid.shape
    return Window(max(0, min(row, rows - height)), max(0, min(column, columns - width)), height, width)


def statistics(value: Array) -> Statistics:
    """Count, extremes, mean, spread and percentiles; entries of minus infinity are counted as not allowed."""
    flat = np.asarray(value, dtype=np.float64).ravel()
    shown = flat[np.isfinite(flat)]
    if not shown.size:
        return Statistics(0, flat.size, *[float("nan")] * 6)
    low, high = np.percentile(shown, [1, 99])
    return Statistics(
        shown.size, flat.size - shown.size, float(shown.min()), float(shown.max()), float(shown.mean()),
        float(shown.std()), float(low), float(high),
    )  # fmt: skip


def cells(grid: Grid, part: Window) -> pd.DataFrame:
    """One row for each cell in the window: pane, row, column, their names, value (missing where not allowed)."""
    frames = []
    rows = range(part.row, part.row + part.height)
    columns = range(part.column, part.column + part.width)
    names = [grid.rows[i] for i in rows], [grid.columns[j] for j in columns]
    for number, pane in enumerate(grid.panes):
        values = pane.values[part.row : part.row + part.height, part.column : part.column + part.width]
        frames.append(
            pd.DataFrame(
                {
                    "pane": pane.title,
                    "order": number,
                    "row": np.repeat(rows, part.width),
                    "column": np.tile(columns, part.height),
                    "where": np.repeat(names[0], part.width),
                    "which": np.tile(names[1], part.height),
                    "value": values.astype(np.float64).ravel(),
                }
            )
        )
    found = pd.concat(frames, ignore_index=True)
    for by, first in (("row", grid.new_row), ("column", grid.new_column)):
        if first is not None:
            found[f"{by}_new"] = np.where(found[by] >= first, NEW, REUSED)
    found["allowed"] = np.isfinite(found["value"])
    found["text"] = [exact(v) if ok else "not allowed" for v, ok in zip(found["value"], found["allowed"], strict=True)]
    found.loc[~found["allowed"], "value"] = np.nan
    return found


def exact(value: float) -> str:
    """A float32 with all its digits and a true minus sign."""
    return str(np.float32(value)).replace("-", "−")


def heat(
    grid: Grid, part: Window, stats: Statistics, theme: str, cell: tuple[int, int, int] | None = None
) -> dict[str, Any]:
    """Heat maps side by side, as a Vega-Lite specification with its rows in `datasets`.

    Colours reach the 99th percentile; what lies beyond has the last colour. `cell` is the pane, row and column that a
    frame marks; with one, cells can be clicked, which the selection "cell" tells.
    """
    data = cells(grid, part)
    with debug_mode(False):  # checking a chart against its schema costs more than all else that a click does
        spec: dict[str, Any] = _heat(grid, part, stats, theme, data, cell).to_dict(validate=False)
    return {**spec, "datasets": {"cells": data}}


def _heat(
    grid: Grid, part: Window, stats: Statistics, theme: str, data: pd.DataFrame, cell: tuple[int, int, int] | None
) -> alt.LayerChart | alt.FacetChart:
    colours = theme_of(theme)
    static, state = colours.lifetimes["static"].outline, colours.lifetimes["state"].outline
    if grid.shares:
        top = min(1.0, max(stats.most, 1e-9))
        scale = alt.Scale(domain=[0, top], range=[colours.background, static], clamp=True, interpolate="rgb")
    else:
        reach = max(abs(stats.p1), abs(stats.p99), 1e-9)
        scale = alt.Scale(
            domain=[-reach, 0, reach], range=[static, colours.background, state], clamp=True, interpolate="rgb"
        )
    names = part.width <= 32 and grid.columns != tuple(str(i) for i in range(len(grid.columns)))
    height = min(15, max(7, 340 // part.height)) if part.height > 1 else 26
    wide = _width(grid, part)["step"] * part.width if len(grid.panes) > 1 else USUAL_WIDTH
    most = wide // (11 if names else 26)
    base = alt.Chart(alt.NamedData(name="cells")).encode(
        x=alt.X("column:O", title=grid.column_title, axis=_axis("which", data, "column", most)),
        y=alt.Y("row:O", title=grid.row_title, axis=_axis("where", data, "row", part.height * height // 11)),
        tooltip=[alt.Tooltip("text:N", title="value"), *_kept_tips(data), alt.Tooltip("where:N", title=grid.row_title),
                 alt.Tooltip("which:N", title=grid.column_title), alt.Tooltip("pane:N", title="of")],
    )  # fmt: skip
    cursor: Any = "default" if cell is None else "pointer"
    shown = base.transform_filter("datum.allowed")
    allowed = shown.mark_rect(stroke=colours.border, strokeWidth=0.4, cursor=cursor).encode(
        color=alt.Color("value:Q", scale=scale, legend=alt.Legend(title=None, orient="bottom", gradientLength=150,
                        gradientThickness=8, format=".3~g"))
    )  # fmt: skip
    layers = [allowed]
    if not data["allowed"].all():
        hidden = base.transform_filter("!datum.allowed")
        layers.append(hidden.mark_text(text="×", color=colours.muted, fontSize=min(10, height)))
    if cell is not None:
        clicked = alt.selection_point(name="cell", fields=["order", "row", "column"], on="click", toggle=False)
        layers[0] = allowed.add_params(clicked)
        layers += _frame(base, cell, colours)
    one = alt.layer(*layers, *_marks(base, data, part, colours.text)).properties(
        width=_width(grid, part), height={"step": height}
    )
    if len(grid.panes) == 1:
        return cast("alt.LayerChart", one.properties(width="container"))
    found: alt.FacetChart = one.facet(
        facet=alt.Facet("pane:N", title=None, sort=[p.title for p in grid.panes]), columns=2
    )
    return found


def _frame(base: alt.Chart, cell: tuple[int, int, int], colours: Theme) -> list[alt.Chart]:
    """A frame around one cell, dark in light, so that it is seen on every colour."""
    order, row, column = cell
    one = base.transform_filter(f"datum.order === {order} && datum.row === {row} && datum.column === {column}")
    return [
        one.mark_rect(filled=False, stroke=stroke, strokeWidth=width)
        for stroke, width in ((colours.background, 4), (colours.text, 2))
    ]


def _kept_tips(data: pd.DataFrame) -> list[alt.Tooltip]:
    return [alt.Tooltip(f"{by}_new:N", title="its K and V") for by in ("row", "column") if f"{by}_new" in data]


def _marks(base: alt.Chart, data: pd.DataFrame, part: Window, ink: str) -> list[alt.Chart]:
    """Beside each cached position: a filled diamond where it is new, a hollow one where it was reused."""
    found = []
    if "row_new" in data:
        found.append(_mark(base, f"datum.column === {part.column}", "row_new", ink, xOffset=-8).encode(x=alt.value(0)))
    if "column_new" in data:
        last = f"datum.row === {part.row + part.height - 1}"
        found.append(_mark(base, last, "column_new", ink, yOffset=8).encode(y=alt.value("height")))
    return found


def _mark(base: alt.Chart, where: str, what: str, ink: str, **shift: int) -> alt.Chart:
    new = alt.condition(f"datum.{what} === '{NEW}'", alt.value(ink), alt.value("transparent"))
    once = base.transform_filter(where)
    marked: Any = once.mark_point(shape="diamond", size=26, stroke=ink, strokeWidth=0.9, **shift)  # type: ignore[arg-type]
    return cast("alt.Chart", marked.encode(fill=new))


def _width(grid: Grid, part: Window) -> Any:
    return {"step": max(3, min(15, 116 // part.width))} if len(grid.panes) > 1 else "container"


def _axis(field: str, data: pd.DataFrame, by: str, most: int) -> alt.Axis:
    """Labels from a second column: a look-up written into the axis."""
    pairs = data.drop_duplicates(by).set_index(by)[field]
    step = max(1, -(-len(pairs) // max(1, most)))
    shown = [k for i, k in enumerate(pairs.index) if i % step == 0]
    table = {str(k): str(pairs[k])[:14] for k in shown}
    return alt.Axis(
        values=shown, labelExpr=f"({json.dumps(table)})[datum.label] || ''", labelAngle=-60 if by == "column" else 0,
        labelLimit=90, labelFontSize=10, ticks=False, domain=False, labelOverlap=False,
        labelPadding=15 if f"{by}_new" in data else 2,
    )  # fmt: skip


def bars(rows: pd.DataFrame, title: str, baseline: float, theme: str) -> alt.LayerChart:
    """Shares of the most likely tokens before and after the controls, side by side, with the blind guess as a line.

    `rows`: rank, token, when ("before", "after"), share, text.
    """
    colours = theme_of(theme)
    before, after = colours.edge, colours.lifetimes["static"].outline
    base = alt.Chart(rows).encode(
        y=alt.Y("token:N", sort=alt.EncodingSortField("rank", op="min"), title=None,
                axis=alt.Axis(ticks=False, domain=False, labelLimit=120)),
        x=alt.X("share:Q", title=title, axis=alt.Axis(format="%", tickCount=5, domain=False, gridOpacity=0.4)),
        yOffset=alt.YOffset("when:N", sort=["before", "after"]),
        tooltip=[alt.Tooltip("token:N"), alt.Tooltip("when:N"), alt.Tooltip("text:N", title="share")],
    )  # fmt: skip
    marks = base.mark_bar().encode(
        color=alt.Color("when:N", sort=["before", "after"],
                        scale=alt.Scale(domain=["before", "after"], range=[before, after]),
                        legend=alt.Legend(title=None, orient="top"))
    )  # fmt: skip
    guess = alt.Chart(pd.DataFrame({"x": [baseline]})).mark_rule(strokeDash=[4, 3], color=colours.text)
    line = guess.encode(x="x:Q", tooltip=alt.value(f"a blind guess: {baseline * 100:.3f} %"))
    return cast("alt.LayerChart", alt.layer(marks, line).properties(width="container", height={"step": 11}))


def table(grid: Grid, part: Window) -> pd.DataFrame:
    """The window as a table: one line for each row of each pane."""
    frames = []
    for pane in grid.panes:
        shown = pane.values[part.row : part.row + part.height, part.column : part.column + part.width]
        names = grid.rows[part.row : part.row + part.height]
        shown = np.where(np.isneginf(shown), np.nan, shown)  # what is not allowed stays empty
        frame = pd.DataFrame(shown, columns=_unique(grid.columns[part.column : part.column + part.width]))
        frame.insert(0, grid.row_title or "row", list(names))
        if len(grid.panes) > 1:
            frame.insert(0, "of", pane.title)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def _unique(names: Sequence[str]) -> list[str]:
    """Column names made different: a second `` the`` becomes `` the (2)``."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found


def said(grid: Grid, stats: Statistics) -> str:
    """A grid in words, for who cannot see it."""
    rows, columns = grid.shape
    panes = f"{len(grid.panes)} panes of " if len(grid.panes) > 1 else ""
    of = f" ({grid.row_title} by {grid.column_title})" if grid.row_title and grid.column_title else ""
    least, most = exact(stats.least), exact(stats.most)
    return f"{panes}{rows} rows by {columns} columns{of}, values from {least} to {most}. The table below holds them."
