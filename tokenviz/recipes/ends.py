"""The two ends of a step: looking the token up, and scoring the vocabulary."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tokenviz.architecture import Architecture, Norm
from tokenviz.builder import Builder
from tokenviz.graph import Block, Value
from tokenviz.recipes import per_layer
from tokenviz.recipes.linear import project_with
from tokenviz.recipes.norm import norm_title, norm_weights, normalise, normalised_rows
from tokenviz.recipes.scores import soft_cap, softmax
from tokenviz.scenario import Scenario


def embedding(b: Builder) -> Value:
    """The embedding table E: V D, one weight for all its readers."""
    return b.weight("embedding", "V D", name="E", scope="embedding", says="One row for each token of the vocabulary.")


def paired(architecture: Architecture) -> bool:
    """Whether the first section's norm depends on the token alone, so that its result can be looked up."""
    return architecture.layers[0].sections[0].norm is not None and architecture.embedding.positions is None


def times(factor: float) -> Callable[[Any], Any]:
    """Function that scales a whole table: done once, not per token."""
    return lambda table: (table * np.float32(factor)).astype(table.dtype)


def rows_of(b: Builder, architecture: Architecture) -> Value:
    """The table whose rows enter the residual stream: scale and embedding norm are folded into it. V D."""
    spec, table = architecture.embedding, embedding(b)
    if spec.scale != 1.0:
        table = b.fold(times(spec.scale), (table,), "E′")
    if spec.norm is not None:
        table = b.fold(normalised_rows(spec.norm), (table, *norm_weights(b, spec.norm, "embedding_norm")), "E′")
    return table


def lookup(architecture: Architecture, scenario: Scenario) -> Block:
    """From a token id to the residual stream."""
    letters = {"T": scenario.positions, "V": architecture.vocab, "D": architecture.d_model, "pair": 2}
    if architecture.embedding.positions is not None:
        letters["rows"] = architecture.embedding.positions
    own = architecture.embedding.per_layer
    b = Builder(letters if own is None else {**letters, **per_layer.letters(own)})
    token = b.input("token", "T", name="token id", dtype="index", says="The id of the token that was chosen last.")
    table = rows_of(b, architecture)
    first = architecture.layers[0].sections[0]
    if architecture.embedding.positions is not None:
        outputs = with_position(b, token, table, architecture.embedding.offset)
    elif first.norm is not None:
        outputs = row_pair(b, token, table, first.norm, f"layers.0.{first.name}.norm")
    else:
        outputs = single_row(b, token, table)
    if own is not None:
        outputs["per_layer"] = per_layer.lookup(b, token, outputs["residual"], own)
    return b.build(
        key="lookup", kind="lookup", title="Lookup", spec=first, says="From a token id to the residual stream.",
        outputs=outputs,
    )  # fmt: skip


def row_pair(b: Builder, token: Value, table: Value, norm: Norm, scope: str) -> dict[str, Value]:
    """The token's row together with its normalised twin.

    The twin depends on the token alone, so it is stored beside the row and the first section's norm is not computed.
    """
    twin = b.fold(normalised_rows(norm), (table, *norm_weights(b, norm, scope)), "Ê")
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
    return {"residual": b.take(rows, "pair", 0), "normalised": b.take(rows, "pair", 1)}


def single_row(b: Builder, token: Value, table: Value) -> dict[str, Value]:
    """The token's row alone: what follows does not start with a norm of it."""
    with b.transform(
        "lookup", "lookup", "Lookup", equation=r"x = E_{\text{id}}", says="Fetches the token's row of the table."
    ):
        row = b.op("lookup", token, table, dims=("T", "D"), label="look up row", attrs={"stacked": False})
        return {"residual": b.op("fan_out", row, dims=row.dims, label="fan out", out="x")}


def with_position(b: Builder, token: Value, table: Value, offset: int) -> dict[str, Value]:
    """The token's row plus the learned row of its position."""
    places = b.weight("positions", "rows D", name="P", scope="positions", says="One learned row for each position.")
    where = b.position()
    with b.transform(
        "lookup", "lookup", "Lookup", equation=r"e = E_{\text{id}}", says="Fetches the token's row of the table."
    ):
        row = b.op("lookup", token, table, dims=("T", "D"), label="look up row", out="e", attrs={"stacked": False})
    with b.transform(
        "position",
        "lookup",
        "Position lookup",
        equation=r"p = P_{\text{position}}",
        says="Fetches the learned row of the token's position.",
    ):
        place = b.op(
            "lookup", where, places, dims=("T", "D"), label="look up position row", out="p",
            attrs={"stacked": False, "offset": offset},
        )  # fmt: skip
    with b.transform(
        "add_position",
        "add position",
        "Add position",
        equation=r"x = e + p",
        says="Adds where the token stands to what it is.",
    ):
        x = b.add(row, place, "add", "x")
        return {"residual": b.op("fan_out", x, dims=x.dims, label="fan out", out="x")}


def output(architecture: Architecture, scenario: Scenario) -> Block:
    """Final norm, one score for each token of the vocabulary, then probabilities or the best token."""
    b = Builder({"T": scenario.positions, "V": architecture.vocab, "D": architecture.d_model})
    x = b.input("residual", "T D", name="x")
    norm, spec = architecture.final_norm, architecture.head
    if norm is not None:
        x = normalise(b, x, norm, id="norm", title=f"Final {norm_title(norm)}")
    head = embedding(b) if architecture.tied else b.weight("head", "V D", name="W_head", scope="head")
    logits = project_with(
        b, x, head, id="scores", equation="V D, T D -> T V", title="Output scores", out="logits", bias=spec.bias,
        says="Compares the final vector with one row for each token of the vocabulary.",
    )  # fmt: skip
    if spec.scale != 1.0:
        with b.transform(
            "logit_scale",
            "scale",
            "Scale scores",
            equation=rf"s \leftarrow {spec.scale:g}\,s",
            says="Multiplies every score by a constant that the config fixes.",
        ):
            logits = b.multiply(logits, spec.scale, f"× {spec.scale:g}", "logits")
    if spec.softcap is not None:
        logits = soft_cap(b, logits, spec.softcap, id="softcap", out="logits")
    outputs = {"logits": logits}
    if scenario.output == "softmax":
        outputs["probabilities"] = softmax(b, logits, "V", id="softmax", title="Softmax", out="p")
    else:
        outputs["token"] = best(b, logits)
    return b.build(
        key=f"output.{scenario.output}", kind="output", title="Output scores", spec=architecture.final_norm,
        says="From the residual stream to the next token.", outputs=outputs,
    )  # fmt: skip


def best(b: Builder, logits: Value) -> Value:
    """The id of the highest score. T V -> T."""
    with b.transform(
        "argmax",
        "argmax",
        "Greedy choice",
        equation=r"\text{id} = \arg\max_i \text{logits}_i",
        says="Takes the token with the highest score.",
    ):
        return b.op("argmax", logits, dims=("T",), label="argmax", out="id", dtype="index", attrs={"over": "V"})
