"""Architecture + Scenario -> DecodeStep: each distinct section is traced once, every layer refers to its trace."""

from dataclasses import replace
from functools import lru_cache

from tokenviz.architecture import Architecture, Parallel, Section
from tokenviz.builder import Builder
from tokenviz.graph import Block, BlockRef, DecodeStep
from tokenviz.recipes import ends, recipe_of
from tokenviz.recipes.linear import residual_add, scaled
from tokenviz.recipes.norm import norm_title, normalise
from tokenviz.scenario import Scenario


def trace(architecture: Architecture, scenario: Scenario) -> DecodeStep:
    """The dependency graph of one step. Cost grows with the distinct sections, not with the layers."""
    lookup, output = _ends(architecture, replace(scenario.structure, context=0))
    blocks = {lookup.key: lookup}
    sequence = [BlockRef(lookup.key, None, "lookup")]
    keys: dict[tuple[Section, bool], str] = {}
    paired = ends.paired(architecture)
    seen: dict[int, list[tuple[str, str]]] = {}  # by identity: adapters repeat one object for equal layers
    for index, layer in enumerate(architecture.layers):
        runs = seen.get(id(layer), [])
        for section in layer.sections if not runs else ():
            looked_up = paired and len(sequence) == 1 and not runs
            key = keys.get((section, looked_up))
            if key is None:
                block = trace_section(
                    section, scenario, d_model=architecture.d_model, looked_up=looked_up, number=len(keys)
                )
                key = keys[section, looked_up] = block.key
                blocks[key] = block
            runs.append((key, section.name))
        if len(sequence) > 1:  # the first layer is like no other where its norm is looked up
            seen[id(layer)] = runs
        sequence += [BlockRef(key, index, name) for key, name in runs]
    blocks[output.key] = output
    sequence.append(BlockRef(output.key, None, "output"))
    return DecodeStep(blocks, tuple(sequence), scenario.positions, scenario.context)


@lru_cache(maxsize=64)
def _ends(architecture: Architecture, anywhere: Scenario) -> tuple[Block, Block]:
    """Lookup and output; neither depends on the context."""
    return ends.lookup(architecture, anywhere), ends.output(architecture, anywhere)


def trace_section(section: Section, scenario: Scenario, *, d_model: int, looked_up: bool, number: int) -> Block:
    """One residual update, ``T D`` -> ``T D``; `number` tells apart the blocks of one kind.

    `looked_up` means that the normalised input came with the embedding row, so that the norm is not computed.
    """
    letters = recipe_of(section.body).sizes(section.body, scenario)
    # A recipe sees the context only in the extents of its letters. So a section whose letters do not depend on it is
    # one block for all contexts, and so is all that was computed from it. Branches have letters of their own.
    fixed = scenario.structure if isinstance(section.body, Parallel) else replace(scenario.structure, context=0)
    return _section(section, fixed, tuple(letters.items()), d_model, looked_up, number)


@lru_cache(maxsize=256)
def _section(
    section: Section,
    scenario: Scenario,
    letters: tuple[tuple[str, int], ...],
    d_model: int,
    looked_up: bool,
    number: int,
) -> Block:
    recipe = recipe_of(section.body)
    b = Builder({"T": scenario.positions, "D": d_model, **dict(letters)})
    x = hidden = b.input("residual", "T D", name="x", says="The residual stream.")
    if looked_up:
        hidden = b.input("normalised", "T D", name="x̂", says="The normalised twin of the embedding row.")
    elif section.norm is not None:
        hidden = normalise(b, x, section.norm, id="norm")
    update = recipe.trace(b, hidden, section.body, scenario)
    if section.post_norm is not None:
        title = f"Post-{norm_title(section.post_norm)}"
        update = normalise(b, update, section.post_norm, id="post_norm", title=title, out="Δx")
    carried = scaled(b, hidden if section.carries_norm else x, section.carry_scale, "carry", "Scale carried", "x")
    return b.build(
        key=f"{recipe.kind}.{number}", kind=recipe.kind, title=recipe.title, says=recipe.says, spec=section,
        outputs={"residual": residual_add(b, carried, update, section.residual_scale, scalar=section.output_scalar)},
    )  # fmt: skip


def traced(architecture: Architecture, scenario: Scenario) -> DecodeStep:
    """`trace`, remembered for the last few questions; steps are frozen, so sharing one is safe.

    Precisions and speed do not change the graph, so scenarios that differ only in them share one.
    """
    return remembered(architecture, scenario.structure)


@lru_cache(maxsize=32)
def remembered(architecture: Architecture, structure: Scenario) -> DecodeStep:
    """The cache behind `traced`."""
    return trace(architecture, structure)
