"""What the extra prediction heads of a model would add, were they run: parameters, and cache per position.

They guess further tokens for speculative decoding and are left out of the step. Each head normalises x and the next
token's embedding, joins the two by a matrix from twice the width to the width, runs one layer, and normalises again;
it scores with the model's own table.
"""

from dataclasses import dataclass

from tokenviz.architecture import Architecture
from tokenviz.graph import BlockRef, DecodeStep
from tokenviz.notation import GraphError
from tokenviz.recipes.prediction import join
from tokenviz.scenario import Scenario
from tokenviz.trace import trace_section, traced
from tokenviz.traffic import kept


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
    known = {b.spec: b for b in traced(architecture, scenario).blocks.values() if "normalised" not in b.inputs}
    layer = [
        known.get(section)
        or trace_section(section, scenario, d_model=architecture.d_model, looked_up=False, number=number)
        for number, section in enumerate(extra.layer.sections)
    ]
    blocks = (join(architecture.d_model, norm, scenario.positions), *layer)
    own = sum(weight.size for block in blocks for weight in block.weights if not weight.scope)
    places = tuple(BlockRef(block.key, None, "prediction") for block in layer)
    step = DecodeStep({block.key: block for block in layer}, places, scenario.positions, scenario.context)
    return Added(extra.count * own, extra.count * kept(step, scenario).kv_per_position)
