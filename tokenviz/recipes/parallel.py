"""Bodies side by side on one x: attention and feed-forward at once, attention and a state-space mixer at once."""

from collections.abc import Mapping

from tokenviz.architecture import Branch, Parallel
from tokenviz.builder import Builder
from tokenviz.graph import Value
from tokenviz.recipes.linear import scaled
from tokenviz.recipes.norm import norm_title, normalise
from tokenviz.recipes.recipe import Recipe
from tokenviz.scenario import Scenario


def sizes(spec: Parallel, scenario: Scenario, recipes: Mapping[type, Recipe]) -> Mapping[str, int]:
    """Extents of the letters that mean the same in all branches; `trace` adds those of one branch alone."""
    own = [recipes[type(branch.body)].sizes(branch.body, scenario) for branch in spec.branches]
    found: dict[str, int] = {}
    for letters in own:
        for letter, extent in letters.items():
            if all(other.get(letter, extent) == extent for other in own):
                found[letter] = extent
    return found


def trace(b: Builder, x: Value, spec: Parallel, scenario: Scenario, recipes: Mapping[type, Recipe]) -> Value:
    """x: T D -> T D, the sum of the branches' updates; no branch waits for another."""
    updates = []
    for branch in spec.branches:
        with b.prefixed(branch.name, recipes[type(branch.body)].sizes(branch.body, scenario)):
            updates.append(_one(b, x, branch, scenario, recipes))
    with b.transform(
        "join",
        "join",
        "Add branches",
        equation=r"\Delta x = \sum_i \Delta x_i",
        says="Adds up what the branches computed side by side.",
    ):
        total = updates[0]
        for update in updates[1:]:
            total = b.add(total, update, "add", "Δx")
        return total


def _one(b: Builder, x: Value, branch: Branch, scenario: Scenario, recipes: Mapping[type, Recipe]) -> Value:
    if branch.norm is not None:
        x = normalise(b, x, branch.norm, id="norm")
    x = scaled(b, x, branch.in_scale, "in_scale", "Scale input", "x")
    update = recipes[type(branch.body)].trace(b, x, branch.body, scenario)
    if branch.post_norm is not None:
        title = f"Post-{norm_title(branch.post_norm)}"
        update = normalise(b, update, branch.post_norm, id="post_norm", title=title, out="Δx")
    return scaled(b, update, branch.out_scale, "out_scale", "Scale output", "Δx")
