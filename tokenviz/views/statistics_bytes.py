"""Charts and tables of the bytes: what one token moves, from where, and how that grows with the context."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

import altair as alt
import pandas as pd

from tokenviz.context import FIELDS, STATE_FIELDS, Dependence, log_positions
from tokenviz.views.charts import PHONE, AnyChart, Data, labelled_bars, legend, log_axis, theme_of, titled
from tokenviz.views.format import share, si
from tokenviz.views.palette import Theme

ORIGINS = {
    "weights": "active weights", "kv_read": "K/V read", "kv_write": "K/V append", "state_read": "recurrent state read",
    "state_write": "recurrent state write", "conv_read": "convolution window read",
    "conv_write": "convolution window write",
}  # fmt: skip
LIFETIME_OF = {field: "static" if field == "weights" else "state" for field in FIELDS}
LINES = {
    "active weights": ("weights",), "K/V": ("kv_read", "kv_write"),
    "fixed-size state": ("state_read", "state_write", "conv_read", "conv_write"),
}  # fmt: skip
CHART_CONTEXTS = (1, 10_000_000)
"""Contexts of the growth chart; its end moves on to a chosen context beyond it."""
MOST_POINTS = 200
"""Points of a curve. Where pieces are many, they are far out and too short to be seen."""


def traffic_table(found: Dependence, context: int, tokens_per_s: float) -> pd.DataFrame:
    """Bytes of one token by origin: total, share, bytes/s, fixed part and slope, and each block kind."""
    piece = found.piece(context)
    kinds = sorted({r.block for r in found.rows})
    rows = []
    for field, name in ORIGINS.items():
        own = found.bytes_of(field)
        line = piece.line(own)
        rows.append({
            "origin": name, "lifetime": LIFETIME_OF[field], "bytes": line.at(context), "fixed part": line.intercept,
            "per cached position": line.slope, "bytes/s": round(line.at(context) * tokens_per_s),
            **{k: piece.line([r for r in own if r.block == k]).at(context) for k in kinds},
        })  # fmt: skip
    table = pd.DataFrame(rows)
    table.insert(3, "share", table["bytes"] / table["bytes"].sum())
    return table[table["bytes"] > 0].reset_index(drop=True)


def state_share(found: Dependence, context: int) -> float:
    """The part of a token's bytes that is state, not weights."""
    state = found.value(found.bytes_of(*STATE_FIELDS), context)
    return state / found.value(found.bytes_of(*FIELDS), context)


def growth_data(found: Dependence, context: int) -> dict[str, pd.DataFrame]:
    """Rows of the growth chart: `growth` (origin, context, bytes), `lines` (the origins that have any bytes), `here`
    (none for an empty cache, which no log axis has), `cross` (state overtakes weights)."""
    growth, cross = _growth(found, max(context, CHART_CONTEXTS[1]))
    rows = [(n, found.value(found.bytes_of(*FIELDS), n)) for n in (context,) if n >= CHART_CONTEXTS[0]]
    here = pd.DataFrame(rows, columns=["context", "bytes"])
    return {"growth": growth, "lines": growth[["origin"]].drop_duplicates(), "cross": cross, "here": here}


@lru_cache(maxsize=8)
def _growth(found: Dependence, last: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The lines up to a context and their crossing: the same for every chosen context within the chart."""
    even = log_positions(CHART_CONTEXTS[0], last, 12)
    points = sorted({*even, *islice(_ends(found, last), MOST_POINTS - len(even))})
    lines = {name: found.bytes_of(*fields) for name, fields in (*LINES.items(), ("all", FIELDS))}
    rows = [(name, n, found.value(own, n)) for name, own in lines.items() for n in points]
    growth = pd.DataFrame(rows, columns=["origin", "context", "bytes"])
    growth = growth[growth.groupby("origin")["bytes"].transform("max") > 0]
    weights = found.bytes_of("weights")
    cross = found.crossover(found.bytes_of("kv_read"), weights)
    crossing = []
    if cross is not None and 0 < cross <= last:
        crossing = [(cross, found.value(weights, cross), f"{cross:,}")]
    return growth, pd.DataFrame(crossing, columns=["context", "bytes", "label"])


def _ends(found: Dependence, last: int) -> Iterator[int]:
    """Where the pieces before a context end; a jump is a piece of its own, so that both its sides are ends."""
    end = found.piece(0).stop
    while end < last:
        yield end
        end = found.piece(end + 1).stop


def fills(theme: str) -> list[str]:
    """Colours of the lines: weights and K/V in their lifetimes' hues, fixed state apart from K/V, the sum muted."""
    colours = theme_of(theme)
    return [colours.lifetimes["static"].outline, colours.lifetimes["state"].outline, "#CC79A7", colours.muted]


def growth_chart(data: Data, *, theme: str = "light", finding: str = "") -> AnyChart:
    """Bytes per token against the context, both on log axes; the crossing and the chosen context are marked."""
    colours = theme_of(theme)
    x = alt.X("context:Q", scale=alt.Scale(type="log", nice=False),
              axis=alt.Axis(title="cached positions (log scale)", format="~s", grid=False, tickCount=7))  # fmt: skip
    y = alt.Y("bytes:Q", scale=alt.Scale(type="log", nice=True), axis=log_axis("bytes per token (log scale)"))
    names = [*LINES, "all"]
    listed = legend(None, symbolType="stroke", symbolStrokeWidth=2.5, symbolSize=260,
                    values=alt.ExprRef("pluck(data('lines'), 'origin')"))  # fmt: skip
    colour = alt.Color("origin:N", scale=alt.Scale(domain=names, range=fills(theme)), legend=listed)
    dashes = alt.Scale(domain=names, range=[*([1, 0] for _ in LINES), [4, 3]])
    count = alt.Tooltip("bytes:Q", format=",")
    tip = ["origin:N", alt.Tooltip("context:Q", format=",", title="cached positions"), count]
    lines = alt.Chart(data["growth"]).mark_line(strokeWidth=2.5).encode(
        x=x, y=y, color=colour, strokeDash=alt.StrokeDash("origin:N", scale=dashes, legend=listed),
    )  # fmt: skip
    hover = alt.Chart(data["growth"]).mark_point(size=90, opacity=0, filled=True).encode(x=x, y=y, tooltip=tip)
    # Nothing to see: the rows that the legend lists.
    present = alt.Chart(data["lines"]).mark_point(opacity=0, aria=False).encode(detail="origin:N")
    cross = alt.Chart(data["cross"]).encode(x=x, y=y)
    here = alt.Chart(data["here"])
    return alt.layer(
        lines, hover, present,
        here.mark_rule(color=colours.accent, strokeWidth=1.5, strokeDash=[2, 2]).encode(x=x),
        here.mark_point(color=colours.accent, filled=True, size=80, opacity=1).encode(
            x=x, y=y, tooltip=[alt.Tooltip("context:Q", format=",", title="chosen context"), count]),
        cross.mark_point(color=colours.text, size=140, strokeWidth=2).encode(
            tooltip=[alt.Tooltip("context:Q", format=",", title="K/V reads exceed weights from"), count]),
        *_figure_of(cross, colours),
    ).properties(width="container", height=400, title=titled(finding))  # fmt: skip


def _figure_of(cross: alt.Chart, colours: Theme) -> list[alt.Chart]:
    """The crossing's position below its ring, on the side where there is room; a halo keeps lines out of it."""
    narrow = f"windowSize()[0] < {PHONE}"
    sides = {
        "datum.context < 100000": "false", "datum.context >= 100000 && datum.context < 3000000": narrow,
        "datum.context >= 3000000": "true",
    }  # fmt: skip
    halo: dict[str, Any] = {"stroke": colours.background, "strokeWidth": 4, "aria": False}
    return [
        cross.transform_filter(where)
        .mark_text(
            color=colours.text, fontSize=12, dy=20, align=alt.ExprRef(f"{left} ? 'right' : 'left'"),
            dx=alt.ExprRef(f"{left} ? 2 : 10"), **look,
        )
        .encode(text="label:N")
        for where, left in sides.items()
        for look in (halo, {})
    ]  # fmt: skip


def split_data(found: Dependence, context: int) -> dict[str, pd.DataFrame]:
    """Rows of the one-bar chart: origin, bytes, share, label."""
    rows = [(name, found.value(found.bytes_of(*fields), context)) for name, fields in LINES.items()]
    table = pd.DataFrame(rows, columns=["origin", "bytes"])
    table["share"] = table["bytes"] / table["bytes"].sum()
    table["label"] = [f"{si(n, 'B')} · {share(s)}" for n, s in zip(table["bytes"], table["share"], strict=True)]
    return {"split": table[table["bytes"] > 0].assign(order=lambda d: range(len(d)))}


def split_chart(data: Data, *, bars: int, theme: str = "light", finding: str = "") -> AnyChart:
    """What the bytes of one token are."""
    return labelled_bars(
        data["split"], y="origin:N", x="bytes:Q", bars=bars, theme=theme,
        colour=alt.Color("origin:N", scale=alt.Scale(domain=list(LINES), range=fills(theme)[:3]), legend=None),
        tooltip=["origin:N", alt.Tooltip("bytes:Q", format=","), alt.Tooltip("share:Q", format=".2%")],
    ).properties(title=titled(finding))  # fmt: skip
