"""What a recipe is: the trace of a mechanism, and what it is called."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tokenviz.builder import Builder
from tokenviz.graph import Value
from tokenviz.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a spec is traced: `trace(b, x, spec, scenario)` takes x ``T D`` to the section's update ``T D``."""

    kind: str  # short name, also the chain's name on the Layout page
    title: str
    says: str
    sizes: Callable[[Any, Scenario], Mapping[str, int]]
    trace: Callable[[Builder, Value, Any, Scenario], Value]
