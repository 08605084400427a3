"""What a config's quantization_config declares about how weights are stored."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tokenviz.config import Reader
from tokenviz.formats import FORMATS, Format, Quantization
from tokenviz.notation import ConfigError

KEPT = ("modules_to_not_convert", "ignore", "ignored_layers", "exclude_modules")
"""Spellings of the list of modules that stay at the model's precision."""


def declared_quantization(c: Reader) -> Quantization | None:
    """The declared format and the modules it leaves alone; None when there is none, or none that is known here.

    A declaration that is not understood stays unread, so that it is reported.
    """
    if not c.has("quantization_config"):
        return None
    declared = c.peek("quantization_config")
    if not isinstance(declared, dict):
        raise ConfigError("quantization_config is not an object; give one with a quant_method, or drop it")
    layout = _layout(declared)
    if layout is None:
        return None
    c.get("quantization_config")
    kept: Any = next((declared[key] for key in KEPT if declared.get(key)), [])
    if not isinstance(kept, list) or not all(isinstance(name, str) for name in kept):
        raise ConfigError("modules_to_not_convert is not a list of module names; give one, or drop it")
    c.assume(f"the layers' matrices are stored as {layout.name}, as quantization_config declares")
    return Quantization(layout=layout, kept=tuple(kept))


def _layout(declared: Mapping[str, Any]) -> Format | None:
    """The format with the block or group size that the declaration gives; None for a method not known here."""
    method = declared.get("quant_method")
    if method == "mxfp4":
        return FORMATS["mxfp4"]
    if method == "fp8":
        rows, columns = _block(declared)
        return replace(FORMATS["fp8"], rows=rows, columns=columns)
    if method == "modelopt":  # its fp8 has one scale for a whole matrix
        known = {"NVFP4": FORMATS["nvfp4"], "FP8": replace(FORMATS["fp8"], rows=0, columns=0)}
        return known.get(str(declared.get("quant_algo")))
    if method in ("awq", "gptq"):
        return _grouped(declared, index_bits=32 if method == "gptq" else 0)
    return None


def _grouped(declared: Mapping[str, Any], index_bits: int) -> Format | None:
    """4- or 8-bit integers in groups along a row: a 16-bit scale and a zero point each, and GPTQ's column index."""
    bits = declared.get("bits", declared.get("w_bit"))
    if isinstance(bits, bool) or bits not in (4, 8):
        return None
    group = declared.get("group_size", declared.get("q_group_size", 128))
    if isinstance(group, bool) or not isinstance(group, int) or not (group == -1 or 0 < group <= 1_000_000):
        raise ConfigError(f"group_size is {group!r:.40}; give a whole number above 0, or -1 for whole rows")
    return replace(FORMATS[f"int{bits}"], columns=max(group, 0), scale_bits=16, zero_bits=bits, index_bits=index_bits)


def _block(declared: Mapping[str, Any]) -> tuple[int, int]:
    block = declared.get("weight_block_size")
    if block is None:
        return FORMATS["fp8"].rows, FORMATS["fp8"].columns
    whole = isinstance(block, list) and len(block) == 2 and all(type(n) is int and 0 < n <= 1_000_000 for n in block)
    if not whole:
        raise ConfigError(f"weight_block_size is {block!r:.40}; give two whole numbers, rows and columns of a block")
    return block[0], block[1]
