"""What a config's quantization_config declares about how weights are stored."""

from collections.abc import Mapping
from typing import Any

from tokenviz.config import Reader
from tokenviz.formats import Quantization
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
    form = _format(declared)
    if form is None:
        return None
    c.get("quantization_config")
    kept: Any = next((declared[key] for key in KEPT if declared.get(key)), [])
    if not isinstance(kept, list) or not all(isinstance(name, str) for name in kept):
        raise ConfigError("modules_to_not_convert is not a list of module names; give one, or drop it")
    c.assume(f"the layers' matrices are stored as {form}, as quantization_config declares")
    if form == "int4" and declared.get("group_size", 128) != 128:
        c.assume(f"group_size is {declared['group_size']!r:.40}, but scales are counted for groups of 128 values")
    return Quantization(format=form, kept=tuple(kept))


def _format(declared: Mapping[str, Any]) -> str | None:
    method, bits = declared.get("quant_method"), declared.get("bits")
    if method in ("mxfp4", "fp8"):
        return str(method)
    if method in ("awq", "gptq"):
        return {4: "int4", 8: "int8"}.get(bits) if isinstance(bits, int) else None
    if method == "modelopt":
        return {"NVFP4": "nvfp4", "FP8": "fp8"}.get(str(declared.get("quant_algo")))
    return None
