"""Charts of time: what runs at each timestep, how often how many run at once, and how long things could wait."""

from functools import lru_cache
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from tokenviz.graph import DecodeStep
from tokenviz.schedule import Placed, block_starts, schedule_block
from tokenviz.timeline import CriticalShare, block_at, critical_path, lanes, runs, slack, widths
from tokenviz.views.charts import (
    AnyChart,
    Data,
    class_scale,
    inside,
    kind_scale,
    labelled_bars,
    legend,
    theme_of,
    titled,
)
from tokenviz.views.format import share
from tokenviz.views.statistics_work import kind_names

COLOURINGS = ("operation class", "block kind")
CELL = 26
INSIDE: Any = {"param": "part", "empty": False}
"""Within the window; without one (a click clears it) nothing is drawn, rather than ten thousand cells."""
WIDE_ENOUGH = (
    "isDefined(part.t) && datum.end - datum.t > 0.15 * (part.t[1] - part.t[0])"
    " && datum.t < part.t[1] - 0.15 * (part.t[1] - part.t[0])"
)
"""A block's name is written where the window leaves room for it."""


def timeline_data(step: DecodeStep, t: int) -> dict[str, pd.DataFrame]:
    """Rows of the picture: `runs` (the profile, run-length encoded), `blocks`, `cells` (one for each operation), `ops`
    (what a cell is), and `now` (the chosen timestep)."""
    operations = {key: lanes(block) for key, block in step.blocks.items()}
    first, offset = {}, 0
    for key, block in step.blocks.items():
        first[key], offset = offset, offset + len(block.ops)
    starts = block_starts(step)
    relative = {key: np.array([(x.t, x.lane) for x in ops], dtype=np.int32) for key, ops in operations.items()}
    parts = [
        np.column_stack((relative[ref.block] + (start, 0), first[ref.block] + np.arange(len(operations[ref.block])),
                         np.full(len(operations[ref.block]), place)))
        for place, (ref, start) in enumerate(zip(step.sequence, starts, strict=True))
    ]  # fmt: skip
    # Small integers: ten thousand rows are sent to the browser, and again when they change.
    cells = pd.DataFrame(np.concatenate(parts), columns=["t", "lane", "op", "place"])
    cells = cells.apply(pd.to_numeric, downcast="integer")
    return {
        "runs": pd.DataFrame([(r.start, r.end, r.width) for r in runs(step)], columns=["t", "end", "width"]),
        "blocks": _block_rows(step, starts),
        "cells": cells,
        "ops": _op_rows(step),
        "now": pd.DataFrame({"t": [t]}),
    }


def _block_rows(step: DecodeStep, starts: list[int]) -> pd.DataFrame:
    blocks, names = [step.blocks[ref.block] for ref in step.sequence], dict(kind_names(step))
    return pd.DataFrame({
        "place": range(len(blocks)),
        "t": starts,
        "end": [t + schedule_block(b).depth for t, b in zip(starts, blocks, strict=True)],
        "kind": [names[b.kind] for b in blocks],
        "block": [b.label for b in blocks],
        "layer": ["" if ref.layer is None else str(ref.layer) for ref in step.sequence],
    })  # fmt: skip


def _op_rows(step: DecodeStep) -> pd.DataFrame:
    names = dict(kind_names(step))
    rows = [
        (x.op.label, block.transform_by_id[x.transform].title, x.op.op_class.value, names[block.kind],
         x.transform in schedule_block(block).critical)
        for block in step.blocks.values() for x in lanes(block)
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["operation", "transform", "class", "kind", "critical"]).assign(
        op=range(len(rows))
    )


def window_at(step: DecodeStep, t: int, around: int = 1) -> tuple[int, int]:
    """Timesteps of the block that runs at t and of `around` blocks on either side (more on one side at the ends)."""
    starts = block_starts(step)
    place = block_at(step, t)
    low = max(0, min(place - around, len(starts) - 1 - 2 * around))
    high = min(len(starts) - 1, low + 2 * around)
    return starts[low], starts[high] + schedule_block(step.blocks[step.sequence[high].block]).depth


def timeline_chart(
    data: Data, *, kinds: tuple[tuple[str, str], ...], lane_count: int, last: int, window: tuple[int, int] = (0, 1),
    colour: str = COLOURINGS[0], theme: str = "light", finding: str = "",
) -> AnyChart:  # fmt: skip
    """The whole token above, a window of it below; dragging above moves the window, without asking the server.

    Above: operations running at each timestep, over a strip of the blocks. Below: one cell for each operation, a row
    for each parallel lane; cells on the critical path have a dark outline.
    """
    brush = alt.selection_interval(name="part", encodings=["x"], value={"x": list(window)})
    above = _overview(data, brush, kinds, last, lane_count, theme)
    below = _detail(data, brush, kinds, lane_count, colour, theme)
    both: alt.VConcatChart = alt.vconcat(above, below, spacing=12).resolve_scale(color="independent")
    return both.properties(title=titled(finding))


def _overview(
    data: Data, brush: alt.Parameter, kinds: tuple[tuple[str, str], ...], last: int, peak: int, theme: str
) -> AnyChart:
    colours = theme_of(theme)
    whole = alt.Scale(domain=[0, last], nice=False)
    profile = (
        alt.Chart(data["runs"])
        .mark_rect(color=colours.edge, opacity=0.9)
        .encode(
            x=alt.X("t:Q", scale=whole, axis=alt.Axis(title=None, grid=False, tickCount=6, format=",d")),
            x2="end:Q",
            y=alt.Y("width:Q", axis=inside(labelExpr="datum.value + ' at once'", values=[peak], grid=False)),
            y2=alt.value(56),
        )
        .add_params(brush)
    )
    strip = (
        alt.Chart(data["blocks"])
        .mark_rect(height=8)
        .encode(
            x=alt.X("t:Q", scale=whole), x2="end:Q", y=alt.value(64),
            color=alt.Color("kind:N", scale=kind_scale(kinds), legend=legend("block kind")),
            tooltip=["block:N", "layer:N", alt.Tooltip("t:Q", title="from timestep", format=",d"),
                     alt.Tooltip("end:Q", title="to", format=",d")],
        )
    )  # fmt: skip
    now = alt.Chart(data["now"]).mark_rule(color=colours.accent, strokeWidth=2).encode(x="t:Q")
    return alt.layer(profile, strip, now).properties(width="container", height=70)


def _detail(
    data: Data, brush: alt.Parameter, kinds: tuple[tuple[str, str], ...], lane_count: int, colour: str, theme: str
) -> AnyChart:
    colours = theme_of(theme)
    by_class = colour == COLOURINGS[0]
    looked_up = {"operation": None, "transform": None, "class": None, "kind": None, "critical": None}
    window = alt.X("t:Q", scale=alt.Scale(domain=brush, nice=False),
                   axis=alt.Axis(title="timestep (one operation each)", grid=False, format=",d"))  # fmt: skip
    cells = (
        alt.Chart(data["cells"])
        .transform_filter(INSIDE)
        .transform_lookup("op", from_=alt.LookupData(data["ops"], "op", list(looked_up)))
        .transform_lookup("place", from_=alt.LookupData(data["blocks"], "place", ["block", "layer"]))
        .transform_calculate(end="datum.t + 1", row="'lane ' + (datum.lane + 1)")
        .mark_rect(clip=True, strokeWidth=1.5)
        .encode(
            x=window, x2="end:Q",
            y=alt.Y("row:N", axis=None, scale=alt.Scale(domain=[f"lane {i + 1}" for i in range(lane_count)])),
            color=alt.Color("class:N" if by_class else "kind:N", scale=class_scale() if by_class else kind_scale(kinds),
                            legend=legend("operation class") if by_class else None),
            stroke=alt.condition("datum.critical", alt.value(colours.text), alt.value(colours.background)),
            tooltip=["operation:N", "transform:N", "class:N", "block:N", "layer:N", "critical:N",
                     alt.Tooltip("t:Q", title="timestep", format=",d")],
        )
    )  # fmt: skip
    names = (
        alt.Chart(data["blocks"])
        .transform_filter(INSIDE)
        .transform_filter(WIDE_ENOUGH)
        .transform_calculate(name="(datum.layer == '' ? '' : 'layer ' + datum.layer + ' · ') + datum.block")
        .mark_text(align="left", baseline="bottom", dx=2, dy=-3, color=colours.muted, fontSize=11, clip=False)
        .encode(x=window, y=alt.value(0), text="name:N")
    )
    edges = (
        alt.Chart(data["blocks"])
        .transform_filter(INSIDE)
        .mark_rule(color=colours.muted, strokeWidth=1, clip=True)
        .encode(x=window, y=alt.value(-14), y2=alt.value(CELL * lane_count))
    )
    now = (
        alt.Chart(data["now"])
        .transform_filter(INSIDE)
        .transform_calculate(middle="datum.t + 0.5")
        .mark_rule(color=colours.accent, strokeWidth=2, clip=True)
        .encode(x="middle:Q")
    )
    return alt.layer(cells, edges, names, now).properties(width="container", height=CELL * lane_count)


def widths_data(step: DecodeStep) -> dict[str, pd.DataFrame]:
    """Rows: operations at once, timesteps, their share, operations."""
    found = widths(step)
    rows = pd.DataFrame({"width": list(found), "timesteps": list(found.values())})
    rows["share"] = rows["timesteps"] / rows["timesteps"].sum()
    rows["operations"] = rows["width"] * rows["timesteps"]
    rows["label"] = [f"{n:,} ({share(s)})" for n, s in zip(rows["timesteps"], rows["share"], strict=True)]
    return {"widths": rows.assign(order=range(len(rows)))}


def widths_chart(data: Data, *, bars: int, theme: str = "light", finding: str = "") -> AnyChart:
    """How many timesteps have 1, 2, 3, ... operations at once."""
    return labelled_bars(
        data["widths"], y="width:O", y_title="operations at once", x="timesteps:Q", bars=bars, theme=theme,
        colour=alt.value(theme_of(theme).accent),
        tooltip=["width:O", alt.Tooltip("timesteps:Q", format=","), alt.Tooltip("operations:Q", format=",")],
    ).properties(title=titled(finding))  # fmt: skip


def slack_data(step: DecodeStep) -> dict[str, pd.DataFrame]:
    """Rows: timesteps of slack, transforms and operations that have it."""
    rows = pd.DataFrame([(s.timesteps, s.transforms, s.operations) for s in slack(step)],
                        columns=["slack", "transforms", "operations"])  # fmt: skip
    return {"slack": rows.assign(label=[f"{n:,}" for n in rows["operations"]], order=range(len(rows)))}


def slack_chart(data: Data, *, bars: int, theme: str = "light", finding: str = "") -> AnyChart:
    """How many operations could start how much later without delaying anything."""
    return labelled_bars(
        data["slack"], y="slack:O", y_title="slack (timesteps)", x="operations:Q", bars=bars, theme=theme,
        colour=alt.value(theme_of(theme).accent),
        tooltip=["slack:O", alt.Tooltip("transforms:Q", format=","), alt.Tooltip("operations:Q", format=",")],
    ).properties(title=titled(finding))  # fmt: skip


def running_table(found: tuple[Placed, ...]) -> pd.DataFrame:
    """What runs at one timestep: operation, transform, block, place, class."""
    return pd.DataFrame({
        "operation": [p.op.label for p in found],
        "transform": [p.transform.title for p in found],
        "block": [p.block.label for p in found],
        "place": [p.ref.name for p in found],
        "class": [p.op.op_class.value for p in found],
    })  # fmt: skip


def critical_table(shares: tuple[CriticalShare, ...]) -> pd.DataFrame:
    """The critical path folded: block kind, transform in order, operations on the path over all layers.

    Blocks of one title are one group, in the order of the longest of their chains: the first layer may lack a norm.
    """
    chains: dict[str, dict[str, list[tuple[str, int]]]] = {}
    for s in shares:
        row = (s.block.transform_by_id[s.transform].title, s.operations)
        chains.setdefault(s.block.title, {}).setdefault(s.block.key, []).append(row)
    rows = [
        (title, *row) for title, own in chains.items() for chain in sorted(own.values(), key=len, reverse=True)
        for row in chain
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=["block", "transform", "operations"])
    return table.groupby(["block", "transform"], sort=False, as_index=False).sum()


@lru_cache(maxsize=4)
def path_table(step: DecodeStep) -> pd.DataFrame:
    """The critical path operation by operation; as many rows as timesteps where blocks end with their output."""
    return running_table(tuple(critical_path(step))).assign(timestep=[p.t for p in critical_path(step)])[
        ["timestep", "operation", "transform", "block", "place", "class"]
    ]
