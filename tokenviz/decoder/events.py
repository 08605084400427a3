"""The recorded trace of one advance: the value of every step of the prediction map.

read(advance, port) -> array          any value that a node reads or makes
recorded(found, advance)              the values of all steps, in order
"""

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokenviz.decoder.generate import Advance
from tokenviz.decoder.stations import MapNode, Port, PredictionMap

Array = NDArray[Any]


def read(advance: Advance, port: Port) -> Array:
    """The value at a port, in the dimensions that the port names (joined dimensions are joined)."""
    array: Array = advance.result.value(port.place, port.value)
    if len(port.dims) == array.ndim:
        return array
    extents = iter(array.shape)
    return array.reshape([prod(next(extents) for _ in dims.split()) for dims in port.dims])


def outputs(advance: Advance, node: MapNode) -> dict[str, Array]:
    """Name -> value of all that a node makes; of the selection it is the chosen id."""
    if node.kind == "select":
        return {"id": np.array([advance.token])}
    return {port.name: read(advance, port) for port in node.outputs}


def recorded(found: PredictionMap, advance: Advance) -> tuple[tuple[Array, ...], ...]:
    """The values of every step, in the order in which they were computed. No value is copied."""
    return tuple(tuple(outputs(advance, found.nodes[step]).values()) for step in found.steps)


def sizes(advance: Advance) -> dict[str, int]:
    """Letter -> extent in this advance; T is n, S is m."""
    step = advance.result.bound.step
    known = {letter: extent for block in step.blocks.values() for letter, extent in block.sizes.items()}
    n, m = advance.positions, advance.attended
    return {**known, "T": n, "S": m, "cached": m - n, "next": m}
