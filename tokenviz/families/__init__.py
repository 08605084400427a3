"""The only place that knows a model_type: config reader -> Architecture.

An adapter translates; it computes nothing but shapes. `@family` registers it under its model_type and aliases. A value
that the family's own config class would supply may be a default; it then appears among the assumptions.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from pkgutil import iter_modules

from tokenviz.architecture import Architecture
from tokenviz.config import Reader
from tokenviz.families.common import FAMILIES, TITLES, family
from tokenviz.families.mamba import NATIVE
from tokenviz.notation import ConfigError

__all__ = ["FAMILIES", "family", "known", "read_architecture"]

for _module in iter_modules(__path__):  # each module of this package registers its families
    import_module(f"{__name__}.{_module.name}")


def known() -> Mapping[str, str]:
    """Every model_type that can be read, and what people call its family."""
    return dict(sorted(TITLES.items()))


def read_architecture(config: Reader) -> Architecture:
    """The architecture that a config describes; `ConfigError` names the key that stopped it."""
    if not config.has("model_type") and config.has("ssm_cfg") and config.has("d_model"):
        return FAMILIES[NATIVE](config)
    if not config.has("model_type"):
        raise ConfigError("model_type is missing, so this is not a model's config.json; add it")
    name = config.model_type
    if name not in FAMILIES:
        near = get_close_matches(name, FAMILIES, n=3, cutoff=0.5)
        hint = f"the nearest of {len(FAMILIES)} known: {', '.join(near)}" if near else f"{len(FAMILIES)} others have"
        raise ConfigError(f"model_type {name[:60]!r} has no recipe here; {hint}")
    return FAMILIES[name](config)
