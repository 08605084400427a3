"""Embeddings of each layer's own: looked up and projected once at the start, used by a small section in every layer."""

from collections.abc import Mapping

from tokenviz.architecture import PerLayerInput, PerLayerTable
from tokenviz.builder import Builder
from tokenviz.graph import Value
from tokenviz.recipes.activation import gated_unit
from tokenviz.recipes.linear import projection, scaled
from tokenviz.recipes.norm import normalise
from tokenviz.scenario import Scenario


def sizes(spec: PerLayerInput, _scenario: Scenario) -> Mapping[str, int]:
    """Extents of the letters that the section adds."""
    return {"L": spec.layers, "own": spec.width}


def trace(b: Builder, x: Value, spec: PerLayerInput, _scenario: Scenario) -> Value:
    """x: T D -> T D: lets this layer's own embedding through where x asks for it.

    The inputs of all layers travel along ``T L own``; each layer takes the first and hands the rest on before it.
    """
    inputs = b.input("per_layer", "T L own", name="layer inputs", says="One small vector for each layer still to come.")
    own = b.take(inputs, "L", 0)
    b.export("per_layer", b.wire("roll", (inputs,), inputs.dims, name="layer inputs", attrs={"axis": "L"}))
    gate = projection(b, x, id="gate", equation="own D, T D -> T own", title="Layer-input gate", out="g")
    hidden = gated_unit(b, gate, own, spec.activation, id="act")
    return projection(b, hidden, id="out", equation="D own, T own -> T D", title="Layer-input projection", out="Δx")


def letters(spec: PerLayerTable) -> Mapping[str, int]:
    """Extents of the letters that the table adds to the lookup."""
    return {"L": spec.layers, "own": spec.width, "own_all": spec.layers * spec.width, "own_rows": spec.vocab}


def lookup(b: Builder, token: Value, x: Value, spec: PerLayerTable) -> Value:
    """The inputs of all layers, ``T L own``: a row of their own table, plus a normalised projection of x."""
    table = b.weight(
        "per_layer", "own_rows own_all", name="E_l", scope="per_layer", says="One long row for each token."
    )
    table = b.fold(lambda rows: rows * rows.dtype.type(spec.width**0.5), (table,), "E_l′")
    with b.transform(
        "per_layer_lookup",
        "lookup",
        "Layer-input lookup",
        equation=r"e_l = E_{l,\text{id}}",
        says="Fetches the token's row of the table that holds a small vector for each layer.",
    ):
        row = b.op(
            "lookup", token, table, dims=("T", "own_all"), label="look up row", out="e_l", attrs={"stacked": False}
        )
    (row,) = b.split(row, "own_all", [("e_l", "L own")])
    made = projection(
        b, x, id="per_layer_projection", equation="L own D, T D -> T L own", title="Layer inputs", out="p_l"
    )
    made = scaled(b, made, b.sizes["D"] ** -0.5, "per_layer_scale", "Scale layer inputs", "p_l")
    made = normalise(b, made, spec.norm, id="per_layer_norm", over="own", out="p̂_l")
    with b.transform(
        "per_layer_add",
        "join",
        "Add layer inputs",
        equation=r"i_l = \frac{e_l + \hat{p}_l}{\sqrt{2}}",
        says="Joins what the token's own row says with what its embedding says.",
    ):
        return b.multiply(b.add(made, row, "add"), 2**-0.5, "× 1/√2", "layer inputs")
