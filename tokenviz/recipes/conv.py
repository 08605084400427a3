"""Causal depthwise convolution over the last few columns, with the window that is kept between tokens."""

from tokenviz.builder import Builder
from tokenviz.graph import StateKind, Value
from tokenviz.recipes.activation import silu


def causal_conv(
    b: Builder, x: Value, *, id: str = "conv", axis: str = "channels", bias: bool = False, act: bool = True,
    of: str = "", out: str = "u",
) -> Value:  # fmt: skip
    """Depthwise convolution over the last C columns of x (``T channels``), then SiLU unless `act` is false.

    Needs the letters C, ``kept`` (C - 1) and ``columns`` (kept + T). The window keeps C - 1 columns of raw inputs.
    """
    taps = b.weight(f"{id}.weight", f"{axis} C", name="w", says="The taps of each channel, newest last.")
    shift = b.weight(f"{id}.bias", axis, name="b_w") if bias else None
    window = b.state(
        f"{id}_state", f"kept {axis}", name="conv window", dtype="conv", says="The last inputs of each channel."
    )
    inner = r"\sum_{j=1}^{C} w_{cj}\, x_{c,\,t-C+j}" + (r" + b_c" if bias else "")
    with b.transform(
        id,
        "causal convolution",
        f"Causal convolution{' of ' + of if of else ''}{' + SiLU' if act else ''}",
        equation=rf"u_c = \operatorname{{SiLU}}\Big({inner}\Big)" if act else rf"u_c = {inner}",
        says="Mixes each channel with its own last few inputs, so that what follows knows its immediate past.",
    ):
        columns = b.append(window, x, f"columns {axis}", "columns", label="append to window")
        seen = b.wire("windows", (columns,), ("T", "C", axis), name="window", attrs={"taps": b.sizes["C"]})
        mixed = b.contract(f"{axis} C, T C {axis} -> T {axis}", taps, seen, labels=("tap products", "tap sum"))
        if shift is not None:
            mixed = b.add(mixed, shift, "+ bias", "" if act else out)
        result = silu(b, mixed, out=out) if act else mixed
        newest = b.wire("slice", (columns,), window.dims, name="newest columns", attrs={
            "axis": "columns", "start": b.sizes["T"], "stop": None, "shape": window.shape,
        })  # fmt: skip
        b.save(window, newest, StateKind.CONVOLUTION, name="convolution window", label="save window",
               says="Fixed size: the oldest column leaves when a new one enters.")  # fmt: skip
        return result


def conv_sizes(taps: int, positions: int) -> dict[str, int]:
    """Extents of the letters that a convolution adds, its channels excepted."""
    return {"C": taps, "kept": taps - 1, "columns": taps - 1 + positions}
