"""The only place that knows a model_type: config reader -> Architecture.

An adapter translates; it computes nothing but shapes. `@family` registers it under its model_type and aliases. A value
that the family's own config class would supply may be a default; it then appears among the assumptions.
"""

from tokenviz.architecture import Architecture
from tokenviz.config import Reader
from tokenviz.families import llama, qwen
from tokenviz.families.common import FAMILIES, family
from tokenviz.notation import ConfigError

__all__ = ["FAMILIES", "family", "llama", "qwen", "read_architecture"]


def read_architecture(config: Reader) -> Architecture:
    """The architecture that a config describes; `ConfigError` names the key that stopped it."""
    if not config.has("model_type"):
        raise ConfigError("model_type is missing, so this is not a model's config.json; add it")
    name = config.model_type
    if name not in FAMILIES:
        raise ConfigError(f"model_type {name!r} has no recipe here; known: {', '.join(sorted(FAMILIES))}")
    return FAMILIES[name](config)
