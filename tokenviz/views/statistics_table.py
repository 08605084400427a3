"""A table of figures for the script that draws, sorts, searches and saves it in the browser.

sortable(table, file, height) -> dict    columns, raw values and their texts
table_style(), table_script() -> str     the script and its style; a phone shows each row as a heading with its figures
"""

from collections.abc import Sequence
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import Any

import pandas as pd

from tokenviz.views.format import seconds, signed

LONG = 40
"""Texts longer than this many characters may break into lines."""
SECONDS, PERCENT, DIFFERENCE = " (s)", "share, %", "difference"
EXACT = 2**53
"""Whole numbers from here on are not exact in a browser: they are sent as decimal texts."""


def sortable(table: pd.DataFrame, file: str, height: int = 420) -> dict[str, Any]:
    """Columns, raw values and their texts; `height` in CSS pixels is where the table starts to scroll.

    Raw values are what the CSV holds: whole numbers, unrounded floats, texts; None where there is none.
    """
    columns, values, texts = [], [], []
    figures = table["figure"].tolist() if "figure" in table else [""] * len(table)
    for name, cells in table.items():
        is_number = _all_numbers(cells)
        own = [_raw(x) for x in cells.tolist()]
        shown = _by_figure(str(name), figures, own) if is_number else ["" if x is None else str(x) for x in own]
        columns.append({
            "name": str(name), "title": str(name).replace(SECONDS, ""), "number": is_number,
            "long": max(map(len, shown), default=0) > LONG,
        })  # fmt: skip
        values.append(own)
        texts.append(shown)
    return {
        "columns": columns, "rows": list(zip(*values, strict=True)), "texts": list(zip(*texts, strict=True)),
        "label": ", ".join(str(c) for c in table), "file": file, "height": height,
    }  # fmt: skip


def _all_numbers(cells: pd.Series) -> bool:
    """Whether a column holds figures only; whole and other numbers may stand in one column."""
    if pd.api.types.is_bool_dtype(cells):
        return False
    found = cells.dropna()
    return bool(pd.api.types.is_numeric_dtype(cells) or (len(found) and found.map(lambda x: isinstance(x, Real)).all()))


def _by_figure(name: str, figures: Sequence[str], values: Sequence[Any]) -> list[str]:
    """Texts of a column in which each row names its own figure; rows of one figure have one precision."""
    texts = [""] * len(values)
    for figure in dict.fromkeys(figures):
        places = [i for i, f in enumerate(figures) if f == figure]
        own = _texts(f"{figure}, {name}" if figure else name, [values[i] for i in places])
        for i, text in zip(places, own, strict=True):
            texts[i] = text
    return texts


def _raw(value: Any) -> Any:
    """A value that JSON can hold."""
    if value is None or value is pd.NA or (isinstance(value, float) and not isfinite(value)):
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) if isinstance(value, int) and abs(value) >= EXACT else value


def _texts(name: str, values: Sequence[Any]) -> list[str]:
    """Figures of one column, all to the same precision: whole numbers exact, others to the last digit that counts.

    Times, whose column ends in (s), have the unit that suits each of them.
    """
    if SECONDS in name:
        sign = "+" if name.endswith(DIFFERENCE) else ""
        return ["" if x is None else _time(x, sign) for x in values]
    if name == PERCENT:
        return ["< 0.01" if x is not None and 0 < x < 0.005 else _text(name, x, ",.2f") for x in values]
    numbers = [abs(x) for x in values if isinstance(x, float) and x]
    smallest = min(numbers, default=1.0)
    pattern = ",.0f" if min(numbers, default=0.0) >= 1_000 else ",.2f" if smallest >= 0.01 else ",.3g"
    return ["" if x is None else _text(name, x, pattern) for x in values]


def _text(name: str, value: Any, pattern: str) -> str:
    number = int(value) if isinstance(value, str) else value
    if abs(number) >= 1_000 and pattern.endswith("g"):
        pattern = ",.0f"  # never in powers of ten
    if name.endswith(DIFFERENCE):
        return signed(number) if isinstance(number, int) else _with_sign(number, pattern)
    return f"{number:{',' if isinstance(number, int) else pattern}}".replace("-", "\N{MINUS SIGN}")


def _time(time_s: float, sign: str) -> str:
    before = "\N{MINUS SIGN}" if time_s < 0 else sign if time_s else ""
    return f"{before}{seconds(abs(time_s))}"


def _with_sign(number: float, pattern: str) -> str:
    return f"{number:+{pattern}}".replace("-", "\N{MINUS SIGN}") if number else "0"


def table_style() -> str:
    """Style of the sortable table; its colours are the page's."""
    return (Path(__file__).parent / "statistics_table.css").read_text(encoding="utf-8")


def table_script() -> str:
    """An ES module that draws, sorts, searches and saves one table."""
    return (Path(__file__).parent / "statistics_table.js").read_text(encoding="utf-8")
