"""Run a traced step on real arrays: the proof that the graph is right.

`bind` joins a step with weights once (folding what depends on weights alone); `execute` then runs it for a token. The
same bound model serves every context length, since no operation depends on how many positions are cached.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokenviz.graph import Block, BlockRef, DecodeStep, Op, StateKind, Value, Wire
from tokenviz.notation import TokenvizError
from tokenviz.primitives import primitive
from tokenviz.wires import WIRES

Array = NDArray[Any]
Weights = Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class State:
    """What is kept between tokens: how many positions are cached, and one array for each state of each layer."""

    position: int
    arrays: Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class Instruction:
    """One step of a block's plan: a function, where its operands lie, where its results go, what nobody reads after."""

    run: Callable[..., Any]
    operands: tuple[int, ...]
    results: tuple[int, ...]
    spent: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Plan:
    """A block compiled to slots: constants and weights are filled once, the rest for every token."""

    slots: Mapping[str, int]
    constants: tuple[tuple[int, float], ...]
    prepare: tuple[Instruction, ...]  # depends on weights alone
    tables: tuple[Instruction, ...]  # depends on the positions alone: once a step, however many layers use the block
    steps: tuple[Instruction, ...]
    width: int


@dataclass(frozen=True, eq=False)
class Bound:
    """A step joined with weights."""

    step: DecodeStep
    plans: Mapping[str, Plan]
    templates: tuple[tuple[Any, ...], ...]  # for each place of the sequence, its slots with weights filled in


@dataclass(frozen=True, eq=False)
class Result:
    """What one step yields. `logits` is T V; `probabilities` or `token` as the step's output asks for."""

    logits: Array
    probabilities: Array | None
    token: Array | None
    state: State
    recorded: tuple[tuple[Any, ...], ...]
    bound: Bound

    def value(self, place: int, value_id: str) -> Any:
        """A recorded value at place number `place` of the sequence (needs ``record=True``, and `bind` to keep it)."""
        block = self.bound.step.sequence[place].block
        value = self.recorded[place][self.bound.plans[block].slots[value_id]]
        if value is None:
            raise TokenvizError(f"{value_id!r} of block {block!r} was not kept; name it in the `keep` of `bind`")
        return value


@lru_cache(maxsize=256)
def compile_block(block: Block, keep: frozenset[str] | None = None) -> Plan:
    """Turn a block's program into instructions over numbered slots; `keep` as in `bind`."""
    slots = {v: i for i, v in enumerate(block.values)}
    constants: list[tuple[int, float]] = []

    def slot(operand: str | float) -> int:
        if isinstance(operand, str):
            return slots[operand]
        constants.append((len(slots) + len(constants), operand))
        return constants[-1][0]

    prepare: list[Instruction] = []
    tables: list[Instruction] = []
    steps: list[Instruction] = []
    for item in block.program:
        lowered = _lower(block, item)
        results = (item.result,) if isinstance(item, Wire) else item.results
        instruction = Instruction(lowered, tuple(slot(o) for o in item.operands), tuple(slots[r] for r in results))
        kind = item.kind if isinstance(item, Wire) else ""
        {"fold": prepare, "positions": tables}.get(kind, steps).append(instruction)
    if keep is not None:
        leave = {*keep, *block.outputs.values(), *(state.written for state in block.states)}
        steps = _free(steps, {slots[value] for value in leave})
    width = len(slots) + len(constants)
    return Plan(MappingProxyType(slots), tuple(constants), tuple(prepare), tuple(tables), tuple(steps), width)


def _free(steps: Sequence[Instruction], leave: set[int]) -> list[Instruction]:
    """The same steps, each dropping what it is the last to touch: memory in the processor's cache is used again."""
    unread = {slot for i in steps for slot in i.results} - leave
    freed = []
    for i in reversed(steps):
        spent = unread.intersection(i.operands + i.results)
        freed.append(replace(i, spent=tuple(spent)))
        unread -= spent
    return freed[::-1]


def _lower(block: Block, item: Op | Wire) -> Callable[..., Any]:
    dims = [block.values[o].dims if isinstance(o, str) else () for o in item.operands]
    if isinstance(item, Wire):
        return WIRES[item.kind](dims, block.values[item.result].dims, item.attrs)
    return primitive(item.primitive).lower(dims, block.values[item.result].dims, item.attrs)


def _run(instructions: Sequence[Instruction], env: list[Any]) -> None:
    for i in instructions:
        made = i.run(*[env[o] for o in i.operands])
        if len(i.results) == 1:
            env[i.results[0]] = made
        else:
            for slot, value in zip(i.results, made, strict=True):
                env[slot] = value
        del made
        for slot in i.spent:
            env[slot] = None


def _fill(tables: dict[str, list[tuple[int, Any]]], key: str, plan: Plan, env: list[Any]) -> None:
    """Put a block's position tables into its slots; layers that share the block share them."""
    if key not in tables:
        _run(plan.tables, env)
        tables[key] = [(slot, env[slot]) for i in plan.tables for slot in i.results]
    for slot, value in tables[key]:
        env[slot] = value


def weight_name(ref: BlockRef, weight: Value) -> str:
    """The name under which `bind` looks a weight up: its scope, or its place and id (``layers.3.mixer.q.weight``)."""
    return weight.scope or f"{ref.name}.{weight.id}"


def weight_shapes(step: DecodeStep) -> dict[str, tuple[int, ...]]:
    """Name -> shape of every weight and buffer that a step reads."""
    return {weight_name(ref, w): w.shape for ref in step.sequence for w in stored(step.blocks[ref.block])}


def stored(block: Block) -> tuple[Value, ...]:
    """What a checkpoint holds for a block: its parameters, then its buffers."""
    return (*block.weights, *block.buffers)


def bind(step: DecodeStep, weights: Weights, keep: Sequence[frozenset[str]] | None = None) -> Bound:
    """Join a step with its weights; a missing or misshapen weight is named.

    `keep` names, for each place of the sequence, the values that a recording needs; others are let go as soon as
    nothing reads them, which is faster. None keeps all.
    """
    plans = {key: compile_block(block, _keep(step, key, keep)) for key, block in step.blocks.items()}
    templates = []
    for ref in step.sequence:
        block, plan = step.blocks[ref.block], plans[ref.block]
        env: list[Any] = [None] * plan.width
        for slot, constant in plan.constants:
            env[slot] = constant
        for weight in stored(block):
            env[plan.slots[weight.id]] = _weight(weights, weight_name(ref, weight), weight)
        _run(plan.prepare, env)
        templates.append(tuple(env))
    return Bound(step, plans, tuple(templates))


def _keep(step: DecodeStep, key: str, keep: Sequence[frozenset[str]] | None) -> frozenset[str] | None:
    if keep is None:
        return None
    return frozenset().union(*(names for ref, names in zip(step.sequence, keep, strict=True) if ref.block == key))


def _weight(weights: Weights, name: str, weight: Value) -> Array:
    if name not in weights:
        raise TokenvizError(f"the weights have no {name!r}; the model needs one of shape {list(weight.shape)}")
    array = weights[name]
    if array.shape != weight.shape:
        raise TokenvizError(f"weight {name!r} has shape {list(array.shape)}; the model needs {list(weight.shape)}")
    return array


def initial_state(step: DecodeStep) -> State:
    """Nothing cached: empty caches, zero recurrent and convolution state."""
    arrays = {}
    for ref in step.sequence:
        block = step.blocks[ref.block]
        for state in block.states:
            read = block.values[state.read]
            growing = state.kind in (StateKind.GROWING, StateKind.WINDOW)
            shape = (0, *read.shape[1:]) if growing else read.shape
            arrays[f"{ref.name}.{state.id}"] = np.zeros(shape, dtype=np.float32)
    return State(0, MappingProxyType(arrays))


def execute(
    step: DecodeStep | Bound,
    weights: Weights | None,
    state: State,
    token: int | Sequence[int] | Array,
    *,
    record: bool = False,
) -> Result:
    """Run one step: `token` holds the ids of its T new positions. Pass a `Bound` (and None) to reuse the binding.

    With `record`, the values of every block are there for `Result.value`: all, or those that `bind` was told to keep.
    """
    bound = step if isinstance(step, Bound) else bind(step, weights or {})
    step = bound.step
    tokens = np.atleast_1d(np.asarray(token, dtype=np.int64))
    if tokens.shape != (step.positions,):
        raise TokenvizError(f"the step was traced for {step.positions} new positions, {tokens.size} tokens were given")
    ports: dict[str, Any] = {"token": tokens, "position": np.arange(state.position, state.position + len(tokens))}
    arrays, recorded = {}, []
    tables: dict[str, list[tuple[int, Any]]] = {}
    with np.errstate(over="ignore"):  # exp of a very negative gate overflows to inf, its reciprocal is the right 0
        for ref, template in zip(step.sequence, bound.templates, strict=True):
            block, plan = step.blocks[ref.block], bound.plans[ref.block]
            env = list(template)
            for port, value in block.inputs.items():
                env[plan.slots[value]] = ports[port]
            for kept in block.states:
                env[plan.slots[kept.read]] = state.arrays[f"{ref.name}.{kept.id}"]
            _fill(tables, ref.block, plan, env)
            _run(plan.steps, env)
            for kept in block.states:
                arrays[f"{ref.name}.{kept.id}"] = env[plan.slots[kept.written]]
            for port, value in block.outputs.items():
                ports[port] = env[plan.slots[value]]
            if record:
                recorded.append(tuple(env))
    after = State(state.position + len(tokens), MappingProxyType(arrays))
    return Result(ports["logits"], ports.get("probabilities"), ports.get("token"), after, tuple(recorded), bound)
