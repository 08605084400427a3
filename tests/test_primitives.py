"""One definition for each primitive: its cost, its class, its numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenviz.builder import Builder
from tokenviz.graph import Op, OpClass, Value
from tokenviz.notation import GraphError
from tokenviz.primitives import PRIMITIVES, contraction


def builder() -> Builder:
    return Builder({"T": 1, "D": 8, "F": 3, "E": 5, "X": 2, "S": 7, "H": 4})


def last(b: Builder) -> Op:
    return [p for p in b.program if isinstance(p, Op)][-1]


def run(b: Builder, value: Value, **arrays: np.ndarray) -> np.ndarray:
    """Execute what was built so far on arrays given by value id."""
    from tokenviz.execute import compile_block

    block = b.build(key="k", kind="k", title="", says="", spec=None, outputs={"out": value})
    plan = compile_block(block)
    env: list[object] = [None] * plan.width
    for slot, constant in plan.constants:
        env[slot] = constant
    for name, array in arrays.items():
        env[plan.slots[name]] = array
    for i in (*plan.prepare, *plan.steps):
        made = i.run(*[env[o] for o in i.operands])
        for slot, v in zip(i.results, made if len(i.results) > 1 else (made,), strict=True):
            env[slot] = v
    return env[plan.slots[value.id]]  # type: ignore[return-value]


def test_a_primitive_without_a_rule_is_an_error() -> None:
    b = builder()
    x = b.input("x", "T D", name="x")
    with (
        pytest.raises(GraphError, match="no rule for primitive 'sine'"),
        b.transform("t", "", "", equation="", says=""),
    ):
        b.unary("sine", x)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("negate", {"add": 8}), ("exp", {"exp": 8}), ("log1p", {"log1p": 8}), ("rsqrt", {"rsqrt": 8}),
        ("reciprocal", {"divide": 8}), ("tanh", {"tanh": 8}), ("erf", {"erf": 8}), ("relu", {"compare": 8}),
    ],
)  # fmt: skip
def test_functions_of_one_value_cost_one_each(name: str, counts: dict[str, int]) -> None:
    b = builder()
    x = b.input("x", "T D", name="x")
    with b.transform("t", "", "", equation="", says=""):
        b.unary(name, x)
    assert last(b).counts == counts


@pytest.mark.parametrize(
    ("name", "counts"),
    # eight values become one: seven additions or comparisons; a mean also scales once
    [("sum", {"add": 7}), ("max", {"compare": 7}), ("mean", {"add": 7, "multiply": 1})],
)
def test_reductions_cost_one_less_than_they_read(name: str, counts: dict[str, int]) -> None:
    b = builder()
    x = b.input("x", "T D", name="x")
    with b.transform("t", "", "", equation="", says=""):
        b.reduce(name, x, "D")
    assert last(b).counts == counts
    assert last(b).op_class is OpClass.REDUCTION


def test_a_contraction_is_one_mac_for_each_product() -> None:
    b = builder()
    x, w = b.input("x", "T D", name="x"), b.weight("w", "F D", name="W")
    with b.transform("t", "", "", equation="", says=""):
        b.contract("F D, T D -> T F", w, x)
    products, row_sum = [p for p in b.program if isinstance(p, Op)]
    assert (products.counts, row_sum.counts) == ({"mac": 24}, {})
    assert (products.op_class, row_sum.op_class) == (OpClass.FIXED_LINEAR, OpClass.REDUCTION)


def test_top_k_is_k_successive_maxima() -> None:
    b = builder()
    x = b.input("x", "T E", name="x")
    with b.transform("t", "", "", equation="", says=""):
        values, index = b.top_k(x, "X", "E", label="select")
    assert last(b).counts == {"compare": 4 + 3}
    x_array = np.array([[0.1, 0.9, 0.3, 0.9, 0.2]], np.float32)
    assert run(b, values, x=x_array).tolist() == [[pytest.approx(0.9), pytest.approx(0.9)]]
    assert index.dims == ("T", "X")


def test_the_same_arithmetic_has_another_class_when_its_operands_live_longer() -> None:
    b = builder()
    live, other = b.input("x", "T D", name="x"), b.input("y", "T D", name="y")
    static, kept = b.weight("w", "D", name="w"), b.state("s", "D", name="S", dtype="recurrent")
    with b.transform("t", "", "", equation="", says=""):
        found = {}
        for name, right in (("static", static), ("live", other), ("state", kept), ("constant", 2.0)):
            b.multiply(live, right)
            found[name] = last(b).op_class
    assert found == {
        "static": OpClass.FIXED_LINEAR, "constant": OpClass.FIXED_LINEAR,
        "live": OpClass.DYNAMIC, "state": OpClass.DYNAMIC,
    }  # fmt: skip


def test_a_coefficient_chosen_by_position_makes_a_position_selected_product() -> None:
    b = builder()
    x, p = b.input("x", "T D", name="x"), b.input("position", "T", name="p", dtype="index")
    c = b.coefficients(p, lambda position: np.cos(position)[:, None] * np.ones(8), "T D", "cos")
    with b.transform("t", "", "", equation="", says=""):
        b.multiply(x, c)
    assert last(b).op_class is OpClass.POSITION


def test_every_primitive_states_a_reason_for_its_class() -> None:
    b = builder()
    x = b.input("x", "T D", name="x")
    for name, rule in PRIMITIVES.items():
        op_class, reason = rule.classify((x, x))
        assert op_class in OpClass, name
        assert reason.strip(), name


LETTERS = "abcdef"


@st.composite
def contractions(draw: st.DrawFn) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], dict[str, int]]:
    kinds = {c: draw(st.sampled_from(["batch", "sum", "left", "right"])) for c in LETTERS}
    sizes = {c: draw(st.integers(1, 4)) for c in LETTERS}
    a = draw(st.permutations([c for c in LETTERS if kinds[c] != "right"]))
    b = draw(st.permutations([c for c in LETTERS if kinds[c] != "left"]))
    out = draw(st.permutations([c for c in LETTERS if kinds[c] != "sum"]))
    return tuple(a), tuple(b), tuple(out), sizes


@given(contractions())
def test_a_contraction_computes_its_einsum(case: tuple[tuple[str, ...], ...]) -> None:
    a, b, out, sizes = case
    rng = np.random.default_rng(0)
    x = rng.standard_normal([sizes[c] for c in a])  # type: ignore[call-overload]
    y = rng.standard_normal([sizes[c] for c in b])  # type: ignore[call-overload]
    expected = np.einsum(f"{''.join(a)},{''.join(b)}->{''.join(out)}", x, y)
    np.testing.assert_allclose(contraction(a, b, out)(x, y), expected, atol=1e-12)


def test_values_broadcast_by_name_whatever_their_order() -> None:
    b = Builder({"T": 2, "K": 3, "H": 4})
    x, y = b.input("x", "T K H", name="x"), b.input("y", "H K", name="y")
    with b.transform("t", "", "", equation="", says=""):
        z = b.add(x, y)
    rng = np.random.default_rng(1)
    xa, ya = rng.standard_normal((2, 3, 4)), rng.standard_normal((4, 3))
    np.testing.assert_array_equal(run(b, z, x=xa, y=ya), xa + ya.T)


def test_shapes_that_do_not_broadcast_are_refused() -> None:
    b = builder()
    x, y = b.input("x", "T D", name="x"), b.input("y", "T F", name="y")
    with pytest.raises(GraphError, match="do not broadcast"), b.transform("t", "", "", equation="", says=""):
        b.add(x, y)


def test_an_equation_that_does_not_fit_is_refused() -> None:
    b = builder()
    x, w = b.input("x", "T D", name="x"), b.weight("w", "F D", name="W")
    with pytest.raises(GraphError, match="does not fit"), b.transform("t", "", "", equation="", says=""):
        b.contract("D F, T D -> T F", w, x)
