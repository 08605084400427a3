"""Charts and tables of the bytes: what one token moves, from where, and how that grows with the context."""

from functools import lru_cache
from typing import Any

import altair as alt
import pandas as pd

from tokenviz.context import FIELDS, STATE_FIELDS, Dependence, log_positions
from tokenviz.views.charts import PHONE, AnyChart, Data, labelled_bars, legend, si_axis, theme_of, titled
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
    """Rows of the growth chart: `growth` (origin, context, bytes), `here`, `cross` (state overtakes weights)."""
    growth, cross = _growth(found)
    shown = min(max(context, 1), CHART_CONTEXTS[1])
    total = found.value(found.bytes_of(*FIELDS), shown)
    here = pd.DataFrame({"context": [shown], "bytes": [total], "label": [si(total, "B")]})
    return {"growth": growth, "cross": cross, "here": here}


@lru_cache(maxsize=8)
def _growth(found: Dependence) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The lines and their crossing: the same for every chosen context."""
    points = log_positions(*CHART_CONTEXTS, 12)
    lines = {name: found.bytes_of(*fields) for name, fields in (*LINES.items(), ("all", FIELDS))}
    rows = [(name, n, found.value(own, n)) for name, own in lines.items() for n in points]
    growth = pd.DataFrame(rows, columns=["origin", "context", "bytes"])
    growth = growth[growth.groupby("origin")["bytes"].transform("max") > 0]
    weights = found.bytes_of("weights")
    cross = found.crossover(found.bytes_of("kv_read"), weights)
    crossing = []
    if cross is not None and 0 < cross <= CHART_CONTEXTS[1]:
        crossing = [(cross, found.value(weights, cross), f"{cross:,}")]
    return growth, pd.DataFrame(crossing, columns=["context", "bytes", "label"])


def fills(theme: str) -> list[str]:
    """Colours of the lines: weights and K/V in their lifetimes' hues, fixed state apart from K/V, the sum muted."""
    colours = theme_of(theme)
    return [colours.lifetimes["static"].outline, colours.lifetimes["state"].outline, "#CC79A7", colours.muted]


def growth_chart(data: Data, *, theme: str = "light", finding: str = "") -> AnyChart:
    """Bytes per token against the context, both on log axes; the crossing and the chosen context are marked."""
    colours = theme_of(theme)
    x = alt.X("context:Q", scale=alt.Scale(type="log", domain=list(CHART_CONTEXTS), nice=False),
              axis=alt.Axis(title="cached positions (log scale)", format="~s", grid=False, tickCount=7))  # fmt: skip
    y = alt.Y("bytes:Q", scale=alt.Scale(type="log", nice=True), axis=si_axis("bytes per token (log scale)"))
    colour = alt.Color("origin:N", scale=alt.Scale(domain=[*LINES, "all"], range=fills(theme)), legend=legend(None))
    count = alt.Tooltip("bytes:Q", format=",")
    tip = ["origin:N", alt.Tooltip("context:Q", format=",", title="cached positions"), count]
    lines = alt.Chart(data["growth"]).mark_line(strokeWidth=2.5).encode(
        x=x, y=y, color=colour,
        strokeDash=alt.condition("datum.origin == 'all'", alt.value([4, 3]), alt.value([1, 0])),
    )  # fmt: skip
    hover = (
        alt.Chart(data["growth"])
        .mark_point(size=90, opacity=0, filled=True)
        .encode(x=x, y=y, color=colour, tooltip=tip)
    )
    cross = alt.Chart(data["cross"]).encode(x=x, y=y)
    here = alt.Chart(data["here"])
    return alt.layer(
        lines, hover,
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
