"""What the extra prediction heads of a model add once they are loaded: parameters, stored bytes, and cache.

They guess further tokens for speculative decoding and the step never runs them. Each head normalises x and the next
token's embedding, joins the two by a matrix from twice the width to the width, runs one layer, and normalises again;
it scores with the model's own table. A scenario with `prediction` counts what they keep; by default they stay on disk.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

from tokenviz.architecture import Architecture
from tokenviz.graph import BlockRef, DecodeStep
from tokenviz.notation import GraphError
from tokenviz.recipes.prediction import join
from tokenviz.scenario import Scenario
from tokenviz.storage import weight_bytes
from tokenviz.trace import trace_section, traced
from tokenviz.traffic import Kept, Parameters, kept


@dataclass(frozen=True, slots=True)
class Added:
    """What the heads add to the model's own figures."""

    parameters: int = 0
    kv_bytes_per_position: int = 0
    stored_weight_bytes: int = 0

    def size(self, own: Parameters) -> Parameters:
        """The model's parameters with those of the heads; a token still reads what it read."""
        return replace(own, total=own.total + self.parameters)

    def keeps(self, own: Kept, context: int) -> Kept:
        """What a sequence keeps, with the caches of the heads."""
        slope = self.kv_bytes_per_position
        return replace(own, kv_per_position=own.kv_per_position + slope, kv=own.kv + slope * context)


def loaded(architecture: Architecture, scenario: Scenario) -> Added:
    """What the heads add in this scenario: nothing unless it loads them."""
    return prediction_heads(architecture, scenario) if scenario.prediction else Added()


@lru_cache(maxsize=64)
def prediction_heads(architecture: Architecture, scenario: Scenario) -> Added:
    """What all prediction heads would add; zero for a model without."""
    extra, norm = architecture.prediction, architecture.final_norm
    if extra is None:
        return Added()
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
    places = tuple(BlockRef(block.key, len(architecture.layers), "prediction") for block in blocks)
    step = DecodeStep({block.key: block for block in blocks}, places, scenario.positions, scenario.context)
    stored = weight_bytes(step, scenario)[0]
    return Added(extra.count * own, extra.count * kept(step, scenario).kv_per_position, extra.count * stored)
