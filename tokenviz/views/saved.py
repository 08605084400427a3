"""What stays for the next token: a ledger by kind of block, and how it grows with the context.

kept_rows(step, scenario) -> Row, ...           exact bytes
ledger_columns(rows) -> {header: column}        for a CSV
ledger_cells(rows) -> (columns, rows of texts)   for people
finding(rows) -> sentence
growth_rows(architecture, scenario) -> rows     total state at contexts from 1 to the longest
growth_spec(rows, now, context, theme) -> dict  the same as a chart
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from tokenviz.architecture import Architecture
from tokenviz.graph import DecodeStep, StateKind
from tokenviz.scenario import MAX_CONTEXT, Scenario
from tokenviz.trace import trace
from tokenviz.traffic import dtype_of, value_bytes
from tokenviz.views.format import exact, plural, si
from tokenviz.views.palette import THEMES
from tokenviz.views.pipeline_groups import groups
from tokenviz.views.pipeline_text import appended_bytes

# altair is imported where it is used: the drawing above this ledger is on the screen before it loads.

GROWS = (StateKind.GROWING, StateKind.WINDOW)
HOW = {
    StateKind.GROWING: "grows", StateKind.WINDOW: "grows until its window is full",
    StateKind.RECURRENT: "fixed, rewritten in place", StateKind.CONVOLUTION: "fixed, the oldest column leaves",
}  # fmt: skip
GROWING_NAME, FIXED_NAME = "growing: caches", "fixed: recurrent and convolution state"


@dataclass(frozen=True, slots=True)
class Row:
    """One kept thing of one kind of block; bytes are exact, of one sequence."""

    block: str  # key of the drawn block
    title: str
    kept: str
    kind: StateKind
    precision: str
    layer_bytes: int
    layers: int
    grows_bytes: int  # per layer and token; 0 when the size is fixed

    @property
    def total_bytes(self) -> int:
        """Over all layers."""
        return self.layer_bytes * self.layers

    @property
    def total_grows_bytes(self) -> int:
        """Per token over all layers."""
        return self.grows_bytes * self.layers


def kept_rows(step: DecodeStep, scenario: Scenario) -> tuple[Row, ...]:
    """Everything that one sequence keeps, kind of block by kind of block, in drawing order."""
    return tuple(
        Row(
            group.key, group.block.label, state.name, state.kind,
            dtype_of(group.block.values[state.read], scenario),
            value_bytes(group.block.values[state.read], scenario), group.count,
            appended_bytes(group.block, state, scenario) // step.positions if state.kind in GROWS else 0,
        )
        for group in groups(step)
        for state in group.block.states
    )  # fmt: skip


def ledger_columns(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Columns of the ledger as a file: exact bytes."""
    return {
        "block": [r.title for r in rows],
        "kept": [r.kept for r in rows],
        "how": [HOW[r.kind] for r in rows],
        "precision": [r.precision for r in rows],
        "bytes_per_layer": [r.layer_bytes for r in rows],
        "layers": [r.layers for r in rows],
        "total_bytes": [r.total_bytes for r in rows],
        "growth_per_token_bytes": [r.total_grows_bytes for r in rows],
    }


LEDGER = ("block", "keeps", "per layer", "layers", "total now", "per token", "how", "precision")


def ledger_cells(rows: Sequence[Row]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The ledger for people: column names, and rows in SI units with a last one that adds them up."""
    cells = [
        (r.title, r.kept, si(r.layer_bytes, "B"), exact(r.layers), si(r.total_bytes, "B"), _grows(r.total_grows_bytes),
         HOW[r.kind], r.precision)
        for r in rows
    ]  # fmt: skip
    total, grows = sum(r.total_bytes for r in rows), sum(r.total_grows_bytes for r in rows)
    return LEDGER, [*cells, ("All", "", "", "", si(total, "B"), _grows(grows), "", "")]


def _grows(size: int) -> str:
    return f"+{si(size, 'B')}" if size else "0 B"


def finding(rows: Sequence[Row]) -> str:
    """What each kind of layer keeps, in one sentence for each kind that keeps anything."""
    sentences = []
    for key in dict.fromkeys(r.block for r in rows):
        own = [r for r in rows if r.block == key]
        fixed = [r for r in own if r.kind not in GROWS]
        caches = [r for r in own if r.kind in GROWS]
        parts = [f"rewrites {si(r.layer_bytes, 'B')} of {r.kept} ({r.precision}) in place" for r in fixed]
        if caches:
            grown, size = sum(r.grows_bytes for r in caches), sum(r.layer_bytes for r in caches)
            parts.append(f"appends {si(grown, 'B')} per token to {si(size, 'B')}")
        sentences.append(f"Each of {plural(own[0].layers, f'{own[0].title} layer')} {' and '.join(parts)}.")
    return " ".join(sentences) or "This model keeps nothing from token to token."


def now_bytes(rows: Sequence[Row]) -> dict[str, int]:
    """Bytes kept now, the growing and the fixed part apart."""
    return {
        GROWING_NAME: sum(r.total_bytes for r in rows if r.kind in GROWS),
        FIXED_NAME: sum(r.total_bytes for r in rows if r.kind not in GROWS),
    }


# ------------------------------------------------------------------------------------------------ growth


@lru_cache(maxsize=32)
def growth_rows(architecture: Architecture, scenario: Scenario) -> tuple[tuple[int, str, int], ...]:
    """(context, growing or fixed, bytes) at contexts from 1 to the longest; the scenario's own plays no part.

    Every point is read off a step traced at that context, so that windows and chunks bend the line where they should.
    """
    found: list[tuple[int, str, int]] = []
    for context in _stops():
        at = replace(scenario, context=context)
        found += ((context, name, size) for name, size in now_bytes(kept_rows(trace(architecture, at), at)).items())
    return tuple(found)


def _stops() -> tuple[int, ...]:
    """1, 2, 5, 10, ... up to the longest context."""
    stops, power = [], 1
    while power <= MAX_CONTEXT:
        stops += [digit * power for digit in (1, 2, 5) if digit * power <= MAX_CONTEXT]
        power *= 10
    return tuple(stops)


def growth_spec(
    rows: Sequence[tuple[int, str, int]], now: Mapping[str, int], context: int, theme: str
) -> dict[str, Any]:
    """Bytes kept against cached positions, both logarithmic, growing and fixed apart, as a Vega-Lite specification.

    `now` holds the bytes at the chosen context under the two names; a rule marks that context.
    """
    at = max(1, context)
    points = [
        {"context": at, "part": name, "bytes": size, "label": f"{name.split(':')[0]} {si(size, 'B')}"}
        for name, size in now.items() if size > 0
    ]  # fmt: skip
    lines = [{"context": c, "part": n, "bytes": b, "size": si(b, "B")} for c, n, b in rows if b > 0]
    data = {"growth": lines, "now": points, "mark": [{"context": at}]}
    return {**_template("dark" if theme == "dark" else "light", at > 100_000), "datasets": data}


@lru_cache(maxsize=4)
def _template(theme: str, late: bool) -> dict[str, Any]:
    """The chart without its rows; labels stand at the left of their points where the context is `late`."""
    import altair as alt

    colours = THEMES[theme]
    ink, dashes = [colours.lifetimes["state"].outline, colours.muted], [[1, 0], [5, 3]]
    names = [GROWING_NAME, FIXED_NAME]
    x = alt.X(
        "context:Q", scale=alt.Scale(type="log", domain=[1, MAX_CONTEXT]),
        axis=alt.Axis(title="cached positions (log scale)", labelExpr="format(datum.value, '~s')", grid=False,
                      values=[10**power for power in range(0, 9, 2)]),
    )  # fmt: skip
    y = alt.Y(
        "bytes:Q", scale=alt.Scale(type="log"),
        axis=alt.Axis(title="kept, bytes (log scale)", labelExpr="format(datum.value, '~s') + 'B'",
                      tickCount=5, gridOpacity=0.4),
    )  # fmt: skip
    colour = alt.Color("part:N", scale=alt.Scale(domain=names, range=ink), legend=None)
    dash = alt.StrokeDash("part:N", scale=alt.Scale(domain=names, range=dashes), legend=None)
    tip = [alt.Tooltip("part:N", title="part"), alt.Tooltip("context:Q", title="cached positions", format=","),
           alt.Tooltip("size:N", title="kept")]  # fmt: skip
    points = alt.Chart(alt.NamedData(name="now"))
    chart = alt.layer(
        alt.Chart(alt.NamedData(name="mark")).mark_rule(color=colours.muted, strokeDash=[2, 3]).encode(x),
        alt.Chart(alt.NamedData(name="growth")).mark_line(strokeWidth=2.2).encode(x, y, colour, dash, tooltip=tip),
        points.mark_circle(size=70, opacity=1).encode(x, y, colour),
        *(
            points.transform_filter(alt.datum.part == name)
            .mark_text(align="right" if late else "left", dx=-9 if late else 9, dy=dy, fontSize=12, fontWeight=600)
            .encode(x, y, colour, text="label:N")
            for name, dy in ((GROWING_NAME, -10), (FIXED_NAME, 13))
        ),
    )  # fmt: skip
    made: dict[str, Any] = chart.properties(height=260, width="container").to_dict()
    return made
