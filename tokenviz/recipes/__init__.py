"""Each mechanism's mathematics, written once: a recipe is a function that traces operations on a `Builder`.

`RECIPES` maps a spec's type to its recipe. Adding a mechanism adds a spec, a file and a row here.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from tokenviz.architecture import (
    GQA,
    Body,
    DenseFFN,
    GatedDeltaNet,
    KimiDelta,
    LatentAttention,
    LinearAttention,
    MoE,
    Parallel,
    PerLayerInput,
    SelectiveScan,
    ShortConv,
    StateSpace,
)
from tokenviz.builder import Builder
from tokenviz.graph import Value
from tokenviz.recipes import (
    attention,
    ffn,
    gated_delta,
    kda,
    lightning,
    mamba1,
    mamba2,
    mla,
    moe,
    parallel,
    per_layer,
    short_conv,
)
from tokenviz.recipes.recipe import Recipe
from tokenviz.scenario import Scenario


def _parallel_sizes(spec: Parallel, scenario: Scenario) -> Mapping[str, int]:
    return parallel.sizes(spec, scenario, RECIPES)


def _parallel(b: Builder, x: Value, spec: Parallel, scenario: Scenario) -> Value:
    return parallel.trace(b, x, spec, scenario, RECIPES)


def recipe_of(body: Body) -> Recipe:
    """The recipe of a body; that of branches side by side is named after them (``attention|ffn``)."""
    recipe = RECIPES[type(body)]
    if not isinstance(body, Parallel):
        return recipe
    inner = [recipe_of(branch.body) for branch in body.branches]
    return replace(recipe, kind="|".join(r.kind for r in inner), title=" ∥ ".join(r.title for r in inner))


RECIPES: Mapping[type, Recipe] = MappingProxyType(
    {
        GatedDeltaNet: Recipe(
            "deltanet", "DeltaNet", "Reads and corrects a fixed-size memory.", gated_delta.sizes, gated_delta.trace
        ),
        GQA: Recipe(
            "attention", "Attention", "Compares the token with every earlier one.", attention.sizes, attention.trace
        ),
        DenseFFN: Recipe("ffn", "Feed-forward", "Transforms each position by itself.", ffn.sizes, ffn.trace),
        MoE: Recipe("moe", "Experts", "Sends the token to a few of many feed-forwards.", moe.sizes, moe.trace),
        LatentAttention: Recipe(
            "latent attention",
            "Latent attention",
            "Compares the token with one narrow entry per earlier token.",
            mla.sizes,
            mla.trace,
        ),
        KimiDelta: Recipe(
            "kimi delta",
            "Kimi delta attention",
            "Reads and corrects a memory that fades channel by channel.",
            kda.sizes,
            kda.trace,
        ),
        SelectiveScan: Recipe(
            "mamba", "Mamba", "Feeds and reads a fixed-size memory, channel by channel.", mamba1.sizes, mamba1.trace
        ),
        StateSpace: Recipe(
            "mamba2", "Mamba-2", "Feeds and reads a fixed-size memory, head by head.", mamba2.sizes, mamba2.trace
        ),
        ShortConv: Recipe(
            "short conv", "Short convolution", "Mixes the last few tokens.", short_conv.sizes, short_conv.trace
        ),
        LinearAttention: Recipe(
            "lightning",
            "Lightning attention",
            "Adds to and reads a memory that fades at a fixed rate.",
            lightning.sizes,
            lightning.trace,
        ),
        PerLayerInput: Recipe(
            "layer-input", "Layer input", "Adds an embedding of this layer's own.", per_layer.sizes, per_layer.trace
        ),
        Parallel: Recipe("parallel", "Parallel", "Several at once, on the same x.", _parallel_sizes, _parallel),
    }
)
