"""Projections and the residual add."""

from tokenviz.builder import Builder
from tokenviz.graph import Value


def projection(
    b: Builder, x: Value, *, id: str, equation: str, title: str, out: str, bias: bool = False, says: str = ""
) -> Value:
    """W x with a static W. `equation` is an einsum whose first operand is the weight, e.g. ``F D, T D -> T F``.

    Every row of W is one dot product; all rows are independent.
    """
    letters = equation.split(",")[0]
    weight = b.weight(f"{id}.weight", letters, name=f"W_{out}", says="Learned; the same for every token.")
    return project_with(b, x, weight, id=id, equation=equation, title=title, out=out, bias=bias, says=says)


def project_with(
    b: Builder,
    x: Value,
    weight: Value,
    *,
    id: str,
    equation: str,
    title: str,
    out: str,
    bias: bool = False,
    shift: Value | None = None,
    says: str = "",
) -> Value:
    """A projection by a weight that exists already: shared with another reader, or gathered by the router.

    `bias` adds a learned shift of its own; `shift` adds one that exists already.
    """
    biased = bias or shift is not None
    with b.transform(
        id,
        "projection",
        title,
        equation=rf"{latex_name(out)} = W\,x" + (" + b" if biased else ""),
        says=says or "Multiplies the vector by a learned matrix: one dot product for each row, all rows independent.",
    ):
        y = b.contract(equation, weight, x, out="" if biased else out)
        if not biased:
            return y
        shift = shift or b.weight(f"{id}.bias", " ".join(d for d in y.dims if d != "T"), name=f"b_{out}")
        return b.add(y, shift, "+ bias", out)


def residual_add(b: Builder, x: Value, update: Value, scale: float = 1.0, *, scalar: bool = False) -> Value:
    """x + scale · update, the only way back onto the residual stream; a scale of 1 is no operation.

    With `scalar` the sum is multiplied by one number that is stored with the layer.
    """
    factor = b.buffer("layer_scalar", "", name="λ", says="One number for the whole layer.") if scalar else None
    with b.transform(
        "residual",
        "residual add",
        "Residual add",
        equation=r"x' = x + \Delta x" if scale == 1.0 else rf"x' = x + {scale:g}\,\Delta x",
        says="Adds the section's result to the residual stream, which carries everything else past it unchanged.",
    ):
        if scale != 1.0:
            update = b.multiply(update, scale, f"× {scale:g}")
        if factor is None:
            return b.add(x, update, "add", "x′")
        return b.multiply(b.add(x, update, "add"), factor, "× layer scalar", "x′")


def scaled(b: Builder, x: Value, factor: float, id: str, title: str, out: str) -> Value:
    """x times a constant of the config; nothing at all when it is 1."""
    if factor == 1.0:
        return x
    with b.transform(
        id, "scale", title, equation=rf"{out} \leftarrow {factor:g}\,{out}",
        says="Multiplies by a constant that the config fixes.",
    ):  # fmt: skip
        return b.multiply(x, factor, f"× {factor:g}", out)


def latex_name(name: str) -> str:
    """A value's name as LaTeX: words upright, single letters as they are."""
    return name if len(name) <= 2 else rf"\text{{{name}}}"
