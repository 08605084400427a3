"""A block is well formed or refused: one maker a value, made before it is read, transforms in program order."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from tokenviz.builder import Builder
from tokenviz.graph import Block, Lifetime, StateKind, check, merge_counts
from tokenviz.notation import GraphError, bytes_of, size


def small() -> Block:
    """x ──► double ──► y ──► square ──► z, two transforms of one operation each."""
    b = Builder({"T": 1, "D": 4})
    x = b.input("residual", "T D", name="x")
    with b.transform("double", "scale", "Double", equation="", says=""):
        y = b.multiply(x, 2.0)
    with b.transform("square", "scale", "Square", equation="", says=""):
        z = b.multiply(y, y)
    return b.build(key="k", kind="test", title="Test", says="", spec=None, outputs={"residual": z})


def test_the_smallest_block() -> None:
    block = small()
    assert [op.id for op in block.ops] == ["double.multiply", "square.multiply"]
    assert block.feeds == {"double": (), "square": ("double",)}
    assert block.consumers["double.multiply"] == (block.ops[1],)  # once, though it is both operands
    assert check(block) is block


SPOILED = [
    (lambda b: replace(b, program=b.program[::-1]), "square.multiply reads double.multiply before anything makes it"),
    (lambda b: replace(b, program=(*b.program, b.program[0])), "double.multiply is made twice"),
    (lambda b: replace(b, program=b.program[:1]), "nothing makes square.multiply"),
    (lambda b: replace(b, outputs={"residual": "w"}), "nothing makes w"),
    (lambda b: replace(b, transforms=b.transforms[::-1]), "do not hold the program's operations in their order"),
]


@pytest.mark.parametrize(("spoil", "message"), SPOILED, ids=[message for _, message in SPOILED])
def test_what_is_not_well_formed_is_refused(spoil: Callable[[Block], Block], message: str) -> None:
    with pytest.raises(GraphError, match=re.escape(message)):
        check(spoil(small()))


def test_a_block_cannot_be_changed() -> None:
    block = small()
    for mapping in (block.values, block.inputs, block.outputs, block.sizes):
        with pytest.raises(TypeError, match="does not support item assignment"):
            mapping["x"] = None  # type: ignore[index]


def test_an_operation_needs_a_transform_and_transforms_do_not_nest() -> None:
    b = Builder({"T": 1, "D": 4})
    x = b.input("residual", "T D", name="x")
    with pytest.raises(GraphError, match="multiply used outside a transform"):
        b.multiply(x, 2.0)
    with (
        b.transform("outer", "", "", equation="", says=""),
        pytest.raises(GraphError, match="transform inner opened inside outer"),
        b.transform("inner", "", "", equation="", says=""),
    ):
        pass


def test_a_letter_without_a_size_is_named() -> None:
    with pytest.raises(GraphError, match="no size for letter 'F'"):
        Builder({"T": 1}).input("residual", "T F", name="x")


def test_parts_of_an_axis_must_fill_it() -> None:
    b = Builder({"T": 1, "D": 4, "H": 3})
    x = b.input("residual", "T D", name="x")
    with pytest.raises(GraphError, match="parts of D add up to 3, not 4"):
        b.split(x, "D", [("part", "H")])


def test_a_rearrangement_without_a_rule_is_an_error() -> None:
    b = Builder({"T": 1, "D": 4})
    with pytest.raises(GraphError, match="no rule for rearrangement 'shuffle'"):
        b.wire("shuffle", (b.input("residual", "T D", name="x"),), ("T", "D"))


def test_a_rearrangement_lives_as_its_shortest_lived_operand_unless_state_is_among_them() -> None:
    b = Builder({"T": 1, "D": 4, "cached": 2, "S": 3})
    x, w = b.input("residual", "T D", name="x"), b.weight("w", "T D", name="W")
    past = b.state("cache", "cached D", name="cache", dtype="kv")
    assert b.stack([w, x], "cached", "both").lifetime is Lifetime.EPHEMERAL
    joined = b.concat([past, x], "S D", "S", "all")
    assert joined.lifetime is Lifetime.STATE
    assert joined.roots == ("cache", "residual")


def test_a_windowed_store_keeps_one_position_less_than_the_window() -> None:
    b = Builder({"T": 1, "D": 4, "cached": 2, "next": 2})
    x = b.input("residual", "T D", name="x")
    past = b.state("cache", "cached D", name="cache", dtype="kv")
    with b.transform("append", "", "", equation="", says=""):
        b.store(past, x, "cached", name="cache", label="store", window=3)
    (state,) = b.states
    # Of a window of 3 the current position is one, so 2 stay for the next token; 1 × 4 elements are written.
    assert (state.kind, state.window, state.appended) == (StateKind.WINDOW, 3, 4)
    assert b.program[-1].attrs["keep"] == 2


def test_a_weight_asked_for_twice_is_one_weight_and_prefixes_tell_branches_apart() -> None:
    b = Builder({"D": 4})
    assert b.weight("w", "D", name="W") is b.weight("w", "D", name="W")
    with pytest.raises(GraphError, match="weight w is 'D', asked for as 'D D'"):
        b.weight("w", "D D", name="W")
    with b.prefixed("branch", {"F": 2}):
        assert b.weight("w", "F", name="W").id == "branch.w"
    with pytest.raises(GraphError, match="no size for letter 'F'"):
        b.weight("v", "F", name="V")


def test_counts_add_up() -> None:
    assert merge_counts({"add": 1}, {"add": 2, "exp": 3}, times=5) == {"add": 11, "exp": 15}  # 1 + 2·5, 3·5


def test_sizes_and_bytes() -> None:
    assert size(()) == 1
    assert size((3, 0)) == 0
    assert bytes_of(3, "int4") == 2  # 12 bits
    assert bytes_of(3, "bf16") == 6
