"""The Pipeline drawing of a model: a scene whose places depend on the architecture alone, with today's figures in it.

    scene(architecture, scenario, opened=True, only=None) -> Scene
    ancestors(block, id), descendants(block, id) -> ids    what an element waits for, and what waits for it
    entries(step) -> Entry, ...                            everything drawn, in order, for lists and for the search
    find(entries, words) -> Entry, ...
    lifetime_counts(scene), class_counts(step)             for the legend
    highlight(scene, names) -> ids to fade                 all but some lifetimes or operation classes

`describe` for the detail panel is in `tokenviz.views.pipeline_cards`.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from tokenviz.architecture import Architecture
from tokenviz.graph import Block, DecodeStep
from tokenviz.ledger import classes
from tokenviz.scenario import MAX_CONTEXT, Scenario
from tokenviz.trace import traced
from tokenviz.views.palette import LIFETIMES
from tokenviz.views.pipeline_elements import bubbled, element_of, outside, stored
from tokenviz.views.pipeline_groups import box_id, bubble_id, cell_id, drawn_as, groups, parse
from tokenviz.views.pipeline_layout import layout
from tokenviz.views.pipeline_text import bubble_hint, bubble_lines
from tokenviz.views.scene import Bubble, Scene

MOST_KINDS = 8
"""Up to so many kinds of layer blocks are drawn on one sheet; beyond, one at a time."""


# ------------------------------------------------------------------------------------------------ the scene


def scene(architecture: Architecture, scenario: Scenario, opened: bool = True, only: str | None = None) -> Scene:
    """The drawing. A change of context changes texts, never places: places are those of the longest context."""
    step = traced(architecture, scenario)
    far = replace(scenario, context=MAX_CONTEXT, tokens_per_s=100.0)
    drawn = _geometry(architecture, far, opened, only)
    if any(ref.block not in step.blocks for b in drawn.bubbles if (ref := parse(b.id))):
        return layout(step, scenario, opened, only)
    return replace(drawn, bubbles=tuple(_fresh(step, bubble, scenario) for bubble in drawn.bubbles))


@lru_cache(maxsize=24)
def _geometry(architecture: Architecture, scenario: Scenario, opened: bool, only: str | None) -> Scene:
    return layout(traced(architecture, scenario), scenario, opened, only)


def _fresh(step: DecodeStep, bubble: Bubble, scenario: Scenario) -> Bubble:
    """The bubble with the texts of this scenario."""
    ref = parse(bubble.id)
    assert ref is not None
    block = step.blocks[ref.block]
    name, shape, size = bubble_lines(block, ref.name, scenario)
    return replace(bubble, name=name, shape=shape, size=size, hint=bubble_hint(block, ref.name))


def kinds_of(step: DecodeStep) -> int:
    """Kinds of blocks inside the layers."""
    return len(groups(step)) - 2


# ------------------------------------------------------------------------------------------------ what waits for what


def _reads(block: Block) -> dict[str, tuple[str, ...]]:
    """Element -> the elements that it reads, cells apart: transforms and bubbles of one block."""
    found: dict[str, list[str]] = {}
    for t, needed in outside(block).items():
        found[box_id(block.key, t)] = [element_of(block, root, t) for root in needed]
    for root in bubbled(block):
        found[bubble_id(block.key, root)] = [box_id(block.key, block.producers[root].transform)]
    return {k: tuple(v) for k, v in found.items()}


def _reached(links: Mapping[str, Iterable[str]], start: str) -> frozenset[str]:
    seen: set[str] = set()
    queue = [start]
    while queue:
        for other in links.get(queue.pop(), ()):
            if other not in seen:
                seen.add(other)
                queue.append(other)
    return frozenset(seen)


def ancestors(block: Block, element: str) -> frozenset[str]:
    """Transforms and bubbles of the block that an element waits for, directly or not."""
    return _reached(_reads(block), _outer(block, element))


def descendants(block: Block, element: str) -> frozenset[str]:
    """Transforms and bubbles of the block that wait for an element, directly or not."""
    links: dict[str, list[str]] = {}
    for reader, read in _reads(block).items():
        for element_read in read:
            links.setdefault(element_read, []).append(reader)
    return _reached(links, _outer(block, element))


def _outer(block: Block, element: str) -> str:
    """The box of a cell, anything else itself."""
    ref = parse(element)
    if ref is not None and ref.kind == "o":
        return next(box_id(block.key, op.transform) for op in block.ops if op.id == ref.name)
    return element


# ------------------------------------------------------------------------------------------------ lists and search


@dataclass(frozen=True, slots=True)
class Entry:
    """One drawn element in words. `words` is what a search looks in: names, equation, class, lifetime, block."""

    id: str
    name: str
    what: str
    where: str
    words: str


@lru_cache(maxsize=16)
def entries(step: DecodeStep) -> tuple[Entry, ...]:
    """Everything that is drawn: transforms, each followed by its operations, then data; block by block."""
    found: list[Entry] = []
    for group in groups(step):
        block, where = group.block, group.block.label
        for t in block.transforms:
            found.append(
                _entry(box_id(block.key, t.id), t.title, "transform", where, t.kind, _plain(t.equation), t.says)
            )
            found += [
                _entry(cell_id(block.key, op.id), op.label, str(op.op_class), f"{t.title}, {where}") for op in t.ops
            ]
        found += _data_entries(block, where)
    return tuple(found)


def _data_entries(block: Block, where: str) -> Iterable[Entry]:
    ids = dict.fromkeys(
        (element_of(block, root, t), root) for t, needed in outside(block).items() for root in needed
    )  # fmt: skip
    ids.update(dict.fromkeys((bubble_id(block.key, root), root) for root in block.producers if root in bubbled(block)))
    for element, root in ids:
        value = block.values[root]
        reader = element.partition("@")[2]
        beside = f"{block.transform_by_id[reader].title}, {where}" if reader else where
        yield _entry(element, value.name, f"{value.lifetime} data", beside, value.says, root)


def _entry(id: str, name: str, what: str, where: str, *more: str) -> Entry:
    return Entry(id, name, what, where, " ".join((name, what, where, *more)).lower())


def _plain(latex: str) -> str:
    """An equation's words and signs without its commands: enough to search in."""
    dotted = re.sub(r"\s*\\cdot\b\s*", "·", latex)  # q·k is what a reader types
    named = re.sub(r"\\(?:text|operatorname|hat|mathrm)\s*\{([^}]*)\}", r" \1 ", dotted)
    return re.sub(
        r"\s+", " ", re.sub(r"\\(?:frac|left|right|big|Big|,|;|!|quad|qquad)|[{}]", " ", named).replace("\\", " ")
    )


def find(found: Iterable[Entry], words: str) -> tuple[Entry, ...]:
    """Entries that hold every word, those whose name begins with the first word before others."""
    wanted = words.lower().split()
    if not wanted:
        return ()
    hits = [e for e in found if all(w in e.words for w in wanted)]
    return tuple(sorted(hits, key=lambda e: (not e.name.lower().startswith(wanted[0]), e.what != "transform")))


# ------------------------------------------------------------------------------------------------ the legend


def lifetime_counts(step: DecodeStep) -> dict[str, int]:
    """Bubbles' values by lifetime; a stored value that is drawn beside two readers counts once."""
    counts = dict.fromkeys(LIFETIMES, 0)
    for group in groups(step):
        block = group.block
        values = {root for needed in outside(block).values() for root in needed} | bubbled(block)
        for root in values:
            counts["static" if stored(block, root) else str(block.values[root].lifetime)] += 1
    return counts


def class_counts(step: DecodeStep) -> dict[str, int]:
    """Operations of the whole step by class; they add up to the operations per token."""
    return {str(op_class): count for op_class, count in classes(step).items()}


def faded(drawn: Scene, names: Iterable[str]) -> tuple[str, ...]:
    """Ids to fade so that only some lifetimes and operation classes stand out; nothing when `names` is empty."""
    wanted = set(names)
    if not wanted:
        return ()
    kept = {bubble.id for bubble in drawn.bubbles if bubble.lifetime in wanted}
    for box in drawn.boxes:
        hits = {cell.id for cell in box.cells if cell.op_class in wanted}
        kept |= hits | ({box.id} if hits else set())
    return tuple(item for item in drawn.items if item not in kept)


def block_of(step: DecodeStep, element: str) -> Block | None:
    """The drawn block that an element belongs to; None for anything that is no element of this step."""
    ref = parse(element)
    if ref is None or ref.block not in step.blocks:
        return None
    return drawn_as(step)[ref.block].block
