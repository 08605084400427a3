"""One value of a recorded step, worked out: its formula with the real numbers, and every product that it adds up.

work_out(decoder, found, advance, node, output, index) -> Worked

The numbers are the recorded values of the step's parents, in float64; `Worked.value` is what the formula gives with
them, so it can be held against what was recorded.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from tokenviz.decoder.generate import Advance
from tokenviz.decoder.model import Decoder
from tokenviz.decoder.recompute import Parents, parents
from tokenviz.decoder.stations import MapNode, PredictionMap

Floats = NDArray[np.float64]
Index = tuple[int, ...]
SHOWN = 3
"""Products that the formula itself shows: the largest. All are in the table."""


@dataclass(frozen=True, slots=True, eq=False)
class Worked:
    """One value: its formula with numbers (LaTeX), what the formula gives, and its terms.

    `terms` has a line for each thing that is added up, in the order of `axis` ("coordinate", "key" or "token"), and a
    column for each name in `columns`; the last column is what is added. Empty where nothing is added up.
    """

    formula: str
    value: float
    columns: tuple[str, ...] = ()
    terms: Floats | None = None
    axis: str = ""


def work_out(
    decoder: Decoder, found: PredictionMap, advance: Advance, node: MapNode, output: int, index: Index
) -> Worked | None:
    """The value at `index` of output number `output` of a node; None where the node computes no value by a formula."""
    if node.kind not in WAYS:
        return None
    return WAYS[node.kind](parents(decoder, found, advance, node), output, index)


def number(value: float) -> str:
    """Four digits of a number for a formula.

    >>> number(-0.123456), number(2.5e-07), number(float("-inf"))
    ('-0.1235', '2.5 \\\\cdot 10^{-7}', '-\\\\infty')
    """
    if np.isneginf(value):
        return r"-\infty"
    mantissa, _, exponent = f"{value:.4g}".partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def _factor(value: float) -> str:
    return f"({number(value)})" if value < 0 else number(value)


def _added(parts: Floats) -> str:
    """The largest parts with their signs, and dots for the rest."""
    first = sorted(range(len(parts)), key=lambda i: -abs(parts[i]))[:SHOWN]
    signed = [number(float(parts[i])) for i in first]
    text = signed[0] + "".join(f" - {n[1:]}" if n[0] == "-" else f" + {n}" for n in signed[1:])
    return text + (r" + \dots" if len(parts) > SHOWN else "")


def _sum(name: str, symbols: tuple[str, str], left: Floats, right: Floats, axis: str, columns: Sequence[str]) -> Worked:
    products = left * right
    total = float(products.sum())
    a, b = symbols
    formula = rf"{name} = \sum {a}\,{b} = {_added(products)} = {number(total)}"
    return Worked(formula, total, (*columns, "product"), np.stack([left, right, products], 1), axis)


# ------------------------------------------------------------------------------------------------ one way for each kind


def _lookup(p: Parents, _output: int, index: Index) -> Worked:
    t, d = index
    token = int(p.only()[t])
    value = float(p.weight()[token, d])
    return Worked(rf"x_{{{d}}} = E_{{{token},\,{d}}} = {number(value)}", value)


def _norm(p: Parents, _output: int, index: Index) -> Worked:
    t, d = index
    x, gain = p.only()[t], float(p.weight()[d])
    squares = x * x
    mean = float(squares.mean())
    value = float(x[d]) / np.sqrt(mean + p.eps) * gain
    formula = (
        rf"\hat{{x}}_{{{d}}} = \frac{{x_{{{d}}}}}{{\sqrt{{\text{{mean of }} x^2 + \varepsilon}}}}\; g_{{{d}}}"
        rf" = \frac{{{number(float(x[d]))}}}{{\sqrt{{{number(mean)} + {number(p.eps)}}}}} \cdot {_factor(gain)}"
        rf" = {number(value)}"
    )
    return Worked(formula, value, ("x", "x²"), np.stack([x, squares], 1), "coordinate")


def _linear(name: str, weight: str, source: str) -> Callable[[Parents, int, Index], Worked]:
    """A row of a learned matrix times the row of a position."""

    def work(p: Parents, _output: int, index: Index) -> Worked:
        x = p.only().reshape(len(p.only()), -1)[index[0]]
        rows = p.weight().reshape(-1, len(x))
        row = int(np.ravel_multi_index(index[1:], _made(p.weight().shape, len(x))))
        symbols = f"{weight}_{{{row},\\,i}}", f"{source}_i"
        return _sum(f"{name}_{{{row}}}", symbols, rows[row], x, "coordinate", ("weight", "input"))

    return work


def _made(shape: Sequence[int], width: int) -> tuple[int, ...]:
    """The dimensions of a weight that its product keeps: those before the `width` that are summed."""
    kept = list(shape)
    summed = 1
    while summed < width:
        summed *= kept.pop()
    return tuple(kept)


def _rope(p: Parents, output: int, index: Index) -> Worked:
    """Coordinates c and c + half turn together, by the position times a rate that falls with c."""
    name, x = list(p.values.items())[output]
    row, c = x[index[:-1]], index[-1]
    half = len(row) // 2
    theta = p.spec.rope.theta if p.spec.rope is not None else 1.0
    position, rate = p.first + index[0], float(theta ** (-(c % half) / half))
    low, high = float(row[c % half]), float(row[c % half + half])
    cos, sin = float(np.cos(position * rate)), float(np.sin(position * rate))
    letter, turned = name[0], f"{name[0]}'_{{{c}}}"
    angle = rf"\varphi &= {position} \cdot {theta:g}^{{-{c % half}/{half}}} = {number(position * rate)}"
    if c < half:
        value, by = low * cos - high * sin, rf"{letter}_{{{c}}} \cos\varphi - {letter}_{{{c + half}}} \sin\varphi"
        real = rf"{number(low)} \cdot {_factor(cos)} - {_factor(high)} \cdot {_factor(sin)}"
    else:
        value, by = high * cos + low * sin, rf"{letter}_{{{c}}} \cos\varphi + {letter}_{{{c - half}}} \sin\varphi"
        real = rf"{number(high)} \cdot {_factor(cos)} + {_factor(low)} \cdot {_factor(sin)}"
    formula = rf"\begin{{aligned}} {turned} &= {by} \\ &= {real} = {number(value)} \\ {angle} \end{{aligned}}"
    return Worked(formula, value)


def _scores(p: Parents, _output: int, index: Index) -> Worked:
    q, keys = p.values.values()
    t, k, g, j = index
    left, right = q[t, k, g], keys[j, k]
    products = left * right
    root = float(np.sqrt(len(left)))
    value = float(products.sum()) / root
    formula = (
        rf"s = \frac{{\sum q_c\,k_c}}{{\sqrt{{{len(left)}}}}} = \frac{{{_added(products)}}}{{{number(root)}}}"
        rf" = \frac{{{number(float(products.sum()))}}}{{{number(root)}}} = {number(value)}"
    )
    return Worked(formula, value, ("query", "key", "product"), np.stack([left, right, products], 1), "coordinate")


def _mask(p: Parents, _output: int, index: Index) -> Worked:
    t, _, _, j = index
    position = p.first + t
    if j > position:
        return Worked(rf"s \leftarrow -\infty \quad\text{{as key }} {j} > {position} \text{{, the position}}", -np.inf)
    value = float(p.only()[index])
    return Worked(rf"s \text{{ stays }} {number(value)} \quad\text{{as key }} {j} \le {position}", value)


def _softmax(p: Parents, _output: int, index: Index) -> Worked:
    row = p.only()[index[:-1]]
    top = float(row.max())
    e = np.exp(row - top)
    own, total = float(e[index[-1]]), float(e.sum())
    score = float(row[index[-1]])
    formula = (
        rf"p = \frac{{e^{{s - \max}}}}{{\sum e^{{s_l - \max}}}} = \frac{{e^{{{number(score)} - {_factor(top)}}}}}"
        rf"{{{number(total)}}} = \frac{{{number(own)}}}{{{number(total)}}} = {number(own / total)}"
    )
    axis = "key" if len(index) == 4 else "token"
    return Worked(formula, own / total, ("score s", "e^(s − max)"), np.stack([row, e], 1), axis)


def _mix(p: Parents, _output: int, index: Index) -> Worked:
    shares, values = p.values.values()
    t, k, g, c = index
    return _sum(f"o_{{{c}}}", ("p_j", f"v_{{j,\\,{c}}}"), shares[t, k, g], values[:, k, c], "key", ("share", "value"))


def _join(p: Parents, _output: int, index: Index) -> Worked:
    t, at = index
    o = p.only()
    k, g, c = np.unravel_index(at, o.shape[1:])
    value = float(o[t, k, g, c])
    head = int(k) * o.shape[2] + int(g)
    return Worked(rf"o_{{{at}}} = \text{{number }} {c} \text{{ of head }} {head} = {number(value)}", value)


def _add(p: Parents, _output: int, index: Index) -> Worked:
    x, update = (float(v[index]) for v in p.values.values())
    d = index[1]
    real = rf"{number(x)} {'-' if update < 0 else '+'} {number(abs(update))} = {number(x + update)}"
    return Worked(rf"x_{{{d}}} \leftarrow x_{{{d}}} + \Delta x_{{{d}}} = {real}", x + update)


def _act(p: Parents, _output: int, index: Index) -> Worked:
    gate, up = (float(v[index]) for v in p.values.values())
    value = gate / (1 + np.exp(-gate)) * up
    formula = (
        rf"h_{{{index[1]}}} = \frac{{g}}{{1 + e^{{-g}}}}\,u = \frac{{{number(gate)}}}{{1 + e^{{{number(-gate)}}}}}"
        rf" \cdot {_factor(up)} = {number(value)}"
    )
    return Worked(formula, value)


WAYS: Mapping[str, Callable[[Parents, int, Index], Worked]] = MappingProxyType(
    {
        "lookup": _lookup, "norm": _norm, "rope": _rope, "scores": _scores, "mask": _mask, "softmax": _softmax,
        "mix": _mix, "join": _join, "residual": _add, "act": _act, "probabilities": _softmax,
        "q": _linear("q", "W^q", r"\hat{x}"), "k": _linear("k", "W^k", r"\hat{x}"),
        "v": _linear("v", "W^v", r"\hat{x}"), "out": _linear(r"\Delta x", "W^O", "o"),
        "gate": _linear("g", "W^g", r"\hat{x}"), "up": _linear("u", "W^u", r"\hat{x}"),
        "down": _linear(r"\Delta x", r"W^{\text{down}}", "h"),
        "logits": _linear(r"\text{logit}", "E", r"\hat{x}"),
    }
)  # fmt: skip
"""Kind of node -> how one of its values comes about."""
