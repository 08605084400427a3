"""What would help: the same graph with several tokens at once, several sequences, or other precisions.

    tokens at once    one sequence, n new positions in one step (speculative verification, multi-token prediction)
    batch             b sequences, one step: weights are read once, every sequence brings its own state
    precision         bytes of weights, or of keys and values; the arithmetic is the same

Everything is counted per step and divided by the tokens of the step, all of them taken as kept: who accepts fewer
tokens divides by fewer. With experts, tokens may choose the same or different ones. That is not guessed: the fewest
bytes are those of one token's experts, the most are those of all choices distinct (never more than there are).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from tokenviz.architecture import Architecture
from tokenviz.graph import DecodeStep
from tokenviz.ledger import FLOPS_PER_MAC, arithmetic
from tokenviz.notation import ScenarioError
from tokenviz.prediction import loaded
from tokenviz.scenario import Scenario
from tokenviz.schedule import summarise
from tokenviz.storage import over_layers, weight_loads
from tokenviz.trace import traced
from tokenviz.traffic import kept, traffic

MAX_BATCH = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What differs from the scenario; None keeps what the scenario says."""

    positions: int | None = None
    batch: int = 1
    weights: str | None = None
    kv: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.batch, bool) or not isinstance(self.batch, int) or not 1 <= self.batch <= MAX_BATCH:
            raise ScenarioError(f"batch is {self.batch!r}; give a whole number from 1 to {MAX_BATCH:,}")

    def scenario(self, base: Scenario) -> Scenario:
        """The scenario of one sequence."""
        return replace(
            base,
            positions=base.positions if self.positions is None else self.positions,
            weights=base.weights if self.weights is None else self.weights,
            kv=base.kv if self.kv is None else self.kv,
            # A precision that is asked for replaces the formats that a config declares.
            quantization=base.quantization if self.weights is None else None,
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """One step under a change. Weight bytes are a range: experts may coincide. The rest is exact."""

    tokens: int  # positions x batch
    batch: int
    operations: int  # drawn operations of the step; sequences of a batch are width inside an operation
    critical_path: int
    macs: int
    fewest_weight_bytes: int
    most_weight_bytes: int
    state_bytes: int
    kept_bytes: int  # state that all sequences keep between steps, prediction heads with it when they are loaded

    @property
    def fewest_bytes(self) -> int:
        """Bytes of the step when all tokens choose the same experts."""
        return self.fewest_weight_bytes + self.state_bytes

    @property
    def most_bytes(self) -> int:
        """Bytes of the step when no two tokens choose the same expert."""
        return self.most_weight_bytes + self.state_bytes

    def intensity(self, bytes_moved: int) -> float:
        """FLOPs per byte."""
        return FLOPS_PER_MAC * self.macs / bytes_moved

    @property
    def per_token(self) -> Mapping[str, float]:
        """What one token uses of each resource; for bytes of weights the most.

        The chain is that of its own sequence: sequences of a batch go through it side by side, and none gets shorter.
        """
        figures = {
            "weight bytes": self.most_weight_bytes, "state bytes": self.state_bytes,
            "chain": self.critical_path * self.batch, "operations": self.operations, "MACs": self.macs,
        }  # fmt: skip
        return MappingProxyType({name: n / self.tokens for name, n in figures.items()})


def what_if(architecture: Architecture, base: Scenario, change: Change) -> Outcome:
    """Count one step under a change. With no change at all this is the base, figure by figure."""
    scenario = change.scenario(base)
    step = traced(architecture, scenario)
    alone = traced(architecture, replace(scenario, positions=1))
    summary, moved = summarise(step), traffic(step, scenario)
    state = loaded(architecture, scenario).keeps(kept(step, scenario), scenario.context)
    return Outcome(
        tokens=scenario.positions * change.batch,
        batch=change.batch,
        operations=summary.operations,
        critical_path=summary.critical_path,
        macs=arithmetic(step)["mac"] * change.batch,
        fewest_weight_bytes=_weight_bytes(alone, scenario, 1),
        most_weight_bytes=_weight_bytes(step, scenario, change.batch),
        state_bytes=(moved.total - moved.weights) * change.batch,
        kept_bytes=(state.kv + state.window + state.recurrent + state.convolution) * change.batch,
    )


def _weight_bytes(step: DecodeStep, scenario: Scenario, batch: int) -> int:
    """Bytes of weights when every sequence picks other rows and experts than the others, as far as there are any."""
    return over_layers(
        weight_loads(step, scenario), lambda load: load.bytes_of(min(load.read * batch, load.weight.size))
    )


def relieved(base: Outcome, outcome: Outcome) -> tuple[str, ...]:
    """The resources of which one token uses less than in the base, the most relieved first."""
    ratios = {name: n / base.per_token[name] for name, n in outcome.per_token.items() if base.per_token[name]}
    return tuple(name for name in sorted(ratios, key=ratios.__getitem__) if ratios[name] < 1)
