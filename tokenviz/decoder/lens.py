"""What the model would say if it stopped early: the residual stream read through the final norm and E (logit lens)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tokenviz.architecture import RMSNorm
from tokenviz.decoder.events import outputs
from tokenviz.decoder.generate import Advance
from tokenviz.decoder.model import Decoder
from tokenviz.decoder.sampling import softmax
from tokenviz.decoder.stations import PredictionMap


@dataclass(frozen=True, slots=True)
class Reading:
    """The stream at one place: after which node, and the most likely tokens there with their shares."""

    node: str
    region: str
    best: tuple[tuple[int, float], ...]


def readings(decoder: Decoder, found: PredictionMap, advance: Advance, top: int = 3) -> tuple[Reading, ...]:
    """The last position's stream after the embedding and after each block, in order."""
    places = [found.of_kind("lookup")[0]]
    for region in found.regions:
        places += [n for n in found.of_kind("residual") if n.region == region][-1:]
    rows = []
    for node in places:
        stream = next(iter(outputs(advance, node).values()))[-1]
        shares = softmax(scores(decoder, stream))
        order = np.argsort(-shares, kind="stable")[:top]
        rows.append(Reading(node.id, node.region, tuple((int(i), float(shares[i])) for i in order)))
    return tuple(rows)


def scores(decoder: Decoder, stream: NDArray[np.floating]) -> NDArray[np.float64]:
    """Logits ``V`` of one row ``D`` of the residual stream: final norm, then the rows of E."""
    norm = decoder.architecture.final_norm
    eps = norm.eps if isinstance(norm, RMSNorm) else 0.0
    x = stream.astype(np.float64)
    x = x / np.sqrt(np.mean(x * x) + eps) * decoder.weights["output.norm.weight"]
    found: NDArray[np.float64] = decoder.weights["embedding"].astype(np.float64) @ x
    return found
