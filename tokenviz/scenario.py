"""What is asked of a model: how much is cached, how many tokens at once, at which precision and speed."""

from dataclasses import dataclass

from tokenviz.formats import Quantization
from tokenviz.notation import DTYPE_BITS, ScenarioError

MAX_CONTEXT = 100_000_000
MAX_POSITIONS = 1_024
OUTPUTS = ("softmax", "greedy")
GATES = ("study", "implemented")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One decode step: `positions` new tokens after `context` cached ones.

    `output` ends at probabilities (softmax) or at the most likely token (greedy). `gate` chooses how the attention
    output gate is read. `weights`, `kv`, `activations` and `state` (the recurrent one) are precisions. A
    `quantization` stores the layers' matrices in a format of their own; `metadata` counts block scales and zero points.
    `prediction` counts what a model's prediction heads store and keep, though the step does not run them.
    `always_mask` draws the causal mask even where one new position has nothing to hide.
    """

    context: int = 1_000_000
    positions: int = 1
    output: str = "softmax"
    gate: str = "implemented"
    weights: str = "bf16"
    kv: str = "bf16"
    activations: str = "bf16"
    state: str = "fp32"  # it adds up over the whole context, so implementations keep it in single precision
    tokens_per_s: float = 100.0
    always_mask: bool = False
    quantization: Quantization | None = None
    metadata: bool = False
    prediction: bool = False

    def __post_init__(self) -> None:
        _whole("context", self.context, 0, MAX_CONTEXT)
        _whole("positions", self.positions, 1, MAX_POSITIONS)
        _one_of("output", self.output, OUTPUTS)
        _one_of("gate", self.gate, GATES)
        for field in ("weights", "kv", "activations", "state"):
            _one_of(field, getattr(self, field), tuple(DTYPE_BITS))
        if not 0 < self.tokens_per_s <= 1e9:
            message = f"tokens/s is {self.tokens_per_s!r}; give a number above 0 and at most 1,000,000,000"
            raise ScenarioError(message)

    @property
    def structure(self) -> "Scenario":
        """What of this scenario decides the graph: everything but precisions and speed."""
        return Scenario(
            context=self.context, positions=self.positions, output=self.output, gate=self.gate,
            always_mask=self.always_mask,
        )  # fmt: skip

    def attended(self, window: int | None) -> int:
        """Positions that a new token may attend to, itself included."""
        span = self.context + self.positions
        return span if window is None else min(span, window + self.positions - 1)


def _whole(name: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ScenarioError(f"{name} is {value!r}; give a whole number from {low:,} to {high:,}")


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ScenarioError(f"{name} is {value!r}; choose one of {', '.join(allowed)}")
