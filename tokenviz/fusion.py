"""Which transforms common fused implementations launch as one kernel: the list, and its application to a block.

A kernel has an anchor (a kind of transform). It takes in every transform of that kind in the block, then transforms of
the kinds in `before` that feed it, and of the kinds in `after` that it feeds. Whatever no kernel takes in is a kernel
of its own: a norm, a projection (matrix times vector), a convolution with its activation, a gated unit, a lookup.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from tokenviz.graph import Block, Op, Transform
from tokenviz.notation import GraphError


@dataclass(frozen=True, slots=True)
class Kernel:
    """A fusion: kinds of transforms that run as one launch. `launches` is False for work that rides on a neighbour."""

    name: str
    says: str
    anchors: frozenset[str]
    before: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()
    launches: bool = True


@dataclass(frozen=True, slots=True)
class Group:
    """The operations of one kernel of a block."""

    name: str
    transforms: tuple[str, ...]
    ops: tuple[Op, ...]
    launches: bool


def _kinds(*kinds: str) -> frozenset[str]:
    return frozenset(kinds)


KERNELS = (
    Kernel(
        "attention", "scores, mask, softmax and value mix, streamed over the cache (flash decoding)",
        _kinds("scores"), after=_kinds("ALiBi", "soft cap", "causal mask", "softmax", "value mix"),
    ),
    Kernel(
        "q/k norm and RoPE", "the norms of q and k and both rotations",
        _kinds("RoPE"), before=_kinds("RMSNorm", "L2 norm", "LayerNorm"),
    ),
    Kernel("cache write", "K append and V append together", _kinds("K append", "V append")),
    Kernel("output gate", "its activation and its multiply", _kinds("gate multiply"), before=_kinds("output gate")),
    Kernel(
        "state update", "q and k norms, correction strength, decay, update and read-out of a recurrent state",
        _kinds("delta update", "state update"), before=_kinds("L2 norm", "correction strength", "decay"),
    ),
    Kernel(
        "router", "scores of the experts (softmax or sigmoid) and top-k",
        _kinds("top-k"), before=_kinds("softmax", "sigmoid"), after=_kinds("softmax", "sigmoid"),
    ),
    Kernel(
        "combine", "the shared expert's gate, weights and sum of the experts",
        _kinds("expert combine"), before=_kinds("sigmoid"),
    ),
    Kernel(
        "residual add", "runs inside the neighbouring norm's kernel: no launch of its own",
        _kinds("residual add"), launches=False,
    ),
)  # fmt: skip


def kernel_groups(block: Block) -> tuple[Group, ...]:
    """The kernels of a block in an order in which each comes after those whose results it reads."""
    owner: dict[str, int] = {}
    names: list[tuple[str, bool]] = []
    for kernel in KERNELS:
        members = [t for t in _members(block, kernel) if t.id not in owner]
        if any(t.kind in kernel.anchors for t in members):
            owner.update(dict.fromkeys((t.id for t in members), len(names)))
            names.append((kernel.name, kernel.launches))
    for transform in block.transforms:
        if transform.id not in owner:
            owner[transform.id] = len(names)
            names.append((transform.title, True))
    return tuple(_group(block, owner, i, *names[i]) for i in _order(block, owner))


def _members(block: Block, kernel: Kernel) -> list[Transform]:
    """Transforms that a kernel takes in: its anchors, then what joins them from before and after."""
    inside = {t.id for t in block.transforms if t.kind in kernel.anchors}
    for t in reversed(block.transforms):
        if t.kind in kernel.before and any(t.id in block.feeds[reader] for reader in inside):
            inside.add(t.id)
    for t in block.transforms:
        if t.kind in kernel.after and inside & set(block.feeds[t.id]):
            inside.add(t.id)
    return [t for t in block.transforms if t.id in inside]


def _order(block: Block, owner: dict[str, int]) -> Iterable[int]:
    """Kernels by the transforms they wait for; in drawing order where that leaves a choice."""
    sorter: TopologicalSorter[int] = TopologicalSorter()
    for t in block.transforms:
        sorter.add(owner[t.id], *(owner[f] for f in block.feeds[t.id] if owner[f] != owner[t.id]))
    try:
        return tuple(sorter.static_order())
    except CycleError as error:
        raise GraphError(f"{block.key}: two kernels wait for each other: {error.args[1]}") from None


def _group(block: Block, owner: dict[str, int], index: int, name: str, launches: bool) -> Group:
    members = [t for t in block.transforms if owner[t.id] == index]
    return Group(name, tuple(t.id for t in members), tuple(op for t in members for op in t.ops), launches)
