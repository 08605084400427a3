"""Two sides beside each other: every figure here, there, and the signed difference, second minus first.

compared(this, other, keys, values)    two tables joined on their keys; with more than two figures, a row for each
"""

import pandas as pd

from tokenviz.views.format import signed
from tokenviz.views.statistics import Side

MOST_BESIDE = 2
"""Tables with more figures than this give each a row of its own: three columns for each would not fit a screen."""
FIGURE, SIDES = "figure", ("first", "second", "difference")


def compared(this: pd.DataFrame, other: pd.DataFrame, keys: list[str], values: list[str]) -> pd.DataFrame:
    """Each figure here, there, and the difference there − here; a row that one side lacks counts as 0 there."""
    table = _joined(this, other, keys, values)
    return table if len(values) <= MOST_BESIDE else _stacked(table, keys, values)


def _joined(this: pd.DataFrame, other: pd.DataFrame, keys: list[str], values: list[str]) -> pd.DataFrame:
    """Three columns for each figure; rows in the order of the first side, then those that only the second has."""
    here, there = (t.reindex(columns=keys + values, fill_value=0) for t in (this, other))
    table = here.merge(there, on=keys, how="outer", suffixes=("", " (second)"), sort=False)
    order = {key: i for i, key in enumerate(map(tuple, this[keys].astype(str).to_numpy()))}
    rank = [order.get(tuple(k), len(order)) for k in table[keys].astype(str).to_numpy()]
    table = table.iloc[sorted(range(len(table)), key=rank.__getitem__)].reset_index(drop=True)
    out = table[keys].copy()
    for value in values:
        whole = pd.api.types.is_integer_dtype(here[value]) and pd.api.types.is_integer_dtype(there[value])
        a, b = (table[c].fillna(0).astype("int64" if whole else "float64") for c in (value, f"{value} (second)"))
        # Equal is zero also where there is no figure but infinity.
        out[value], out[f"{value} (second)"], out[f"{value}, difference"] = a, b, (b - a).where(a != b, 0)
    return out


def _stacked(table: pd.DataFrame, keys: list[str], values: list[str]) -> pd.DataFrame:
    """A row for each figure of each row, but those that are nothing on both sides."""
    parts = []
    for value in values:
        part = table[keys].copy()
        part[FIGURE] = value
        for name, column in zip(SIDES, (value, f"{value} (second)", f"{value}, difference"), strict=True):
            part[name] = table[column].astype(object)  # whole numbers stay whole beside others
        parts.append(part)
    rows = pd.concat(parts).sort_index(kind="stable")
    rows = rows[(rows["first"] != 0) | (rows["second"] != 0)].reset_index(drop=True)
    whole = all(isinstance(x, int) for name in SIDES for x in rows[name])
    return rows.astype(dict.fromkeys(SIDES, "int64")) if whole else rows


def compared_sentence(this: Side, other: Side) -> str:
    """The headline differences, signed: the second minus the first."""
    a, b = this.summary, other.summary
    return (
        f"operations {signed(b.operations - a.operations)}, critical path {signed(b.critical_path - a.critical_path)}, "
        f"bytes per token {signed(other.traffic.total - this.traffic.total, 'B')}"
    )
