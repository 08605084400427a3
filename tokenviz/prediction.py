"""What the extra prediction heads of a model would add, were they run: parameters, and cache per position.

They guess further tokens for speculative decoding and are left out of the step. Each head normalises x and the next
token's embedding, joins the two by a matrix from twice the width to the width, runs one layer, and normalises again;
it scores with the model's own table.
"""

from dataclasses import dataclass, replace

from tokenviz.architecture import Architecture
from tokenviz.scenario import Scenario
from tokenviz.trace import traced
from tokenviz.traffic import kept, parameters


@dataclass(frozen=True, slots=True)
class Added:
    """What the heads add to the model's own figures."""

    parameters: int
    kv_bytes_per_position: int


NOTHING = Added(0, 0)
NORMS = 3  # of x, of the embedding, and of the result


def prediction_heads(architecture: Architecture, scenario: Scenario) -> Added:
    """Parameters and cache bytes per position of all prediction heads; zero for a model without."""
    extra = architecture.prediction
    if extra is None:
        return NOTHING
    with_layer = traced(replace(architecture, layers=(*architecture.layers, extra.layer)), scenario)
    without = traced(architecture, scenario)
    tied, width = architecture.tied, architecture.d_model
    layer = parameters(with_layer, tied).total - parameters(without, tied).total
    cache = kept(with_layer, scenario).kv_per_position - kept(without, scenario).kv_per_position
    return Added(extra.count * (layer + 2 * width * width + NORMS * width), extra.count * cache)
