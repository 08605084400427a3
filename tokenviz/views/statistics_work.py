"""Charts and tables of the work: operations by class and by name, and the arithmetic behind them."""

from collections.abc import Callable

import altair as alt
import pandas as pd

from tokenviz.context import Dependence, Row
from tokenviz.graph import COUNTERS, DecodeStep, Op, OpClass
from tokenviz.views.charts import (
    BAR,
    HEAD,
    AnyChart,
    Data,
    class_scale,
    labelled_bars,
    log_axis,
    quiet,
    ranked,
    theme_of,
    titled,
)
from tokenviz.views.format import share, si

FAMILY_NAMES = {
    "mac": "multiply–accumulate (MAC)", "multiply": "multiply", "add": "add, subtract", "compare": "compare",
    "exp": "exponential", "log": "logarithm", "log1p": "log(1 + x)", "rsqrt": "1/√x", "divide": "divide, reciprocal",
    "tanh": "tanh", "erf": "erf", "cos": "cosine", "sin": "sine",
}  # fmt: skip


def kinds_of(step: DecodeStep) -> tuple[str, ...]:
    """Block kinds in order of first use."""
    return tuple(dict.fromkeys(step.blocks[key].kind for key in step.multiplicity))


def kind_names(step: DecodeStep) -> tuple[tuple[str, str], ...]:
    """Block kinds in order of first use, each with the name it has in the drawing."""
    titles = {block.kind: block.title for block in step.blocks.values()}
    return tuple((kind, titles[kind]) for kind in kinds_of(step))


def worded(table: pd.DataFrame, step: DecodeStep) -> pd.DataFrame:
    """A table with the names of block kinds in place of their keys, in its header and in its cells."""
    names = dict(kind_names(step))
    cells = {c: [names.get(key, key) for key in table[c]] for c in ("block", "kind") if c in table}
    return table.assign(**cells).rename(columns=names)


def classes_table(step: DecodeStep) -> pd.DataFrame:
    """Operations by class, most frequent first: total, share, and each block kind times its multiplicity."""
    return _by_kind(step, "class", [c.value for c in OpClass], lambda op: op.op_class.value)


def labels_table(step: DecodeStep) -> pd.DataFrame:
    """Operations by the name they have in the drawing, most frequent first."""
    return _by_kind(step, "operation", [], lambda op: op.label)


def _by_kind(step: DecodeStep, what: str, names: list[str], name_of: Callable[[Op], str]) -> pd.DataFrame:
    kinds = kinds_of(step)
    counts = {name: dict.fromkeys(kinds, 0) for name in names}
    for block, count in step.folded():
        for op in block.ops:
            counts.setdefault(name_of(op), dict.fromkeys(kinds, 0))[block.kind] += count
    table = pd.DataFrame.from_dict(counts, orient="index", columns=list(kinds)).rename_axis(what).reset_index()
    total = table[list(kinds)].sum(axis=1)
    table.insert(1, "operations", total)
    table.insert(2, "share", total / total.sum())
    return table.sort_values("operations", ascending=False, kind="stable", ignore_index=True)


def by_kind(table: pd.DataFrame, step: DecodeStep, key: str, value: str) -> pd.DataFrame:
    """A row for each of a table's rows and block kinds that has something there, kinds under their names."""
    names = [name for name in dict(kind_names(step)).values() if name in table]
    rows = table[[key, *names]].melt([key], names, "block", value)
    order = {name: i for i, name in enumerate(table[key])}
    rows = rows.sort_values(key, key=lambda cells: cells.map(order), kind="stable", ignore_index=True)
    return rows[rows[value] > 0].reset_index(drop=True)


def classes_data(step: DecodeStep) -> dict[str, pd.DataFrame]:
    """Rows of the class chart: class, operations, label."""
    rows = classes_table(step)[["class", "operations", "share"]]
    rows = rows[rows["operations"] > 0]
    labels = [f"{n:,} ({share(s)})" for n, s in zip(rows["operations"], rows["share"], strict=True)]
    return {"classes": rows.assign(label=labels, order=range(len(rows)))}


def classes_chart(data: Data, *, bars: int, theme: str = "light", finding: str = "") -> AnyChart:
    """Operations by class, in the classes' own colours."""
    return labelled_bars(
        data["classes"], y="class:N", x="operations:Q", bars=bars, theme=theme,
        colour=alt.Color("class:N", scale=class_scale(), legend=None),
        tooltip=["class:N", alt.Tooltip("operations:Q", format=","), alt.Tooltip("share:Q", format=".2%")],
    ).properties(title=titled(finding))  # fmt: skip


# ------------------------------------------------------------------------------------------------ arithmetic


def families_table(found: Dependence, context: int) -> pd.DataFrame:
    """Scalar operations by family, most frequent first: total = fixed part + slope × context, and by block kind."""
    piece = found.piece(context)
    kinds = sorted({r.block for r in found.rows})
    rows = []
    for counter in COUNTERS:
        own = [r for r in found.rows if r.what == counter]
        line = piece.line(own)
        by_kind = {k: piece.line([r for r in own if r.block == k]).at(context) for k in kinds}
        rows.append({"family": FAMILY_NAMES[counter], "total": line.at(context), "fixed part": line.intercept,
                     "per cached position": line.slope, **by_kind})  # fmt: skip
    table = pd.DataFrame(rows)
    return table[table["total"] > 0].sort_values("total", ascending=False, kind="stable", ignore_index=True)


def ledger_table(found: Dependence, context: int) -> pd.DataFrame:
    """Every row of the ledger: family, block kind, transform, total = fixed part + slope × context."""
    piece = found.piece(context)
    lines = [(row, piece.lines.get(row)) for row in found.rows if row.what != "bytes"]
    rows = [
        {"family": FAMILY_NAMES[row.what], "block": row.block, "transform": row.of, "total": line.at(context),
         "fixed part": line.intercept, "per cached position": line.slope}
        for row, line in lines if line is not None
    ]  # fmt: skip
    return pd.DataFrame(rows).sort_values("total", ascending=False, kind="stable", ignore_index=True)


def exponentials_split(found: Dependence, context: int) -> dict[str, int]:
    """Exponentials of softmaxes over the attended positions (those that grow with the context), and all others."""

    def attends(row: Row) -> bool:
        return row.what == "exp" and any(p.lines[row].slope for p in found.pieces if row in p.lines)

    attention, total = found.select(attends), found.select(lambda r: r.what == "exp")
    grown = found.value(attention, context)
    return {"attention softmax": grown, "all others": found.value(total, context) - grown}


def exponentials_table(found: Dependence, context: int) -> pd.DataFrame:
    """The same as a table."""
    split = exponentials_split(found, context)
    return pd.DataFrame({"exponentials": list(split), "total": list(split.values())})


def families_data(found: Dependence, context: int) -> dict[str, pd.DataFrame]:
    """Rows of the family chart: family, total, the part that no context changes, label."""
    table = families_table(found, context)[["family", "total", "fixed part", "per cached position"]]
    table = table.rename(columns={"fixed part": "fixed", "per cached position": "slope"})
    return {"families": table.assign(label=[si(n) for n in table["total"]], order=range(len(table)))}


def families_chart(data: Data, *, bars: int, theme: str = "light", finding: str = "") -> AnyChart:
    """Scalar operations by family on a log axis; a tick marks what would be left with an empty cache."""
    colours = theme_of(theme)
    scale = alt.Scale(type="log", domainMin=1, nice=True)
    base = alt.Chart(data["families"]).encode(
        y=alt.Y("family:N", sort=ranked(), axis=quiet(title=None, labelLimit=190, labelOverlap=False))
    )
    x = alt.X("total:Q", scale=scale, axis=log_axis(
        "scalar operations for one token (log scale)", tickCount=6))  # fmt: skip
    marks = base.mark_bar(color=colours.accent, height={"band": 0.7}).encode(
        x=x, x2=alt.datum(1),
        tooltip=["family:N", alt.Tooltip("total:Q", format=","), alt.Tooltip("fixed:Q", format=",", title="fixed part"),
                 alt.Tooltip("slope:Q", format=",", title="per cached position")],
    )  # fmt: skip
    ticks = (
        base.transform_filter("datum.fixed >= 1 && datum.slope > 0")
        .mark_tick(color=colours.background, thickness=3, height={"band": 0.7})
        .encode(x=alt.X("fixed:Q", scale=scale))
    )
    figures = base.mark_text(align="left", dx=5, color=colours.text, fontSize=12).encode(x=x, text="label:N")
    return alt.layer(marks, ticks, figures).properties(
        width="container", height=BAR * bars + HEAD + 50, title=titled(finding)
    )
