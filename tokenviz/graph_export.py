"""The traced graph as files for other programs: JSON with a versioned schema, and GraphML."""

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from tokenviz import __version__
from tokenviz.graph import Block, DecodeStep, Op, State, Transform, Value, Wire
from tokenviz.schedule import schedule_block

FORMAT, VERSION = "tokenviz.graph", 1

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_COUNT = {"type": "integer", "minimum": 0}
_COUNT_OR_NULL = {"type": ["integer", "null"], "minimum": 0}


def _object(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(fields), "properties": fields}


def _list(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": dict(items)}


_OP = _object(
    id=_TEXT, label=_TEXT, primitive=_TEXT, operands=_list({"type": ["string", "number"]}), results=_TEXTS,
    op_class=_TEXT, reason=_TEXT, counts={"type": "object", "additionalProperties": _COUNT},
)  # fmt: skip
_VALUE = _object(
    id=_TEXT, name=_TEXT, dims=_TEXTS, shape=_list(_COUNT), lifetime=_TEXT, role=_TEXT, dtype=_TEXT, roots=_TEXTS,
)  # fmt: skip
_TRANSFORM = _object(
    id=_TEXT, kind=_TEXT, title=_TEXT, equation=_TEXT, says=_TEXT, start=_COUNT, end=_COUNT, slack=_COUNT,
    waits_for=_TEXTS, ops=_list(_OP),
)  # fmt: skip
_BLOCK = _object(
    key=_TEXT, kind=_TEXT, title=_TEXT, count=_COUNT, depth=_COUNT,
    inputs={"type": "object"}, outputs={"type": "object"},
    values=_list(_VALUE), transforms=_list(_TRANSFORM),
    wires=_list(_object(id=_TEXT, kind=_TEXT, operands=_TEXTS, result=_TEXT)),
    states=_list(
        _object(id=_TEXT, name=_TEXT, kind=_TEXT, read=_TEXT, written=_TEXT, appended=_COUNT, window=_COUNT_OR_NULL)
    ),
)  # fmt: skip
SCHEMA: Mapping[str, Any] = MappingProxyType(
    {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "One decode step as a graph: distinct blocks, and the order in which layers run them",
        **_object(
            format={"const": FORMAT},
            version={"const": VERSION},
            tokenviz=_TEXT,
            model=_TEXT,
            context=_COUNT,
            positions=_COUNT,
            blocks=_list(_BLOCK),
            sequence=_list(_object(block=_TEXT, layer=_COUNT_OR_NULL, section=_TEXT)),
        ),
    }
)
"""`version` changes when a field is renamed, removed or changes its meaning; new fields may appear at any time."""


def to_json(step: DecodeStep, name: str) -> str:
    """The graph as JSON, following `SCHEMA`. A value's `roots` are the stored or computed values it is made of."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "tokenviz": __version__,
        "model": name,
        "context": step.context,
        "positions": step.positions,
        "blocks": [_block(block, count) for block, count in step.folded()],
        "sequence": [{"block": r.block, "layer": r.layer, "section": r.section} for r in step.sequence],
    }
    return json.dumps(document, ensure_ascii=False, indent=1)


def _block(block: Block, count: int) -> dict[str, Any]:
    return {
        "key": block.key, "kind": block.kind, "title": block.title, "count": count,
        "depth": schedule_block(block).depth, "inputs": dict(block.inputs), "outputs": dict(block.outputs),
        "values": [_value(v) for v in block.values.values()],
        "transforms": [_transform(block, t) for t in block.transforms],
        "wires": [_wire(w) for w in block.program if isinstance(w, Wire)],
        "states": [_state(s) for s in block.states],
    }  # fmt: skip


def _value(v: Value) -> dict[str, Any]:
    return {
        "id": v.id, "name": v.name, "dims": list(v.dims), "shape": list(v.shape), "lifetime": str(v.lifetime),
        "role": str(v.role), "dtype": v.dtype, "roots": list(v.roots),
    }  # fmt: skip


def _transform(block: Block, t: Transform) -> dict[str, Any]:
    span = schedule_block(block).spans[t.id]
    return {
        "id": t.id, "kind": t.kind, "title": t.title, "equation": t.equation, "says": t.says, "start": span.start,
        "end": span.end, "slack": span.slack, "waits_for": list(block.feeds[t.id]), "ops": [_op(op) for op in t.ops],
    }  # fmt: skip


def _op(op: Op) -> dict[str, Any]:
    return {
        "id": op.id, "label": op.label, "primitive": op.primitive, "operands": list(op.operands),
        "results": list(op.results), "op_class": str(op.op_class), "reason": op.reason, "counts": dict(op.counts),
    }  # fmt: skip


def _wire(w: Wire) -> dict[str, Any]:
    return {"id": w.id, "kind": w.kind, "operands": list(w.operands), "result": w.result}


def _state(s: State) -> dict[str, Any]:
    return {
        "id": s.id, "name": s.name, "kind": str(s.kind), "read": s.read, "written": s.written, "appended": s.appended,
        "window": s.window,
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------ GraphML


def to_graphml(step: DecodeStep, name: str) -> str:
    """Operations and root values of the distinct blocks as nodes, reads and writes as edges, blocks in sequence.

    Node ids are ``block/op:id`` and ``block/value:id``; ``count`` says how often a token runs the node's block.
    """
    import networkx as nx  # only here: it takes longer to load than the rest of the library

    graph = nx.DiGraph(model=name, context=step.context, format=FORMAT, version=VERSION)
    for block, count in step.folded():
        for node, attributes in _nodes(block, count):
            graph.add_node(node, **attributes)
        graph.add_edges_from(_edges(block))
    return "\n".join(nx.generate_graphml(graph)) + "\n"


def _nodes(block: Block, count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    used = {r for op in block.ops for r in (*block.roots_of(op), *op.results)}
    for op in block.ops:
        yield f"{block.key}/op:{op.id}", {
            "kind": "operation", "label": op.label, "op_class": str(op.op_class), "transform": op.transform,
            "block": block.title, "count": count, **{f"count_{k}": n for k, n in op.counts.items()},
        }  # fmt: skip
    for value in (block.values[v] for v in block.values if v in used):
        yield f"{block.key}/value:{value.id}", {
            "kind": "value", "label": value.name, "lifetime": str(value.lifetime), "dims": " ".join(value.dims),
            "shape": " ".join(map(str, value.shape)), "block": block.title, "count": count,
        }  # fmt: skip


def _edges(block: Block) -> Iterator[tuple[str, str]]:
    for op in block.ops:
        here = f"{block.key}/op:{op.id}"
        yield from ((f"{block.key}/value:{root}", here) for root in block.roots_of(op))
        yield from ((here, f"{block.key}/value:{result}") for result in op.results)
