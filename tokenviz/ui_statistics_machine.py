"""The section about bounds on a machine: pick one from the cited table, or type one in."""

from collections.abc import Sequence
from types import MappingProxyType

import pandas as pd
import streamlit as st

from tokenviz import ui_link
from tokenviz.conventions import CONVENTIONS, totals
from tokenviz.ledger import arithmetic
from tokenviz.machines import Bounds, Machine, RooflinePoint, bounds, devices_that_fit, machines, peak_of, roofline
from tokenviz.prediction import loaded
from tokenviz.storage import weight_bytes
from tokenviz.traffic import kept
from tokenviz.ui_statistics_parts import both, draw, how_to_read, sides, table
from tokenviz.views import statistics_help as helps
from tokenviz.views.format import exact, plural, seconds, si
from tokenviz.views.statistics import Side
from tokenviz.views.statistics_work import kind_names, worded

OWN = "type your own"
CHAINS = ("fused", "drawn", "dataflow")
MOST_DEVICES = 100_000
LINKS_US, PEAKS, BANDWIDTHS, MEMORIES = (0.0, 1_000.0), (0.001, 1e6), (0.001, 1e4), (0.1, 1e7)


def checks() -> ui_link.Checks:
    """What this section's keys take in a link."""
    return {
        "machine": ui_link.one_of((*(m.name for m in machines()), OWN)),
        "devices": ui_link.optional(ui_link.whole(1, MOST_DEVICES)), "link": ui_link.number(*LINKS_US),
        "chain_counted": ui_link.one_of(CONVENTIONS[c].title for c in CHAINS), "own_peak": ui_link.number(*PEAKS),
        "own_bandwidth": ui_link.number(*BANDWIDTHS), "own_memory": ui_link.number(*MEMORIES),
    }  # fmt: skip


def on_a_machine(this: Side, other: Side | None) -> None:
    """Lower bounds on the time of one token, which of them binds, and every transform under the roof."""
    machine, devices, latency_s, chain = _ask()
    if devices is None and other is not None:
        devices = max(devices_that_fit(machine, needed_bytes(side)) for side in (this, other))
        st.caption(f"Both on {plural(devices, 'device')}: as many as hold the larger one.")
    for i, (name, side) in enumerate(sides(this, other)):
        b, used = _bounds(side, machine, devices, latency_s, chain)
        draw(helps.bounds_chart, helps.bounds_data(b), key=f"bounds{i}", alt="Lower bounds by resource.",
             finding=f"{name}At least {seconds(b.least_s)} a token: {_WORDS[b.binds]}")  # fmt: skip
        st.markdown(_fits(b, machine, used, side))
        points = roofline(side.step, side.scenario)
        drawn = {p.kind for p in points if p.bytes_moved and p.macs}
        kinds = tuple(pair for pair in kind_names(side.step) if pair[0] in drawn)
        data = helps.roofline_data(points, machine, side.scenario)
        data["points"] = worded(data["points"], side.step)
        draw(helps.roofline_chart, data, key=f"roof{i}", kinds=kinds, finding=name + _roof(points, machine, side),
             alt="Transforms under the roof.")  # fmt: skip
        with st.expander(f"{name}Every transform, its ceiling and its least time"):
            rows = helps.roofline_table(points, machine, side.scenario).drop(columns="kind")
            table(rows, side, key=f"roofline{i}")
    how_to_read(
        "These are bounds, not predictions: no machine reaches its peaks, and several devices are taken to share the "
        "work evenly and to talk to each other for free. The time of one link of the chain (launch, wait, synchronise) "
        "is your assumption. A dot is one transform, over all its layers, on one device: under the roof, and below it "
        "by its least time. Transforms that multiply nothing, or move no bytes, are in the table only. Arithmetic is "
        "bounded by the peak of the numbers that are multiplied: 8-bit weights in 8 bits where the machine has such a "
        "peak, all others in 16, to which 4-bit weights are widened; a kernel that multiplies fewer bits could pass it."
    )
    both(lambda side: helps.bounds_table(_bounds(side, machine, devices, latency_s, chain)[0]), this, other,
         ["resource"], ["lower bound (s)", "at most tokens/s"], key="bounds")  # fmt: skip
    if other is not None:
        both(lambda side: _needs(side, machine, devices), this, other, ["what must fit"], ["amount"], key="needs")
        with st.expander("Every transform of both, second minus first"):
            both(lambda side: _under_the_roof(side, machine), this, other, ["block", "transform"],
                 ["MACs", "bytes", "FLOP per byte", "lower bound, one device (s)"], key="roofline")  # fmt: skip
    st.caption(_source(machine))


_WORDS = {
    "bandwidth": "moving its bytes binds", "compute": "its arithmetic binds", "chain": "its serial chain binds",
}  # fmt: skip


def _ask() -> tuple[Machine, int | None, float, str]:
    """Machine, number of devices (None: as many as hold the model), seconds per link, convention of the chain."""
    names = [m.name for m in machines()]
    columns = st.columns([3, 2, 2, 2])
    name = columns[0].selectbox(
        "Machine", (*names, OWN), index=names.index("NVIDIA H200 SXM"), key="machine", bind="query-params"
    )
    devices = columns[1].number_input("Devices", 1, MOST_DEVICES, None, key="devices", bind="query-params",
                                      placeholder="as many as fit")  # fmt: skip
    latency = columns[2].number_input("Time per link (µs)", *LINKS_US, 1.0, 0.1, key="link", bind="query-params",
                                      help="An assumption: what one step of the chain costs.")  # fmt: skip
    chain = columns[3].selectbox("Chain", CHAINS, format_func=lambda c: CONVENTIONS[c].title, key="chain_counted",
                                 bind="query-params", help="Its critical path is multiplied by that time.")  # fmt: skip
    machine = _own_machine() if name == OWN else machines()[names.index(name)]
    return machine, None if devices is None else int(devices), latency * 1e-6, chain


def _own_machine() -> Machine:
    columns = st.columns(3)
    peak = columns[0].number_input(
        "Peak (TFLOP/s, dense, 16 bits)", *PEAKS, 1_000.0, format="%g", key="own_peak", bind="query-params"
    )
    bandwidth = columns[1].number_input(
        "Memory bandwidth (TB/s)", *BANDWIDTHS, 4.0, format="%g", key="own_bandwidth", bind="query-params"
    )
    memory = columns[2].number_input("Memory (GB)", *MEMORIES, 100.0, key="own_memory", bind="query-params")
    return Machine(
        "your machine",
        MappingProxyType({"bf16": round(peak * 1e12)}),
        round(bandwidth * 1e12),
        round(memory * 1e9),
        "",
        None,
    )


def needed_bytes(side: Side) -> int:
    """Weights, all experts included, and the state that one sequence keeps; prediction heads if they are loaded."""
    heads = loaded(side.model.architecture, side.scenario)
    stored = weight_bytes(side.step, side.scenario)[0] + heads.stored_weight_bytes
    state = heads.keeps(kept(side.step, side.scenario), side.scenario.context)
    return stored + state.kv + state.window + state.recurrent + state.convolution


def _bounds(side: Side, machine: Machine, devices: int | None, latency_s: float, chain: str) -> tuple[Bounds, int]:
    need = needed_bytes(side)
    used = devices or devices_that_fit(machine, need)
    return bounds(
        machine, side.scenario, bytes_moved=side.traffic.total, macs=arithmetic(side.step)["mac"],
        chain=totals(side.step, chain).critical_path, latency_s=latency_s, needed_bytes=need, devices=used,
    ), used  # fmt: skip


def _fits(b: Bounds, machine: Machine, used: int, side: Side) -> str:
    verdict = "fit into" if b.fits else "**do not fit** into"
    fewest = devices_that_fit(machine, b.needed_bytes)
    if machine.source is None:
        holders = machine.name if used == 1 else f"{exact(used)} machines like yours"
    else:
        holders = f"one {machine.name}" if used == 1 else f"{exact(used)} × {machine.name}"
    return (
        f"Weights and state of one sequence, **{si(b.needed_bytes, 'B')}**, {verdict} the {si(b.memory_bytes, 'B')} of "
        f"{holders}; the fewest that hold them: **{plural(fewest, 'device')}**. "
        f"{_peak(machine, side)}The bound allows at most **{si(1 / b.least_s)} tokens/s** for one sequence; the "
        f"sidebar asks for {si(side.scenario.tokens_per_s)}."
    )


def _peak(machine: Machine, side: Side) -> str:
    """Which peak bounds the arithmetic."""
    peak = peak_of(machine, side.scenario)
    return f"Its arithmetic is bounded by {si(peak[1], 'FLOP/s')} a device ({peak[0]}). " if peak else ""


def _needs(side: Side, machine: Machine, devices: int | None) -> pd.DataFrame:
    """What has to fit, into what."""
    need = needed_bytes(side)
    fewest = devices_that_fit(machine, need)
    rows = {
        "weights and state of one sequence (bytes)": need, "fewest devices that hold them": fewest,
        "devices": devices or fewest, "their memory (bytes)": (devices or fewest) * machine.memory_bytes,
    }  # fmt: skip
    return pd.DataFrame({"what must fit": list(rows), "amount": list(rows.values())})


def _under_the_roof(side: Side, machine: Machine) -> pd.DataFrame:
    """Every transform of one side, its work and its least time."""
    return helps.roofline_table(roofline(side.step, side.scenario), machine, side.scenario)


def _roof(points: Sequence[RooflinePoint], machine: Machine, side: Side) -> str:
    rows = helps.roofline_table(points, machine, side.scenario)
    moving = rows[rows["bytes"] > 0]
    under = int((moving["ceiling"] == "bandwidth").sum())
    if under == len(moving):
        return f"All {under} transforms that move bytes sit under the bandwidth roof"
    return f"{under} of {len(moving)} transforms that move bytes sit under the bandwidth roof"


def _source(machine: Machine) -> str:
    if machine.source is None:
        return "Figures typed in by you."
    s = machine.source
    how = "read there" if s.confirmed == "read" else "as others quote it"
    peaks = ", ".join(f"{p} {si(n, 'FLOP/s')}" for p, n in machine.peak_flops_per_s.items()) or "no peak published"
    return (
        f"{machine.name}: {peaks}; {si(machine.bandwidth_bytes_per_s, 'B/s')}; {si(machine.memory_bytes, 'B')}. "
        f"Source: {s.publisher}, {s.document}, {s.date} ({how}). {machine.note}"
    )
