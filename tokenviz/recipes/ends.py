"""The two ends of a step: looking the token up, and scoring the vocabulary."""

from typing import Any

import numpy as np

from tokenviz.architecture import Architecture, RMSNorm
from tokenviz.builder import Builder
from tokenviz.graph import Block, Value
from tokenviz.recipes.attention import softmax
from tokenviz.recipes.linear import project_with
from tokenviz.recipes.norm import rms_norm
from tokenviz.scenario import Scenario


def embedding(b: Builder) -> Value:
    """The embedding table E: V D, one weight for all its readers."""
    return b.weight("embedding", "V D", name="E", scope="embedding", says="One row for each token of the vocabulary.")


def normalised_rows(norm: RMSNorm) -> Any:
    """Function that normalises every row of a table as the first section's norm would: done once, not per token."""

    def rows(table: Any, weight: Any) -> Any:
        gain = 1 + weight if norm.zero_centred else weight
        scale = 1 / np.sqrt(np.mean(table.astype(np.float64) ** 2, axis=-1, keepdims=True) + norm.eps)
        return (table * scale * gain).astype(table.dtype)

    return rows


def lookup(architecture: Architecture, scenario: Scenario) -> Block:
    """The paired lookup: the token's embedding row together with its normalised twin.

    The twin depends on the token alone, so it is stored beside the row and the first section's norm is not computed.
    """
    first = architecture.layers[0].sections[0]
    b = Builder({"T": scenario.positions, "V": architecture.vocab, "D": architecture.d_model, "pair": 2})
    token = b.input("token", "T", name="token id", dtype="index", says="The id of the token that was chosen last.")
    table = embedding(b)
    gain = b.weight("first_norm", "D", name="g", scope=f"layers.0.{first.name}.norm.weight")
    twin = b.fold(normalised_rows(first.norm), (table, gain), "Ê")
    with b.transform(
        "lookup",
        "paired lookup",
        "Paired lookup",
        equation=r"(x, \hat{x}) = (E_{\text{id}}, \hat{E}_{\text{id}})",
        says="Fetches the token's row and the same row already normalised, stored side by side.",
    ):
        rows = b.op(
            "lookup", token, table, twin, dims=("T", "pair", "D"), label="look up row pair", attrs={"stacked": True}
        )
        rows = b.op("fan_out", rows, dims=rows.dims, label="fan out", out="x, x̂")
    x, normalised = b.take(rows, "pair", 0), b.take(rows, "pair", 1)
    return b.build(
        key="lookup", kind="lookup", title="Lookup", spec=first, says="From a token id to the residual stream.",
        outputs={"residual": x, "normalised": normalised},
    )  # fmt: skip


def output(architecture: Architecture, scenario: Scenario) -> Block:
    """Final norm, one score for each token of the vocabulary, then probabilities or the best token."""
    b = Builder({"T": scenario.positions, "V": architecture.vocab, "D": architecture.d_model})
    x = b.input("residual", "T D", name="x")
    x = rms_norm(b, x, architecture.final_norm, id="norm", title="Final RMSNorm")
    head = embedding(b) if architecture.tied else b.weight("head", "V D", name="W_head", scope="head")
    logits = project_with(
        b, x, head, id="scores", equation="V D, T D -> T V", title="Output scores", out="logits",
        says="Compares the final vector with one row for each token of the vocabulary.",
    )  # fmt: skip
    outputs = {"logits": logits}
    if scenario.output == "softmax":
        outputs["probabilities"] = softmax(b, logits, "V", id="softmax", title="Softmax", out="p")
    else:
        with b.transform(
            "argmax",
            "argmax",
            "Greedy choice",
            equation=r"\text{id} = \arg\max_i \text{logits}_i",
            says="Takes the token with the highest score.",
        ):
            outputs["token"] = b.op(
                "argmax", logits, dims=("T",), label="argmax", out="id", dtype="index", attrs={"over": "V"}
            )
    return b.build(
        key=f"output.{scenario.output}", kind="output", title="Output scores", spec=architecture.final_norm,
        says="From the residual stream to the next token.", outputs=outputs,
    )  # fmt: skip
