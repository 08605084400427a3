"""Which blocks a drawing shows: each kind once, with how often it runs, in the order in which layers alternate.

groups(step) -> Group, ...           distinct kinds; the twin whose norm is looked up is drawn with its kind
layer_kinds(step) -> LayerKind, ...  distinct layers as sequences of groups, in order of first appearance
layer_strip(step) -> int, ...        for each layer, the place of its kind in `layer_kinds`
element ids: box_id, cell_id, bubble_id, panel_id, stub_id; parse(id) -> Ref
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from tokenviz.graph import Block, DecodeStep


@dataclass(frozen=True, eq=False)
class Group:
    """Blocks drawn as one: the `block` that is drawn, every block folded into it, and how often they run together."""

    block: Block
    keys: tuple[str, ...]
    count: int
    looked_up: Block | None  # the one among them whose norm came with the lookup, when it is not the one drawn

    @property
    def key(self) -> str:
        """Key of the drawn block."""
        return self.block.key


@dataclass(frozen=True, slots=True)
class LayerKind:
    """Layers of the same sections: keys of their groups, how many there are, and the first of them."""

    sections: tuple[str, ...]
    count: int
    first: int


@dataclass(frozen=True, slots=True)
class Ref:
    """What an element id names. `kind` is t (transform), o (operation), v (value), p (panel) or s (stub)."""

    block: str
    kind: str
    name: str


def box_id(block: str, transform: str) -> str:
    """Id of a transform's box."""
    return f"{block}/t:{transform}"


def cell_id(block: str, op: str) -> str:
    """Id of an operation's cell."""
    return f"{block}/o:{op}"


def bubble_id(block: str, value: str, beside: str = "") -> str:
    """Id of a value's bubble; a stored value drawn beside several readers has one bubble beside each."""
    return f"{block}/v:{value}" + (f"@{beside}" if beside else "")


def panel_id(block: str) -> str:
    """Id of a block's panel."""
    return f"{block}/p:"


def stub_id(block: str, layer_kind: int) -> str:
    """Id of the box that stands for a block drawn further up."""
    return f"{block}/s:{layer_kind}"


def parse(element: str) -> Ref | None:
    """What an element id names; None when it is not the id of an element."""
    block, slash, rest = element.partition("/")
    kind, colon, name = rest.partition(":")
    if not slash or not colon or kind not in ("t", "o", "v", "p", "s"):
        return None
    return Ref(block, kind, name.partition("@")[0])


@lru_cache(maxsize=64)
def groups(step: DecodeStep) -> tuple[Group, ...]:
    """The distinct kinds of a step in order of first use. Their counts add up to the length of the sequence."""
    twin = _twin(step)
    found: list[Group] = []
    for key, count in step.multiplicity.items():
        if key == twin[0]:
            full = step.blocks[twin[1]]
            found.append(Group(full, (key, full.key), count + step.multiplicity[full.key], step.blocks[key]))
        elif key != twin[1]:
            found.append(Group(step.blocks[key], (key,), count, None))
    return tuple(found)


def _twin(step: DecodeStep) -> tuple[str, str]:
    """The first section (its norm is looked up) and the block of the same section that computes its norm, if any."""
    first = step.sequence[1].block
    for key, block in step.blocks.items():
        if key != first and block.spec == step.blocks[first].spec and "residual" in block.inputs:
            return first, key
    return "", ""


@lru_cache(maxsize=64)
def drawn_as(step: DecodeStep) -> dict[str, Group]:
    """Block key -> the group that draws it."""
    return {key: group for group in groups(step) for key in group.keys}


@lru_cache(maxsize=64)
def layer_strip(step: DecodeStep) -> tuple[int, ...]:
    """For each layer in order, the place of its kind in `layer_kinds`."""
    sections = _sections(step)
    kinds = list(dict.fromkeys(sections))
    return tuple(kinds.index(s) for s in sections)


@lru_cache(maxsize=64)
def layer_kinds(step: DecodeStep) -> tuple[LayerKind, ...]:
    """Distinct layers in order of first appearance; counts add up to the layers."""
    sections = _sections(step)
    return tuple(LayerKind(s, sections.count(s), sections.index(s)) for s in dict.fromkeys(sections))


def _sections(step: DecodeStep) -> list[tuple[str, ...]]:
    by_layer: dict[int, list[str]] = {}
    for ref in step.sequence:
        if ref.layer is not None:
            by_layer.setdefault(ref.layer, []).append(drawn_as(step)[ref.block].key)
    return [tuple(keys) for keys in by_layer.values()]


def transitions(step: DecodeStep) -> dict[tuple[int, int], int]:
    """(kind, kind of the next layer) -> how often one follows the other; they add up to the layers less one."""
    strip = layer_strip(step)
    found: dict[tuple[int, int], int] = {}
    for pair in pairwise(strip):
        found[pair] = found.get(pair, 0) + 1
    return found


def rhythm(step: DecodeStep) -> str:
    """How layer kinds alternate, in letters: ``3 × A, B; 23 times`` (A is the first kind)."""
    strip = layer_strip(step)
    period = next(p for p in range(1, len(strip) + 1) if all(strip[i] == strip[i % p] for i in range(len(strip))))
    times, rest = divmod(len(strip), period)
    if times == 1 or rest:
        return _runs(strip)
    return _runs(strip[:period]) + (f"; {times} times" if len(set(strip)) > 1 else "")


def _runs(strip: tuple[int, ...]) -> str:
    parts: list[tuple[int, int]] = []
    for kind in strip:
        if parts and parts[-1][0] == kind:
            parts[-1] = (kind, parts[-1][1] + 1)
        else:
            parts.append((kind, 1))
    return ", ".join((f"{n} × " if n > 1 else "") + letter(kind) for kind, n in parts)


def letter(kind: int) -> str:
    """A, B, ..., Z, AA, ...: the short name of a layer kind."""
    name = ""
    while True:
        kind, digit = divmod(kind, 26)
        name = chr(ord("A") + digit) + name
        if kind == 0:
            return name
        kind -= 1
