"""The prediction map: what a small decoder does for one token, as nodes, connections and recorded steps.

Nothing is listed by hand but the loop around the model (text, tokens, context, choice, return). The rest is read off
the traced graph:

- a transform is a node; transforms that take their coefficients from the position (RoPE on q and on k) are one;
- transforms that only store are the cache, and whoever reads kept positions reads them from there;
- where a head letter of the queries is missing in the keys, several query heads share one key/value head: a node;
- where a projection sums over head letters, the heads are joined first: a node;
- a weight that two blocks read is a node of its own.

A node whose value is computed records an event; cache, sharing and the loop's texts record none.
"""

from dataclasses import replace
from functools import lru_cache

from tokenviz.architecture import Architecture
from tokenviz.decoder.map_block import Found, section
from tokenviz.decoder.stations import MapNode, PredictionMap
from tokenviz.scenario import Scenario
from tokenviz.trace import trace

LOOP = (
    ("text", "Text", "input", "What you typed, and what was written since."),
    ("tokens", "Tokenization", "input", "Cuts the text into pieces that the model knows and gives each its number."),
    ("context", "Context", "input", "The numbers that the model sees now: at most a window of them, in order."),
    ("select", "Selection", "output", "Chooses one token by the shares that temperature, top-k and top-p leave."),
    (
        "return",
        "Return",
        "output",
        "The chosen number goes back to the end of the context, and everything starts again.",
    ),
)
"""The loop around the model: kind, title, region, what it is."""


def scenario(architecture: Architecture, positions: int) -> Scenario:
    """Prefill of several positions, or one cached step: softmax output, the causal mask always drawn."""
    window = architecture.max_positions or positions
    cached = window - 1 if positions == 1 else 0
    dtype = architecture.dtype
    return Scenario(context=cached, positions=positions, weights=dtype, kv=dtype, activations=dtype, always_mask=True)


@lru_cache(maxsize=4)
def prediction_map(architecture: Architecture) -> PredictionMap:
    """The map of an architecture, read off the graph of one cached step."""
    step = trace(architecture, scenario(architecture, 1))
    found = Found(step)
    for kind in ("text", "tokens", "context"):
        _loop(found, kind)
    for place, ref in enumerate(step.sequence):
        section(found, place, ref)
    _loop(found, "select", ("probabilities",))
    _loop(found, "return", ("select",))
    return found.finish()


@lru_cache(maxsize=4)
def recorded_values(architecture: Architecture) -> tuple[frozenset[str], ...]:
    """For each place of the sequence, the ids of the values that the map's stations read or make."""
    found = prediction_map(architecture)
    ports = [port for node in found.nodes.values() for port in (*node.inputs, *node.outputs)]
    places = range(max(port.place for port in ports) + 1)
    return tuple(frozenset(port.value for port in ports if port.place == place) for place in places)


def _loop(found: Found, kind: str, after: tuple[str, ...] = ()) -> None:
    """A station of the loop around the model; it follows the one before, or what is carried."""
    _, title, region, says = next(row for row in LOOP if row[0] == kind)
    before = {"tokens": ("text",), "context": ("tokens",)}.get(kind, after)
    sources = {found.carried.get(name, name): "data" for name in before}
    role = "calculation" if kind == "select" else "text"
    read = tuple(replace(p, source=source) for source in sources for p in found.nodes[source].outputs)
    found.add(MapNode(kind, kind, title, region, role, says, inputs=read), sources)
    found.carried["token"] = "context"
