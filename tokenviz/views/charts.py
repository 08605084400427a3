"""What all charts share: named data, colours of both themes, axes with units, and a title that states the finding.

A chart function takes `data`, a mapping from a name to rows. With DataFrames the chart is complete in itself. With
`named(...)` in their place it is a template, which can be made once and filled again and again: building and
validating a chart costs far more than its rows do.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import altair as alt
import pandas as pd

from tokenviz.views.format import wrapped
from tokenviz.views.palette import OP_FILL, THEMES, Theme

BAR = 26
"""Height in pixels of a bar with its gap."""
HEAD = 64
"""Height that a title takes, wrapped on a phone; a chart's height includes it."""
AXIS_TITLE = 24
"""Height that the title of the bars' axis takes above them."""

SI_LABEL = "format(datum.value, '~s')"
DECADE = "abs(log(datum.value) / LN10 - round(log(datum.value) / LN10)) < 1e-9"
"""Whether a tick of a log axis is a power of ten."""

PHONE = 640
"""Windows narrower than this many pixels get wrapped titles and legends."""

Rows = pd.DataFrame | alt.NamedData
Data = Mapping[str, Rows]
AnyChart = alt.LayerChart | alt.FacetChart | alt.VConcatChart

# Block kinds in Tol's bright scheme: told apart by colour-blind readers, and visible on both themes' backgrounds.
KIND_FILL: Mapping[str, str] = {
    "deltanet": "#4477AA", "attention": "#EE6677", "ffn": "#228833", "moe": "#CCBB44", "output": "#AA3377",
    "lookup": "#BBBBBB",
}  # fmt: skip
_MORE_FILLS = ("#66CCEE", "#EE7733", "#009988", "#EE3377", "#997700")


def named(names: Iterable[str]) -> dict[str, alt.NamedData]:
    """Stand-ins for rows that come later, under the same names."""
    return {name: alt.NamedData(name=name) for name in names}


def theme_of(name: str) -> Theme:
    """The theme's colours; light unless it is dark."""
    return THEMES["dark" if name == "dark" else "light"]


def titled(finding: str) -> alt.Title:
    """The finding as the chart's title: one line, or several on a phone."""
    return alt.Title(
        text=alt.ExprRef(_title(finding)), anchor="start", frame="bounds", fontSize=14, lineHeight=18, offset=10
    )


def _title(finding: str) -> str:
    """A Vega expression; JSON keeps whatever the finding quotes inside its string."""
    return f"windowSize()[0] < {PHONE} ? {json.dumps(wrapped(finding))} : {json.dumps(finding)}"


def class_scale() -> alt.Scale:
    """Operation classes in their one set of colours."""
    return alt.Scale(domain=list(OP_FILL), range=list(OP_FILL.values()))


def kind_scale(kinds: Iterable[tuple[str, str]]) -> alt.Scale:
    """Block kinds, each with its name, in colours that stay the same from chart to chart."""
    kinds = list(kinds)
    unknown = [k for k, _ in kinds if k not in KIND_FILL]
    fills = {**KIND_FILL, **dict(zip(unknown, _MORE_FILLS * len(unknown), strict=False))}
    return alt.Scale(domain=[name for _, name in kinds], range=[fills[k] for k, _ in kinds])


def ranked() -> alt.EncodingSortField:
    """Rows in the order of their numbered column `order`; the one kind of sort that layers can share."""
    return alt.EncodingSortField("order", op="min")


def legend(title: str | None, columns: int = 8, **changes: Any) -> alt.Legend:
    """A legend below the chart, in two columns on a phone."""
    return alt.Legend(**{
        "title": title, "orient": "bottom", "columns": alt.ExprRef(f"windowSize()[0] < {PHONE} ? 2 : {columns}"),
        "symbolSize": 110, "symbolType": "square", "labelLimit": 180, "titleFontWeight": "normal", "offset": 4,
        "rowPadding": 2, **changes,
    })  # fmt: skip


def labelled_bars(
    rows: Rows, *, y: str, x: str, bars: int, colour: Any, tooltip: list[Any], theme: str, y_title: str | None = None
) -> AnyChart:
    """Horizontal bars from zero with their figures (`label`) beside them, in the order of `order`.

    What the bars are named by (`y_title`) stands above them: beside them it would be longer than a few bars are high.
    """
    above = {"titleAngle": 0, "titleAlign": "left", "titleBaseline": "bottom", "titleX": 0, "titleY": -6}
    axis = quiet(title=y_title, labelLimit=190, labelOverlap=False, **(above if y_title else {}))
    base = alt.Chart(rows).encode(y=alt.Y(y, sort=ranked(), axis=axis), x=alt.X(x, axis=None))
    marks = base.mark_bar(height={"band": 0.72}).encode(color=colour, tooltip=tooltip)
    figures = base.mark_text(align="left", dx=5, color=theme_of(theme).text, fontSize=12).encode(text="label:N")
    room = room_beside(rows, x.removesuffix(":Q"), 110)
    height = BAR * bars + HEAD + (AXIS_TITLE if y_title else 0)
    return alt.layer(marks, figures, room).properties(width="container", height=height)


def room_beside(rows: Rows, field: str, pixels: int) -> alt.Chart:
    """Nothing to see: makes the axis of `field` long enough for a text of so many pixels beside the longest bar."""
    chart: alt.Chart = (
        alt.Chart(rows)
        .transform_aggregate(most=f"max({field})")
        .transform_calculate(room=f"datum.most * width / max(width - {pixels}, {pixels})")
        .mark_point(opacity=0, aria=False)
        .encode(x="room:Q")
    )
    return chart


def inside(**changes: Any) -> alt.Axis:
    """A value axis whose labels stand inside the plot: charts above each other have no room beside it."""
    return alt.Axis(**{
        "title": None, "labelAlign": "left", "labelBaseline": "bottom", "labelPadding": -2, "labelOffset": -2,
        "ticks": False, "domain": False, "gridOpacity": 0.4, "tickCount": 4, "labelExpr": SI_LABEL, **changes,
    })  # fmt: skip


def quiet(**changes: Any) -> alt.Axis:
    """An axis with few lines."""
    return alt.Axis(**{"grid": False, "ticks": False, "domain": False, "labelPadding": 6, **changes})


def si_axis(title: str, **changes: Any) -> alt.Axis:
    """A value axis with SI prefixes (giga as G) and a title that names the unit."""
    return alt.Axis(
        **{"title": title, "labelExpr": SI_LABEL, "tickCount": 5, "gridOpacity": 0.4, "domain": False, **changes}
    )


def log_axis(title: str, **changes: Any) -> alt.Axis:
    """A log axis with SI prefixes: labels and gridlines at powers of ten alone.

    No label hides another here: the unlabelled ticks between the powers would take part in that.
    """
    return si_axis(title, **{
        "labelExpr": f"{DECADE} ? {SI_LABEL} : ''", "labelOverlap": False,
        "gridOpacity": {"condition": {"test": DECADE, "value": 0.4}, "value": 0}, **changes,
    })  # fmt: skip


def opened_at(spec: dict[str, Any], window: tuple[int, int]) -> dict[str, Any]:
    """A specification whose selection `part` starts at this window, so that one template serves all of them."""
    params = [{**p, "value": {"x": list(window)}} if p["name"] == "part" else p for p in spec["params"]]
    return {**spec, "params": params}


def filled(spec: Mapping[str, Any], data: Mapping[str, pd.DataFrame], finding: str) -> dict[str, Any]:
    """A template's specification with its rows and its title."""
    return {**spec, "title": {**spec["title"], "text": {"expr": _title(finding)}}, "datasets": dict(data)}
