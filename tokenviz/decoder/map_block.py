"""From one traced block to its stations on the prediction map; the rules stand in `tokenviz.decoder.map`.

Found(step)                         the map while it grows
section(found, place, ref)          add the stations of one block
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from tokenviz.decoder.stations import Connection, MapNode, Port, PredictionMap
from tokenviz.graph import Block, BlockRef, DecodeStep, Op, OpClass, Role, Transform, Value

HEADS = ("K", "G", "H")
STORES = ("append", "save")


@dataclass(slots=True)
class Found:
    """The map while it grows. `carried` is which node made what the next block reads, by port."""

    step: DecodeStep
    nodes: dict[str, MapNode] = field(default_factory=dict)
    connections: dict[tuple[str, str], Connection] = field(default_factory=dict)
    carried: dict[str, str] = field(default_factory=dict)

    def add(self, node: MapNode, sources: Mapping[str, str]) -> None:
        """A node and what leads into it: source id -> kind of connection."""
        self.nodes[node.id] = node
        for source, kind in sources.items():
            self.connections.setdefault((source, node.id), Connection(source, node.id, kind))

    def weight(self, value: Value) -> str | None:
        """The node of a weight that several blocks read, made at its first mention; None for others."""
        readers = [b for b in self.step.blocks.values() if any(w.scope == value.scope for w in b.weights)]
        if not value.scope or len(readers) < 2:
            return None
        name = f"weight.{value.scope}"
        if name not in self.nodes:
            self.nodes[name] = MapNode(name, "weights", f"{value.name} weights", "input", "weights", value.says)
        return name

    def finish(self) -> PredictionMap:
        """Number the recorded steps."""
        computed = [n.id for n in self.nodes.values() if n.role in ("calculation", "residual")]
        number = {name: i for i, name in enumerate(computed)}
        nodes = {n.id: replace(n, event=number.get(n.id)) for n in self.nodes.values()}
        return PredictionMap(nodes, tuple(self.connections.values()), tuple(computed))


# ------------------------------------------------------------------------------------------------ one section


@dataclass(frozen=True, slots=True)
class _Place:
    """A block at its place in the sequence."""

    found: Found
    place: int
    ref: BlockRef
    block: Block

    @property
    def region(self) -> str:
        """Where its nodes are drawn."""
        if self.ref.layer is not None:
            return f"block {self.ref.layer + 1}"
        return "input" if self.place == 0 else "output"

    def id(self, name: str) -> str:
        """A node's id."""
        return f"{self.ref.name}.{name}"

    def port(self, value: Value, name: str = "") -> Port:
        """Where a value of this block is recorded; an input also names its source."""
        source = next(iter(self.sources(value)), None)
        return Port(name or value.name, value.dims, self.place, value.id, source, value.role is Role.WEIGHT)

    def node_of(self, transform: Transform) -> str:
        """The node that shows a transform."""
        if all(op.primitive in STORES for op in transform.ops):
            return self.id("cache")
        if any(op.op_class is OpClass.POSITION for op in transform.ops):
            return self.id("rope")
        return self.id(transform.id)

    def sources(self, value: Value) -> dict[str, str]:
        """The nodes that a value comes from, through rearrangements: id -> kind of connection."""
        roots = [self.block.values[root] for root in value.roots]
        if any(root.role is Role.STATE for root in roots):
            shared = any(_shared(self.block, op) for op in self.block.ops)
            return {self.id("sharing" if shared else "cache"): "state"}
        found: dict[str, str] = {}
        for root in roots:
            if root.id in self.block.producers:
                transform = self.block.transform_by_id[self.block.producers[root.id].transform]
                found[self.node_of(transform)] = "data"
            elif root.role is Role.INPUT:
                port = next(name for name, value in self.block.inputs.items() if value == root.id)
                if port in self.found.carried:
                    found[self.found.carried[port]] = "data"
            elif root.role is Role.WEIGHT and (shared_weight := self.found.weight(root)):
                found[shared_weight] = "static"
        return found


def section(found: Found, place: int, ref: BlockRef) -> None:
    """Add the nodes of one block, in the order of its program."""
    here = _Place(found, place, ref, found.step.blocks[ref.block])
    if "normalised" in here.block.inputs:
        _looked_up_norm(here)
    groups: dict[str, list[Transform]] = {}
    for transform in here.block.transforms:
        groups.setdefault(here.node_of(transform), []).append(transform)
    for name, transforms in groups.items():
        _around(here, name, transforms)
    for port, value in here.block.outputs.items():
        maker = here.sources(here.block.values[value])
        found.carried[port] = next(iter(maker))


def _around(here: _Place, name: str, transforms: list[Transform]) -> None:
    """A node, before it the joined heads, after the cache the shared heads."""
    ops = [op for t in transforms for op in t.ops]
    inputs = tuple(_inputs(here, ops))
    sources: dict[str, str] = {}
    joined = next((op for op in ops if _joins(here.block, op)), None)
    for port in inputs:
        value = here.block.values[port.value]
        kind = "residual" if value.role is Role.INPUT and transforms[-1].kind == "residual add" else None
        for source, way in here.sources(value).items():
            sources.setdefault(source, kind or way)
    if joined is not None:
        inputs, sources = _join(here, joined, inputs)
    if name == here.id("cache"):
        own = tuple(here.port(here.block.values[s.written], name=s.name) for s in here.block.states)
        sources = {source: "state" for source in sources if source not in (name, here.id("sharing"))}
        here.found.add(_node(here, name, "cache", transforms, inputs, own), sources)
        _share(here, name)
        return
    made = tuple(here.port(here.block.values[_last_view(here, t)]) for t in transforms)
    here.found.add(_node(here, name, _kind(here, name, transforms), transforms, inputs, made), sources)


def _inputs(here: _Place, ops: list[Op]) -> Iterator[Port]:
    """What a node reads from outside, each value once: live roots, kept positions as they are attended, weights."""
    made = {r for op in ops for r in op.results}
    seen = set()
    for op in ops:
        for operand in here.block.operand_values(op):
            if not isinstance(operand, Value) or operand.role is Role.STATE:
                continue
            kept = any(here.block.values[root].role is Role.STATE for root in operand.roots)
            value = operand if kept or len(operand.roots) > 1 else here.block.values[operand.roots[0]]
            if value.id not in seen and not made & set(value.roots) and value.role is not Role.FOLDED:
                seen.add(value.id)
                yield here.port(value)


def _last_view(here: _Place, transform: Transform) -> str:
    """The value that a transform ends with; of a stacked lookup the part that enters the residual stream."""
    result = transform.ops[-1].result
    for value in here.block.outputs.values():
        if here.block.values[value].roots == (result,) and value != result:
            return value
    return result


def _kind(here: _Place, name: str, transforms: list[Transform]) -> str:
    """What a node is: the output that it makes (logits, probabilities, residual), else its transform's id."""
    for port, value in here.block.outputs.items():
        if here.block.values[value].id == transforms[-1].ops[-1].result:
            return port
    return name.rsplit(".", 1)[1]


def _node(
    here: _Place, name: str, kind: str, transforms: list[Transform], inputs: tuple[Port, ...], made: tuple[Port, ...]
) -> MapNode:
    role = {"residual": "residual", "cache": "cache"}.get(kind, "calculation")
    equation = r" \\ ".join(t.equation for t in transforms)
    title = transforms[0].title if len(transforms) == 1 else transforms[0].kind
    return MapNode(name, kind, title, here.region, role, transforms[0].says, equation, inputs, made)


# ------------------------------------------------------------------------------------------------ between transforms


def _looked_up_norm(here: _Place) -> None:
    """The first norm depends on the token alone: its rows were computed before and came with the lookup."""
    value = here.block.values[here.block.inputs["normalised"]]
    like = next(t for b in here.found.step.blocks.values() for t in b.transforms if t.kind == "RMSNorm")
    residual = here.port(here.block.values[here.block.inputs["residual"]])
    scope = here.id("norm.weight")
    lookup = here.found.step.blocks[here.found.step.sequence[0].block]
    gain = next(w for w in lookup.weights if w.scope == scope)
    inputs = (residual, Port(gain.name, gain.dims, 0, gain.id, None, True))
    made = Port(value.name, value.dims, here.place, value.id)
    node = MapNode(
        here.id("norm"), "norm", like.title, here.region, "calculation", like.says, like.equation, inputs, (made,)
    )
    here.found.add(node, {here.found.carried["residual"]: "data"})
    here.found.carried["normalised"] = node.id


def _shared(block: Block, op: Op) -> tuple[str, ...]:
    """Head letters that the live operand of a contraction has and the kept one lacks."""
    if op.primitive != "products":
        return ()
    live, kept = (block.values[o] for o in op.operands if isinstance(o, str))
    if not any(block.values[root].role is Role.STATE for root in kept.roots):
        return ()
    return tuple(d for d in live.dims if d not in kept.dims and d != "T" and block.sizes[d] > 1)


def _share(here: _Place, cache: str) -> None:
    """Several query heads read one key/value head: the node between the cache and its readers."""
    readers = [op for op in here.block.ops if _shared(here.block, op)]
    if not readers:
        return
    kept = [here.block.values[o] for op in readers for o in op.operands[1:] if isinstance(o, str)]
    inputs = tuple(Port(v.name, v.dims, here.place, v.id, cache) for v in kept)
    group = here.block.sizes[_shared(here.block, readers[0])[0]]
    says = f"{group} query heads read each key/value head: head h uses key/value head ⌊h/{group}⌋. Nothing is copied."
    equation = rf"h \mapsto \left\lfloor h / {group} \right\rfloor"
    node = MapNode(here.id("sharing"), "sharing", "GQA", here.region, "cache", says, equation, inputs)
    here.found.add(node, {cache: "state"})


def _joins(block: Block, op: Op) -> bool:
    """Whether a projection sums over several head letters, as if the heads were one vector."""
    if op.primitive != "products":
        return False
    weight, live = (block.values[o] for o in op.operands if isinstance(o, str))
    return weight.role is Role.WEIGHT and len([d for d in weight.dims if d in live.dims and d in HEADS]) > 1


def _join(here: _Place, op: Op, inputs: tuple[Port, ...]) -> tuple[tuple[Port, ...], dict[str, str]]:
    """The node that puts the heads side by side; the projection then reads its result."""
    value = next(here.block.values[o] for o in op.operands[1:] if isinstance(o, str))
    heads = " ".join(d for d in value.dims if d in HEADS)
    dims = (*(d for d in value.dims if d not in HEADS), heads)
    node = MapNode(
        here.id("join"), "join", "Join heads", here.region, "calculation",
        "Puts the results of all heads side by side, so that one matrix can read them together.",
        rf"{value.name}^{{\text{{joined}}}} = [{value.name}_0;\,{value.name}_1;\,\dots]",
        (here.port(value),), (Port(f"{value.name} joined", dims, here.place, value.id),),
    )  # fmt: skip
    here.found.add(node, dict.fromkeys(here.sources(value), "data"))
    joined = Port(node.outputs[0].name, dims, here.place, value.id, node.id)
    return tuple(joined if p.value == value.id else p for p in inputs), {node.id: "data"}
