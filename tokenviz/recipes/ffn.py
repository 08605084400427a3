"""The dense feed-forward section, gated or plain."""

from collections.abc import Mapping

from tokenviz.architecture import DenseFFN
from tokenviz.builder import Builder
from tokenviz.graph import Value
from tokenviz.recipes.activation import gated_unit, plain_unit
from tokenviz.recipes.linear import projection, scaled
from tokenviz.scenario import Scenario


def sizes(spec: DenseFFN, _scenario: Scenario) -> Mapping[str, int]:
    """Extents of the letters that a dense feed-forward adds."""
    return {"F": spec.width}


def trace(b: Builder, x: Value, spec: DenseFFN, _scenario: Scenario) -> Value:
    """x: T D, normalised -> T D."""
    gate = None
    if spec.gated:
        gate = projection(b, x, id="gate", equation="F D, T D -> T F", title="Gate projection", out="g", bias=spec.bias)
        gate = scaled(b, gate, spec.gate_scale, "gate_scale", "Scale gate", "g")
    up = projection(b, x, id="up", equation="F D, T D -> T F", title="Up projection", out="u", bias=spec.bias)
    if gate is None:
        hidden = plain_unit(b, up, spec.activation, id="act")
    else:
        hidden = gated_unit(b, gate, up, spec.activation, id="act")
    return projection(
        b, hidden, id="down", equation="D F, T F -> T D", title="Down projection", out="Δx", bias=spec.out_bias
    )
