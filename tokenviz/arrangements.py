"""Which kind of physical arrangement each operation asks for, and how much of it a model has.

Every stage of the step belongs to exactly one group, decided by the lifetimes of its operands and by its primitive, so
the groups' operations add up to the step's. The numbers of a group: operations a token; values that cross its border a
token (from `tokenviz.handoffs`); bytes that stay in it, that are read from it, and that are written into it a token.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tokenviz.graph import Block, DecodeStep, Lifetime, Op, OpClass, Role, State, StateKind, Value, Wire
from tokenviz.handoffs import handoffs
from tokenviz.handoffs_block import stages_of
from tokenviz.scenario import Scenario
from tokenviz.storage import weight_loads
from tokenviz.traffic import one_state, value_bytes

GROWS = (StateKind.GROWING, StateKind.WINDOW)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One kind of arrangement, with this model's numbers for one token."""

    key: str
    operations: int
    values_in: int
    values_out: int
    resident_bytes: int
    read_bytes: int
    written_bytes: int


@dataclass(frozen=True, slots=True)
class _Stage:
    """A stage as the rules see it: its operations, the states of its block, and what it reads."""

    block: Block
    ops: tuple[Op, ...]

    @property
    def first(self) -> Op:
        return self.ops[0]

    @property
    def roots(self) -> list[Value]:
        return [self.block.values[r] for op in self.ops for r in self.block.roots_of(op)]

    def states(self, *kinds: StateKind) -> list[State]:
        return [s for s in self.block.states if s.kind in kinds]


def _stores(s: _Stage) -> bool:
    return any(state.written in op.results for state in s.states(*GROWS) for op in s.ops)


def _routed(s: _Stage) -> bool:
    """Multiplies weights that were picked at run time."""
    gathered = {w.result for w in s.block.program if isinstance(w, Wire) and w.kind == "gather"}
    picked = [s.block.values[str(o)] for o in s.first.operands if o in gathered]
    return s.first.primitive == "products" and any(v.lifetime is Lifetime.STATIC for v in picked)


def _over_cache(s: _Stage) -> bool:
    kept = {state.read for state in s.states(*GROWS)}
    return s.first.primitive == "products" and any(v.id in kept for v in s.roots)


def _in_memory(s: _Stage) -> bool:
    """Reads or makes a whole version of a recurrent state."""
    for state in s.states(StateKind.RECURRENT):
        letters = set(s.block.values[state.read].dims)
        made = [s.block.values[r] for op in s.ops for r in op.results]
        if any(v.dtype == "recurrent" and letters <= set(v.dims) for v in (*s.roots, *made)):
            return True
    return False


def _in_window(s: _Stage) -> bool:
    """Appends to, taps or saves the last columns of a convolution."""
    names = {name for state in s.states(StateKind.CONVOLUTION) for name in (state.read, state.written)}
    columns = {op.result for op in s.block.ops if op.primitive == "append" and op.operands[0] in names}
    touched = {*(v.id for v in s.roots), *(r for op in s.ops for r in op.results)}
    return bool(touched & (names | columns))


def _is(*classes: OpClass) -> Callable[[_Stage], bool]:
    return lambda s: s.first.op_class in classes


RULES: Mapping[str, Callable[[_Stage], bool]] = MappingProxyType(
    {
        "cache": _stores,
        "experts": _routed,
        "growing": _over_cache,
        "recurrent": _in_memory,
        "window": _in_window,
        "position": _is(OpClass.POSITION),
        "fixed": lambda s: s.first.primitive == "products" and s.first.op_class is OpClass.FIXED_LINEAR,
        "reduction": _is(OpClass.REDUCTION),
        "function": lambda s: s.first.op_class is OpClass.NONLINEAR or s.first.primitive == "reciprocal",
        "compare": _is(OpClass.SELECT),
        "table": _is(OpClass.ROUTE),
        "lanes": lambda _s: True,
    }
)
"""The first rule that holds decides."""


def group_of(block: Block, ops: tuple[Op, ...]) -> str:
    """Key of the group that a stage belongs to."""
    stage = _Stage(block, ops)
    return next(key for key, holds in RULES.items() if holds(stage))


def arrangements(step: DecodeStep, scenario: Scenario) -> tuple[Group, ...]:
    """The groups that a step has, in the order of `RULES`; operations add up to the step's."""
    member, operations = _members(step)
    came, went = dict.fromkeys(RULES, 0), dict.fromkeys(RULES, 0)
    for arrow in handoffs(step).arrows:
        source, target = member[arrow.source], member[arrow.target]
        if source != target:
            went[source] += arrow.values
            came[target] += arrow.values
    resident, read, written = _bytes(step, scenario)
    return tuple(
        Group(
            key=key,
            operations=operations[key],
            values_in=came[key],
            values_out=went[key],
            resident_bytes=resident[key],
            read_bytes=read[key],
            written_bytes=written[key],
        )
        for key in RULES
        if operations[key]
    )


def _members(step: DecodeStep) -> tuple[dict[str, str], dict[str, int]]:
    """Stage id -> group, and group -> operations a token."""
    member: dict[str, str] = {}
    operations = dict.fromkeys(RULES, 0)
    for block, n in step.folded():
        for stage, _, ops in stages_of(block):
            member[stage] = group_of(block, ops)
            operations[member[stage]] += len(ops) * n
    return member, operations


_Bytes = dict[str, int]


def _bytes(step: DecodeStep, scenario: Scenario) -> tuple[_Bytes, _Bytes, _Bytes]:
    """Group -> bytes that stay in it, that are read from it, that are written into it, a token."""
    resident, read, written = dict.fromkeys(RULES, 0), dict.fromkeys(RULES, 0), dict.fromkeys(RULES, 0)
    shared: set[tuple[str, str]] = set()
    reader = {key: _readers(block) for key, block in step.blocks.items()}
    for load in weight_loads(step, scenario):
        key, scope = reader[load.ref.block].get(load.weight.id), load.weight.scope
        if key is None:  # read by no operation, such as a weight that only a table is made of
            continue
        read[key] += load.bytes_of(load.read) * load.count
        if not scope:
            resident[key] += load.stored_bytes * load.count
        elif (key, scope) not in shared:
            shared.add((key, scope))
            resident[key] += load.stored_bytes
    for block, n in step.folded():
        for key, state in _states(block):
            moved = one_state(block, state, scenario)
            resident[key] += value_bytes(block.values[state.read], scenario) * n
            read[key] += (moved.kv_read + moved.state_read + moved.conv_read) * n
            written[key] += (moved.kv_write + moved.state_write + moved.conv_write) * n
        row_bytes = sum(value_bytes(v, scenario) for v in block.values.values() if v.role is Role.COEFFICIENT)
        read["position"] += row_bytes * n
        whole = row_bytes // step.positions * (step.context + step.positions)
        resident["position"] = max(resident["position"], whole)  # one table for all layers
    return resident, read, written


def _readers(block: Block) -> dict[str, str]:
    """Weight id -> the group of its first reader."""
    reader: dict[str, str] = {}
    for _, _, ops in stages_of(block):
        for op in ops:
            for root in block.roots_of(op):
                if block.values[root].role is Role.WEIGHT:
                    reader.setdefault(root, group_of(block, ops))
    return reader


def _states(block: Block) -> Iterator[tuple[str, State]]:
    """(group, state) for each state of a block: the group of the operation that keeps it."""
    for stage in stages_of(block):
        for state in block.states:
            if any(state.written in op.results for op in stage[2]):
                yield group_of(block, stage[2]), state
