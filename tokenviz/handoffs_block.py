"""The hand-offs inside one block: its stages, and the arrows between them for one run of it.

The counting rules are stated in `tokenviz.handoffs`; here they are read off the traced graph.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from tokenviz.graph import Block, Lifetime, Op, Role, State
from tokenviz.handoffs_parts import Piece, count, narrowed, trace_pieces

_PAIR = {"row_sum": "products", "accumulate": "outer"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrow:
    """`values` handed from `source` to `target` for one token; `dtype` as in `Value.dtype`; `parts` when merged."""

    source: str
    target: str
    values: int
    layers: int
    retained: bool
    lifetime: Lifetime
    dtypes: Mapping[str, int]  # precision -> values of it
    parts: tuple["Arrow", ...] = ()


Key = tuple[str, str, bool]


def key_of(arrow: Arrow) -> Key:
    """What makes two arrows one: the same ends, both current or both retained."""
    return arrow.source, arrow.target, arrow.retained


def joined(a: Arrow, b: Arrow, layers: int) -> Arrow:
    """Two arrows between the same nodes as one."""
    return replace(a, values=a.values + b.values, layers=layers, dtypes=added(a.dtypes, b.dtypes))


def added(a: Mapping[str, int], b: Mapping[str, int]) -> dict[str, int]:
    """Two tallies as one."""
    return {k: a.get(k, 0) + b.get(k, 0) for k in dict.fromkeys((*a, *b))}


def stages_of(block: Block) -> Iterator[tuple[str, str, tuple[Op, ...]]]:
    """(id, label, operations) of every stage of a block: single operations and MAC pairs, in the order drawn."""
    for transform in block.transforms:
        ops, at = transform.ops, 0
        while at < len(ops):
            pair = at + 1 < len(ops) and _PAIR.get(ops[at + 1].primitive) == ops[at].primitive
            members = ops[at : at + 2] if pair else ops[at : at + 1]
            yield f"{block.kind}/{members[0].id}", " · ".join(op.label for op in members), members
            at += len(members)


@lru_cache(maxsize=256)
def block_arrows(block: Block) -> tuple[Arrow, ...]:
    """The arrows between the stages of one block, for one run of it."""
    stage_of = {op.id: stage for stage, _, ops in stages_of(block) for op in ops}
    states = {state.read: state for state in block.states}
    pieces = trace_pieces(block)
    found: dict[Key, Arrow] = {}
    for stage, _, ops in stages_of(block):
        for root, read in _reads(block, pieces, ops).items():
            for source, values, retained, dtype in _sources(block, states, root, read):
                if values:
                    lifetime = Lifetime.STATE if retained else Lifetime.EPHEMERAL
                    new = Arrow(
                        source=stage_of[source.id], target=stage, values=values, layers=1, retained=retained,
                        lifetime=lifetime, dtypes={dtype: values},
                    )  # fmt: skip
                    before = found.get(key_of(new))
                    found[key_of(new)] = joined(before, new, 1) if before else new
    return tuple(found.values())


@lru_cache(maxsize=256)
def cache_writes(block: Block) -> tuple[tuple[str, str], ...]:
    """(stage that makes, stage that keeps): writes into what the next token finds. They are no hand-offs."""
    stage_of = {op.id: stage for stage, _, ops in stages_of(block) for op in ops}
    found: dict[tuple[str, str], None] = {}
    for op in block.ops:
        if block.values[op.result].role is Role.STATE:
            makers = (block.producers.get(root) for root in block.roots_of(op))
            found.update(((stage_of[maker.id], stage_of[op.id]), None) for maker in makers if maker)
    return tuple(found)


def _reads(block: Block, pieces: Mapping[str, tuple[Piece, ...]], ops: Sequence[Op]) -> dict[str, list[Piece]]:
    """Root -> its pieces that a stage reads from outside itself; a stage that only stores reads nothing."""
    own = {r for op in ops for r in op.results}
    found: dict[str, list[Piece]] = {}
    for op in ops:
        if block.values[op.result].role is Role.STATE:
            continue  # a cache write
        for k, operand in enumerate(op.operands):
            if not isinstance(operand, str) or (op.primitive == "append" and k == 0):
                continue  # what a window keeps is read where it is used, see `_sources`
            for piece in pieces[operand]:
                if piece.root not in own:
                    found.setdefault(piece.root, []).append(piece)
    return found


def _sources(
    block: Block, states: Mapping[str, State], root: str, read: list[Piece]
) -> Iterator[tuple[Op, int, bool, str]]:
    """(operation, values, retained, precision) behind the read part of a root; nothing for a data source."""
    value = block.values[root]
    if root in states:
        keeper = block.producers[states[root].written]
        yield keeper, count(block, read), True, value.dtype
        return
    maker = block.producers.get(root)
    if maker is None or maker.primitive == "lookup" or value.dtype == "index":
        return
    kept = _kept_extent(block, states, maker)
    if kept is None:
        yield maker, count(block, read), False, value.dtype
        return
    axis, stop, state = kept
    old = [p for piece in read if (p := narrowed(block, piece, axis, 0, stop))]
    new = [p for piece in read if (p := narrowed(block, piece, axis, stop, value.shape[axis]))]
    yield maker, count(block, new), False, value.dtype
    yield block.producers[state.written], count(block, old), True, value.dtype


def _kept_extent(block: Block, states: Mapping[str, State], maker: Op) -> tuple[int, int, State] | None:
    """(axis, entries, state) when an operation's result begins with what an earlier token left."""
    if maker.primitive != "append" or maker.attrs["keep"] is not None or maker.operands[0] not in states:
        return None
    state = states[str(maker.operands[0])]
    axis = maker.attrs["axis"]
    return axis, block.values[state.read].shape[axis], state
