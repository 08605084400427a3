"""Hand-offs: which operation gives how many values to which, for one token.

A *stage* is one operation of a chain, except that the two operations of a MAC pair (the products and their sum, the
outer product and its accumulation) are one stage of two operations: nothing inside a MAC tree is handed on. A *type*
merges the stages of one name. An *arrow* counts the values that its source hands to its target for one token, summed
over layers, heads and active experts:

- a producer's elements count once for each consuming stage, before broadcast, and only the part that is read there;
- a dashed (`retained`) arrow counts what earlier tokens left: its source is the operation that keeps the state;
- left out: inputs of a block and weights (data sources), cache writes, indices and lookups (address work), and what one
  block hands to the next. So the arrows of the whole token are those of its chains together.

A *chain* is all blocks of one kind: every mixer kind has its own, the feed-forward sections (dense or experts) share
one, then the output, and the whole token. ``a+b`` joins two chains:
``deltanet+ffn`` is the DeltaNet layer, 87 operations with a dense feed-forward.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tokenviz.graph import Block, DecodeStep, OpClass
from tokenviz.handoffs_block import Arrow, Key, added, block_arrows, cache_writes, joined, key_of, stages_of
from tokenviz.notation import DTYPE_BITS, ScenarioError
from tokenviz.scenario import Scenario
from tokenviz.traffic import precision_of

GROUPINGS = ("stages", "types")
TOKEN = "token"


@dataclass(frozen=True, slots=True)
class Chain:
    """A part of the step that can be looked at by itself: the blocks of some kinds."""

    name: str
    title: str
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One node: `operations` a token over all layers; `group` says where it is (a transform's title)."""

    id: str
    label: str
    group: str
    kind: str  # the block's kind; "" for a type that occurs in several
    op_class: OpClass
    operations: int
    layers: int
    counts: Mapping[str, int]
    values_in: int = 0
    values_out: int = 0
    fan_out: int = 0


@dataclass(frozen=True, eq=False, kw_only=True)
class HandoffGraph:
    """The nodes and arrows of one chain in one grouping.

    `folded` are arrows that merging turned into self-loops; `stores` are (maker, keeper) pairs of cache writes, which
    are no hand-offs and only tell a drawing where a keeper belongs.
    """

    chain: Chain
    grouping: str
    nodes: tuple[Stage, ...]
    arrows: tuple[Arrow, ...]
    folded: tuple[Arrow, ...]
    stores: tuple[tuple[str, str], ...]

    @property
    def values(self) -> int:
        """All values on the arrows drawn."""
        return sum(a.values for a in self.arrows)

    @property
    def folded_values(self) -> int:
        """Values that merging folded into self-loops."""
        return sum(a.values for a in self.folded)


# ------------------------------------------------------------------------------------------------ chains


def chains(step: DecodeStep) -> tuple[Chain, ...]:
    """The chains that a step has, in the order of their first block; the whole token last."""
    kinds: dict[str, list[str]] = {}
    titles: dict[str, list[str]] = {}
    for ref in step.sequence:
        block = step.blocks[ref.block]
        name = "ffn" if ref.section == "ffn" else block.kind
        if block.kind not in kinds.setdefault(name, []):
            kinds[name].append(block.kind)
            titles.setdefault(name, []).append(block.title)
    every = tuple(dict.fromkeys(k for found in kinds.values() for k in found))
    kinds.pop("lookup", None)
    own = [Chain(name, " and ".join(titles[name]), tuple(found)) for name, found in kinds.items()]
    return (*own, Chain(TOKEN, "Whole token", every))


def find_chain(step: DecodeStep, name: str) -> Chain:
    """A chain by name; ``a+b`` joins. `ScenarioError` when the step has none of that name."""
    known = {c.name: c for c in chains(step)}
    parts = name.lower().split("+")
    for part in parts:
        if part not in known:
            raise ScenarioError(f"no chain {part!r} in this model; choose one of {', '.join(known)}")
    if len(parts) == 1:
        return known[parts[0]]
    joined = [known[part] for part in parts]
    return Chain(
        "+".join(parts), " + ".join(c.title for c in joined), tuple(dict.fromkeys(k for c in joined for k in c.kinds))
    )


# ------------------------------------------------------------------------------------------------ a chain


def handoffs(step: DecodeStep, chain: str | Chain = TOKEN, grouping: str = "stages") -> HandoffGraph:
    """The hand-off graph of a chain: exact integers for one token.

    Raises:
        ScenarioError: no such chain in this step, or no such grouping.
    """
    if grouping not in GROUPINGS:
        raise ScenarioError(f"grouping is {grouping!r}; choose one of {', '.join(GROUPINGS)}")
    chosen = find_chain(step, chain) if isinstance(chain, str) else chain
    stages, arrows = _chain_stages(step, chosen), _chain_arrows(step, chosen)
    stores = tuple(dict.fromkeys(pair for block, _ in _blocks(step, chosen) for pair in cache_writes(block)))
    if grouping == "stages":
        return HandoffGraph(
            chain=chosen, grouping=grouping, nodes=_with_totals(stages.values(), arrows), arrows=tuple(arrows),
            folded=(), stores=stores,
        )  # fmt: skip
    return _merge_types(chosen, stages, arrows, stores)


def _blocks(step: DecodeStep, chain: Chain) -> Iterator[tuple[Block, int]]:
    return ((block, n) for block, n in step.folded() if block.kind in chain.kinds)


def _chain_stages(step: DecodeStep, chain: Chain) -> dict[str, Stage]:
    """Stage id -> stage, in the order drawn; equal stages of several blocks of a kind are one."""
    found: dict[str, Stage] = {}
    for block, n in sorted(_blocks(step, chain), key=lambda item: (chain.kinds.index(item[0].kind), -len(item[0].ops))):
        for stage_id, label, ops in stages_of(block):
            counts = {k: v * n for op in ops for k, v in op.counts.items()}
            group = block.transform_by_id[ops[0].transform].title
            new = Stage(
                id=stage_id, label=label, group=group, kind=block.kind, op_class=ops[0].op_class,
                operations=len(ops) * n, layers=n, counts=counts,
            )  # fmt: skip
            found[stage_id] = _joined(found[stage_id], new) if stage_id in found else new
    return found


def _chain_arrows(step: DecodeStep, chain: Chain) -> list[Arrow]:
    """Arrows of a chain summed over its blocks, largest first."""
    found: dict[Key, Arrow] = {}
    for block, n in _blocks(step, chain):
        for arrow in block_arrows(block):
            new = replace(arrow, values=arrow.values * n, layers=n, dtypes={k: v * n for k, v in arrow.dtypes.items()})
            before = found.get(key_of(arrow))
            found[key_of(arrow)] = joined(before, new, before.layers + n) if before else new
    return _ranked(found.values())


def _merge_types(
    chain: Chain, stages: Mapping[str, Stage], arrows: Sequence[Arrow], stores: Sequence[tuple[str, str]]
) -> HandoffGraph:
    """Stages of one name become one node; arrows between the same two names add up."""
    type_of = _type_names(stages)
    merged: dict[Key, list[Arrow]] = {}
    for arrow in arrows:
        renamed = replace(arrow, source=type_of[arrow.source], target=type_of[arrow.target])
        merged.setdefault(key_of(renamed), []).append(arrow)
    every = _ranked(_type_arrow(key, parts) for key, parts in merged.items())
    drawn = tuple(a for a in every if a.source != a.target)
    members: dict[str, list[Stage]] = {}
    for stage_id, stage in stages.items():
        members.setdefault(type_of[stage_id], []).append(stage)
    nodes = [_type_node(name, found) for name, found in members.items()]
    kept = tuple(dict.fromkeys((type_of[maker], type_of[keeper]) for maker, keeper in stores))
    folded = tuple(a for a in every if a.source == a.target)
    return HandoffGraph(
        chain=chain, grouping="types", nodes=_with_totals(nodes, drawn), arrows=drawn, folded=folded, stores=kept
    )


def _type_names(stages: Mapping[str, Stage]) -> dict[str, str]:
    """Stage id -> the name of its type: its label; plain products also say whether one operand is known beforehand."""
    names = {key: (_type_label(stage), stage.op_class) for key, stage in stages.items()}
    classes: dict[str, set[OpClass]] = {}
    for label, op_class in names.values():
        classes.setdefault(label, set()).add(op_class)
    return {key: label if len(classes[label]) == 1 else f"{label} ({c})" for key, (label, c) in names.items()}


def _type_label(stage: Stage) -> str:
    if not stage.label.startswith("products"):
        return stage.label
    return f"{'fixed' if stage.op_class is OpClass.FIXED_LINEAR else 'dynamic'} {stage.label}"


def _type_arrow(key: Key, parts: list[Arrow]) -> Arrow:
    dtypes: dict[str, int] = {}
    for part in parts:
        dtypes = added(dtypes, part.dtypes)
    source, target, retained = key
    layers = _layers((part.source.split("/")[0], part.layers) for part in parts)
    return Arrow(
        source=source, target=target, values=sum(p.values for p in parts), layers=layers, retained=retained,
        lifetime=parts[0].lifetime, dtypes=dtypes, parts=tuple(parts),
    )  # fmt: skip


def _type_node(id: str, members: list[Stage]) -> Stage:
    first = members[0]
    counts: dict[str, int] = {}
    for stage in members:
        counts = added(counts, stage.counts)
    kinds = {stage.kind for stage in members}
    layers = _layers((stage.kind, stage.layers) for stage in members)
    operations = sum(stage.operations for stage in members)
    kind = first.kind if len(kinds) == 1 else ""
    return Stage(
        id=id, label=id, group=str(first.op_class), kind=kind, op_class=first.op_class, operations=operations,
        layers=layers, counts=counts,
    )  # fmt: skip


def _layers(found: Iterable[tuple[str, int]]) -> int:
    """Layers in which anything of this happens: blocks of one kind share theirs, kinds add up."""
    most: dict[str, int] = {}
    for kind, layers in found:
        most[kind] = max(most.get(kind, 0), layers)
    return sum(most.values())


# ------------------------------------------------------------------------------------------------ small things


def _ranked(arrows: Iterable[Arrow]) -> list[Arrow]:
    """Largest first, ties by name."""
    return sorted(arrows, key=lambda a: (-a.values, a.source, a.target))


def _joined(a: Stage, b: Stage) -> Stage:
    """The same stage of two blocks of one kind."""
    return replace(
        a, operations=a.operations + b.operations, layers=a.layers + b.layers, counts=added(a.counts, b.counts)
    )


def _with_totals(nodes: Iterable[Stage], arrows: Sequence[Arrow]) -> tuple[Stage, ...]:
    """Nodes with the values that come in and go out, and how many distinct nodes they feed."""
    came: dict[str, int] = {}
    went: dict[str, int] = {}
    fed: dict[str, set[str]] = {}
    for arrow in arrows:
        came[arrow.target] = came.get(arrow.target, 0) + arrow.values
        went[arrow.source] = went.get(arrow.source, 0) + arrow.values
        fed.setdefault(arrow.source, set()).add(arrow.target)
    return tuple(
        replace(n, values_in=came.get(n.id, 0), values_out=went.get(n.id, 0), fan_out=len(fed.get(n.id, ())))
        for n in nodes
    )


def arrow_bytes(arrow: Arrow, scenario: Scenario) -> int:
    """Bytes that an arrow hands on at the scenario's precisions, rounded up."""
    bits = sum(values * DTYPE_BITS[precision_of(dtype, scenario)] for dtype, values in arrow.dtypes.items())
    return -(-bits // 8)


def in_bytes(graph: HandoffGraph, scenario: Scenario) -> HandoffGraph:
    """The same graph with bytes where it had values."""

    def weighed(arrows: Iterable[Arrow]) -> tuple[Arrow, ...]:
        return tuple(replace(a, values=arrow_bytes(a, scenario)) for a in arrows)

    arrows = tuple(_ranked(weighed(graph.arrows)))
    return replace(graph, nodes=_with_totals(graph.nodes, arrows), arrows=arrows, folded=weighed(graph.folded))
