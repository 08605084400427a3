"""The words of the Network page: short labels, what each station does, and where its numbers come from."""

from collections.abc import Mapping
from math import prod
from types import MappingProxyType

from tokenviz.decoder.stations import MapNode

LABELS: Mapping[str, str] = MappingProxyType(
    {
        "text": "Text", "tokens": "Tokenization", "context": "Context", "weights": "E weights", "lookup": "Embedding",
        "norm": "RMSNorm", "q": "Q", "k": "K", "v": "V", "rope": "RoPE", "cache": "Cache K/V", "sharing": "GQA",
        "scores": "Scores QKᵀ/√dₖ", "mask": "Mask", "softmax": "Softmax", "mix": "Weighted values",
        "join": "Join heads", "out": "W_O", "residual": "+ add", "gate": "Gate", "up": "Up", "act": "SwiGLU",
        "down": "Down", "logits": "Logits", "probabilities": "Probabilities", "select": "Selection",
        "return": "Return",
    }
)  # fmt: skip
"""Kind of node -> the label that is drawn."""

LESSONS: Mapping[str, str] = MappingProxyType(
    {
        "lookup": "Each token's number picks one row of the table E: 128 numbers that stand for the token. From here "
        "on the model works with these rows, not with letters.",
        "norm": "Every row is divided by its own size, so that large numbers do not drown small ones; then each column "
        "is scaled by a learned gain.",
        "q": "The query: what this position is looking for in the text before it.",
        "k": "The key: what each position offers to be found by.",
        "v": "The value: what each position hands over when it is found.",
        "rope": "Turns pairs of numbers by an angle that grows with the position i. A query and a key then match "
        "according to how far apart they stand. The keys k turn in the same way.",
        "cache": "Keys and values of all positions so far. Later tokens read them instead of computing them again.",
        "sharing": "Two query heads read one key/value head, so that the cache is half as large. Nothing is copied.",
        "scores": "How well each query fits each key: one dot product per pair, divided by √32. High means: look here.",
        "mask": "A position must not look at what comes after it. Those pairs are not allowed and count as minus "
        "infinity.",
        "softmax": "Turns the scores of a row into shares of attention that add up to 1.",
        "mix": "Each position collects the values of the positions it looks at, by their shares.",
        "join": "The four heads' results are laid side by side into one row of 128 again.",
        "out": "A learned matrix mixes the four heads' findings into one change to the row.",
        "residual": "The change is added to what was there. The stream runs through the whole model and every section "
        "only adds to it.",
        "gate": "Asks 352 learned questions of the row; the answers decide what may pass.",
        "up": "Computes 352 candidate features from the same row.",
        "act": "Lets each feature through by how strongly its gate says yes.",
        "down": "Brings the 352 features back to 128 numbers: the second change to the stream.",
        "logits": "Compares the final row with every row of E: one score for each of the 1,024 tokens.",
        "probabilities": "Turns the scores into shares that add up to 1. Guessing blindly would give each token "
        "1/1,024.",
        "select": "Temperature sharpens or flattens the shares, top-k and top-p cut off the unlikely, then one is "
        "drawn.",
        "text": "What you typed, followed by what was written so far.",
        "tokens": "Common words are one token, rare ones are cut into pieces, unknown characters into bytes.",
        "context": "The numbers of the tokens that the model can see now.",
        "weights": "One table with a row for each token. It is used twice: to turn tokens into rows at the start, and "
        "to score all tokens at the end.",
        "return": "The chosen token is written behind the text. The next round computes only its position: all earlier "
        "keys and values are in the cache.",
    }
)  # fmt: skip
"""Kind of node -> what a learner should know about it."""

SYMBOLS: Mapping[str, str] = MappingProxyType(
    {"T": "n", "S": "m", "cached": "m − n", "next": "m", "rotated": "H", "K G H": "K·G·H"}
)
"""Letters as this page writes them: n positions computed now, m positions available in the keys."""

REASONS: Mapping[str, str] = MappingProxyType(
    {
        "T": "positions computed now", "S": "positions available in the keys", "next": "positions kept",
        "D": "width of the residual stream", "F": "width of the feed-forward section",
        "V": "tokens of the vocabulary", "K": "key/value heads", "G": "query heads per key/value head",
        "H": "D / (K·G), the width of a head", "rotated": "D / (K·G), the width of a head",
        "K G H": "the heads side by side",
    }
)  # fmt: skip
"""Letter -> what its number counts."""

EQUATIONS: Mapping[str, str] = MappingProxyType(
    {
        "lookup": r"x_i = E_{\text{id}_i}",
        "scores": r"s_{hij} = \frac{q_{hi} \cdot k_{\lfloor h/2 \rfloor j}}{\sqrt{32}}",
        "rope": r"\begin{aligned} q'_c &= q_c \cos\varphi - q_{c+16} \sin\varphi \\ "
        r"q'_{c+16} &= q_{c+16} \cos\varphi + q_c \sin\varphi \end{aligned}"
        r"\qquad \varphi = i \cdot 10000^{-c/16},\ \ c < 16",
        "mask": r"s_{hij} \leftarrow -\infty \quad\text{for } j > i",
        "softmax": r"p_{hij} = \frac{e^{s_{hij}}}{\sum_l e^{s_{hil}}}",
        "mix": r"o_{hi} = \sum_j p_{hij}\, v_{\lfloor h/2 \rfloor j}",
        "q": r"q = W_q\,\hat{x}",
        "k": r"k = W_k\,\hat{x}",
        "v": r"v = W_v\,\hat{x}",
        "gate": r"g = W_g\,\hat{x}",
        "up": r"u = W_u\,\hat{x}",
        "down": r"\Delta x = W_{\text{down}}\,h",
        "out": r"\Delta x = W_O\, o^{\text{joined}}",
        "logits": r"\text{logits} = E\,\hat{x}",
        "probabilities": r"p_t = \frac{e^{\text{logit}_t}}{\sum_u e^{\text{logit}_u}}",
        "select": r"p_t \propto e^{\text{logit}_t / T}\ \text{ within top-}k \text{ and top-}p",
        "cache": r"K \leftarrow [K_{\text{cache}};\,k'],\qquad V \leftarrow [V_{\text{cache}};\,v]",
    }
)
"""Equations with the sizes of this model; the graph's own are used for all other kinds."""


NAMES: Mapping[tuple[str, str], str] = MappingProxyType(
    {("W_Δx", "out"): "W_O", ("W_Δx", "down"): "W_down", ("g", "norm"): "gain"}
)
"""(Value, kind of node) -> its name on this page, where the graph's own is too general."""


def label(node: MapNode) -> str:
    """The label that is drawn."""
    return LABELS[node.kind] if node.title != "Final RMSNorm" else "Final RMSNorm"


def heading(node: MapNode) -> str:
    """A node's name with its place: ``Block 2 · Softmax``."""
    section = ".ffn." in node.id and node.kind in ("norm", "residual")
    which = " 2" if section else ""
    return f"{node.region.capitalize()} · {label(node).lstrip('+ ')}{which}"


def lesson(node: MapNode) -> str:
    """What a learner should know about a node; the norm that is looked up with the embedding row says so."""
    looked_up = any(port.value == "normalised" for port in node.outputs)
    more = " Here it depends on the token alone, so its result lies beside the embedding row and is looked up with it."
    return LESSONS[node.kind] + (more if looked_up else "")


def equation(node: MapNode) -> str:
    """LaTeX of what the node computes; "" where it computes nothing."""
    return EQUATIONS.get(node.kind, node.equation)


def reason(letter: str, extent: Mapping[str, int]) -> str:
    """A letter's number and where it comes from: ``n = 21: positions computed now``."""
    number = prod(extent[d] for d in letter.split())
    return f"{SYMBOLS.get(letter, letter)} = {number:,}: {REASONS[letter]}"


def value_name(name: str, kind: str) -> str:
    """A value's name on this page."""
    return NAMES.get((name, kind), name)


def dims(letters: tuple[str, ...]) -> str:
    """Symbolic dimensions: ``n × K × G × H``."""
    return " × ".join(SYMBOLS.get(d, d) for d in letters)


def caption(node: MapNode, steps: int) -> str:
    """One line for the step that is played."""
    number = "" if node.event is None else f"{node.event + 1} of {steps} · "
    return f"{number}{heading(node)}: {lesson(node).split('. ')[0].rstrip('.')}."
