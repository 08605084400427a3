"""Streamlit glue of the Statistics page: charts from templates, tables of plain numbers, downloads without a rerun."""

from collections.abc import Callable, Hashable
from copy import deepcopy
from functools import lru_cache
from inspect import signature
from typing import Any

import pandas as pd
import streamlit as st

from tokenviz.export import to_csv
from tokenviz.views.charts import filled, named, opened_at
from tokenviz.views.statistics import Side
from tokenviz.views.statistics_compare import compared
from tokenviz.views.statistics_table import PERCENT, sortable, table_script, table_style
from tokenviz.views.statistics_work import by_kind, worded

Chart = Callable[..., Any]


def theme() -> str:
    """The reader's theme: light or dark."""
    return "dark" if st.context.theme.type == "dark" else "light"


@lru_cache(maxsize=256)
def template(chart: Chart, names: tuple[str, ...], options: tuple[tuple[str, Hashable], ...]) -> dict[str, Any]:
    """A chart's specification without its rows; making one costs far more than filling it."""
    made: dict[str, Any] = chart(named(names), **dict(options)).to_dict()
    return made


def draw(
    chart: Chart, data: dict[str, pd.DataFrame], *, finding: str, key: str, alt: str,
    window: tuple[int, int] | None = None, **options: Hashable,
) -> None:  # fmt: skip
    """Show a chart: its template for this theme, filled with rows and the finding as title."""
    if "bars" in signature(chart).parameters:
        options["bars"] = int(next(iter(data.values()))["order"].nunique())
    spec = deepcopy(template(chart, tuple(data), (*sorted(options.items()), ("theme", theme()))))
    if window is not None:
        spec = opened_at(spec, window)
    st.vega_lite_chart(None, filled(spec, data, finding), width="stretch", key=key, alt=f"{finding}. {alt}")


_sortable = st.components.v2.component(
    "tokenviz_table", html='<div class="tv"></div>', css=table_style(), js=table_script()
)
MOST_SORTABLE = 300
"""Tables with more rows than this are drawn by the data grid, which draws only the rows in sight."""


def table(rows: pd.DataFrame, *of: Side, key: str, height: int | None = None) -> None:
    """A table with exact numbers that sorts, searches and saves CSV without running the page again.

    `of` names the sides that it is about; with the key they make the file's name.
    """
    if "share" in rows:
        rows = rows.assign(share=rows["share"] * 100).rename(columns={"share": PERCENT})
    if len(rows) <= MOST_SORTABLE and height is None:
        _sortable(key=key, data=sortable(rows, file_name(*of, what=key.rstrip("0123456789"))))
        return
    config = {str(name): _column(str(name), rows[name]) for name in rows}
    config[str(rows.columns[0])] = st.column_config.Column(pinned=True)
    st.dataframe(rows, hide_index=True, column_config=config, key=key, height=height or 520)


def file_name(*of: Side, what: str, ending: str = "csv") -> str:
    """``qwen3.8-27b-critical-path.csv``: the models, what it is, and nothing that a file system minds."""
    words = f"{'-vs-'.join(side.model.name for side in of)}-{what}".replace("_", "-")
    return "".join(c if c.isalnum() or c in "-." else "-" for c in words) + f".{ending}"


def _column(name: str, values: pd.Series) -> Any:
    if name == PERCENT:
        return st.column_config.NumberColumn(format="%.2f")
    if pd.api.types.is_bool_dtype(values) or not pd.api.types.is_numeric_dtype(values):
        return st.column_config.Column()
    if name.endswith("difference"):
        return st.column_config.NumberColumn(format="%+d" if pd.api.types.is_integer_dtype(values) else "%+.4g")
    if pd.api.types.is_integer_dtype(values):
        return st.column_config.NumberColumn(format="localized")
    return st.column_config.NumberColumn(format="%.4g" if values.abs().min() < 0.01 else "localized")


def sides(this: Side, other: Side | None) -> list[tuple[str, Side]]:
    """The sides to draw, each with a prefix for its title."""
    if other is None:
        return [("", this)]
    return [(f"{this.model.name}: ", this), (f"{other.model.name}: ", other)]


def both(
    make: Callable[[Side], pd.DataFrame],
    this: Side,
    other: Side | None,
    keys: list[str],
    values: list[str] | None = None,
    *,
    key: str,
) -> None:
    """One side's table, or two of them joined on `keys` with signed differences of `values` (None: all others)."""
    own = worded(make(this), this.step)
    if other is None:
        table(own, this, key=key)
        return
    there = worded(make(other), other.step)
    if values is None:
        values = [c for c in dict.fromkeys((*own, *there)) if c not in keys]
    table(compared(own, there, keys, values), this, other, key=key)


def by_block(
    make: Callable[[Side], pd.DataFrame], this: Side, other: Side | None, row: str, value: str, *, key: str
) -> None:
    """Beside a second side: the columns of the block kinds, each row and kind compared."""
    if other is not None:
        st.markdown(f"**{value.capitalize()} by block kind**")
        both(lambda side: by_kind(worded(make(side), side.step), side.step, row, value), this, other, [row, "block"],
             [value], key=key)  # fmt: skip


def csv_of(rows: pd.DataFrame) -> str:
    """A table as CSV; what is missing is an empty cell."""
    return to_csv({str(name): [None if x is pd.NA else x for x in cells.tolist()] for name, cells in rows.items()})


def download(label: str, rows: Callable[[], pd.DataFrame], file_name: str, *, key: str) -> None:
    """A CSV in raw units, made when it is asked for; the page does not run again."""

    st.download_button(
        label, lambda: csv_of(rows()), file_name, "text/csv", key=key, on_click="ignore", icon=":material/download:"
    )


def how_to_read(text: str) -> None:
    """The words under a picture."""
    st.caption(text)
