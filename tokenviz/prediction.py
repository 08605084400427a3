"""What the extra prediction heads of a model would add, were they run: parameters, and cache per position.

They guess further tokens for speculative decoding and are left out of the step. Each head normalises x and the next
token's embedding, joins the two by a matrix from twice the width to the width, runs one layer, and normalises again;
it scores with the model's own table.
"""

from dataclasses import dataclass, replace

from tokenviz.architecture import Architecture
from tokenviz.notation import GraphError
from tokenviz.recipes.prediction import join
from tokenviz.scenario import Scenario
from tokenviz.trace import traced
from tokenviz.traffic import kept, parameters


@dataclass(frozen=True, slots=True)
class Added:
    """What the heads add to the model's own figures."""

    parameters: int
    kv_bytes_per_position: int


def prediction_heads(architecture: Architecture, scenario: Scenario) -> Added:
    """Parameters and cache bytes per position of all prediction heads; zero for a model without."""
    extra, norm = architecture.prediction, architecture.final_norm
    if extra is None:
        return Added(0, 0)
    if norm is None:
        raise GraphError("prediction heads normalise like the model's end, but this model has no final norm")
    with_layer = traced(replace(architecture, layers=(*architecture.layers, extra.layer)), scenario)
    without = traced(architecture, scenario)
    layer = parameters(with_layer, architecture.tied).total - parameters(without, architecture.tied).total
    joined = sum(weight.size for weight in join(architecture.d_model, norm, scenario.positions).weights)
    cache = kept(with_layer, scenario).kv_per_position - kept(without, scenario).kv_per_position
    return Added(extra.count * (layer + joined), extra.count * cache)
