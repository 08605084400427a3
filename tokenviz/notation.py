"""The letters, precisions and error types that every other module uses.

Shapes are written in letters, one letter (or short word) per dimension: ``T D`` is the residual stream,
``S K H`` the keys that a token attends to. A word is used where an alphabet runs out (``channels``, ``rotated``).
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

LETTERS: Mapping[str, str] = MappingProxyType(
    {
        "B": "sequences in the batch",
        "T": "new positions computed in this step (1 in decode)",
        "S": "positions attended, the new ones included",
        "cached": "positions kept from earlier tokens",
        "recent": "those of them that belong to the current chunk",
        "D": "d_model, width of the residual stream",
        "F": "d_ff, width of a feed-forward section or of one expert",
        "V": "vocabulary",
        "L": "layers",
        "K": "key/value heads",
        "G": "query heads per key/value head",
        "N": "query heads, N = K·G",
        "H": "head dimension",
        "A": "value dimension of an attention head, where it is not H",
        "J": "linear-attention key heads",
        "U": "linear-attention value heads",
        "P": "key dimension of a linear-attention head",
        "Q": "value dimension of a linear-attention head",
        "E": "experts",
        "X": "experts chosen per token",
        "C": "convolution taps",
        "R": "latent rank",
        "channels": "channels of a depthwise convolution",
        "kept": "convolution columns kept between tokens, C - 1",
        "columns": "convolution columns kept and new",
        "next": "positions kept for the next token",
        "rotated": "coordinates of a head that RoPE turns",
        "passed": "coordinates of a head that RoPE leaves alone",
        "pair": "rows stored side by side: the embedding row and its normalised twin",
        "shared": "width of the shared expert",
        "one": "a single score",
        "rows": "rows of a table of learned positions",
        "own": "width of a layer's own input",
        "own_all": "all layers' own inputs side by side",
        "own_rows": "rows of the table of layers' own inputs",
        "entry": "values cached for a position by latent attention: the latent and the turned coordinates",
        "seen": "positions that an indexer compares, of which attention reads S",
        "groups": "groups of experts, of channels or of heads",
        "members": "members of a group",
        "kept_groups": "groups of experts that stay in the choice",
        "best": "the best experts of a group, two at most",
        "latent": "width of the latent that routed experts work on",
        "query_rank": "rank of compressed queries",
        "expanded": "a head's key and value coordinates, expanded from the latent",
        "value": "a head's value coordinates, expanded from the latent",
        "I": "heads of the indexer",
        "index": "dimension of an indexer head",
        "index_rest": "coordinates of an indexer head that RoPE leaves alone",
        "projected": "everything that a state-space mixer projects x to: gate, channels, time steps",
        "selected": "what a selective scan reads off its channels: time step, input and output vectors",
        "halves": "the two halves of a projection: input and gate",
        "both": "x and an embedding side by side",
        "thirds": "the three thirds of a projection: input gate, output gate, input",
        "triple": "a head's query, key and value side by side",
    }
)

DTYPE_BITS: Mapping[str, int] = MappingProxyType(
    {"fp32": 32, "bf16": 16, "fp16": 16, "fp8": 8, "int8": 8, "int4": 4, "mxfp4": 4, "nvfp4": 4}
)
"""Bits that one value takes. Block scales and zero points are metadata and are not part of it."""


class TokenvizError(Exception):
    """A sentence for the person at the keyboard: what was asked, what was found, what to do."""


class ConfigError(TokenvizError):
    """A config that cannot be read as a model; names the key or value at fault."""


class ScenarioError(TokenvizError):
    """A context length, precision or option outside what can be analysed."""


class GraphError(TokenvizError):
    """A recipe that does not make a well-formed graph: our own mistake, never the user's."""


def size(shape: Iterable[int]) -> int:
    """Number of elements of a tensor with this shape."""
    n = 1
    for extent in shape:
        n *= extent
    return n


def bytes_of(elements: int, dtype: str) -> int:
    """Bytes that `elements` values take at a precision, rounded up to whole bytes; metadata left out."""
    return -(-elements * DTYPE_BITS[dtype] // 8)
