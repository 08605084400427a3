"""Positions as configs declare them: rotary embeddings in their spellings, and ALiBi's slopes."""

from collections.abc import Mapping
from math import ceil, floor, log2
from typing import Any

from tokenviz.architecture import Alibi, Rope
from tokenviz.config import Reader
from tokenviz.notation import ConfigError

KNOWN = ("linear", "dynamic", "llama3", "yarn", "longrope", "proportional")
PLAIN = ("default", "mrope")
RENAMED = {"su": "longrope"}


def rope(
    c: Reader, head_dim: int, *, partial: float = 1.0, theta: float = 10_000.0, pairing: str = "half", kind: str = ""
) -> Rope:
    """Rotary embedding from either spelling: rope_parameters (new) or rope_theta with rope_scaling (old).

    `partial` and `theta` are the family's defaults; `kind` picks a layer kind's own parameters where there are several.
    """
    parameters = declared(c, kind)
    base = parameters.pop("rope_theta", None)
    base = c.number("rope_theta", "rotary_emb_base", default=theta, why="the family's base") if base is None else base
    factor = parameters.pop("partial_rotary_factor", None)
    factor = c.number("partial_rotary_factor", "rotary_pct", default=partial) if factor is None else factor
    c.ignore("rope_theta", "rotary_emb_base", "partial_rotary_factor", "rotary_pct")
    for name, value in (("rope_theta", base), ("partial_rotary_factor", factor)):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
            raise ConfigError(f"{name} is {value!r}; give a number above 0")
    name = str(parameters.pop("rope_type", None) or parameters.pop("type", "default"))
    parameters.pop("type", None)
    if name == "proportional":
        parameters["partial_rotary_factor"], factor = factor, 1.0
    if factor > 1:
        raise ConfigError(f"partial_rotary_factor is {factor:g}; give a share above 0 and at most 1")
    dims = int(head_dim * factor)
    if dims < 2 or dims % 2:
        raise ConfigError(f"partial_rotary_factor {factor} turns {dims} of {head_dim} coordinates; give an even number")
    return Rope(dims=dims, theta=float(base), pairing=pairing, scaling=scaling_of(c, name, parameters))


def declared(c: Reader, kind: str = "") -> dict[str, Any]:
    """The rotary parameters of a layer kind (of all layers when ``""``), as a new dictionary."""
    parameters = {**c.mapping("rope_scaling"), **c.mapping("rope_parameters")}
    nested = {k: v for k, v in parameters.items() if isinstance(v, dict)}
    if not nested:
        return parameters
    if kind and kind not in nested:
        raise ConfigError(f"rope_parameters has no entry for {kind}; found {', '.join(sorted(nested))}")
    return dict(nested[kind or next(iter(nested))])


def scaling_of(c: Reader, name: str, parameters: Mapping[str, Any]) -> tuple[tuple[str, object], ...]:
    """The scaling's own pairs, with the lengths that it needs beside them; () when there is none."""
    name = RENAMED.get(name, name)
    original = c.integer("original_max_position_embeddings", default=0, low=0, high=10**9)
    if name in PLAIN:
        return ()
    if name not in KNOWN:
        c.assume(f"rope scaling {name!r} is not known; it changes coefficients, not counts")
    longest = c.integer("max_position_embeddings", default=0, low=0, high=10**9)
    pairs = {"rope_type": name, **{k: v for k, v in parameters.items() if v is not None}}
    if original:
        pairs["original_max_position_embeddings"] = original
    if longest:
        pairs.setdefault("original_max_position_embeddings", longest)
        pairs.setdefault("max_position_embeddings", longest)
    return tuple((k, tuple(v) if isinstance(v, list) else v) for k, v in sorted(pairs.items()) if _plain(v))


def _plain(value: object) -> bool:
    if isinstance(value, list):
        return all(isinstance(x, (int, float)) for x in value)
    return isinstance(value, (int, float, str))


def alibi_below(heads: int) -> Alibi:
    """Slopes of BLOOM and Falcon: those of the next smaller power of two, then every other one of the next larger."""
    near = 2 ** floor(log2(heads))
    slopes = [2 ** (-(2 ** -(log2(near) - 3)) * i) for i in range(1, near + 1)]
    extra = 2 ** (-(2 ** -(log2(2 * near) - 3)))
    slopes += [extra**i for i in range(1, 2 * (heads - near), 2)]
    return Alibi(slopes=tuple(slopes))


def alibi_above(heads: int, largest: float) -> Alibi:
    """Slopes of MPT: powers for the next larger power of two, every other one first."""
    near = 2 ** ceil(log2(heads))
    slopes = [2 ** (-i * largest / near) for i in range(1, near + 1)]
    if near != heads:
        slopes = (slopes[1::2] + slopes[::2])[:heads]
    return Alibi(slopes=tuple(slopes))
