"""The accelerator table, and the bounds that follow from it."""

import re
from types import MappingProxyType

import pytest

from tokenviz.catalog import load_model
from tokenviz.ledger import arithmetic
from tokenviz.machines import Machine, bounds, devices_that_fit, machines, peak_of, roofline
from tokenviz.notation import ScenarioError
from tokenviz.scenario import Scenario
from tokenviz.trace import trace
from tokenviz.traffic import traffic
from tokenviz.ui_statistics_machine import needed_bytes
from tokenviz.views.statistics import Side

ROUND = Machine("round", MappingProxyType({"bf16": 10**12, "fp8": 2 * 10**12}), 10**9, 8 * 10**9, "", None)


@pytest.mark.parametrize("machine", machines(), ids=lambda m: m.name)
def test_every_row_has_its_source(machine: Machine) -> None:
    source = machine.source
    assert source is not None
    assert source.publisher
    assert len(source.document) > 10
    assert re.fullmatch(r"20\d\d-[01]\d", source.date)
    assert source.confirmed in ("read", "quoted")
    assert all(isinstance(n, int) for n in machine.peak_flops_per_s.values())
    assert machine.peak_flops_per_s or "publishes no peak" in machine.note


# Multiply-adds a clock: units x width, then the clock in MHz; two FLOP each. Published figures are rounded
# to 0.1 TFLOP/s, the oldest to 1.
UNITS = {
    "NVIDIA A100 80 GB SXM": (108 * 4 * 256, 1_410),  # 108 SMs of 4 tensor cores, boost clock
    "NVIDIA H100 SXM": (132 * 4 * 512, 1_830),
    "NVIDIA H200 SXM": (132 * 4 * 512, 1_830),
    "NVIDIA GeForce RTX 4090": (128 * 4 * 64, 2_520),  # half the width when sums are kept in fp32
    "NVIDIA GeForce RTX 5090": (170 * 4 * 64, 2_407),
    "AMD Instinct MI300X": (304 * 1_024, 2_100),  # 304 compute units
    "AMD Instinct MI325X": (304 * 1_024, 2_100),
}


@pytest.mark.parametrize("name", UNITS)
def test_dense_peaks_follow_from_units_and_clocks(name: str) -> None:
    machine = next(m for m in machines() if m.name == name)
    width, mhz = UNITS[name]
    digits = -12 if "A100" in name else -11
    flops = 2 * width * mhz * 10**6
    # formats of 8 bits run at twice the rate
    of = {precision: flops if precision == "bf16" else 2 * flops for precision in machine.peak_flops_per_s}
    assert {precision: round(n, digits) for precision, n in of.items()} == machine.peak_flops_per_s


def test_bandwidths_follow_from_buses() -> None:
    # pins x Gbit/s a pin / 8; twelve channels of 64 bits; Apple publishes whole GB/s
    bits = {"NVIDIA GeForce RTX 4090": 384 * 21_000, "NVIDIA GeForce RTX 5090": 512 * 28_000,
            "AMD EPYC 9755, one socket": 12 * 64 * 6_400, "Apple M3 Ultra (512 GB)": 1_024 * 6_400}  # fmt: skip
    found = {m.name: m.bandwidth_bytes_per_s for m in machines() if m.name in bits}
    assert {n: b // 10**6 for n, b in found.items()} == {n: mbit // 8 for n, mbit in bits.items()} | {
        "Apple M3 Ultra (512 GB)": 819_000
    }


def test_names_are_unique_and_makers_differ() -> None:
    names = [m.name for m in machines()]
    assert len(set(names)) == len(names) >= 8
    assert len({m.source.publisher for m in machines() if m.source}) >= 4


def test_bounds_by_hand() -> None:
    b = bounds(ROUND, Scenario(), bytes_moved=5 * 10**8, macs=10**11, chain=300, latency_s=1e-3, needed_bytes=9 * 10**9)
    # 5e8 B at 1e9 B/s; 2e11 FLOP at 1e12 FLOP/s; 300 links of 1 ms
    assert (b.bandwidth_s, b.compute_s) == (0.5, 0.2)
    assert b.chain_s == pytest.approx(0.3)
    assert (b.binds, b.least_s, b.fits) == ("bandwidth", 0.5, False)


def test_devices_share_bytes_and_arithmetic_but_not_the_chain() -> None:
    need = 9 * 10**9
    assert devices_that_fit(ROUND, need) == 2
    assert devices_that_fit(ROUND, 1) == 1
    assert devices_that_fit(ROUND, 16 * 10**9) == 2
    b = bounds(
        ROUND, Scenario(), bytes_moved=5 * 10**8, macs=10**11, chain=300, latency_s=1e-3, needed_bytes=need, devices=2
    )
    assert (b.bandwidth_s, b.compute_s, b.fits, b.binds) == (0.25, 0.1, True, "chain")
    with pytest.raises(ScenarioError, match="at least 1 device"):
        bounds(ROUND, Scenario(), bytes_moved=1, macs=1, chain=1, latency_s=0, needed_bytes=1, devices=0)


@pytest.mark.parametrize(
    ("weights", "peak"), [("bf16", ("bf16", 10**12)), ("int4", ("bf16", 10**12)), ("fp8", ("fp8", 2 * 10**12))]
)
def test_which_peak_applies(weights: str, peak: tuple[str, int]) -> None:
    assert peak_of(ROUND, Scenario(weights=weights)) == peak


def test_a_machine_without_a_published_peak_has_no_compute_bound() -> None:
    silent = Machine("silent", MappingProxyType({}), 10**9, 10**9, "", None)
    b = bounds(silent, Scenario(), bytes_moved=10**9, macs=10**15, chain=1, latency_s=0, needed_bytes=1)
    assert b.compute_s is None
    assert dict(b.by_resource) == {"bandwidth": 1.0, "chain": 0.0}


@pytest.mark.parametrize("field", ["bandwidth_bytes_per_s", "memory_bytes"])
def test_a_typed_machine_needs_figures_above_zero(field: str) -> None:
    figures = {"bandwidth_bytes_per_s": 1, "memory_bytes": 1, field: 0}
    with pytest.raises(ScenarioError, match="give a number above 0"):
        Machine("mine", MappingProxyType({}), note="", source=None, **figures)


@pytest.mark.parametrize("name", ["qwen3.8-2.4t-a95b", "qwen3.8-27b", "qwen3.5-0.8b"])
def test_roofline_points_add_up(name: str) -> None:
    model = load_model(name)
    scenario = model.scenario()
    step = trace(model.architecture, scenario)
    points = roofline(step, scenario)
    assert sum(p.macs for p in points) == arithmetic(step)["mac"]
    assert sum(p.bytes_moved for p in points) == traffic(step, scenario).total
    assert sum(p.count for p in points) == sum(len(b.transforms) * n for b, n in step.folded())
    assert len({(p.block, p.transform) for p in points}) == len(points)


def test_intensity_of_one_projection_by_hand() -> None:
    model = load_model("meta-llama-3.1-8b")
    scenario = model.scenario()
    points = {(p.block, p.transform): p for p in roofline(trace(model.architecture, scenario), scenario)}
    # a matrix of 2-byte weights times a vector: 2 FLOPs for each weight of 2 bytes
    assert points["Feed-forward", "Up projection"].intensity == 1.0
    assert points["Feed-forward", "SwiGLU"].intensity is None


def test_loaded_prediction_heads_need_memory_too() -> None:
    # 424,699,392 parameters in 4 bits, and 4,096 bytes for each of 100 positions
    model = load_model("qwen3.8-27b")
    off, on = (needed_bytes(Side(model, model.scenario(context=100, prediction=flag))) for flag in (False, True))
    assert on - off == 424_699_392 // 2 + 100 * 4_096
