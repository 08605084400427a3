"""The inspector: one station of the prediction map with its equation, its dimensions and its numbers."""

from collections.abc import Sequence
from functools import partial
from html import escape
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from tokenviz import ui
from tokenviz.decoder.events import outputs, read, sizes
from tokenviz.decoder.generate import Advance
from tokenviz.decoder.lens import readings
from tokenviz.decoder.model import Decoder
from tokenviz.decoder.recompute import check
from tokenviz.decoder.stations import MapNode, Port, PredictionMap
from tokenviz.decoder.worked import WAYS
from tokenviz.ui_network_cell import choose, more, on_click, worked
from tokenviz.views import network_files as files
from tokenviz.views import network_html, network_text
from tokenviz.views import network_values as values
from tokenviz.views.format import share
from tokenviz.views.network_panes import grid, not_allowed, piece_names, window_pieces

ATTENTION = ("scores", "mask", "softmax")
ENDS = ("logits", "probabilities", "select")
TOP = 20
Array = Any


def inspect(decoder: Decoder, found: PredictionMap, made: Advance, name: str) -> None:
    """Everything about one station, for the last token made."""
    node = found.nodes[name]
    _head(decoder, found, made, node)
    if node.kind in ("text", "tokens", "context", "return"):
        _loop(decoder, made, node)
    elif node.kind in ENDS:
        _shares(decoder, made, node)
    if node.kind in ("sharing", *ATTENTION):
        _sharing(made)
    if node.kind in ATTENTION:
        _over_text(decoder, found, made, node)
    if node.kind == "residual":
        _lens(decoder, found, made)
    _dimensions(found, made, node)
    _numbers(decoder, found, made, node)


def _dark() -> bool:
    return bool(st.context.theme.type == "dark")


def _theme() -> str:
    return "dark" if _dark() else "light"


# ------------------------------------------------------------------------------------------------ what it is


def _head(decoder: Decoder, found: PredictionMap, made: Advance, node: MapNode) -> None:
    parts = []
    if node.event is not None:
        result = check(decoder, found, made, node)
        tick = "✓ recomputed from its parents" if result.agrees else "✗ does not agree with its parents"
        parts = [f"step {node.event + 1} of {len(found.steps)}", f"{tick}, to {_tiny(result.difference)}"]
    st.markdown(f"#### {network_text.heading(node)}")
    st.caption(" · ".join(parts) or "records no step of its own: it holds or hands on")
    st.markdown(network_text.lesson(node))
    if equation := network_text.equation(node):
        st.latex(equation)


def _tiny(difference: float) -> str:
    return "the last digit" if difference == 0 else f"{difference:.1g}"


def _dimensions(found: PredictionMap, made: Advance, node: MapNode) -> None:
    """Inputs and outputs with symbolic and actual dimensions."""
    extent = sizes(made)
    ports = [("in", p) for p in node.inputs if not p.weight] + [("weight", p) for p in node.inputs if p.weight]
    ports += [("out", p) for p in node.outputs]
    if node.kind == "weights":  # it computes nothing: what its readers see of it
        ports = [(f"read by {network_text.label(n)}", p) for n in found.nodes.values() for p in n.inputs
                 if p.source == node.id]  # fmt: skip
    if not ports:
        return
    rows = "".join(_row(found, extent, way, port, node) for way, port in ports)
    if node.kind == "select":  # its result is the token itself, not a value of the graph
        rows += _cells("out", "id", "one number", "1", "to Return")
    st.html(
        '<table style="font-size:0.88rem; border-spacing: 0 2px"><tr style="opacity:.7; text-align:left"><th></th>'
        + "".join(f'<th style="padding-right:14px">{name}</th>' for name in ("value", "dimensions", "now", "from, to"))
        + f"</tr>{rows}</table>"
    )
    letters = dict.fromkeys(d for _, p in ports for d in p.dims if d in network_text.REASONS)
    st.caption(" · ".join(dict.fromkeys(network_text.reason(d, extent) for d in letters)))


def _row(found: PredictionMap, extent: dict[str, int], way: str, port: Port, node: MapNode) -> str:
    now = " × ".join(f"{np.prod([extent[d] for d in dims.split()]):,}" for dims in port.dims)
    source = "learned" if port.weight else "computed from the position"
    if way == "out":
        source = _readers(found, port, node)
    elif port.source:
        source = f"from {_called(found.nodes[port.source], node)}"
    return _cells(way, network_text.value_name(port.name, node.kind), network_text.dims(port.dims), now, source)


def _called(other: MapNode, node: MapNode) -> str:
    """Another station's name as seen from `node`: with its region only where that is another one."""
    return network_text.heading(other) if other.region != node.region else network_text.label(other).lstrip("+ ")


def _readers(found: PredictionMap, port: Port, node: MapNode) -> str:
    """Where a value goes: the stations that read it."""
    several = len(node.outputs) > 1  # each reader names the value that it reads by its first letter
    readers = [
        other for other in found.nodes.values() for p in other.inputs
        if p.source == node.id and (not several or p.name[0] == port.name[0])
    ]  # fmt: skip
    return "to " + ", ".join(dict.fromkeys(_called(other, node) for other in readers)) if readers else "this step"


def _cells(*cells: str) -> str:
    return "<tr>" + "".join(f'<td style="padding-right:14px">{escape(cell)}</td>' for cell in cells) + "</tr>"


# ------------------------------------------------------------------------------------------------ special views


def _loop(decoder: Decoder, made: Advance, node: MapNode) -> None:
    """The text's way into the model and back."""
    pieces = decoder.tokenizer
    if node.kind == "text":
        ids = made.session.ids[:-1]
        st.html(
            f'<div class="tv-said">{"".join(map(network_html.piece_html, window_pieces(pieces.pieces(ids))))}</div>'
        )
    elif node.kind == "return":
        st.html(network_html.chips([pieces.piece(made.token)], [made.token], 0, 1))
        st.markdown(f"Number **{made.token}** goes to position **{made.attended}** (counted from 0) of the context.")
    else:
        st.html(network_html.chips(pieces.pieces(made.window), made.window, 0, 0))
        st.markdown(
            f"Computed now: n = **{made.positions}**. Available in the keys: m = **{made.attended}** of "
            f"{decoder.window}."
        )


def _shares(decoder: Decoder, made: Advance, node: MapNode) -> None:
    """The 20 most likely tokens before and after temperature, top-k and top-p, and the draw."""
    draw, pieces = made.draw, decoder.tokenizer
    vocabulary = pieces.pieces(range(pieces.size))
    sampling = made.sampling
    if node.kind == "select":
        taken = ui.plain(piece_names([vocabulary[draw.token]])[0])
        st.html(network_html.draw_bar(draw, vocabulary))
        st.caption(
            "Greedy takes the largest share; nothing is drawn."
            if draw.number is None
            else f"The shares lie end to end from 0 to 1. Seed {sampling.seed} gave the number {draw.number:.4f} for "
            f"this place of the text; the token above it is taken: {taken}."
        )
    rows = []
    for rank, token in enumerate(draw.order[:TOP]):
        name = f"{piece_names([vocabulary[token]])[0]} ({token})"
        for when, shares in (("before", draw.before), ("after", draw.after)):
            part, logit = float(shares[token]), values.exact(float(made.result.logits[-1, token]))
            rows.append((rank, name, when, part, f"{part * 100:.7f} % (logit {logit})"))
    frame = pd.DataFrame(rows, columns=["rank", "token", "when", "share", "text"])
    how = "greedy" if sampling.greedy else f"temperature {sampling.temperature:g}"
    how += f", top-k {sampling.top_k}" if sampling.top_k else ""
    how += f", top-p {sampling.top_p:g}" if sampling.top_p < 1 else ""
    title = f"share of the {TOP} most likely, before and after ({how})"
    st.altair_chart(
        values.bars(frame, title, 1 / pieces.size, _theme()),
        key="network.bars",
        alt=f"Bar chart: {title}. {_first(rows)}",
    )
    kept = int(np.count_nonzero(draw.after))
    st.caption(
        f"Dashed line: a blind guess, 1/{pieces.size:,} = {100 / pieces.size:.4f} %. All {pieces.size:,} shares add "
        f"up to {draw.before.sum():.12g} before and {draw.after.sum():.12g} after; {kept:,} tokens can be drawn."
    )


def _first(rows: Sequence[tuple[int, str, str, float, str]]) -> str:
    """The most likely token before and after, in words."""
    return "; ".join(f"{when}: {name} {share(part)}" for rank, name, when, part, _ in rows if rank == 0) + "."


def _over_text(decoder: Decoder, found: PredictionMap, made: Advance, node: MapNode) -> None:
    """Where one position looked: the text shaded by the shares of attention of each head."""
    softmax = next(n for n in found.of_kind("softmax") if n.region == node.region)
    shares = next(iter(outputs(made, softmax).values()))
    pieces = window_pieces(decoder.tokenizer.pieces(made.window))
    first, query = made.attended - made.positions, made.attended - 1
    if made.positions > 1:
        query = st.select_slider(
            "Position that looks", range(first, made.attended), query, key=f"network.query {made.positions}",
            format_func=lambda i: f"{i} {piece_names([pieces[i]])[0]}",
        )  # fmt: skip
    st.markdown("**Attention over the text**, by head; the position that looks has a dashed frame")
    group = shares.shape[2]
    for k in range(shares.shape[1]):
        for g in range(group):
            row = shares[query - first, k, g]
            st.caption(f"head {k * group + g}, reads key/value head {k} = ⌊{k * group + g}/{group}⌋")
            st.html(network_html.attention(pieces, row.tolist(), query, _dark()))


def _sharing(made: Advance) -> None:
    """Which query heads read which key/value head."""
    extent = sizes(made)
    st.html(network_html.sharing(extent["K"] * extent["G"], extent["K"]))
    st.caption(f"query head h reads key/value head ⌊h/{extent['G']}⌋; nothing is copied")


def _lens(decoder: Decoder, found: PredictionMap, made: Advance) -> None:
    """What the stream would say after each block."""
    st.markdown("**What would it say now?** The last position's stream, read as if the model ended here")
    rows = []
    for reading in readings(decoder, found, made):
        place = "Embedding" if reading.region == "input" else f"After {reading.region}"
        names = [f"{piece_names([decoder.tokenizer.piece(i)])[0]}  {part * 100:.1f} %" for i, part in reading.best]
        rows.append((place, *names))
    st.dataframe(pd.DataFrame(rows, columns=["place", "1st", "2nd", "3rd"]), hide_index=True, key="network.lens")


# ------------------------------------------------------------------------------------------------ the numbers


def _numbers(decoder: Decoder, found: PredictionMap, made: Advance, node: MapNode) -> None:
    """Heat map, window, statistics, table and files of one of the station's values."""
    if node.role == "text" or node.kind in ("sharing", "weights", "select"):
        return
    ports = [*node.outputs, *(p for p in node.inputs if not (node.kind == "cache" or p.dims == ("T",)))]
    names = [_choice(node, i, port) for i, port in enumerate(ports)]
    chosen = 0
    if len(ports) > 1:
        picked = st.segmented_control(
            "Numbers of", range(len(ports)), default=0, required=True, format_func=names.__getitem__,
            key=f"network.port {node.id}",
        )  # fmt: skip
        chosen = int(picked or 0)
    port = ports[chosen]
    array = read(made, port)
    pieces = decoder.tokenizer
    window = window_pieces(pieces.pieces(made.window))
    seen = not_allowed(array, made.positions) if node.kind == "softmax" and chosen == 0 else array
    shown = grid(port, seen, window, made.positions, pieces.pieces(range(pieces.size)))
    stats = values.statistics(seen)
    part = _window(shown, int(np.argmax(seen[-1])) if shown.column_title == "token" else 0)
    cell = choose(node, chosen, shown, part) if node.kind in WAYS and chosen < len(node.outputs) else None
    answer = worked(decoder, found, made, node, chosen, shown, cell) if cell else None
    alt = f"Heat map of {names[chosen]} at {network_text.heading(node)}: {values.said(shown, stats)}"
    spec = values.heat(shown, part, stats, _theme(), cell.at if cell else None)
    if cell is None:
        st.vega_lite_chart(None, spec, width="stretch", key="network.heat", alt=alt)
    else:
        key = "network.heat cells"
        st.vega_lite_chart(
            None, spec, width="stretch", key=key, alt=alt, selection_mode="cell",
            on_select=partial(on_click, key, cell.of),
        )  # fmt: skip
    if (said := part.says(shown)) != "":
        st.caption(said)
    if shown.new_row is not None or shown.new_column is not None:
        st.caption(_kept(made))
    if cell and answer:
        more(decoder, made, shown, cell, answer)
    _statistics(stats, shown.shares)
    axes = files.named_axes(port, array.shape, window, made.positions, pieces.pieces(range(pieces.size)))
    _files(shown, part, array, axes, f"{node.id}.{port.name}")


def _kept(made: Advance) -> str:
    """Which cached positions are old and which new, with the marks that the heat map bears."""
    kept, new = made.attended - made.positions, made.positions
    if not kept:
        return f"◆ the keys and values of all {new} positions are new in this advance; nothing was reused"
    reused = "position 0" if kept == 1 else f"positions 0 to {kept - 1}"
    fresh = f"position {kept} is" if new == 1 else f"positions {kept} to {kept + new - 1} are"
    return f"◇ keys and values of {reused} were reused from the cache · ◆ {fresh} new in this advance"


def _choice(node: MapNode, number: int, port: Port) -> str:
    name = network_text.value_name(port.name, node.kind)
    if number < len(node.outputs):
        return f"{name} (out)" if node.kind != "cache" else name
    return f"{name} (weight)" if port.weight else f"{name} (in)"


def _window(shown: values.Grid, best: int) -> values.Window:
    """The part that is drawn: at first the latest positions and keys, the first coordinates, the best token."""
    height, width = values.room(shown)
    rows, columns = shown.shape
    attention = shown.column_title == "key"
    row = column = 0
    if rows > height:
        row = st.slider("First row", 0, rows - height, rows - height, key=f"network.row {rows} {height}")
    if columns > width:
        start = columns - width if attention else max(0, min(columns - width, best - width // 2))
        column = st.slider("First column", 0, columns - width, start, key=f"network.col {columns} {width} {start}")
    return values.window(shown, row, column)


def _statistics(stats: values.Statistics, shares: bool) -> None:
    if not stats.count:
        return
    reach = (
        f"the largest, from 0 to {values.exact(stats.most)}"
        if shares
        else f"the 1st or the 99th percentile, whichever is farther from 0 ({values.exact(stats.p1)}, "
        f"{values.exact(stats.p99)})"
    )
    hidden = f" · {stats.hidden:,} not allowed (×)" if stats.hidden else ""
    st.caption(
        f"{stats.count:,} values{hidden} · true minimum {values.exact(stats.least)}, true maximum "
        f"{values.exact(stats.most)} · mean {values.exact(stats.mean)} · standard deviation "
        f"{values.exact(stats.deviation)} · colours reach {reach}"
    )


def _files(shown: values.Grid, part: values.Window, array: Array, axes: Sequence[files.Axis], name: str) -> None:
    with st.expander("As a table, as files", key="network.files", on_change="rerun") as opened:
        if not opened.open:
            return
        st.dataframe(values.table(shown, part), hide_index=True, height=260, key="network.table")
        stem = name.replace("′", "'").replace(" ", "-")
        left, right = st.columns(2)
        left.download_button(
            "CSV, all values",
            lambda: files.csv(array, axes),
            f"{stem}.csv",
            "text/csv",
            on_click="ignore",
            key="network.csv",
        )
        right.download_button(
            "npz, all values", lambda: files.npz(array, axes), f"{stem}.npz", on_click="ignore", key="network.npz"
        )
