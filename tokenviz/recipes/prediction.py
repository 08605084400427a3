"""What an extra prediction head does before its layer: join x and the next token's embedding. DeepSeek-V3 2024."""

from tokenviz.architecture import Norm
from tokenviz.builder import Builder
from tokenviz.graph import Block
from tokenviz.recipes.linear import projection
from tokenviz.recipes.norm import normalise


def join(d_model: int, norm: Norm, positions: int) -> Block:
    """x and the embedding, each ``T D`` and normalised, side by side -> ``T D``; and the norm behind the layer."""
    b = Builder({"T": positions, "D": d_model, "both": 2 * d_model})
    x = normalise(b, b.input("residual", "T D", name="x"), norm, id="x_norm")
    embedded = b.input("embedding", "T D", name="e", says="The embedding of the token that comes next.")
    embedded = normalise(b, embedded, norm, id="embedding_norm", out="ê")
    both = b.concat((x, embedded), "T both", "both", "x̂, ê")
    made = projection(b, both, id="join", equation="D both, T both -> T D", title="Join", out="x′")
    after = b.input("layer", "T D", name="x″", says="What the head's own layer makes of it.")
    scored = normalise(b, after, norm, id="norm", title="Final norm")
    return b.build(
        key="prediction", kind="prediction", title="Prediction head", says="From x and a token to the next x.",
        spec=norm, outputs={"residual": made, "normalised": scored},
    )  # fmt: skip
