"""Which element of the Pipeline drawing shows a value, and which values get a bubble at all.

outside(block)     transform -> root values that it reads and does not make itself
bubbled(block)     values made in the block that have a bubble: read by another transform, handed on, or kept
element_of(...)    the bubble of a value, or the cell of the operation that makes it
"""

from collections.abc import Mapping
from functools import lru_cache

from tokenviz.graph import Block, Role, Transform
from tokenviz.views.pipeline_groups import bubble_id, cell_id

STORED = (Role.WEIGHT, Role.COEFFICIENT, Role.FOLDED)


@lru_cache(maxsize=128)
def outside(block: Block) -> Mapping[str, tuple[str, ...]]:
    """Transform -> root values that it reads and does not make itself, in the order it reads them."""
    return {t.id: _read_by(block, t) for t in block.transforms}


def _read_by(block: Block, transform: Transform) -> tuple[str, ...]:
    own = {r for op in transform.ops for r in op.results}
    return tuple(dict.fromkeys(r for op in transform.ops for r in block.roots_of(op) if r not in own))


@lru_cache(maxsize=128)
def bubbled(block: Block) -> frozenset[str]:
    """Values that operations make and that have a bubble: read by another transform, handed on, or kept."""
    used = {r for needed in outside(block).values() for r in needed}
    used |= {r for v in block.outputs.values() for r in block.values[v].roots}
    used |= {s.written for s in block.states}
    return frozenset(r for r in used if r in block.producers)


def stored(block: Block, value_id: str) -> bool:
    """Whether a value is known before the token and drawn beside each of its readers."""
    return block.values[value_id].role in STORED


def element_of(block: Block, root: str, reader: str = "") -> str:
    """Element that shows a root value: its bubble (a stored one's beside `reader`), or its maker's cell."""
    if stored(block, root):
        readers = [t for t, needed in outside(block).items() if root in needed]
        beside = reader if reader in readers else (readers or [""])[0]
        return bubble_id(block.key, root, beside)
    if root in block.producers and root not in bubbled(block):
        return cell_id(block.key, block.producers[root].id)
    return bubble_id(block.key, root)


def entering_names(block: Block) -> Mapping[tuple[str, str], str]:
    """(root value, transform) -> name of the part of it that enters there, where parts go different ways."""
    found: dict[tuple[str, str], str] = {}
    for t in block.transforms:
        for op in t.ops:
            for operand in op.operands:
                if isinstance(operand, str):
                    value = block.values[operand]
                    if value.role is Role.VIEW and len(value.roots) == 1 and " " not in value.name:
                        found.setdefault((value.roots[0], t.id), value.name)
    several = {root for root, _ in found if len({n for (r, _), n in found.items() if r == root}) > 1}
    return {key: name for key, name in found.items() if key[0] in several and name != block.values[key[0]].name}
