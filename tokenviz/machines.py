"""Bounds on a machine: the least time one token can take for its bytes, its arithmetic and its chain.

The table (`data/accelerators.json`) holds published peaks, each with its source. Peaks are never reached: what follows
from them is a lower bound on time, not a prediction. Decimal units; dense arithmetic, without sparsity.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from tokenviz.breakdown import OpBytes, moved
from tokenviz.catalog import data_dir
from tokenviz.graph import DecodeStep
from tokenviz.ledger import FLOPS_PER_MAC
from tokenviz.notation import ScenarioError
from tokenviz.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Source:
    """Where a machine's figures come from. `confirmed` says whether they were read there or quoted by others."""

    publisher: str
    document: str
    date: str
    confirmed: str


@dataclass(frozen=True, eq=False)
class Machine:
    """One accelerator. `peak_flops_per_s` is by precision and may be empty where the maker publishes none."""

    name: str
    peak_flops_per_s: Mapping[str, int]
    bandwidth_bytes_per_s: int
    memory_bytes: int
    note: str
    source: Source | None  # None for a machine that the reader typed in

    def __post_init__(self) -> None:
        for what, n in (("memory bandwidth", self.bandwidth_bytes_per_s), ("memory size", self.memory_bytes)):
            if n <= 0:
                raise ScenarioError(f"{self.name}: {what} is {n!r}; give a number above 0")


@dataclass(frozen=True, slots=True)
class Bounds:
    """Lower bounds in seconds on the time of one step. `compute_s` is None where no peak is published."""

    bandwidth_s: float
    compute_s: float | None
    chain_s: float
    needed_bytes: int
    memory_bytes: int

    @property
    def by_resource(self) -> Mapping[str, float]:
        """Resource -> its bound, those without a figure left out."""
        found = {"bandwidth": self.bandwidth_s, "compute": self.compute_s, "chain": self.chain_s}
        return MappingProxyType({name: s for name, s in found.items() if s is not None})

    @property
    def binds(self) -> str:
        """The resource with the largest bound."""
        return max(self.by_resource, key=self.by_resource.__getitem__)

    @property
    def least_s(self) -> float:
        """No step is faster than the slowest of its resources, however well they overlap."""
        return max(self.by_resource.values())

    @property
    def fits(self) -> bool:
        """Whether weights and state fit into memory."""
        return self.needed_bytes <= self.memory_bytes


@lru_cache(maxsize=1)
def machines() -> tuple[Machine, ...]:
    """The table, in the order of the file."""
    rows = json.loads((data_dir() / "accelerators.json").read_text(encoding="utf-8"))
    return tuple(_machine(row) for row in rows["accelerators"])


def _machine(row: Mapping[str, Any]) -> Machine:
    return Machine(
        name=row["name"], peak_flops_per_s=MappingProxyType(dict(row["peak_flops_per_s"])),
        bandwidth_bytes_per_s=row["bandwidth_bytes_per_s"], memory_bytes=row["memory_bytes"], note=row["note"],
        source=Source(**row["source"]),
    )  # fmt: skip


def peak_of(machine: Machine, scenario: Scenario) -> tuple[str, int] | None:
    """The peak that the scenario's products run at: fp8 x fp8 where both exist, else the activations' 16 bits.

    Weights of 4 bits are widened before they are multiplied, as common kernels do.
    """
    stored = scenario.quantization.format if scenario.quantization else scenario.weights
    for precision in ("fp8", "bf16") if stored == "fp8" else ("bf16",):
        if precision in machine.peak_flops_per_s:
            return precision, machine.peak_flops_per_s[precision]
    return None


def bounds(
    machine: Machine, scenario: Scenario, *, bytes_moved: int, macs: int, chain: int, latency_s: float,
    needed_bytes: int, devices: int = 1,
) -> Bounds:  # fmt: skip
    """Least time of one step on `devices` machines that share bytes and arithmetic evenly and talk for free.

    The chain does not get shorter with more devices. `latency_s` is the time of one link of the chain.
    """
    if devices < 1 or latency_s < 0:
        raise ScenarioError(f"{devices!r} devices and {latency_s!r} s a link; give at least 1 device and 0 s")
    peak = peak_of(machine, scenario)
    return Bounds(
        bandwidth_s=bytes_moved / (machine.bandwidth_bytes_per_s * devices),
        compute_s=None if peak is None else FLOPS_PER_MAC * macs / (peak[1] * devices),
        chain_s=chain * latency_s,
        needed_bytes=needed_bytes,
        memory_bytes=machine.memory_bytes * devices,
    )


def devices_that_fit(machine: Machine, needed_bytes: int) -> int:
    """The fewest machines whose memories together hold `needed_bytes`."""
    return max(1, -(-needed_bytes // machine.memory_bytes))


@dataclass(frozen=True, slots=True)
class RooflinePoint:
    """One transform of a block kind: its MACs and bytes for one token, over all its layers."""

    block: str
    kind: str
    transform: str
    count: int
    macs: int
    bytes_moved: int

    @property
    def intensity(self) -> float | None:
        """FLOPs per byte; None for what moves no bytes: it works on values that stay on chip."""
        return FLOPS_PER_MAC * self.macs / self.bytes_moved if self.bytes_moved else None


def roofline(step: DecodeStep, scenario: Scenario) -> tuple[RooflinePoint, ...]:
    """Every transform of every distinct block; MACs and bytes add up to the step's."""
    bytes_of = moved(step, scenario).by_block
    points: dict[tuple[str, str, str], tuple[int, int, int]] = {}
    for block, count in step.folded():
        for transform in block.transforms:
            macs = sum(op.counts.get("mac", 0) for op in transform.ops) * count
            total = sum((bytes_of[block.key][op.id] for op in transform.ops), OpBytes()).total
            key = (block.title, block.kind, transform.title)
            before = points.get(key, (0, 0, 0))
            points[key] = (before[0] + count, before[1] + macs, before[2] + total)
    return tuple(RooflinePoint(*key, *figures) for key, figures in points.items())
