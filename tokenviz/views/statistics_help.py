"""Charts and tables of what would help, and of the bounds that a machine sets."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from tokenviz.machines import Bounds, Machine, RooflinePoint, peak_of
from tokenviz.scenario import Scenario
from tokenviz.views.charts import (
    BAR,
    HEAD,
    SI_LABEL,
    AnyChart,
    Data,
    inside,
    kind_scale,
    labelled_bars,
    legend,
    quiet,
    ranked,
    room_beside,
    si_axis,
    theme_of,
    titled,
)
from tokenviz.views.format import seconds, si, times
from tokenviz.whatif import Outcome, relieved

ROOF_DOMAIN = (0.1, 10_000.0)
LABELS_FROM = 0.02
"""The shown axis begins here: the room up to the roof's first point holds the labels of the value axes."""
RESOURCE_WORDS = {
    "weight bytes": "bandwidth for weights", "state bytes": "bandwidth for state", "chain": "the serial chain",
    "operations": "operations", "MACs": "arithmetic",
}  # fmt: skip


def relief(base: Outcome, outcome: Outcome) -> str:
    """One line: which resource a change relieves, by how much for each token, and what it leaves as it is."""
    helped = [name for name in relieved(base, outcome) if name != "operations"]
    if not helped:
        return "Relieves nothing."
    least = {"weight bytes"} if outcome.fewest_weight_bytes != outcome.most_weight_bytes else set()
    words = [
        f"{RESOURCE_WORDS[name]} ({'at least ' if name in least else ''}{times(_ratio(base, outcome, name))} less)"
        for name in helped
    ]
    left = [RESOURCE_WORDS[n] for n in ("weight bytes", "state bytes", "chain") if n not in helped]
    rest = f"; {_and(left)} {'stays' if len(left) == 1 else 'stay'}" if left else ""
    return f"Relieves {_and(words)}{rest}."


def _ratio(base: Outcome, outcome: Outcome, name: str) -> float:
    return base.per_token[name] / outcome.per_token[name]


def _and(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def whatif_table(outcomes: Mapping[str, Outcome]) -> pd.DataFrame:
    """One row for each change, the first is the base: figures of a step and of a token, and what is relieved."""
    base = next(iter(outcomes.values()))
    return pd.DataFrame([
        {
            "change": name,
            "relieves": "the base" if o is base else relief(base, o),
            "tokens per step": o.tokens,
            "operations per step": o.operations,
            "critical path per step": o.critical_path,
            "critical path per token": o.per_token["chain"],
            "least bytes per token": o.fewest_bytes / o.tokens,
            "most bytes per token": o.most_bytes / o.tokens,
            "FLOP per byte, least": o.intensity(o.most_bytes),
            "FLOP per byte, most": o.intensity(o.fewest_bytes),
            "state kept (bytes)": o.kept_bytes,
        }
        for name, o in outcomes.items()
    ])  # fmt: skip


def whatif_data(outcomes: Mapping[str, Outcome]) -> dict[str, pd.DataFrame]:
    """Rows: change, part (weights, state), bytes per token; and `least`, where experts may coincide."""
    rows, least = [], []
    for i, (name, o) in enumerate(outcomes.items()):
        rows += [(i, name, "weights", o.most_weight_bytes / o.tokens), (i, name, "state", o.state_bytes / o.tokens)]
        fewest, most = o.fewest_bytes / o.tokens, o.most_bytes / o.tokens
        low, label = si(fewest, "B"), si(most, "B")
        if low == label:
            fewest = most  # rows of the embedding that coincide: nothing that a chart could show
        else:
            label = f"{low} to {label}"
        least.append((i, name, fewest, most, label))
    return {
        "parts": pd.DataFrame(rows, columns=["order", "change", "part", "bytes"]),
        "least": pd.DataFrame(least, columns=["order", "change", "fewest", "most", "label"]),
    }


def whatif_chart(data: Data, *, bars: int, theme: str = "light", finding: str = "") -> AnyChart:
    """Bytes per token under each change: weights and state; a tick where experts that coincide would end the bar."""
    colours = theme_of(theme)
    y = alt.Y("change:N", sort=ranked(), axis=quiet(title=None, labelLimit=170, labelOverlap=False))
    marks = alt.Chart(data["parts"]).mark_bar(height={"band": 0.7}).encode(
        y=y, x=alt.X("bytes:Q", stack="zero", axis=si_axis("bytes per token")),
        color=alt.Color("part:N", scale=alt.Scale(domain=["weights", "state"], range=[
            colours.lifetimes["static"].outline, colours.lifetimes["state"].outline]),
            legend=alt.Legend(title=None, orient="top", symbolType="square")),
        order=alt.Order("part:N", sort="descending"),
        tooltip=["change:N", "part:N", alt.Tooltip("bytes:Q", format=",.0f", title="bytes per token")],
    )  # fmt: skip
    ends = alt.Chart(data["least"])
    ticks = (
        ends.transform_filter("datum.fewest < datum.most")
        .mark_tick(color=colours.text, thickness=2, height={"band": 0.9})
        .encode(y=y, x="fewest:Q")
    )
    figures = ends.mark_text(align="left", dx=5, color=colours.text, fontSize=12).encode(
        y=y, x="most:Q", text="label:N"
    )
    return alt.layer(marks, ticks, figures, room_beside(data["least"], "most", 125)).properties(
        width="container", height=BAR * bars + HEAD + 100, title=titled(finding)
    )


# ------------------------------------------------------------------------------------------------ a machine


def bounds_table(found: Bounds) -> pd.DataFrame:
    """One row for each resource: lower bound in seconds, tokens/s it allows, whether it binds."""
    return pd.DataFrame([
        {"resource": name, "lower bound (s)": s, "at most tokens/s": 1 / s if s else float("inf"),
         "binds": name == found.binds}
        for name, s in found.by_resource.items()
    ])  # fmt: skip


def bounds_data(found: Bounds) -> dict[str, pd.DataFrame]:
    """Rows: resource, seconds, whether it binds, label."""
    ranked_bounds = sorted(found.by_resource.items(), key=lambda item: -item[1])
    rows = [(name, s, name == found.binds, seconds(s), i) for i, (name, s) in enumerate(ranked_bounds)]
    return {"bounds": pd.DataFrame(rows, columns=["resource", "seconds", "binds", "label", "order"])}


def bounds_chart(data: Data, *, bars: int, theme: str = "light", finding: str = "") -> AnyChart:
    """The least time of one token by resource; the one that binds is coloured."""
    colours = theme_of(theme)
    return labelled_bars(
        data["bounds"], y="resource:N", x="seconds:Q", bars=bars, theme=theme,
        colour=alt.condition("datum.binds", alt.value(colours.accent), alt.value(colours.edge)),
        tooltip=["resource:N", alt.Tooltip("label:N", title="at least"), "binds:N"],
    ).properties(title=titled(finding))  # fmt: skip


def roofline_table(points: Sequence[RooflinePoint], machine: Machine, scenario: Scenario) -> pd.DataFrame:
    """One row for each transform: MACs, bytes, FLOP per byte, the ceiling it sits under, its least time."""
    peak = peak_of(machine, scenario)
    rows = []
    for p in points:
        bandwidth_s = p.bytes_moved / machine.bandwidth_bytes_per_s
        compute_s = 2 * p.macs / peak[1] if peak else 0.0
        ceiling = "on chip: no bytes" if not p.bytes_moved else "compute" if compute_s > bandwidth_s else "bandwidth"
        rows.append({"block": p.block, "kind": p.kind, "transform": p.transform, "count": p.count, "MACs": p.macs,
                     "bytes": p.bytes_moved, "FLOP per byte": p.intensity, "ceiling": ceiling,
                     "lower bound, one device (s)": max(bandwidth_s, compute_s)})  # fmt: skip
    return pd.DataFrame(rows).sort_values(
        "lower bound, one device (s)", ascending=False, kind="stable", ignore_index=True
    )


def roofline_data(points: Sequence[RooflinePoint], machine: Machine, scenario: Scenario) -> dict[str, pd.DataFrame]:
    """Rows: `points` (transforms that move bytes and multiply) and the `roof`. The longest have a label."""
    table = roofline_table(points, machine, scenario)
    peak = peak_of(machine, scenario)
    on_roof = table[(table["MACs"] > 0) & (table["bytes"] > 0)]
    shown = pd.DataFrame({
        **{c: on_roof[c] for c in ("block", "kind", "transform", "MACs", "bytes", "ceiling")},
        "intensity": on_roof["FLOP per byte"],
        "flops": (on_roof["FLOP per byte"] * machine.bandwidth_bytes_per_s).clip(upper=peak[1] if peak else None),
        "seconds": on_roof["lower bound, one device (s)"],
        "least": [seconds(s) for s in on_roof["lower bound, one device (s)"]],
        "label": _labels(on_roof),
    })  # fmt: skip
    low, high = ROOF_DOMAIN
    top = float(peak[1]) if peak else float("inf")
    ridge = top / machine.bandwidth_bytes_per_s
    bends = (low, *((ridge,) if low < ridge < high else ()), high)
    roof = [(x, min(x * machine.bandwidth_bytes_per_s, top)) for x in bends]
    return {"points": shown, "roof": pd.DataFrame(roof, columns=["intensity", "flops"])}


def _labels(rows: pd.DataFrame, most: int = 5) -> list[str]:
    """Names for the longest transforms, one name for those in the same spot, none where they would touch."""
    labels = [""] * len(rows)
    spots = list(zip(rows["FLOP per byte"], rows["lower bound, one device (s)"], strict=True))
    placed: list[tuple[float, float]] = []
    for i, (x, s) in enumerate(spots):
        if len(placed) < most and all(s < 0.5 * there or max(x, at) > 10 * min(x, at) for at, there in placed):
            placed.append((x, s))
            same = [rows["transform"].iloc[j] for j, spot in enumerate(spots) if spot == (x, s)]
            names = list(dict.fromkeys(same))
            labels[i] = ", ".join(names) if len(names) < 3 else f"{names[0]} and {len(names) - 1} more"
    return labels


def roofline_chart(
    data: Data, *, kinds: tuple[tuple[str, str], ...], theme: str = "light", finding: str = ""
) -> AnyChart:
    """Every transform under the machine's roof; below, on the same axis, the least time that each of them takes."""
    colours = theme_of(theme)
    scale = alt.Scale(type="log", domain=[LABELS_FROM, ROOF_DOMAIN[1]], nice=False)
    colour = alt.Color("kind:N", scale=kind_scale(kinds), legend=legend("block kind"))
    tip = ["transform:N", "block:N", alt.Tooltip("intensity:Q", format=".3~r", title="FLOP per byte"),
           alt.Tooltip("MACs:Q", format=","), alt.Tooltip("bytes:Q", format=","), "ceiling:N",
           alt.Tooltip("least:N", title="at least")]  # fmt: skip
    axis: dict[str, Any] = {
        "labelExpr": "datum.value < 1 ? datum.value : format(datum.value, '~s')",
        "grid": False,
        "values": [0.1, 1, 10, 100, 1_000, ROOF_DOMAIN[1]],
        "labelFlush": True,
    }
    x = alt.X("intensity:Q", scale=scale, axis=alt.Axis(title=None, **axis))
    above = {"titleAngle": 0, "titleAlign": "left", "titleX": 0, "titleY": -20}
    y = alt.Y("flops:Q", scale=alt.Scale(type="log", nice=True), axis=inside(
        labelExpr=SI_LABEL, title="At most FLOP/s, on one device (log scale)", **above))  # fmt: skip
    dots: dict[str, Any] = {"opacity": 0.85, "size": 90, "stroke": colours.background, "strokeWidth": 1}
    roof = alt.Chart(data["roof"]).mark_line(color=colours.muted, strokeWidth=2).encode(x=x, y=y)
    on_it = alt.Chart(data["points"]).mark_circle(**dots).encode(x=x, y=y, color=colour, tooltip=tip)
    below = alt.Chart(data["points"]).encode(
        x=alt.X("intensity:Q", scale=scale, axis=alt.Axis(title="FLOP per byte (log scale)", **axis)),
        y=alt.Y("seconds:Q", scale=alt.Scale(type="log", nice=True), axis=inside(
            labelExpr=f"{SI_LABEL} + 's'", title="Least time of each transform, on one device (log scale)", **above)),
    )  # fmt: skip
    times = below.mark_circle(**dots).encode(color=colour, tooltip=tip)
    # Names on the left run below the dots on the right, which a phone brings close to them.
    names = [
        below.transform_filter(where).mark_text(align="left", dx=9, dy=dy, color=colours.text, fontSize=12)
        .encode(text="label:N") for where, dy in (("datum.intensity < 5", 1), ("datum.intensity >= 5", -4))
    ]  # fmt: skip
    return alt.vconcat(
        alt.layer(roof, on_it).properties(width="container", height=170),
        alt.layer(times, *names).properties(width="container", height=250),
        spacing=44,
    ).properties(title=titled(finding))  # fmt: skip
