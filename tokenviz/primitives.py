"""Each primitive once: what it costs, which class it has, and how numpy computes it.

`Primitive.counts` sees sizes, `Primitive.classify` sees lifetimes, `Primitive.lower` returns the function that
the executor calls. A primitive that is not in the table is an error when a recipe is traced, never a zero.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import erf
from types import MappingProxyType
from typing import Any

import numpy as np

from tokenviz.graph import Counts, Lifetime, OpClass, Role, Value
from tokenviz.notation import GraphError, size

Array = Any
"""An ndarray, or a pair of them: the factors of a contraction's products, or what a top-k chose and where."""

Dims = tuple[str, ...]
Lower = Callable[[Sequence[Dims], Dims, Mapping[str, Any]], Callable[..., Array]]
"""(dims of the operands, dims of the result, attributes) -> the function of the operands' arrays."""

Classify = Callable[[Sequence[Value | float]], tuple[OpClass, str]]
"""Operands -> the operation's class, and why it has it."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """What a cost rule may look at: elements of the operands and of the result, and the primitive's own attributes."""

    operands: tuple[int, ...]
    result: int
    attrs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Primitive:
    """One entry of the table."""

    name: str
    counts: Callable[[Sizes], Counts]
    classify: Classify
    lower: Lower


def primitive(name: str) -> Primitive:
    """The primitive of this name; `GraphError` when there is no rule for it."""
    if name not in PRIMITIVES:
        raise GraphError(f"no rule for primitive {name!r}; known: {', '.join(sorted(PRIMITIVES))}")
    return PRIMITIVES[name]


# ------------------------------------------------------------------------------------------------ class rules


def _is_static(v: Value | float) -> bool:
    return not isinstance(v, Value) or v.lifetime is Lifetime.STATIC


def _multiplicative(operands: Sequence[Value | float]) -> tuple[OpClass, str]:
    """A product is linear in the live operand when the other one is known before any token arrives."""
    if any(isinstance(v, Value) and v.role is Role.COEFFICIENT for v in operands):
        return OpClass.POSITION, "one operand is a coefficient that the token's position selects from a table"
    if any(_is_static(v) for v in operands):
        return OpClass.FIXED_LINEAR, "one operand is known before the token arrives, the other one is live"
    if any(isinstance(v, Value) and v.lifetime is Lifetime.STATE for v in operands):
        return OpClass.DYNAMIC, "one operand was kept from earlier tokens, the other was made for this token"
    return OpClass.DYNAMIC, "both operands were made for this token"


def _always(op_class: OpClass, reason: str) -> Classify:
    return lambda _operands: (op_class, reason)


_ADD = _always(OpClass.ADD, "an addition or subtraction, element by element")
_REDUCTION = _always(OpClass.REDUCTION, "many values become one")
_NONLINEAR = _always(OpClass.NONLINEAR, "a transcendental function of one live value")
_SELECT = _always(OpClass.SELECT, "the result is chosen by comparing live values")
_ROUTE = _always(OpClass.ROUTE, "values are moved or kept, none is computed")
_RECIPROCAL = _always(OpClass.DYNAMIC, "the divisor was made for this token")


# ------------------------------------------------------------------------------------------------ numpy lowerings


def aligner(dims: Dims, result: Dims) -> Callable[[Array], Array] | None:
    """Function that views an array with `dims` so that it broadcasts against `result`; None when it already does."""
    if dims == result:
        return None
    order = tuple(dims.index(d) for d in result if d in dims)
    index = tuple(slice(None) if d in dims else None for d in result)
    if order == tuple(range(len(dims))):
        return lambda a: a[index]
    return lambda a: a.transpose(order)[index]


def _elementwise(ufunc: Callable[..., Array]) -> Lower:
    def lower(operands: Sequence[Dims], result: Dims, _attrs: Mapping[str, Any]) -> Callable[..., Array]:
        align = [aligner(d, result) if d else None for d in operands]
        if not any(align):
            return ufunc
        if len(align) == 2:
            first, second = (f or _identity for f in align)
            return lambda a, b: ufunc(first(a), second(b))
        return lambda a: ufunc((align[0] or _identity)(a))

    return lower


def _identity(a: Array) -> Array:
    return a


def _reduction(reduce: Callable[..., Array]) -> Lower:
    def lower(operands: Sequence[Dims], _result: Dims, attrs: Mapping[str, Any]) -> Callable[..., Array]:
        axis = tuple(operands[0].index(d) for d in attrs["over"].split())
        return lambda a: reduce(a, axis=axis)

    return lower


def contraction(a: Dims, b: Dims, out: Dims) -> Callable[[Array, Array], Array]:
    """Function for the einsum ``a, b -> out`` (no repeated letter) as one batched matrix product.

    Of the two orders of the operands, the one is taken whose result already lies in memory as `out` asks.
    """
    swapped = _matrix_order(b, a, out) == out != _matrix_order(a, b, out)
    if swapped:
        a, b = b, a
    batch = tuple(d for d in a if d in b and d in out)
    summed = tuple(d for d in a if d in b and d not in out)
    free_a = tuple(d for d in a if d not in b)
    free_b = tuple(d for d in b if d not in a)
    perm_a = tuple(a.index(d) for d in batch + free_a + summed)
    perm_b = tuple(b.index(d) for d in batch + free_b + summed)
    made = batch + free_a + free_b
    perm_out = tuple(made.index(d) for d in out)
    nb, na, nf = len(batch), len(free_a), len(free_b)

    def run(x: Array, y: Array) -> Array:
        if swapped:
            x, y = y, x
        x, y = x.transpose(perm_a), y.transpose(perm_b)
        lead, rows, cols = x.shape[:nb], x.shape[nb : nb + na], y.shape[nb : nb + nf]
        depth = size(x.shape[nb + na :])
        x = x.reshape((*lead, size(rows), depth))
        y = y.reshape((*lead, size(cols), depth))
        z = np.matmul(x, y.swapaxes(-1, -2))
        return z.reshape(lead + rows + cols).transpose(perm_out)

    return run


def _matrix_order(a: Dims, b: Dims, out: Dims) -> Dims:
    """The order of the result's letters in the matrix product of a and b: batch, free in a, free in b."""
    return (
        *(d for d in a if d in b and d in out),
        *(d for d in a if d not in b),
        *(d for d in b if d not in a),
    )


def _lower_products(_operands: Sequence[Dims], _result: Dims, _attrs: Mapping[str, Any]) -> Callable[..., Array]:
    return lambda a, b: (a, b)


def _lower_row_sum(_operands: Sequence[Dims], result: Dims, attrs: Mapping[str, Any]) -> Callable[..., Array]:
    run = contraction(attrs["a"], attrs["b"], result)
    return lambda pair: run(*pair)


def _lower_top_k(operands: Sequence[Dims], _result: Dims, attrs: Mapping[str, Any]) -> Callable[..., Array]:
    axis = operands[0].index(attrs["over"])
    k = attrs["k"] if attrs["at_most"] is None else attrs["at_most"]

    def run(a: Array, rank_by: Array | None = None) -> tuple[Array, Array]:
        scores = a if rank_by is None else rank_by
        ranked = np.argsort(-scores, axis=axis, kind="stable")
        chosen = ranked.take(range(min(k, ranked.shape[axis])), axis=axis)
        return np.take_along_axis(a, chosen, axis=axis), chosen

    return run


def _lower_argmax(operands: Sequence[Dims], _result: Dims, attrs: Mapping[str, Any]) -> Callable[..., Array]:
    axis = operands[0].index(attrs["over"])
    return lambda a: np.argmax(a, axis=axis)


def _lower_lookup(_operands: Sequence[Dims], _result: Dims, attrs: Mapping[str, Any]) -> Callable[..., Array]:
    if attrs["stacked"]:
        return _gather_rows
    offset = attrs.get("offset", 0)
    return lambda index, table: table[index + offset]


def _gather_rows(index: Array, *tables: Array) -> Array:
    """The chosen rows of all tables side by side, in dimension 1."""
    first = tables[0]
    rows = np.empty((*index.shape, len(tables), *first.shape[1:]), first.dtype)
    for place, table in enumerate(tables):
        rows[:, place] = table.take(index, axis=0)
    return rows


def _lower_append(operands: Sequence[Dims], _result: Dims, attrs: Mapping[str, Any]) -> Callable[..., Array]:
    axis, keep = attrs["axis"], attrs["keep"]
    if keep is None:
        return lambda kept, new: np.concatenate((kept, new), axis=axis)

    def run(kept: Array, new: Array) -> Array:
        joined = np.concatenate((kept, new), axis=axis)
        return joined[(slice(None),) * axis + (slice(max(0, joined.shape[axis] - keep), None),)]

    return run


def _lower_causal_mask(operands: Sequence[Dims], result: Dims, attrs: Mapping[str, Any]) -> Callable[..., Array]:
    t, s = result.index("T"), result.index(attrs["over"])
    window, chunk = attrs["window"], attrs["chunk"]

    def run(scores: Array) -> Array:
        hidden = _hidden(scores.shape[t], scores.shape[s], window, chunk, scores.dtype)
        shape = [1] * scores.ndim
        shape[t], shape[s] = scores.shape[t], scores.shape[s]
        return scores + (hidden if t < s else hidden.T).reshape(shape)  # s + 0 is s, s - inf is -inf: no choosing

    return run


@lru_cache(maxsize=4)
def _hidden(rows: int, cols: int, window: int | None, chunk: int | None, dtype: np.dtype[Any]) -> Array:
    """0 where the query of a row may see the key of a column, else -inf; the layers of one step ask for the same."""
    query = np.arange(rows)[:, None] + (cols - rows)
    key = np.arange(cols)[None, :]
    allowed = key <= query
    if window is not None:
        allowed &= key > query - window
    if chunk is not None:  # the first key starts a chunk
        allowed &= key // chunk == query // chunk
    hidden = np.where(allowed, 0, -np.inf).astype(dtype)
    hidden.flags.writeable = False
    return hidden


def _lower_hide(operands: Sequence[Dims], result: Dims, _attrs: Mapping[str, Any]) -> Callable[..., Array]:
    align = aligner(operands[1], result) or _identity
    return lambda a, hidden: np.where(align(hidden) == -np.inf, hidden.dtype.type(-np.inf), a)


def _lower_keep_groups(operands: Sequence[Dims], _result: Dims, attrs: Mapping[str, Any]) -> Callable[..., Array]:
    axis = operands[0].index("groups")

    def run(a: Array, chosen: Array) -> Array:
        kept = (chosen[..., None] == np.arange(a.shape[axis])).any(axis=-2)
        return np.where(kept[..., None], a, a.dtype.type(attrs["fill"]))

    return run


def _keep(_operands: Sequence[Dims], _result: Dims, _attrs: Mapping[str, Any]) -> Callable[..., Array]:
    return lambda a, *_rest: a


def _mean(a: Array, axis: tuple[int, ...]) -> Array:
    return np.add.reduce(a, axis=axis) / size([a.shape[i] for i in axis])


_ERF = np.vectorize(erf, otypes=[np.float64])  # numpy has none of its own


def _erf(a: Array) -> Array:
    return _ERF(a).astype(a.dtype, copy=False)


def _relu(a: Array) -> Array:
    return np.maximum(a, 0)


# ------------------------------------------------------------------------------------------------ the table


def _one(counter: str) -> Callable[[Sizes], Counts]:
    """One scalar operation for each result element."""
    return lambda s: {counter: s.result}


def _tree(counter: str) -> Callable[[Sizes], Counts]:
    """A reduction of n values to one takes n - 1 of them."""
    return lambda s: {counter: s.operands[0] - s.result}


def _none(_s: Sizes) -> Counts:
    return {}


def _top_k_compares(s: Sizes) -> Counts:
    """k successive maxima among n: (n - 1) + (n - 2) + ... + (n - k), for each row.

    Where n grows with the context, the fewest comparisons that any method can do with: each of the n - k entries that
    are left out has to lose one.
    """
    n, k = s.attrs["n"], s.attrs["k"]
    rows = s.result // k
    if s.attrs["at_most"] is not None:
        return {"compare": rows * (n - k)}
    return {"compare": rows * (k * n - k * (k + 1) // 2)}


_TABLE = (
    ("multiply", _one("multiply"), _multiplicative, _elementwise(np.multiply)),
    ("divide", _one("divide"), _multiplicative, _elementwise(np.divide)),
    ("reciprocal", _one("divide"), _RECIPROCAL, _elementwise(np.reciprocal)),
    ("add", _one("add"), _ADD, _elementwise(np.add)),
    ("subtract", _one("add"), _ADD, _elementwise(np.subtract)),
    ("negate", _one("add"), _ADD, _elementwise(np.negative)),
    ("exp", _one("exp"), _NONLINEAR, _elementwise(np.exp)),
    ("log1p", _one("log1p"), _NONLINEAR, _elementwise(np.log1p)),
    ("rsqrt", _one("rsqrt"), _NONLINEAR, _elementwise(lambda a: 1 / np.sqrt(a))),
    ("tanh", _one("tanh"), _NONLINEAR, _elementwise(np.tanh)),
    ("erf", _one("erf"), _NONLINEAR, _elementwise(_erf)),
    ("relu", _one("compare"), _SELECT, _elementwise(_relu)),
    ("minimum", _one("compare"), _SELECT, _elementwise(np.minimum)),
    ("maximum", _one("compare"), _SELECT, _elementwise(np.maximum)),
    ("sum", _tree("add"), _REDUCTION, _reduction(np.add.reduce)),
    ("max", _tree("compare"), _REDUCTION, _reduction(np.maximum.reduce)),
    (
        "mean",
        lambda s: {"add": s.operands[0] - s.result, "multiply": s.result},
        _REDUCTION,
        _reduction(_mean),
    ),
    # A contraction is two operations: its products, and the sum of each row. The pair is counted once, as MACs.
    ("products", lambda s: {"mac": s.result}, _multiplicative, _lower_products),
    ("row_sum", _none, _REDUCTION, _lower_row_sum),
    # A rank-1 update is the other MAC pair: the products, then their accumulation into what was there.
    ("outer", lambda s: {"mac": s.result}, _multiplicative, _elementwise(np.multiply)),
    ("accumulate", _none, _ADD, _elementwise(np.add)),
    ("top_k", _top_k_compares, _SELECT, _lower_top_k),
    ("argmax", _tree("compare"), _SELECT, _lower_argmax),
    ("causal_mask", _none, _SELECT, _lower_causal_mask),
    ("hide", _none, _SELECT, _lower_hide),
    ("keep_groups", _none, _SELECT, _lower_keep_groups),
    ("lookup", _none, _ROUTE, _lower_lookup),
    ("fan_out", _none, _ROUTE, _keep),
    ("append", _none, _ROUTE, _lower_append),
    ("save", _none, _ROUTE, _keep),
)

PRIMITIVES: Mapping[str, Primitive] = MappingProxyType({row[0]: Primitive(*row) for row in _TABLE})
